//! Tests of the tasks that wait.

use std::cell::Cell;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::Mutex;
use std::task::{Wake, Waker};
use std::vec;
use std::vec::Vec;

use alloc::boxed::Box;

use super::node::WaiterPlace;
use super::task_list::ONE;
use super::waker_slot::{TAKEN, WOKEN_WITH_ALL};

use super::*;

/// A task that keeps account of its wake-ups, and does something at each.
struct Task {
    number: usize,
    notes: Arc<Mutex<Vec<usize>>>,
    also: Option<Box<dyn Fn() + Send + Sync>>,
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.notes.lock().unwrap().push(self.number);
        if let Some(also) = &self.also {
            also();
        }
    }
}

/// Wakers with numbers, and what they note.
#[derive(Default)]
struct Notes(Arc<Mutex<Vec<usize>>>);

impl Notes {
    fn waker(&self, number: usize) -> Waker {
        self.waker_that(number, None)
    }

    fn waker_that(&self, number: usize, also: Option<Box<dyn Fn() + Send + Sync>>) -> Waker {
        Arc::new(Task { number, notes: Arc::clone(&self.0), also }).into()
    }

    fn take(&self) -> Vec<usize> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    /// How many wakers there are.
    fn alive(&self) -> usize {
        Arc::strong_count(&self.0) - 1
    }
}

fn node(waiters: &Waiters) -> OwnedNode {
    // SAFETY: the tests drop their nodes before the waiters.
    unsafe { waiters.take_node() }.0
}

fn arm(node: &mut OwnedNode, waker: &Waker) {
    assert!(!node.arm(waker).is_short);
}

/// Nodes of tasks 0, 1, …, which are armed.
fn armed(waiters: &Waiters, notes: &Notes, count: usize) -> Vec<OwnedNode> {
    let node = |number| {
        let mut node = node(waiters);
        arm(&mut node, &notes.waker(number));
        node
    };
    (0..count).map(node).collect()
}

const MANY: usize = if cfg!(miri) { 30 } else { 1_000 };

fn ends(nodes: Vec<OwnedNode>) -> Vec<Ended> {
    let end = |mut node: OwnedNode| {
        let ended = node.disarm();
        drop(node.give_back());
        ended
    };
    nodes.into_iter().map(end).collect()
}

/// Woken one by one.
fn some(waiters: &Waiters, most: u32) -> u32 {
    let woken = waiters.wake_some(most);
    assert!(!woken.is_short && !woken.is_any);
    woken.count
}

fn all(waiters: &Waiters) -> bool {
    let woken = waiters.wake_all();
    assert!(!woken.is_short && woken.count == 0);
    woken.is_any
}

std::thread_local! {
    static STEPS: Cell<usize> = const { Cell::new(0) };
}

/// A node is looked at.
pub(super) fn count_step() {
    STEPS.with(|steps| steps.set(steps.get() + 1));
}

/// How many nodes are looked at meanwhile.
fn steps(meanwhile: impl FnOnce()) -> usize {
    let before = STEPS.with(Cell::get);
    meanwhile();
    STEPS.with(Cell::get) - before
}

/// Nodes that have an owner, and those that are kept.
fn nodes(waiters: &Waiters) -> (usize, usize) {
    let shared = waiters.list.get().unwrap();
    (shared.owned(), shared.with_list(|list| list.free_count()))
}

#[test]
fn tasks_are_woken_once_and_leave_nothing() {
    let (waiters, notes) = (Waiters::new(), Notes::default());
    let nodes = armed(&waiters, &notes, MANY);
    assert_eq!(waiters.count(), MANY);
    assert!(all(&waiters));
    assert!(!all(&waiters));
    assert_eq!(notes.take(), (0..MANY).collect::<Vec<_>>());
    assert_eq!((notes.alive(), waiters.count()), (0, 0));
    assert!(ends(nodes).iter().all(|&ended| ended == Ended::Plainly));
}

