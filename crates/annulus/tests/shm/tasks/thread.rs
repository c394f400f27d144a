//! The thread that sleeps in the place of tasks: it costs next to nothing, and is not there without need.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake};
use std::time::{Duration, Instant};

use annulus::Settings;
use annulus::shm::{Accepted, Invitation, Shared, broadcast};
use annulus::{Notifier, Readiness, select};
use futures_util::Stream;

use crate::process::Child;
use crate::support::sleeping::{self, Sleeper};
use crate::tasks::{Running, until};

/// How many such threads this process has. None of them takes a signal of the program's.
fn threads() -> usize {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    // (One that has just ended has no file any more, or is dead in it, without its signals.)
    let files = tasks.map(|task| fs::read_to_string(task.unwrap().path().join("status")).unwrap_or_default());
    let ours = files
        .filter(|status| status.starts_with("Name:\tannulus wake-up") && !status.contains("\nState:\tX"));
    ours.inspect(|status| {
        let blocked = status.lines().find_map(|line| line.strip_prefix("SigBlk:")).unwrap();
        let blocked = u64::from_str_radix(blocked.trim(), 16).unwrap();
        assert_ne!(blocked >> (libc::SIGTERM - 1) & 1, 0, "{status}");
    })
    .count()
}

/// One of each waits, and nothing comes for a second: how often more than they may their threads got up,
/// which is 20 times in a second, and how often the task was polled.
pub(crate) fn cost_of_waiting(invitation: &Invitation) -> (u64, u64) {
    let ring = invitation.accept::<u64>().unwrap();
    let [mut first, mut second, mut third] = [(); 3].map(|()| ring.subscribable().subscribe());
    let task = Running::new(move || async move { first.recv_async().await });
    let mut notifier = Notifier::new(ring.subscribable().subscribe()).unwrap();
    assert_eq!(notifier.arm(), Readiness::Armed);
    std::thread::spawn(move || {
        let _ = select! {
            recv(second) -> message => message,
            recv(third) -> message => message,
        };
    });
    until(|| task.polls() > 0);
    let all = Sleeper::others();
    all.iter().for_each(Sleeper::await_sleep);
    let sleeps = || all.iter().map(|thread| thread.sleeps().unwrap()).sum::<u64>();
    let (begun, before) = (Instant::now(), sleeps());
    std::thread::sleep(Duration::from_secs(1));
    let wakes = sleeps() - before;
    let may = all.len() as u64 * (u64::try_from(begun.elapsed().as_millis()).unwrap() / 50 + 2);
    let polls = task.polls();
    assert_eq!(threads(), 1, "one for all three");
    // (They wait until this process ends.)
    (wakes.saturating_sub(may), polls)
}

#[test]
fn waiting_costs_next_to_nothing() {
    let Shared { handle: _publisher, invitation, .. } = broadcast::lossy::<u64>(Settings::new(8)).unwrap();
    let child = Child::new("wait");
    invitation.send(&child.socket).unwrap();
    assert_eq!(child.said(), (0, 1));
}

/// How often such a thread began, and how often it ended.
pub(crate) fn threads_come_and_go(invitation: &Invitation) -> (u64, u64) {
    let (mut began, mut ended) = (0, 0);
    let ring = invitation.accept::<u64>().unwrap();
    // Until the thread has been seen. (A message may be there at the first poll, and then there is no need.)
    let wait_for_some = |ring: &Accepted<u64>| {
        let mut subscriber = ring.subscribable().subscribe();
        let is_seen = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&is_seen);
        let task = Running::new(move || async move {
            while !is_over.load(Ordering::SeqCst) {
                subscriber.recv_async().await.unwrap();
            }
        });
        until(|| threads() == 1);
        is_seen.store(true, Ordering::SeqCst);
        task.end();
    };
    assert_eq!(threads(), 0, "nobody waits");
    // Nobody waits for more than a second: it ends. Then somebody comes.
    for _ in 0..2 {
        wait_for_some(&ring);
        began += 1;
        until(|| threads() == 0);
        ended += 1;
    }
    // All handles are dropped: it ends at once, and not after a second.
    let mut ring = Some(ring);
    sleeping::once_in_less_than(Duration::from_millis(500), || {
        wait_for_some(ring.as_ref().unwrap());
        began += 1;
        ring = None;
        let begun = Instant::now();
        until(|| threads() == 0);
        ended += 1;
        ring = Some(invitation.accept::<u64>().unwrap());
        begun.elapsed()
    });
    (began, ended)
}

#[test]
fn thread_exists_while_a_task_waits() {
    let Shared { handle: mut publisher, invitation, .. } = broadcast::lossy::<u64>(Settings::new(8)).unwrap();
    let child = Child::new("come and go");
    invitation.send(&child.socket).unwrap();
    let said = std::thread::spawn(move || child.said());
    let mut number = 0;
    while !said.is_finished() {
        publisher.publish(number);
        number += 1;
        std::thread::sleep(Duration::from_millis(20));
    }
    let (began, ended) = said.join().unwrap();
    assert!(began >= 3 && ended == began, "{began} began, {ended} ended");
}

/// An executor that drops all that there is of the ring inside its `wake`, which runs on that thread.
#[test]
fn wake_may_drop_the_ring() {
    type Messages = std::pin::Pin<Box<dyn Stream<Item = u64> + Send>>;
    struct DropsAll(Mutex<Option<Messages>>);
    impl Wake for DropsAll {
        fn wake(self: Arc<Self>) {
            drop(self.0.lock().unwrap().take());
        }
    }
    for _ in 0..20 {
        let Shared { handle: mut publisher, invitation, .. } =
            broadcast::lossy::<u64>(Settings::new(8)).unwrap();
        let subscriber = invitation.accept::<u64>().unwrap().subscribable().subscribe();
        let mut messages: Messages = Box::pin(subscriber.into_stream());
        let all = Arc::new(DropsAll(Mutex::new(None)));
        let waker = Arc::clone(&all).into();
        assert!(messages.as_mut().poll_next(&mut Context::from_waker(&waker)) == Poll::Pending);
        *all.0.lock().unwrap() = Some(messages);
        publisher.publish(1);
        until(|| all.0.lock().unwrap().is_none());
        publisher.publish(2);
    }
}
