//! Tests of the first slot.

use std::vec;

use super::*;

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
