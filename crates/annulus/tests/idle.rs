//! A process that holds one of each thing that waits, and to which nothing comes, uses nothing of a core.
//!
//! It has a file, and so a process, of its own, because it asks for what the whole process used.
#![allow(missing_docs, reason = "a test")]
#![cfg(target_os = "linux")]

mod support;

use std::any::Any;
use std::fs;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use annulus::queue::shared;
use annulus::{
    Closer, EventLoop, EventNotifier, Readiness, Select, Shutdown, broadcast, event, mpmc, mpsc, select,
    spmc, spsc,
};
use futures_util::StreamExt;
use pollster::block_on;
use rustix::event::{PollFd, PollFlags, poll};
use support::{join, soak_time};

/// What all threads of this process have used of a core so far, without the one that asks, and the clock of
/// `support/hang.rs`.
fn time_on_all_cores() -> Duration {
    let calling = fs::read_link("/proc/thread-self").expect("Linux tells it");
    let threads = fs::read_dir("/proc/self/task").expect("Linux tells it");
    let others =
        threads.map(Result::unwrap).filter(|thread| Some(&*thread.file_name()) != calling.file_name());
    let used = others.map(|thread| {
        let read = |name| fs::read_to_string(thread.path().join(name)).expect("nobody ends");
        if read("comm") == "hang\n" {
            return 0;
        }
        read("schedstat").split_whitespace().next().unwrap().parse::<u64>().unwrap()
    });
    Duration::from_nanos(used.sum())
}

/// Those who wait, each on a thread of its own, until all rings are closed.
#[derive(Default)]
struct Idle {
    threads: Vec<JoinHandle<()>>,
    stop: Shutdown,
    /// The other ends: as long as they are there, no ring closes by itself.
    others: Vec<Box<dyn Any>>,
}

impl Idle {
    /// `wait` returns when the ring of `closer` is closed.
    fn wait(&mut self, closer: Closer, other: impl Any, wait: impl FnOnce() + Send + 'static) {
        self.stop.attach(closer);
        self.others.push(Box::new(other));
        self.threads.push(thread::spawn(wait));
    }

    fn who_receive(&mut self) {
        let (publisher, source) = broadcast::lossy::<u64>(8);
        let (mut one, mut group) = (source.subscribe(), source.subscribe_group::<3>());
        self.wait(publisher.closer(), (), move || assert!(one.recv().is_err()));
        self.wait(publisher.closer(), publisher, move || assert!(group.recv().is_err()));

        let (publisher, source) = broadcast::mp_lossless::<u64>(8);
        let mut first = source.subscribe_tracked();
        let mut second = source.subscribe().after(&[&first]);
        self.wait(publisher.closer(), (), move || assert!(first.recv().is_err()));
        self.wait(publisher.closer(), publisher, move || assert!(second.recv().is_err()));

        let (publisher, source) = event::channel(8, String::new);
        let mut subscriber = source.subscribe();
        self.wait(publisher.closer(), publisher, move || assert!(subscriber.recv().is_err()));

        let (producer, mut consumer) = spsc::channel::<String>(8);
        self.wait(producer.closer(), producer, move || assert!(consumer.recv().is_err()));
        let (producer, mut consumer) = mpsc::channel::<String>(8);
        self.wait(producer.closer(), producer, move || assert!(consumer.recv().is_err()));
        let (producer, mut consumer) = spmc::channel::<String>(8);
        self.wait(producer.closer(), producer, move || assert!(consumer.recv().is_err()));
        let (producer, mut consumer) = mpmc::channel::<String>(8);
        self.wait(producer.closer(), producer, move || assert!(consumer.recv().is_err()));
        let (sender, receiver) = shared::channel::<String>(8);
        self.wait(sender.closer(), sender, move || assert!(receiver.recv().is_err()));
    }

