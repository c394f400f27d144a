//! [`Victim`]: the process that `--kill` ends, and what the rings say of it afterwards.
//!
//! The rings are looked at read-only. Their memory outlives every process that has them (decision 0126).

use std::cell::OnceCell;
use std::sync::{Arc, OnceLock};

use annulus::shm::{Directory, FindError, PeerState, RingObserver};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use super::failed;
use crate::demo::graph::{Graph, Node};
use crate::demo::killed::{Killed, Lost};
use crate::outcome::Failure;

/// Whether the victim is killed, for the threads that hear of its end.
pub(super) type Mark = Arc<OnceLock<()>>;

/// A process that is to be killed.
pub(super) struct Victim {
    node: Node,
    name: String,
    pid: Pid,
    quotes: RingObserver,
    orders: RingObserver,
    mark: Mark,
    /// How many quotes were published when it died, and how many it had taken, if it had a seat.
    died: OnceCell<(u64, Option<u64>)>,
}

impl Victim {
    /// The process `pid` of this part of the graph. All have joined.
    ///
    /// # Errors
    ///
    /// The rings can't be looked at.
    pub(super) fn new(
        (node, pid): (Node, Pid),
        graph: &Graph,
        directory: &Directory,
        mark: &Mark,
    ) -> Result<Self, Failure> {
        let find = |name: &str| -> Result<_, FindError> { RingObserver::of(&directory.find(name)?) };
        let found = find(graph.quotes.name()).and_then(|quotes| Ok((quotes, find(graph.orders.name())?)));
        let (quotes, orders) = found.map_err(|error| failed(&error))?;
        let name = graph.name(node).to_owned();
        Ok(Self { node, name, pid, quotes, orders, mark: Arc::clone(mark), died: OnceCell::new() })
    }

    /// Kills it. When this returns it is dead, and its locks are free. Returns how many quotes were published
    /// by then.
    pub(super) fn kill(&self) -> u64 {
        // Before: a thread that hears of its end asks for it.
        let _ = self.mark.set(());
        // (An error if it has ended by itself, as its status will say.)
        let _ = kill_process(self.pid, Signal::KILL);
        // It stays to be waited for.
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(self.pid), ended), Err(rustix::io::Errno::INTR)) {}
        let numbers = self.quotes.numbers();
        let published = numbers.as_ref().map_or(0, |numbers| numbers.published);
        let readers = numbers.into_iter().flat_map(|numbers| numbers.readers);
        let mut dead = readers.filter(|reader| reader.state == PeerState::Dead);
        let taken = dead.next().filter(|_| matches!(self.node, Node::Subscriber(_)));
        let _ = self.died.set((published, taken.map(|reader| reader.position)));
        published
    }

    /// What is known of it at the end of a run of so many quotes, if it was killed. (What the strategies know
    /// is added later.)
    pub(super) fn killed(self, total: u64) -> Option<Killed> {
        let (after, quotes_taken) = self.died.into_inner()?;
        let lost = match self.node {
            Node::Subscriber(place) => Lost::Subscriber { place, quotes_taken, orders_unplaced: None },
            Node::Gateway => {
                let numbers = self.orders.numbers();
                let (sent, queued) = numbers
                    .map_or((0, 0), |numbers| (numbers.published, numbers.pending.unwrap_or_default()));
                Lost::Gateway {
                    orders_placed: 0,
                    orders_received: sent.saturating_sub(queued),
                    orders_queued: queued,
                    orders_refused: 0,
                }
            }
            Node::Feed | Node::Output => Lost::Feed { quotes_unpublished: total.saturating_sub(after) },
        };
        let pid = self.pid.as_raw_nonzero().get().unsigned_abs();
        Some(Killed { name: self.name, pid, after, lost })
    }
}