#[test]
fn tasks_are_woken_in_turn() {
    let (waiters, notes) = (Waiters::new(), Notes::default());
    let mut nodes = armed(&waiters, &notes, 10);
    assert_eq!(some(&waiters, 3), 3);
    assert_eq!(notes.take(), [0, 1, 2]);
    // The first one waits again at once, and is not preferred.
    assert_eq!(nodes[0].disarm(), Ended::WokenAlone);
    arm(&mut nodes[0], &notes.waker(0));
    assert_eq!(some(&waiters, 7), 7);
    assert_eq!(notes.take(), [3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(some(&waiters, 7), 1);
    assert_eq!(notes.take(), [0]);
    assert_eq!(some(&waiters, 7), 0);
    assert!(ends(nodes).iter().all(|&ended| ended == Ended::WokenAlone));
}

/// However many wait, and whichever task goes, in whatever order: each step looks at a node or two.
#[test]
fn step_is_as_long_with_many() {
    const MOST: usize = if cfg!(miri) { 100 } else { 100_000 };
    let (waiters, notes) = (Waiters::new(), Notes::default());
    drop(node(&waiters).give_back());
    let mut there = Vec::new();
    for _ in 0..MOST {
        assert!(steps(|| there.extend(armed(&waiters, &notes, 1))) <= 1);
    }
    // Every third is woken, and waits again; every other third goes.
    for number in 0..MOST / 3 {
        assert!(steps(|| assert_eq!(some(&waiters, 1), 1)) <= 1);
        let mut of_woken = std::mem::replace(&mut there[number], node(&waiters));
        assert_eq!(of_woken.disarm(), Ended::WokenAlone);
        assert!(steps(|| arm(&mut of_woken, &notes.waker(0))) <= 1);
        drop(std::mem::replace(&mut there[number], of_woken).give_back());
        let mut goes = there.swap_remove(there.len() - 1 - number);
        assert!(steps(|| assert_eq!(goes.disarm(), Ended::Plainly)) == 0);
        assert!(steps(|| drop(goes.give_back())) <= 2);
    }
    let left = there.len();
    assert_eq!((waiters.count(), nodes(&waiters).0), (left, left));
    assert!(steps(|| assert!(all(&waiters))) <= left);
    ends(there);
}

/// Nodes are used again, and there are as many as tasks wait now, and as many again at most.
#[test]
fn memory_goes_by_the_tasks_that_wait_now() {
    let (waiters, notes) = (Waiters::new(), Notes::default());
    let mut there = armed(&waiters, &notes, MANY);
    assert_eq!(nodes(&waiters), (MANY, 0));
    while let Some(mut goes) = there.pop() {
        goes.disarm();
        drop(goes.give_back());
        let (owned, free) = nodes(&waiters);
        assert!(owned == there.len() && free <= owned + 4, "{free} beside {owned}");
    }
    for _ in 0..10 {
        let few = armed(&waiters, &notes, 4);
        assert_eq!(nodes(&waiters), (4, 0));
        ends(few);
        assert_eq!(nodes(&waiters), (0, 4));
    }
    assert_eq!((waiters.count(), notes.alive()), (0, 0));
}

#[test]
fn last_waker_counts() {
    let (waiters, notes) = (Waiters::new(), Notes::default());
    let mut nodes = armed(&waiters, &notes, 1);
    assert_eq!(nodes[0].disarm(), Ended::Plainly);
    assert_eq!(some(&waiters, 1), 0, "it does not wait");
    let second = notes.waker(1);
    arm(&mut nodes[0], &second);
    assert_eq!(notes.alive(), 1, "the first one is gone");
    nodes[0].disarm();
    arm(&mut nodes[0], &second.clone());
    assert!(all(&waiters));
    assert_eq!(notes.take(), [1]);
    ends(nodes);
}

/// The waker finds that the owner has gone: the node is free, and another one is woken.
#[test]
fn abandoned_node_is_not_woken() {
    let (waiters, notes) = (Waiters::new(), Notes::default());
    let mut there = armed(&waiters, &notes, 2);
    let mut first = there.remove(0);
    // task.wake3 of another thread …
    first.slot().state.store(TAKEN, Ordering::Relaxed);
    // … then the owner …
    let place = first.place;
    assert_eq!(first.disarm(), Ended::Abandoned);
    // … then task.wake5.
    let shared = waiters.list.get().unwrap();
    let WaiterPlace::Node(node) = place else { panic!("it is in the list") };
    // SAFETY: it lives.
    shared.with_list(|list| list.unlink(unsafe { node.as_ref() }));
    let left = shared.with_list(|list| list.end_taken(node, WOKEN_WITH_ALL));
    assert!(left.is_some_and(|(_waker, is_woken)| !is_woken), "it is to be dropped");
    assert_eq!(nodes(&waiters), (1, 1), "it is free");
    assert_eq!(some(&waiters, 1), 1);
    assert_eq!(notes.take(), [1], "the wake-up went to the other");
    assert_eq!(notes.alive(), 0);
    ends(there);
}

/// What comes while another thread has the list is done by that thread: nobody waits for it.
#[test]
fn work_left_to_the_thread_with_the_list_is_done() {
    let (waiters, notes) = (Waiters::new(), Notes::default());
    let mut there = armed(&waiters, &notes, 3);
    let shared = waiters.list.get().unwrap();
    // Another thread has the list.
    assert!(shared.enter(0, 0));
    let mut late = armed(&waiters, &notes, 5);
    there.extend(late.drain(3..));
    let mut goes = there.remove(1);
    goes.disarm();
    drop(goes.give_back());
    let mut comes_and_goes = armed(&waiters, &notes, 1).remove(0);
    comes_and_goes.disarm();
    drop(comes_and_goes.give_back());
    assert_eq!(some(&waiters, 1), 1);
    assert_eq!(some(&waiters, 2), 2);
    assert_ne!(waiters.count(), 0);
    assert_eq!(notes.take(), [0; 0], "not yet");
    assert_eq!(shared.leave(0), Woken::default());
    assert_eq!(notes.take(), [0, 2, 0]);
    assert!(shared.enter(0, 0));
    assert!(all(&waiters));
    assert_eq!(shared.leave(0), Woken { is_any: true, ..Woken::default() });
    ends(there);
    ends(late);
}

/// Where there are fewer tasks than others asked for, the caller is told, and wakes any other sleeper.
#[test]
fn wish_that_was_left_may_fall_short() {
    for (tasks, mine, of_others, expected, is_short) in
        [(3, 1, 2, 1, false), (2, 1, 2, 1, true), (1, 1, 1, 1, true), (0, 1, 1, 0, true), (1, 0, 1, 0, false)]
    {
        let (waiters, notes) = (Waiters::new(), Notes::default());
        let there = armed(&waiters, &notes, tasks);
        drop(node(&waiters).give_back());
        let shared = waiters.list.get().unwrap();
        assert!(shared.enter(0, 0));
        assert_eq!(some(&waiters, of_others), of_others);
        let woken = shared.serve(None, mine, u64::from(mine) * ONE);
        assert_eq!(woken, Woken { count: expected, is_any: false, is_short });
        ends(there);
    }
}

/// More wishes than there is room to note are wishes for as many as fit.
#[test]
fn wishes_do_not_overflow() {
    let (waiters, notes) = (Waiters::new(), Notes::default());
    let there = armed(&waiters, &notes, 3);
    let shared = waiters.list.get().unwrap();
    assert!(shared.enter(0, 0));
    for most in [u32::MAX, 2] {
        assert_eq!(some(&waiters, most), most);
    }
    assert_eq!(shared.owned(), 3);
    assert_eq!(shared.leave(0), Woken { is_short: true, ..Woken::default() });
    assert_eq!(notes.take(), [0, 1, 2]);
    ends(there);
}

/// What a panic says, which panics where it is dropped.
struct PanicsInTurn;

impl Drop for PanicsInTurn {
    fn drop(&mut self) {
        // Without an allocation: nobody can drop it.
        resume_unwind(Box::new(()));
    }
}

#[test]
fn waker_that_panics_harms_nobody() {
    let wake_all = |waiters: &Waiters| assert!(all(waiters));
    let wake_some = |waiters: &Waiters| assert_eq!(some(waiters, 9), 9);
    for wake in [&wake_all as &dyn Fn(&Waiters), &wake_some] {
        let (waiters, notes) = (Waiters::new(), Notes::default());
        let mut nodes = armed(&waiters, &notes, 9);
        nodes[1].disarm();
        arm(&mut nodes[1], &notes.waker_that(1, Some(Box::new(|| resume_unwind(Box::new("on purpose"))))));
        nodes[3].disarm();
        arm(&mut nodes[3], &notes.waker_that(3, Some(Box::new(|| resume_unwind(Box::new(PanicsInTurn))))));
        wake(&waiters);
        assert_eq!(notes.take(), (0..9).collect::<Vec<_>>());
        ends(nodes);
    }
}

/// A waiter that waits again inside its `wake` is not woken without end.
#[test]
fn wake_up_ends() {
    let notes = Notes::default();
    let waiters = Arc::new(Waiters::new());
    let others = Arc::new(Mutex::new(Vec::new()));
    let mut there = armed(&waiters, &notes, 40);
    let again = {
        let (waiters, others, waker) = (Arc::clone(&waiters), Arc::clone(&others), notes.waker(70));
        move || {
            for _ in 0..3 {
                let mut node = node(&waiters);
                arm(&mut node, &waker);
                others.lock().unwrap().push(node);
            }
        }
    };
    there[0].disarm();
    arm(&mut there[0], &notes.waker_that(0, Some(Box::new(again))));
    assert!(all(&waiters));
    assert_eq!(notes.take(), (0..40).collect::<Vec<_>>());
    assert_eq!(waiters.count(), 3);
    ends(there);
    ends(std::mem::take(&mut *others.lock().unwrap()));
}

/// Threads wake while others arm and disarm: nobody is woken twice for one arming, no wake-up is lost,
/// and no waker is left.
#[test]
fn threads_beside_each_other() {
    const ROUNDS: usize = if cfg!(miri) { 50 } else { 20_000 };
    let (waiters, notes) = (Waiters::new(), Notes::default());
    let ended = std::thread::scope(|scope| {
        let owners: Vec<_> = (0..2)
            .map(|number| {
                let (waiters, waker) = (&waiters, notes.waker(number));
                scope.spawn(move || {
                    let mut woken_alone = 0;
                    let mut there = node(waiters);
                    for round in 0..ROUNDS {
                        let _ = there.arm(&waker);
                        std::hint::spin_loop();
                        match there.disarm() {
                            Ended::Plainly => {}
                            Ended::WokenAlone => woken_alone += 1,
                            Ended::Abandoned => there = node(waiters),
                        }
                        if round % 4 == 0 {
                            drop(std::mem::replace(&mut there, node(waiters)).give_back());
                        }
                    }
                    drop(there.give_back());
                    woken_alone
                })
            })
            .collect();
        let wakers: Vec<_> =
            (0..2).map(|_| scope.spawn(|| (0..ROUNDS).for_each(|_| _ = waiters.wake_some(1)))).collect();
        for waker in wakers {
            waker.join().unwrap();
        }
        owners.into_iter().map(|owner| owner.join().unwrap()).sum::<usize>()
    });
    assert_eq!(notes.take().len(), ended, "each wake-up is one of an owner");
    assert_eq!((notes.alive(), waiters.count()), (0, 0));
    assert_eq!(nodes(&waiters).0, 0, "all nodes are free again");
}

/// The place of a task that waits with this waker.
fn place(waiters: &Waiters, waker: &Waker) -> OwnedNode {
    // SAFETY: the tests drop their places before the waiters.
    unsafe { waiters.take_first_armed(waker).unwrap_or_else(|own| waiters.take_node_armed(own).0) }
}

/// A task that waits alone is in the first slot: it allocates nothing, however often it waits.
#[test]
fn task_that_waits_alone_has_no_list() {
    let (waiters, notes) = (Waiters::new(), Notes::default());
    for turn in 0..5 {
        let mut there = place(&waiters, &notes.waker(turn));
        assert_eq!(waiters.count(), 1);
        let ended = match turn % 3 {
            0 => some(&waiters, 1) as usize,
            1 => usize::from(all(&waiters)),
            _ => 0,
        };
        assert_eq!(notes.take(), [turn; 1][..ended]);
        assert_eq!(there.disarm(), if turn % 3 == 0 { Ended::WokenAlone } else { Ended::Plainly });
        drop(there.give_back());
        assert_eq!((waiters.count(), notes.alive()), (0, 0));
    }
    assert!(waiters.list.get().is_none());
}

/// The first slot comes first, and a task that was woken there is behind all others when it waits again.
#[test]
fn first_slot_is_in_turn() {
    let (waiters, notes) = (Waiters::new(), Notes::default());
    let mut there: Vec<_> = (0..3).map(|number| place(&waiters, &notes.waker(number))).collect();
    assert_eq!(waiters.count(), 3);
    assert_eq!(some(&waiters, 1), 1);
    assert_eq!(there[0].disarm(), Ended::WokenAlone);
    assert!(!there[0].is_there(), "its slot is free");
    there[0] = place(&waiters, &notes.waker(0));
    assert_eq!(some(&waiters, 3), 3);
    assert_eq!(notes.take(), [0, 1, 2, 0]);
    assert!(ends(there).iter().all(|&ended| ended == Ended::WokenAlone));
    assert_eq!((waiters.count(), notes.alive()), (0, 0));
}

/// The waker finds that the owner has left the first slot: it is free, and the next one is woken.
#[test]
fn abandoned_slot_is_free_again() {
    let (waiters, notes) = (Waiters::new(), Notes::default());
    let [mut first, second] = [0, 1].map(|number| place(&waiters, &notes.waker(number)));
    // Another thread is between task.wake3 and task.wake5 …
    assert!(waiters.first.take_unlisted());
    assert_eq!(first.disarm(), Ended::Abandoned);
    assert!(!first.is_there() && !waiters.first.claim());
    // … and goes on.
    assert!(waiters.end_first(WOKEN_WITH_ALL).is_none(), "it is not to be woken");
    assert_eq!(notes.alive(), 1, "it is dropped");
    assert_eq!(some(&waiters, 1), 1);
    assert_eq!(notes.take(), [1]);
    ends(vec![second]);
    let again = place(&waiters, &notes.waker(2));
    assert!(all(&waiters));
    assert_eq!((notes.take(), notes.alive()), (vec![2], 0));
    ends(vec![again]);
}
