//! [`Crew`]: the processes that the feed has started.

use std::env;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::iter;
use std::net;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use annulus::Shutdown;
use rustix::process::{Pid, Signal, kill_process};

use super::meeting::Meeting;
use super::word::{Job, Role, Word};
use crate::demo::graph::GATEWAY;
use crate::demo::progress;
use crate::demo::session::{Accounts, Plan};
use crate::measure::Gauges;
use crate::outcome::Failure;

/// The place of the gateway. The subscribers come after it.
const GATEWAYS: usize = 0;

/// All processes but the feed's. Its drop ends them.
pub(super) struct Crew<'a> {
    meeting: &'a Meeting,
    plan: &'a Plan<'a>,
    members: Vec<Member>,
    /// What the threads hear that listen to the members: whose word, and `None` if that one has ended
    /// without its last word.
    heard: Receiver<(usize, Option<Word>)>,
    hears: Sender<(usize, Option<Word>)>,
}

/// A process.
struct Member {
    name: String,
    process: Child,
    /// While it is open, the process goes on.
    socket: UnixStream,
    /// The thread that listens to it.
    listener: Option<JoinHandle<()>>,
}

impl<'a> Crew<'a> {
    /// Starts the processes of the plan. When this returns, all have joined their rings, so none of them
    /// misses the beginning. The gateway writes the orders to `file`.
    ///
    /// # Errors
    ///
    /// One can't be started, or can't join.
    pub(super) fn start(
        meeting: &'a Meeting,
        plan: &'a Plan<'a>,
        file: Option<File>,
        gauges: &Arc<Gauges>,
    ) -> Result<Self, Failure> {
        let graph = plan.graph;
        let (hears, heard) = mpsc::channel();
        let mut crew = Self { meeting, plan, members: Vec::new(), heard, hears };
        // It makes the queue, which the others look for.
        let role = Role::Gateway { slots: graph.orders.slots, writes: file.is_some() };
        crew.add(GATEWAY, role, file, gauges)?;
        crew.wait_until_joined(1)?;
        for node in &graph.subscribers {
            let role = Role::Subscriber {
                lossless: graph.is_lossless(),
                team: node.strategies.clone(),
                is_watched: progress::is_watched(),
            };
            crew.add(&node.name, role, None, gauges)?;
        }
        crew.wait_until_joined(graph.subscribers.len())?;
        Ok(crew)
    }

    /// What each has received, when all have ended, and why the orders could not be written.
    ///
    /// # Errors
    ///
    /// One has ended without that.
    pub(super) fn end(mut self) -> Result<(Accounts, Option<String>), Failure> {
        let mut receipts: Vec<_> = self.plan.graph.subscribers.iter().map(|_| None).collect();
        let mut booked = None;
        while booked.is_none() || receipts.iter().any(Option::is_none) {
            match self.next()? {
                (GATEWAYS, Word::Booked(books, unwritten)) => booked = Some((books, unwritten)),
                (member @ 1.., Word::Received(receipt)) => receipts[member - 1] = Some(*receipt),
                (member, _) => return Err(self.failure(member, Some("it said what nobody expected".into()))),
            }
        }
        for member in &mut self.members {
            let _ = member.process.wait();
        }
        let (books, unwritten) = booked.expect("it waited for that");
        Ok(((receipts.into_iter().flatten().collect(), books), unwritten))
    }

    /// Starts a process for this part.
    fn add(
        &mut self,
        name: &str,
        role: Role,
        output: Option<File>,
        gauges: &Arc<Gauges>,
    ) -> Result<(), Failure> {
        let failed = |error| Failure::new(format!("the process of {name} can't be started: {error}"));
        let graph = self.plan.graph;
        let job = Job {
            role,
            quotes: graph.quotes.name().into(),
            orders: graph.orders.name().into(),
            symbols: self.plan.feed.symbols.clone(),
            strategies: graph.strategies.clone(),
        };
        let (mut socket, theirs) = UnixStream::pair().map_err(failed)?;
        let process = Command::new(env::current_exe().map_err(failed)?)
            .args(["demo", &format!("--shared={}", self.meeting.name), "--part", name, "--directory"])
            .arg(self.meeting.directory.path())
            // Ctrl-C in a terminal is for the feed alone.
            .process_group(0)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(output.map_or_else(Stdio::null, Stdio::from))
            .spawn()
            .map_err(failed)?;
        let number = self.members.len();
        let listened = socket.try_clone();
        let line = serde_json::to_string(&job).expect("numbers, names and lists have a form in JSON") + "\n";
        // (Where it has ended already, its end is heard.)
        let _ = socket.write_all(line.as_bytes());
        // A member from here on, so that its process is ended in any case.
        self.members.push(Member { name: name.into(), process, socket, listener: None });
        let (listened, gauges) = (listened.map_err(failed)?, Arc::clone(gauges));
        let (hears, shutdown) = (self.hears.clone(), self.meeting.stopping.shutdown.clone());
        let body = move || listen(number, listened, &gauges, &hears, &shutdown);
        let listener = thread::Builder::new().name(format!("to-{name}")).spawn(body).map_err(failed)?;
        self.members[number].listener = Some(listener);
        Ok(())
    }

