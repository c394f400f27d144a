//! [`Crew`]: the processes that the user's one has started.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::net;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use annulus::Shutdown;
use annulus::shm::Directory;
use rustix::process::{Pid, Signal, kill_process};

use super::victim::{Mark, Victim};
use super::word::{Job, Role, Word};
use crate::demo::graph::Node;
use crate::demo::session::{Accounts, Plan};
use crate::measure::{Gauges, is_watched};
use crate::outcome::Failure;

/// A signal is noticed after this at the latest, while a feed of its own publishes.
const PATIENCE: Duration = Duration::from_millis(20);

/// What all runs have in common.
pub(super) struct Common {
    /// With what the names of the rings begin.
    pub(super) name: String,
    pub(super) directory: Directory,
    /// What stops the feed.
    pub(super) shutdown: Shutdown,
    /// Which process is to be killed in the middle.
    pub(super) kill: Option<Node>,
    /// What a feed of its own is to know.
    pub(super) feed_arguments: Vec<OsString>,
    pub(super) rate: Option<f64>,
}

/// All processes but the user's. Its drop ends them.
pub(super) struct Crew<'a> {
    common: &'a Common,
    plan: &'a Plan<'a>,
    members: Vec<Member>,
    /// What the threads hear that listen to the members: whose word, and `None` if that one has ended
    /// without its last word.
    heard: Receiver<(Node, Option<Word>)>,
    hears: Sender<(Node, Option<Word>)>,
    /// Whether the one that is to be killed is killed.
    mark: Mark,
}

