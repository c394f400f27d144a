//! Broadcast rings whose publisher is another process, or whose subscriber is.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use annulus::Settings;
use annulus::shm::{Shared, broadcast};
use annulus::{Notifier, Readiness, Worker, select};
use futures_util::StreamExt;
use rustix::event::epoll;
use rustix::io::Errno;

use crate::support::sleeping;
use crate::tasks::{QUIET, Running, guest, maker, until};

#[test]
fn a_message_wakes_a_task() {
    for role in ["publish", "publish several", "publish lossless"] {
        let (publisher, invitation) = maker(role);
        let mut subscriber = if role == "publish lossless" {
            invitation.accept_lossless::<u64>().unwrap().subscribe_lossy()
        } else {
            invitation.accept::<u64>().unwrap().subscribable().subscribe()
        };
        let task = Running::new(move || async move {
            let mut received = Vec::new();
            while received.len() < 3 {
                received.push(subscriber.recv_async().await.unwrap());
            }
            received
        });
        for message in 1..=3 {
            task.is_idle_after(message);
            publisher.step();
        }
        assert_eq!(task.end(), [0, 1, 2]);
    }
}

#[test]
fn message_wakes_a_seated_task() {
    let (publisher, invitation) = maker("publish lossless");
    let ring = invitation.accept_lossless::<u64>().unwrap();
    let mut subscriber = ring.subscribe().unwrap();
    let task = Running::new(move || async move { subscriber.recv_async().await });
    task.is_idle_after(1);
    publisher.step();
    assert_eq!(task.end(), Ok(0));
}

/// A close, and a death. Nobody polls the task before that.
#[test]
fn the_end_wakes_a_task() {
    for role in ["publish one and close", "publish", "publish several"] {
        let (mut publisher, invitation) = maker(role);
        let subscriber = invitation.accept::<u64>().unwrap().subscribable().subscribe();
        let task = Running::new(move || subscriber.into_stream().collect::<Vec<_>>());
        task.is_idle_after(1);
        publisher.step();
        if role != "publish one and close" {
            task.is_idle_after(2);
            publisher.kill();
        }
        assert_eq!(task.end(), [0]);
    }
}

/// A select sleeps, and does not look again and again.
#[test]
fn message_wakes_a_select() {
    for chosen in 0..3 {
        let rings = [maker("publish"), maker("publish lossless"), maker("publish several")];
        let mut first = rings[0].1.accept::<u64>().unwrap().subscribable().subscribe();
        let mut second = rings[1].1.accept_lossless::<u64>().unwrap().subscribe().unwrap();
        let mut third = rings[2].1.accept::<u64>().unwrap().subscribable().subscribe();
        let (selector, sleeper) = sleeping::spawn(move || {
            select! {
                recv(first) -> message => (0, message),
                recv(second) -> message => (1, message),
                recv(third) -> message => (2, message),
            }
        });
        // It spins for a while first, and then looks 20 times in a second, whether the others are there.
        sleeper.await_sleep();
        let (begun, before) = (Instant::now(), sleeper.sleeps().unwrap());
        std::thread::sleep(QUIET);
        let looks = u128::from(sleeper.sleeps().unwrap() - before);
        assert!(looks <= begun.elapsed().as_millis() / 50 + 2, "it looks again and again: {looks} times");
        rings[chosen].0.step();
        assert_eq!(selector.join().unwrap(), (chosen, Ok(0)));
    }
}

/// A notifier in a worker of `epoll`.
#[test]
fn message_wakes_a_notifier() {
    wakes_a_notifier("publish");
}

#[test]
fn message_of_several_publishers_wakes_a_notifier() {
    wakes_a_notifier("publish several");
}

fn wakes_a_notifier(role: &str) {
    let (mut publisher, invitation) = maker(role);
    let mut notifier = Notifier::new(invitation.accept::<u64>().unwrap().subscribable().subscribe()).unwrap();
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC).unwrap();
    epoll::add(&poll, &notifier, epoll::EventData::new_u64(7), epoll::EventFlags::IN).unwrap();
    let wait = |timeout: Duration| {
        let mut events = Vec::with_capacity(4);
        let timeout = rustix::time::Timespec::try_from(timeout).unwrap();
        loop {
            match epoll::wait(&poll, rustix::buffer::spare_capacity(&mut events), Some(&timeout)) {
                Err(Errno::INTR) => {}
                told => return told.unwrap(),
            }
        }
    };
    let long = Duration::from_secs(60);
    for message in 0..3 {
        assert_eq!(notifier.arm(), Readiness::Armed);
        assert_eq!(wait(QUIET), 0, "nothing has come");
        publisher.step();
        assert_eq!(wait(long), 1);
        assert_eq!(notifier.arm(), Readiness::Ready);
        assert_eq!(notifier.get_mut().try_recv(), Ok(message));
    }
    assert_eq!(notifier.arm(), Readiness::Armed);
    publisher.kill();
    // A look may have come just before, which asked the kernel.
    while notifier.arm() == Readiness::Armed {
        assert_eq!(wait(long), 1);
    }
    assert!(notifier.get_mut().recv().unwrap_err().peer_died());
}

/// At the gate: a receive of another process wakes the task, and so does the death of the slow one.
#[test]
fn room_wakes_a_publisher() {
    let Shared { handle: mut publisher, invitation, .. } =
        broadcast::lossless::<u64>(Settings::new(2), 2).unwrap();
    let mut subscriber = guest("await", &invitation);
    let task = Running::new(move || async move {
        for number in 0..4 {
            publisher.publish_async(number).await.unwrap();
        }
        publisher
    });
    task.is_idle_after(1);
    subscriber.step();
    task.is_idle_after(2);
    subscriber.kill();
    let mut publisher = task.end();
    (0..10).for_each(|number| publisher.publish(number).unwrap());
}

/// A worker stops, though it has a wake-up that nobody counts.
#[test]
fn worker_stops() {
    let (publisher, invitation) = maker("publish");
    let subscriber = invitation.accept::<u64>().unwrap().subscribable().subscribe();
    let (tell, told) = mpsc::channel();
    let handler = move |(): &mut (), message: u64, _| tell.send(message).unwrap();
    let worker = Worker::builder(subscriber, ()).spawn(handler).unwrap();
    publisher.step();
    assert_eq!(told.recv(), Ok(0));
    worker.stop();
    assert_eq!(worker.join().unwrap().messages, 1);
}

/// Both processes go on while tasks of one of them come and go: each message is received by each.
#[test]
fn many_tasks_at_one_ring() {
    let (publisher, invitation) = maker("publish");
    let ring = invitation.accept::<u64>().unwrap();
    let tasks = [(); 8].map(|()| {
        let mut subscriber = ring.subscribable().subscribe();
        Running::new(move || async move {
            let mut received = 0;
            while received < 500 {
                received += 1;
                subscriber.recv_async().await.unwrap();
            }
            (subscriber.cursor(), subscriber.total_lagged())
        })
    });
    until(|| tasks.iter().all(|task| task.polls() > 0));
    let mut steps = 0;
    while tasks.iter().any(|task| !task.thread.is_finished()) {
        publisher.step();
        steps += 1;
        if steps % 50 == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    for task in tasks {
        let (cursor, lagged) = task.end();
        assert_eq!(cursor, 500 + lagged);
    }
}
