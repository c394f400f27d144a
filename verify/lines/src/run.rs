//! Runs the library's code on the cores of a [`Machine`]: each core is a stack of its own on one thread, and
//! the one whose clock is behind all others goes on.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::thread;

use annulus::lines::{Access, AccessKind, watch};
use generator::{Generator, Gn};

use crate::arena;
use crate::machine::{Costs, Machine, Move, Time};

/// What moved for which part of the library.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moves {
    pub changed: u64,
    pub shared: u64,
    pub owned: u64,
}

impl Moves {
    pub fn all(self) -> u64 {
        self.changed + self.shared + self.owned
    }
}

struct World {
    machine: Machine,
    /// The core that runs.
    core: usize,
    /// When the first of the others goes on.
    next: Time,
    /// From when on it counts, and after how many messages that is.
    begun: Option<Time>,
    received: u64,
    warm_up: u64,
    moves: BTreeMap<&'static str, Moves>,
    /// Of each core.
    moves_of: Vec<u64>,
}

thread_local! {
    static WORLD: RefCell<Option<World>> = const { RefCell::new(None) };
}

/// What the world allocates is none of the library's.
fn with_world<R>(look: impl FnOnce(&mut World) -> R) -> R {
    arena::outside(|| WORLD.with_borrow_mut(|world| look(world.as_mut().expect("a run"))))
}

/// What a run found.
pub struct Found {
    /// From the end of the warm-up to the end.
    pub time: Time,
    /// Messages meanwhile.
    pub messages: u64,
    /// By the file of the library whose memory it is.
    pub moves: BTreeMap<&'static str, Moves>,
    /// Of the core that got most lines.
    pub busiest: u64,
}

impl Found {
    pub fn ns_each(&self) -> f64 {
        self.time as f64 / 1e3 / self.messages as f64
    }

    pub fn moves_each(&self) -> f64 {
        self.moves.values().map(|moves| moves.all()).sum::<u64>() as f64 / self.messages as f64
    }

    pub fn busiest_each(&self) -> f64 {
        self.busiest as f64 / self.messages as f64
    }
}

/// What a core does.
pub type Work = Box<dyn FnOnce() + Send>;

/// Makes handles, and the work of each core with them, and runs that on a thread of its own, so that no
/// run knows of another. `counted`: see [`received`].
pub fn run(
    costs: Costs,
    seed: u64,
    warm_up: u64,
    counted: u64,
    make: impl FnOnce() -> Vec<Work> + Send,
) -> Found {
    let run = || on_this_thread(costs, seed, warm_up, counted, make);
    thread::scope(|scope| scope.spawn(run).join()).expect("the library's code ends")
}

fn on_this_thread(
    costs: Costs,
    seed: u64,
    warm_up: u64,
    counted: u64,
    make: impl FnOnce() -> Vec<Work>,
) -> Found {
    arena::begin();
    let work = arena::within(make);
    let machine = Machine::new(costs, work.len(), seed);
    let moves_of = vec![0; work.len()];
    let world = World {
        machine,
        core: 0,
        next: 0,
        begun: None,
        received: 0,
        warm_up,
        moves: BTreeMap::new(),
        moves_of,
    };
    WORLD.set(Some(world));
    let mut cores: Vec<Generator<'static, (), ()>> =
        work.into_iter().map(|work| Gn::<()>::new_opt(0x4000, work)).collect();
    let mut waiting: BinaryHeap<_> =
        (0..cores.len()).map(|core| Reverse((with_world(|world| world.machine.now(core)), core))).collect();
    let mut end = 0;
    watch(Some(watcher));
    while let Some(Reverse((_, core))) = waiting.pop() {
        let next = waiting.peek().map_or(Time::MAX, |Reverse((next, _))| *next);
        with_world(|world| (world.core, world.next) = (core, next));
        arena::within(|| cores[core].resume());
        let now = with_world(|world| world.machine.now(core));
        if cores[core].is_done() {
            end = end.max(now);
        } else {
            waiting.push(Reverse((now, core)));
        }
    }
    watch(None);
    let world = WORLD.take().expect("a run");
    let time = end - world.begun.expect("more messages than the warm-up has");
    let busiest = world.moves_of.into_iter().max().unwrap_or(0);
    Found { time, messages: counted, moves: world.moves, busiest }
}

/// Tells that another message was received. The time begins with the last one of the warm-up.
pub fn received() {
    with_world(|world| {
        world.received += 1;
        if world.received == world.warm_up {
            world.begun = Some(world.machine.now(world.core));
            world.moves.clear();
            world.moves_of.fill(0);
        }
    });
}

/// What the loop around a verb does.
pub fn work() {
    with_world(|world| world.machine.work(world.core));
}

/// The rest of the core's loop takes its time.
pub fn pause() {
    watcher(&Access { kind: AccessKind::Pause, address: 0, bytes: 0, at: std::panic::Location::caller() });
}

/// Those whose clocks are behind go on, until they no longer are.
#[expect(deprecated, reason = "its scope does not come to where the library's accesses are told")]
fn let_others() {
    generator::yield_with(());
}

/// Before each access of the library's.
fn watcher(access: &Access) {
    // Those that are due before it come first.
    if with_world(|world| world.machine.now(world.core) > world.next) {
        let_others();
    }
    let must_wait = with_world(|world| world.access(access));
    if must_wait {
        let_others();
    }
}

impl World {
    /// Whether the access is done only later.
    fn access(&mut self, access: &Access) -> bool {
        let core = self.core;
        let Access { kind, address, bytes, at } = *access;
        let mut must_wait = false;
        match kind {
            AccessKind::Pause => self.machine.pause(core),
            AccessKind::Fence => self.machine.fence(core),
            _ => {
                let Some(first) = arena::line_of(address) else { return false };
                let last = arena::line_of(address + bytes.max(1) - 1).unwrap_or(first);
                for line in first..=last {
                    match kind {
                        AccessKind::Read => must_wait |= self.machine.load(core, line),
                        AccessKind::Write => self.machine.store(core, line),
                        AccessKind::Change => must_wait |= self.machine.change(core, line),
                        _ => self.machine.prefetch(core, line),
                    }
                }
                for (_, core, why) in self.machine.moved.drain(..) {
                    let moves = self.moves.entry(at.file()).or_default();
                    match why {
                        Move::Changed => moves.changed += 1,
                        Move::Shared => moves.shared += 1,
                        Move::Owned => moves.owned += 1,
                    }
                    self.moves_of[core] += 1;
                }
            }
        }
        must_wait
    }
}
