//! `annulus call`: questions to a service, and its answers, as JSON (Linux).
//!
//! ```text
//! arguments   what the user asked for
//! ```

mod arguments;

use std::fmt::Display;
use std::io::{self, BufRead, Write};
use std::iter;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use annulus::WaitStrategy;
use annulus::schema::Schema;
use annulus::shm::dynamic::{Client, OpenError, service_types};
use annulus::shm::service::{AnswerError, AskError};
use annulus::shm::{AttachError, Invitation};

pub(crate) use arguments::Arguments;

use crate::outcome::{Failure, Outcome};
use crate::output::{self, say};
use crate::rings;
use crate::signals::first_signal;
use crate::text::{grouped, quoted};
use crate::values::{decode, encode};

/// So long a signal waits at most.
const STOP_INTERVAL: Duration = Duration::from_millis(50);

/// A service, as a client that has learned its types.
struct Called {
    /// As the user is told it.
    name: String,
    client: Client,
    question: Schema,
    answer: Schema,
}

/// Asks, and prints the answers.
///
/// # Errors
///
/// There is no such service, or a question is no message of it.
pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let stopped = first_signal(|| {})?;
    let mut called = Called::join(arguments)?;
    let mut asks = |text: &[u8], which: &str| called.ask(text, which, arguments.timeout, &stopped);
    if let Some(question) = &arguments.question {
        return Ok(asks(question.as_bytes(), "the question")?.unwrap_or(Outcome::Passed));
    }
    for (number, line) in (1..).zip(io::stdin().lock().split(b'\n')) {
        let line =
            line.map_err(|error| Failure::new(format!("the standard input can't be read: {error}")))?;
        if line.trim_ascii().is_empty() {
            continue;
        }
        let which = format!("line {} of the standard input", grouped(number));
        if let Some(end) = asks(&line, &which)? {
            return Ok(end);
        }
    }
    Ok(stopped.get().copied().unwrap_or(Outcome::Passed))
}

impl Called {
    fn join(arguments: &Arguments) -> Result<Self, Failure> {
        let directory = rings::open(&arguments.directory)?;
        let named = directory.find_numbered(&arguments.name);
        let named = named.map_err(|error| rings::not_found(&directory, &error))?;
        let name = quoted(named.name());
        let unusable = |error: &dyn Display| Failure::new(format!("{name} can't be used: {error}"));
        let invitation = Invitation::find(&named).map_err(|error| rings::unusable(named.name(), &error))?;
        let (question, answer) = service_types(&invitation).map_err(|error| match error {
            AttachError::Kind { found, .. } => {
                let (what, verb) = (rings::is_a(found), rings::verb_for(found));
                Failure::new(format!("{name} {what}, and no service: {verb}"))
            }
            error => unusable(&error),
        })?;
        let client = Client::join(&invitation, &question, &answer, WaitStrategy::default());
        let client = client.map_err(|error| match error {
            OpenError::TooLong { bytes } => {
                unusable(&format_args!("its answers have {} bytes, which is too long", grouped(bytes as u64)))
            }
            error => unusable(&error),
        })?;
        let schemas = question.schema().cloned().zip(answer.schema().cloned());
        let (question, answer) = schemas.expect("the types of a service have schemas");
        Ok(Self { name, client, question, answer })
    }

    /// Asks one question, and prints its answer. `None` if there is one; otherwise how the program ends.
    fn ask(
        &mut self,
        text: &[u8],
        which: &str,
        timeout: Option<Duration>,
        stopped: &OnceLock<Outcome>,
    ) -> Result<Option<Outcome>, Failure> {
        let wrong = |what: &str| Failure::new(format!("{which}: {what}"));
        let value =
            serde_json::from_slice(text).map_err(|error| wrong(&format!("it is no JSON: {error}")))?;
        let question = encode(&self.question, &value).map_err(|what| wrong(&what))?;
        let name = &self.name;
        let failed = |what: &dyn Display| {
            say(format_args!("{which}: {what}"));
            Ok(Some(Outcome::Failed))
        };
        let mut pending = match self.client.ask(&question) {
            Ok(pending) => pending,
            Err(AskError::Closed(())) => return failed(&format_args!("{name} is closed")),
            Err(error) => return failed(&error),
        };
        let (begun, mut answer) = (Instant::now(), vec![0; self.client.answer_bytes()]);
        let rests = iter::from_fn(|| {
            let left = timeout.map(|timeout| timeout.saturating_sub(begun.elapsed()));
            Some(left.map_or(STOP_INTERVAL, |left| left.min(STOP_INTERVAL)))
        });
        for rest in rests {
            match pending.recv_timeout(&mut answer, rest) {
                Ok(()) => break,
                Err(AnswerError::Empty) if stopped.get().is_some() => return Ok(stopped.get().copied()),
                Err(AnswerError::Empty) if rest.is_zero() => {
                    return failed(&"the answer has not come in time (--timeout)");
                }
                Err(AnswerError::Empty) => {}
                Err(AnswerError::Refused) => return failed(&format_args!("{name} has refused it")),
                Err(AnswerError::Died) => {
                    return failed(&format_args!("the server of {name} has died, and has not answered"));
                }
                Err(error) => return failed(&error),
            }
        }
        match decode(&self.answer, &answer) {
            // Where nobody reads the answers, nothing more is asked.
            Ok(value) => writeln!(io::stdout(), "{value}")
                .map(|()| None)
                .or_else(|error| output::ended(&error).map(Some)),
            Err(what) => failed(&format_args!("the answer is corrupt: {what}")),
        }
    }
}