    /// Waits for so many members that have not joined yet.
    fn wait_until_joined(&mut self, count: usize) -> Result<(), Failure> {
        for _ in 0..count {
            match self.next()? {
                (_, Word::Joined) => {}
                (member, _) => return Err(self.failure(member, Some("it said what nobody expected".into()))),
            }
        }
        Ok(())
    }

    /// Who says something next, and what.
    fn next(&mut self) -> Result<(usize, Word), Failure> {
        match self.heard.recv().expect("one sender is here") {
            (member, Some(Word::Failed(reason))) => Err(self.failure(member, Some(reason))),
            (member, Some(word)) => Ok((member, word)),
            (member, None) => Err(self.failure(member, None)),
        }
    }

    /// Why the demo can't go on: a member failed, for this reason, or has ended. If one was killed, that is
    /// why, because others may have failed for that.
    fn failure(&mut self, member: usize, reason: Option<String>) -> Failure {
        // The others end by themselves, with the ends of their sockets. So whoever has ended by a signal was
        // killed by somebody else.
        for Member { process, socket, .. } in &self.members {
            let _ = socket.shutdown(net::Shutdown::Both);
            let _ = kill_process(Pid::from_child(process), Signal::CONT);
        }
        let statuses: Vec<_> = self.members.iter_mut().map(|member| member.process.wait().ok()).collect();
        let about = |member: usize| {
            let Member { name, process, .. } = &self.members[member];
            format!("{name} (process {})", process.id())
        };
        let signal = |&member: &usize| statuses[member].and_then(|status| status.signal());
        let killed = iter::once(member).chain(0..self.members.len()).find(|member| signal(member).is_some());
        if let Some((killed, signal)) = killed.and_then(|killed| Some((killed, signal(&killed)?))) {
            return Failure::new(format!(
                "{} was killed by signal {signal}: the demo has ended without a report",
                about(killed)
            ));
        }
        Failure::new(match (reason, statuses[member]) {
            (Some(reason), _) => format!("{}: {reason}", about(member)),
            (None, Some(status)) => format!("{} has ended too early ({status})", about(member)),
            (None, None) => format!("{} has ended too early", about(member)),
        })
    }
}

impl Drop for Crew<'_> {
    fn drop(&mut self) {
        for member in &mut self.members {
            // (An error where it has ended by itself.)
            let _ = member.process.kill();
            let _ = member.process.wait();
        }
        for member in &mut self.members {
            let _ = member.listener.take().map(JoinHandle::join);
        }
        if !self.members.is_empty() {
            // What a gateway left that was killed. (An error, if it has taken its name back.)
            let _ = self.meeting.directory.remove(self.plan.graph.orders.name(), false);
        }
    }
}

/// Hears what a member says, until it has ended.
fn listen(
    member: usize,
    socket: UnixStream,
    gauges: &Gauges,
    hears: &Sender<(usize, Option<Word>)>,
    shutdown: &Shutdown,
) {
    let mut is_over = false;
    for line in BufReader::new(socket).lines() {
        let Ok(line) = line else { break };
        let word = serde_json::from_str(&line)
            .unwrap_or_else(|error| Word::Failed(format!("it said what nobody understands: {error}")));
        match word {
            Word::Passed(count) => {
                if let Some(gauge) = gauges.passed.get(member.wrapping_sub(1)) {
                    gauge.set(count);
                }
            }
            Word::CannotWrite => shutdown.trigger(),
            word => {
                is_over = matches!(word, Word::Received(_) | Word::Booked(..));
                let _ = hears.send((member, Some(word)));
            }
        }
    }
    if !is_over {
        // The feed stops, if it has begun.
        shutdown.trigger();
        let _ = hears.send((member, None));
    }
}
