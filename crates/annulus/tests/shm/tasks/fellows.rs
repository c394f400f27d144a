//! Rings of several publishers: what becomes of a task that waits for a message which will not come.

use std::time::Duration;

use annulus::broadcast::{Foreign, Subscriber};
use annulus::schema::BadValue;
use annulus::shm::Shared;
use annulus::shm::WhenGone;
use annulus::shm::mp_broadcast::lossless_publisher;
use annulus::{LossyRecvError, Notifier, Readiness, TrySendError};

use crate::mp_broadcast::by_hand::{Hand, Step};
use crate::mp_broadcast::{Memory, ring};
use crate::tasks::{QUIET, Running, guest, until};

/// What the subscriber receives, or loses.
fn next(mut subscriber: Subscriber<u64, Foreign>) -> Running<Result<u64, LossyRecvError<BadValue>>> {
    Running::new(move || async move { subscriber.recv_or_lag_async().await })
}

/// Messages of any publisher wake it, and its death does not, as long as another one lives.
#[test]
fn publisher_of_any_process_wakes_a_task() {
    let builder = ring(8, 3).when_no_publisher(WhenGone::Close);
    let Shared { handle: own, invitation, .. } = builder.build::<u64>().unwrap();
    let accepted = invitation.accept::<u64>().unwrap();
    let mut guests = [(); 2].map(|()| guest("join and publish", &invitation));
    drop(own);
    for one in &guests {
        let task = next(accepted.subscribable().subscribe());
        task.is_idle_after(1);
        one.step();
        assert_eq!(task.end(), Ok(0));
    }
    let task = next(accepted.subscribable().subscribe());
    task.is_idle_after(1);
    guests[0].kill();
    std::thread::sleep(QUIET);
    assert_eq!(task.polls(), 1, "the other one lives");
    guests[1].kill();
    assert_eq!(task.end(), Err(LossyRecvError::Closed));
}

/// A publisher is killed in the middle of a publish: it wakes nobody. The thread that sleeps in the task's
/// place asks the kernel, and the task learns that this one message is lost.
#[test]
fn death_of_a_claiming_publisher_wakes_a_task() {
    for step in Step::ALL {
        let Shared { handle: mut own, invitation, .. } = ring(8, 3).build::<u64>().unwrap();
        let accepted = invitation.accept::<u64>().unwrap();
        let task = next(accepted.subscribable().subscribe());
        task.is_idle_after(1);
        let mut child = guest(&format!("publish until {step:?}"), &invitation);
        task.is_idle_after(1);
        child.kill();
        if step < Step::Claimed {
            // It had claimed nothing, so nothing is lost.
            task.is_idle_after(1);
            own.publish(7);
            assert_eq!(task.end(), Ok(7));
        } else {
            assert_eq!(task.end(), Err(LossyRecvError::Lagged { skipped: 1 }), "{step:?}");
        }
    }
}

/// So does the descriptor of a notifier.
#[test]
fn death_of_a_claiming_publisher_wakes_a_notifier() {
    let Shared { handle: _own, invitation, .. } = ring(8, 3).build::<u64>().unwrap();
    let accepted = invitation.accept::<u64>().unwrap();
    let mut notifier = Notifier::new(accepted.subscribable().subscribe()).unwrap();
    let mut child = guest("publish until Writing", &invitation);
    assert_eq!(notifier.arm(), Readiness::Armed, "its owner lives");
    let is_readable = |notifier: &Notifier<_>| {
        use rustix::event::{PollFd, PollFlags, poll};
        let nothing = rustix::time::Timespec::try_from(Duration::ZERO).unwrap();
        poll(&mut [PollFd::new(notifier, PollFlags::IN)], Some(&nothing)) == Ok(1)
    };
    std::thread::sleep(QUIET);
    assert!(!is_readable(&notifier));
    child.kill();
    until(|| is_readable(&notifier));
    assert_eq!(notifier.get_mut().recv_or_lag(), Err(LossyRecvError::Lagged { skipped: 1 }));
}

/// A publisher of a lossless ring is about to claim a message that another one has claimed, which dies. A
/// task waits for it, until it finds no room, gives that up, and wakes the task.
#[test]
fn publisher_without_room_wakes_those_it_held_up() {
    let Shared { handle: mut own, invitation, .. } = ring(2, 3).build_lossless::<u64>(1).unwrap();
    let mut slower = lossless_publisher::<u64>(&invitation).unwrap();
    let mut subscriber = invitation.accept_lossless::<u64>().unwrap().subscribe().unwrap();
    let task = Running::new(move || async move { subscriber.recv_or_lag_async().await });
    task.is_idle_after(1);
    let dead = Hand::at_lossless(Step::Claimed, &invitation);
    Memory::of(&invitation).put_intent(slower.place() as u64, (0, 1));
    assert_eq!(dead.dies(), 0);
    // Nobody learns any more that the last publisher of this place has died. What was to be learned of that,
    // the task learns now.
    let _heir = lossless_publisher::<u64>(&invitation).unwrap();
    own.publish(1).unwrap();
    std::thread::sleep(QUIET);
    assert!(!task.thread.is_finished(), "it waits for the slower one");
    assert!(slower.try_publish(9) == Err(TrySendError::Full(9)));
    assert_eq!(task.end(), Err(LossyRecvError::Lagged { skipped: 1 }));
}