/// A process.
struct Member {
    node: Node,
    process: Child,
    /// While it is open, the process continues.
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
        common: &'a Common,
        plan: &'a Plan<'a>,
        file: Option<File>,
        gauges: &Arc<Gauges>,
    ) -> Result<Self, Failure> {
        let graph = plan.graph;
        let (hears, heard) = mpsc::channel();
        let mut crew = Self { common, plan, members: Vec::new(), heard, hears, mark: Mark::default() };
        // These make the rings, which the others look for.
        if common.kill == Some(Node::Feed) {
            let role = Role::Feed {
                slots: graph.quotes.slots,
                subscribers: graph.subscribers.len(),
                lossless: graph.is_lossless(),
                quotes: plan.quotes,
                rate: common.rate,
            };
            crew.add(Node::Feed, role, None, gauges)?;
            crew.wait_until_joined(1)?;
        }
        let role = Role::Gateway { slots: graph.orders.slots, writes: file.is_some() };
        crew.add(Node::Gateway, role, file, gauges)?;
        crew.wait_until_joined(1)?;
        for (place, node) in graph.subscribers.iter().enumerate() {
            let role = Role::Subscriber {
                lossless: graph.is_lossless(),
                team: node.strategies.clone(),
                is_watched: is_watched(),
            };
            crew.add(Node::Subscriber(place), role, None, gauges)?;
        }
        crew.wait_until_joined(graph.subscribers.len())?;
        Ok(crew)
    }

    /// The one that the user wants to be killed.
    ///
    /// # Errors
    ///
    /// The rings can't be looked at.
    pub(super) fn victim(&self) -> Result<Option<Victim>, Failure> {
        let member = self.members.iter().find(|member| self.common.kill == Some(member.node));
        let victim = |member: &Member| {
            let member = (member.node, Pid::from_child(&member.process));
            Victim::new(member, self.plan.graph, &self.common.directory, &self.mark)
        };
        member.map(victim).transpose()
    }

    /// Tells the feed to publish, and waits until it has come to the middle, or a signal has come. Returns
    /// when it began.
    ///
    /// # Errors
    ///
    /// One has failed, or has ended.
    pub(super) fn wait_for_middle(&mut self) -> Result<Option<u64>, Failure> {
        let feed = self.members.iter_mut().find(|member| member.node == Node::Feed);
        // (Where it has ended already, its end is heard.)
        let _ = feed.map(|feed| feed.socket.write_all(b"\n"));
        while !self.common.shutdown.is_shutdown() {
            let Ok(heard) = self.heard.recv_timeout(PATIENCE) else { continue };
            return match self.check(heard)? {
                (Node::Feed, Some(Word::Middle { start_ns })) => Ok(Some(start_ns)),
                (node, _) => Err(self.unexpected(node)),
            };
        }
        Ok(None)
    }

    /// What each has received, when all have ended, and why the orders could not be written. A member
    /// that was killed has nothing to tell.
    ///
    /// # Errors
    ///
    /// One has ended without that.
    pub(super) fn end(mut self) -> Result<(Accounts, Option<String>), Failure> {
        let mut receipts: Vec<_> = self.plan.graph.subscribers.iter().map(|_| None).collect();
        let (mut books, mut unwritten) = (None, None);
        // The feed has told everything when it is killed.
        let mut silent = usize::from(self.kill_is_done() && self.common.kill == Some(Node::Feed));
        while silent + receipts.iter().flatten().count() + usize::from(books.is_some()) < self.members.len() {
            match self.next()? {
                (Node::Feed, None) => {}
                (_, None) => silent += 1,
                (Node::Gateway, Some(Word::Booked(all, why))) => (books, unwritten) = (Some(all), why),
                (Node::Subscriber(place), Some(Word::Received(receipt))) => receipts[place] = Some(*receipt),
                (node, Some(_)) => return Err(self.unexpected(node)),
            }
        }
        for member in &mut self.members {
            let _ = member.process.wait();
        }
        Ok((Accounts { receipts, books, killed: None }, unwritten))
    }

    /// Starts a process for this part.
    fn add(
        &mut self,
        node: Node,
        role: Role,
        output: Option<File>,
        gauges: &Arc<Gauges>,
    ) -> Result<(), Failure> {
        let graph = self.plan.graph;
        let name = graph.name(node);
        let failed = |error| Failure::new(format!("the process of {name} can't be started: {error}"));
        let job = Job {
            role,
            quotes: graph.quotes.name().into(),
            orders: graph.orders.name().into(),
            symbols: self.plan.feed.symbols.clone(),
            strategies: graph.strategies.clone(),
        };
        let (mut socket, theirs) = UnixStream::pair().map_err(failed)?;
        let process = Command::new(env::current_exe().map_err(failed)?)
            .args(["demo", "--part", name, &format!("--shared={}", self.common.name), "--directory"])
            .arg(self.common.directory.path())
            .args(self.common.feed_arguments.iter().filter(|_| node == Node::Feed))
            // Ctrl-C in a terminal is for the feed alone.
            .process_group(0)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(output.map_or_else(Stdio::null, Stdio::from))
            .spawn()
            .map_err(failed)?;
        let listened = socket.try_clone();
        let line = serde_json::to_string(&job).expect("numbers, names and lists have a form in JSON") + "\n";
        // (Where it has ended already, its end is heard.)
        let _ = socket.write_all(line.as_bytes());
        // A member from here on, so that its process is ended in any case.
        self.members.push(Member { node, process, socket, listener: None });
        let (listened, gauges) = (listened.map_err(failed)?, Arc::clone(gauges));
        let (hears, shutdown) = (self.hears.clone(), self.common.shutdown.clone());
        let mark = (self.common.kill == Some(node)).then(|| Arc::clone(&self.mark));
        let body = move || listen(node, listened, &gauges, &hears, &shutdown, mark.as_ref());
        let listener = thread::Builder::new().name(format!("to-{name}")).spawn(body).map_err(failed)?;
        if let Some(member) = self.members.last_mut() {
            member.listener = Some(listener);
        }
        Ok(())
    }

    /// Waits for so many members that have not joined yet.
    fn wait_until_joined(&mut self, count: usize) -> Result<(), Failure> {
        for _ in 0..count {
            match self.next()? {
                (_, Some(Word::Joined)) => {}
                (node, _) => return Err(self.unexpected(node)),
            }
        }
        Ok(())
    }

    /// Which member says something next, and what; nothing if it was killed as it was to be.
    fn next(&mut self) -> Result<(Node, Option<Word>), Failure> {
        let heard = self.heard.recv().expect("one sender is here");
        self.check(heard)
    }

    fn check(&mut self, heard: (Node, Option<Word>)) -> Result<(Node, Option<Word>), Failure> {
        match heard {
            (node, Some(Word::Failed(reason))) => Err(self.failure(node, Some(reason))),
            (node, None) if !(self.kill_is_done() && self.common.kill == Some(node)) => {
                Err(self.failure(node, None))
            }
            heard => Ok(heard),
        }
    }

    /// Whether the one is killed that was to be.
    fn kill_is_done(&self) -> bool {
        self.mark.get().is_some()
    }

    fn unexpected(&mut self, node: Node) -> Failure {
        self.failure(node, Some("it said what nobody expected".into()))
    }

    /// Why the demo can't continue: a member failed, for this reason, or has ended. If one was killed, that
    /// is why, because others may have failed for that.
    fn failure(&mut self, node: Node, reason: Option<String>) -> Failure {
        // The others end by themselves, with the ends of their sockets. So a member that has ended by a
        // signal was killed by another program.
        for Member { process, socket, .. } in &self.members {
            let _ = socket.shutdown(net::Shutdown::Both);
            let _ = kill_process(Pid::from_child(process), Signal::CONT);
        }
        let mut statuses = Vec::new();
        for member in &mut self.members {
            statuses.push((member.node, member.process.id(), member.process.wait().ok()));
        }
        let about = |node: Node, id: u32| format!("{} (process {id})", self.plan.graph.name(node));
        let is_wanted = |node: Node| self.kill_is_done() && self.common.kill == Some(node);
        let of_this = statuses.iter().filter(|(other, ..)| *other == node);
        let mut all = of_this.chain(&statuses).filter(|(node, ..)| !is_wanted(*node));
        let killed = all.find_map(|&(node, id, status)| Some((node, id, status?.signal()?)));
        if let Some((node, id, signal)) = killed {
            return Failure::new(format!(
                "{} was killed by signal {signal}: the demo has ended without a report",
                about(node, id)
            ));
        }
        let this = statuses.into_iter().find(|(other, ..)| *other == node);
        let (id, status) = this.map_or((0, None), |(_, id, status)| (id, status));
        Failure::new(match (reason, status) {
            (Some(reason), _) => format!("{}: {reason}", about(node, id)),
            (None, Some(status)) => format!("{} has ended too early ({status})", about(node, id)),
            (None, None) => format!("{} has ended too early", about(node, id)),
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
            // What one left that was killed. (An error, if it has taken its name back.)
            let graph = self.plan.graph;
            for name in [graph.orders.name(), graph.quotes.name()] {
                let _ = self.common.directory.remove(name, false);
            }
        }
    }
}

/// Hears what a member says, until it has ended. The `mark` says whether that was to be.
fn listen(
    node: Node,
    socket: UnixStream,
    gauges: &Gauges,
    hears: &Sender<(Node, Option<Word>)>,
    shutdown: &Shutdown,
    mark: Option<&Mark>,
) {
    let mut is_over = false;
    for line in BufReader::new(socket).lines() {
        let Ok(line) = line else { break };
        let word = serde_json::from_str(&line)
            .unwrap_or_else(|error| Word::Failed(format!("it said what nobody understands: {error}")));
        match word {
            Word::Passed(count) => {
                let gauge = match node {
                    Node::Subscriber(place) => gauges.passed.get(place),
                    _ => Some(&gauges.published),
                };
                let _ = gauge.map(|gauge| gauge.set(count));
            }
            Word::CannotWrite => shutdown.trigger(),
            word => {
                is_over = matches!(word, Word::Received(_) | Word::Booked(..));
                let _ = hears.send((node, Some(word)));
            }
        }
    }
    if !is_over {
        // The feed stops, if it has begun, unless this is the one that was to be killed.
        if mark.is_none_or(|mark| mark.get().is_none()) {
            shutdown.trigger();
        }
        let _ = hears.send((node, None));
    }
}