    /// Each at a full ring.
    fn who_send(&mut self) {
        let (mut publisher, source) = broadcast::lossless(2);
        let slow = source.subscribe();
        publisher.publish_batch(&[1, 2]).unwrap();
        self.wait(publisher.closer(), slow, move || assert!(publisher.publish(3).is_err()));

        let (mut publisher, source) = event::channel(2, || 0);
        let slow = source.subscribe();
        publisher.send(1).unwrap();
        publisher.send(2).unwrap();
        self.wait(publisher.closer(), slow, move || assert!(publisher.send(3).is_err()));

        let (mut producer, consumer) = spsc::channel(1);
        producer.send(1).unwrap();
        self.wait(producer.closer(), consumer, move || assert!(producer.send(2).is_err()));
        let (mut producer, consumer) = mpmc::channel(1);
        producer.send(1).unwrap();
        self.wait(producer.closer(), consumer, move || assert!(producer.send(2).is_err()));
        let (sender, receiver) = shared::channel(1);
        sender.send(1).unwrap();
        self.wait(sender.closer(), receiver, move || assert!(sender.send(2).is_err()));
    }

    fn who_are_tasks(&mut self) {
        let (publisher, source) = broadcast::lossy::<u64>(8);
        let subscriber = source.subscribe();
        self.wait(publisher.closer(), publisher, move || {
            assert_eq!(block_on(subscriber.into_stream().next()), None);
        });
        let (mut publisher, source) = broadcast::lossless(2);
        let slow = source.subscribe();
        publisher.publish_batch(&[1, 2]).unwrap();
        self.wait(publisher.closer(), slow, move || {
            assert!(block_on(publisher.publish_async(3)).is_err());
        });
        let (producer, mut consumer) = mpsc::channel::<String>(8);
        self.wait(producer.closer(), producer, move || assert!(block_on(consumer.recv_async()).is_err()));
        let (mut producer, consumer) = spsc::channel(1);
        producer.send(1).unwrap();
        self.wait(producer.closer(), consumer, move || assert!(block_on(producer.send_async(2)).is_err()));
    }

    fn who_wait_for_several(&mut self) {
        let (publisher, source) = broadcast::lossy::<u64>(8);
        let (mut producer, consumer) = spsc::channel(1);
        producer.send(1).unwrap();
        let mut prices = source.subscribe();
        self.wait(publisher.closer(), (publisher, consumer), move || {
            select! {
                recv(prices) -> price => assert!(price.is_err()),
                send(producer, 2) -> _sent => panic!("it is full"),
            }
        });

        let (numbers, mut first) = mpsc::channel::<u64>(8);
        let (texts, mut second) = spmc::channel::<String>(8);
        self.wait(texts.closer(), (numbers, texts), move || {
            let mut select = Select::new();
            select.recv(&mut first);
            assert_eq!((select.recv(&mut second), select.ready()), (1, 1));
        });
    }

    fn who_have_a_descriptor(&mut self) {
        let (producer, consumer) = mpsc::channel::<u64>(8);
        let mut notifier = EventNotifier::new(consumer).unwrap();
        self.wait(producer.closer(), producer, move || {
            assert_eq!(notifier.arm(), Readiness::Armed);
            let count = poll(&mut [PollFd::new(&notifier, PollFlags::IN)], None);
            assert_eq!(count, Ok(1));
        });
    }
}

#[test]
fn one_of_each_thing_uses_nothing() {
    let mut idle = Idle::default();
    idle.who_receive();
    idle.who_send();
    idle.who_are_tasks();
    idle.who_wait_for_several();
    idle.who_have_a_descriptor();
    let (producer, consumer) = spsc::channel::<u64>(8);
    let event_loop = EventLoop::builder(consumer, ()).spawn(|(), _, _| {}).unwrap();

    // Until all of them sleep.
    let mut before = time_on_all_cores();
    let begun = Instant::now();
    loop {
        thread::sleep(Duration::from_millis(100));
        let now = time_on_all_cores();
        if now == before {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "they never sleep");
        before = now;
    }

    let time = soak_time(Duration::from_secs(3));
    let before = time_on_all_cores();
    thread::sleep(time);
    let used = time_on_all_cores().saturating_sub(before);
    println!("{} threads, idle for {time:?}, {used:?} of it on a core", idle.threads.len() + 1);
    assert!(used < Duration::from_millis(1), "idle for {time:?}, {used:?} of it on a core");

    // They did wait: all rings were open.
    assert!(!idle.threads.iter().any(JoinHandle::is_finished));
    idle.stop.trigger();
    join(idle.threads);
    drop(producer);
    assert_eq!(event_loop.join().unwrap().messages, 0);
}
