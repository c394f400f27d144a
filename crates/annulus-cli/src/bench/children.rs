//! [`Children`]: subscribers in processes of their own.

use std::env;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use super::arguments::Arguments;
use super::receiving::JOINED;
use super::report::Receipt;
use crate::outcome::Failure;

/// Processes of this program that have joined the ring. Its drop ends them.
pub(super) struct Children(Vec<Subscriber>);

struct Subscriber {
    process: Child,
    output: BufReader<ChildStdout>,
}

impl Children {
    /// Starts so many. All have joined the ring when this returns.
    ///
    /// # Errors
    ///
    /// A process can't be started, or can't join. It has said why.
    pub(super) fn start(arguments: &Arguments, count: u16) -> Result<Self, Failure> {
        let mut children = Self(Vec::new());
        for number in 1..=count {
            let failed = |error| {
                Failure::new(format!(
                    "subscriber {number} of {count} can't be started: {error}; run it by hand, with --subscribe"
                ))
            };
            let mut command = Command::new(env::current_exe().map_err(failed)?);
            command.args(["bench", "--subscribe", "--child"]);
            command.args(arguments.directory.to_arguments());
            if arguments.spin {
                command.arg("--spin");
            }
            command.arg("--").arg(&arguments.name);
            let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(failed)?;
            let output = BufReader::new(process.stdout.take().expect("it is a pipe"));
            children.0.push(Subscriber { process, output });
        }
        for (number, child) in (1..).zip(&mut children.0) {
            let line = child.line(number)?;
            if line != JOINED {
                return Err(Failure::new(format!("subscriber {number} said {line:?}, and not {JOINED:?}")));
            }
        }
        Ok(children)
    }

    /// What each has received, when the ring has ended.
    ///
    /// # Errors
    ///
    /// A process has ended without its receipt.
    pub(super) fn receipts(mut self) -> Result<Vec<Receipt>, Failure> {
        let children = (1..).zip(&mut self.0);
        children
            .map(|(number, child)| {
                let line = child.line(number)?;
                let receipt = serde_json::from_str(&line)
                    .map_err(|error| Failure::new(format!("subscriber {number} sent no receipt: {error}")))?;
                let _ = child.process.wait();
                Ok(receipt)
            })
            .collect()
    }
}

impl Subscriber {
    /// What it says next.
    fn line(&mut self, number: usize) -> Result<String, Failure> {
        let mut line = String::new();
        match self.output.read_line(&mut line) {
            Ok(0) => {
                let status =
                    self.process.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
                Err(Failure::new(format!("subscriber {number} has ended too early: {status}")))
            }
            Ok(_) => Ok(line.trim_end().into()),
            Err(error) => Err(Failure::new(format!("subscriber {number} can't be heard: {error}"))),
        }
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        // (An error where it has ended by itself.)
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
