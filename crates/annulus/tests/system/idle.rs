//! A process that holds one of each thing that waits, and to which nothing comes, sleeps: no thread gets up.
//!
//! It runs in a process of its own, because it asks for all threads of the process.
#![cfg(all(target_os = "linux", not(annulus_loom)))]

use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::support::sleeping::Sleeper;
use crate::support::{STUCK, join, soak_time};
use annulus::Settings;
use annulus::bus::Bus;
use annulus::pipeline::Pipeline;
use annulus::queue::{bytes, ordered};
use annulus::{
    Closer, Notifier, Readiness, Select, Shutdown, Waitable, Worker, broadcast, event, mpmc, mpsc, select,
    spmc, spsc,
};
use futures_util::StreamExt;
use pollster::block_on;
use rustix::event::{PollFd, PollFlags, poll};

/// How often all threads of this process have gone to sleep so far, but for the one that asks and the clock
/// of `support/hang.rs`; `None` where one of them is awake.
fn sleeps() -> Option<u64> {
    let looks = Sleeper::others().into_iter().map(|thread| thread.look().expect("nobody ends"));
    looks.map(|(is_asleep, sleeps)| is_asleep.then_some(sleeps)).sum()
}

/// The waiters, each on a thread of its own, until all rings are closed.
#[derive(Default)]
struct Idle {
    threads: Vec<JoinHandle<()>>,
    stop: Shutdown,
    /// What ends the waiters that the shutdown does not, and drops the other ends: as long as these are
    /// there, no ring closes by itself.
    ends: Vec<Box<dyn FnOnce()>>,
}

/// Sends until nobody receives any more, and so waits at the full ring before that.
macro_rules! fills {
    ($handle:ident . $send:ident ( $value:expr )) => {
        move || while $handle.$send($value).is_ok() {}
    };
    ($handle:ident . $send:ident ( $value:expr ) . await) => {
        move || block_on(async { while $handle.$send($value).await.is_ok() {} })
    };
}

/// Waits for the next message, and learns that there is none.
macro_rules! empties {
    ($handle:ident . $receive:ident ( $($argument:expr),* )) => {
        move || assert!($handle.$receive($($argument),*).is_err())
    };
    ($handle:ident . $receive:ident ( $($argument:expr),* ) . await) => {
        move || assert!(block_on($handle.$receive($($argument),*)).is_err())
    };
}

impl Idle {
    /// `wait` returns when the ring of `closer` is closed.
    fn wait(&mut self, closer: Closer, other: impl Sized + 'static, wait: impl FnOnce() + Send + 'static) {
        self.stop.attach(closer);
        self.wait_until(move || drop(other), wait);
    }

    /// `wait` returns after `end`.
    fn wait_until(&mut self, end: impl FnOnce() + 'static, wait: impl FnOnce() + Send + 'static) {
        self.ends.push(Box::new(end));
        self.threads.push(thread::spawn(wait));
    }

    fn who_receive_from_broadcasts(&mut self) {
        let (publisher, source) = broadcast::lossy::<u64>(8);
        let (mut one, mut group) = (source.subscribe(), source.subscribe_group::<3>());
        let mut long = source.subscribe();
        self.wait(publisher.closer(), (), empties!(one.recv()));
        self.wait(publisher.closer(), (), empties!(long.recv_timeout(Duration::from_secs(3600))));
        self.wait(publisher.closer(), publisher, empties!(group.recv()));

        let (publisher, source) = broadcast::mp_lossy::<u64>(8);
        let mut one = source.subscribe();
        self.wait(publisher.closer(), publisher, empties!(one.recv()));

        let (publisher, source) = broadcast::lossless::<u64>(8);
        let (mut one, mut group) = (source.subscribe(), source.subscribe_group::<3>());
        self.wait(publisher.closer(), (), empties!(one.recv()));
        self.wait(publisher.closer(), publisher, empties!(group.recv()));

        let (publisher, source) = broadcast::mp_lossless::<u64>(8);
        let mut first = source.subscribe_tracked();
        let mut second = source.subscribe().after(&[&first]);
        self.wait(publisher.closer(), (), empties!(first.recv()));
        self.wait(publisher.closer(), publisher, empties!(second.recv()));

        let (publisher, source) = event::channel(8, String::new);
        let mut first = source.subscribe_tracked();
        let mut second = source.subscribe().after(&[&first]);
        self.wait(publisher.closer(), (), empties!(first.process(String::len)));
        self.wait(publisher.closer(), publisher, empties!(second.recv()));
        let (publisher, source) = event::mp_channel(8, String::new);
        let mut subscriber = source.subscribe();
        self.wait(publisher.closer(), publisher, empties!(subscriber.wait()));

        let (publisher, source) = broadcast::bytes::lossy(64);
        let mut records = source.subscribe();
        self.wait(publisher.closer(), publisher, empties!(records.recv(&mut Vec::new())));

        let bus = Bus::<u64>::new(8);
        let publisher = bus.publisher("a.b");
        let (mut topic, mut matching) = (bus.subscribe("a.b"), bus.subscribe_matching("a.*").unwrap());
        self.wait_until(|| drop((publisher, bus)), empties!(matching.recv()));
        self.wait_until(|| {}, empties!(topic.recv()));
    }

    fn who_receive_from_queues(&mut self) {
        let (producer, mut consumer) = spsc::channel::<String>(8);
        self.wait(producer.closer(), producer, empties!(consumer.recv()));
        let (producer, mut consumer) = mpsc::channel::<String>(8);
        self.wait(producer.closer(), producer, empties!(consumer.recv()));
        let (producer, mut consumer) = spmc::channel::<String>(8);
        self.wait(producer.closer(), producer, empties!(consumer.recv()));
        let (producer, mut consumer) = mpmc::channel::<String>(8);
        self.wait(producer.closer(), producer, empties!(consumer.recv()));
        let (sender, receiver) = ordered::channel::<String>(8);
        self.wait(sender.closer(), sender, empties!(receiver.recv()));
        let (producer, mut consumer) = bytes::channel(64);
        self.wait(producer.closer(), producer, empties!(consumer.read()));
    }

    fn who_send(&mut self) {
        let (mut publisher, source) = broadcast::lossless(2);
        let slow = source.subscribe();
        self.wait(publisher.closer(), slow, fills!(publisher.publish(1)));
        let (publisher, source) = broadcast::mp_lossless(2);
        let slow = source.subscribe();
        self.wait(publisher.closer(), slow, fills!(publisher.publish(1)));
        let (mut publisher, source) = event::channel(2, || 0);
        let slow = source.subscribe();
        self.wait(publisher.closer(), slow, fills!(publisher.send(1)));
        let (mut publisher, source) = event::mp_channel(2, || 0);
        let slow = source.subscribe();
        self.wait(publisher.closer(), slow, fills!(publisher.send(1)));

        let (mut producer, consumer) = spsc::channel(1);
        self.wait(producer.closer(), consumer, fills!(producer.send(1)));
        let (mut producer, consumer) = mpsc::channel(1);
        self.wait(producer.closer(), consumer, fills!(producer.send(1)));
        let (mut producer, consumer) = spmc::channel(1);
        self.wait(producer.closer(), consumer, fills!(producer.send(1)));
        let (mut producer, consumer) = mpmc::channel(1);
        self.wait(producer.closer(), consumer, fills!(producer.send(1)));
        let (sender, receiver) = ordered::channel(1);
        self.wait(sender.closer(), receiver, fills!(sender.send(1)));
        let (mut producer, consumer) = bytes::channel(64);
        self.wait(producer.closer(), consumer, fills!(producer.write(b"a record")));
    }

    fn who_are_tasks_that_receive(&mut self) {
        let (publisher, source) = broadcast::lossy::<u64>(8);
        let (mut or_lag, mut group) = (source.subscribe(), source.subscribe_group::<2>());
        let subscriber = source.subscribe();
        self.wait(publisher.closer(), (), empties!(or_lag.recv_or_lag_async().await));
        self.wait(publisher.closer(), (), empties!(group.recv_async().await));
        self.wait(publisher.closer(), publisher, move || {
            assert_eq!(block_on(subscriber.into_stream().next()), None);
        });
        let (publisher, source) = broadcast::mp_lossless::<u64>(8);
        let mut stage = source.subscribe_tracked();
        self.wait(publisher.closer(), publisher, empties!(stage.process_async(|_| ()).await));
        let (publisher, source) = event::channel(8, String::new);
        let mut subscriber = source.subscribe();
        self.wait(publisher.closer(), publisher, empties!(subscriber.wait_async().await));
        let (publisher, source) = broadcast::bytes::lossy(64);
        let mut records = source.subscribe();
        let mut buffer = Vec::new();
        self.wait(publisher.closer(), publisher, empties!(records.recv_async(&mut buffer).await));

        let (producer, mut consumer) = mpsc::channel::<String>(8);
        self.wait(producer.closer(), producer, empties!(consumer.recv_async().await));
        let (producer, mut consumer) = spmc::channel::<u64>(8);
        let mut buffer = [0; 4];
        self.wait(producer.closer(), producer, empties!(consumer.recv_batch_async(&mut buffer).await));
        let (sender, receiver) = ordered::channel::<String>(8);
        self.wait(sender.closer(), sender, empties!(receiver.recv_async().await));
        let (producer, mut consumer) = bytes::channel(64);
        self.wait(producer.closer(), producer, empties!(consumer.read_async().await));
        let bus = Bus::<u64>::new(8);
        let mut matching = bus.subscribe_matching("**").unwrap();
        self.wait_until(|| drop(bus), empties!(matching.recv_async().await));
    }

    fn who_are_tasks_that_send(&mut self) {
        let (mut publisher, source) = broadcast::lossless(2);
        let slow = source.subscribe();
        self.wait(publisher.closer(), slow, fills!(publisher.publish_async(1).await));
        let (publisher, source) = broadcast::mp_lossless(2);
        let slow = source.subscribe();
        self.wait(publisher.closer(), slow, fills!(publisher.publish_async(1).await));
        let (mut publisher, source) = event::channel(2, || 0);
        let slow = source.subscribe();
        self.wait(publisher.closer(), slow, fills!(publisher.send_async(1).await));
        let (mut producer, consumer) = spsc::channel(1);
        self.wait(producer.closer(), consumer, fills!(producer.send_async(1).await));
        let (sender, receiver) = ordered::channel(1);
        self.wait(sender.closer(), receiver, fills!(sender.send_async(1).await));
        let (mut producer, consumer) = bytes::channel(64);
        self.wait(producer.closer(), consumer, fills!(producer.write_async(b"a record").await));
    }

    fn who_wait_for_several(&mut self) {
        let (publisher, source) = broadcast::lossy::<u64>(8);
        let (mut producer, consumer) = spsc::channel(1);
        producer.send(1).unwrap();
        let (mut records, record) = bytes::channel(8);
        while records.try_write(b"").is_ok() {}
        let mut prices = source.subscribe();
        self.wait(publisher.closer(), (publisher, consumer, record), move || {
            select! {
                // (At the end any of them may come first.)
                recv(prices) -> price => assert!(price.is_err()),
                send(producer, 2) -> sent => assert!(sent.is_err()),
                reserve(records, 1) -> slot => assert!(slot.is_err()),
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

    fn who_has_a_descriptor(
        &mut self,
        closer: Closer,
        other: impl Sized + 'static,
        receiver: impl Waitable + 'static,
    ) {
        let mut notifier = Notifier::new(receiver).unwrap();
        self.wait(closer, other, move || {
            assert_eq!(notifier.arm(), Readiness::Armed);
            let count = poll(&mut [PollFd::new(&notifier, PollFlags::IN)], None);
            assert_eq!(count, Ok(1));
        });
    }

    fn who_have_a_descriptor(&mut self) {
        let (producer, consumer) = mpsc::channel::<u64>(8);
        self.who_has_a_descriptor(producer.closer(), producer, consumer);
        let (publisher, source) = broadcast::lossy::<u64>(8);
        self.who_has_a_descriptor(publisher.closer(), publisher, source.subscribe());
    }

    /// Their threads are not ours, so ours wait for them.
    fn who_have_threads(&mut self) {
        let (producer, consumer) = spsc::channel::<u64>(8);
        let worker = Worker::builder(consumer, ()).spawn(|(), _, _| {}).unwrap();
        self.wait_until(|| drop(producer), move || assert_eq!(worker.join().unwrap().messages, 0));
        let (publisher, source) = event::channel(8, String::new);
        let worker = Worker::builder(source.subscribe(), ()).spawn_ref(|(), _, _| {}).unwrap();
        self.wait_until(|| drop(publisher), move || assert_eq!(worker.join().unwrap().messages, 0));

        // Stages of all kinds, and all kinds of rings between them, empty.
        let (input, stages) = Pipeline::builder().input::<u64>();
        let stages = stages.then_parallel(2, |x| x).then_unordered(2, |x| x).lossy().then(|x| x);
        let (mut output, pipeline) = stages.fan_out(|x| x, |x| x).zip().build();
        self.wait_until(|| drop((input, pipeline)), empties!(output.recv()));
        // And full ones. Nobody receives what comes out.
        let (mut input, stages) = Pipeline::builder().capacity(2).input::<u64>();
        let (output, pipeline) = stages.then(|x| x).build();
        self.wait_until(move || drop((output, pipeline)), fills!(input.send(1)));
        let (mut input, stages) = Pipeline::builder().capacity(2).input::<u64>();
        let (output, pipeline) = stages.fan_out(|x| x, |x| x).zip().build();
        self.wait_until(move || drop((output, pipeline)), fills!(input.send_async(1).await));
    }

    /// At rings between processes. (The other side is in this one, too.)
    #[cfg(feature = "shm")]
    fn who_wait_for_other_processes(&mut self) {
        use annulus::shm::{self, Shared, WhenGone};

        let Shared { handle: publisher, invitation, .. } =
            shm::broadcast::lossy::<u64>(Settings::new(8)).unwrap();
        let ring = invitation.accept::<u64>().unwrap();
        let [mut one, mut task] = [(); 2].map(|()| ring.subscribable().subscribe());
        self.wait(publisher.closer(), (), empties!(one.recv()));
        self.wait(publisher.closer(), publisher, empties!(task.recv_async().await));

        let Shared { handle: mut publisher, invitation, .. } =
            shm::broadcast::lossless::<u64>(Settings::new(2), 2).unwrap();
        let slow = invitation.accept_lossless::<u64>().unwrap().subscribe().unwrap();
        self.wait(publisher.closer(), slow, fills!(publisher.publish(1)));

        let settings = Settings::new(8);
        let Shared { handle: producer, invitation, .. } =
            shm::spsc::producer::<u64>(settings, WhenGone::Close).unwrap();
        let (mut consumer, _) = shm::spsc::consumer::<u64>(&invitation).unwrap();
        self.wait(producer.closer(), producer, empties!(consumer.recv()));
        let settings = Settings::new(64);
        let Shared { handle: mut producer, invitation, .. } =
            shm::bytes::producer(settings, WhenGone::Close).unwrap();
        let (consumer, _) = shm::bytes::consumer(&invitation).unwrap();
        self.wait(producer.closer(), consumer, fills!(producer.write(b"a record")));
    }

    /// How often they get up while nothing comes, and in how long.
    fn wakes(&self, time: Duration) -> (u64, Duration) {
        // Until all of them sleep.
        let begun = Instant::now();
        let before = loop {
            let before = sleeps();
            thread::sleep(Duration::from_millis(20));
            if let Some(before) = before.filter(|&before| sleeps() == Some(before)) {
                break before;
            }
            assert!(begun.elapsed() < STUCK, "they never sleep");
        };
        let begun = Instant::now();
        thread::sleep(time);
        let after = loop {
            if let Some(after) = sleeps() {
                break after;
            }
        };
        let (wakes, time) = (after - before, begun.elapsed());
        println!("{} who wait, idle for {time:?}, got up {wakes} times", self.threads.len());
        // They did wait: all rings were open.
        assert!(!self.threads.iter().any(JoinHandle::is_finished));
        (wakes, time)
    }

    fn end(self) {
        self.stop.trigger();
        self.ends.into_iter().for_each(|end| end());
        join(self.threads);
    }
}

#[test]
fn one_of_each_thing_uses_nothing() {
    crate::support::alone!();
    let mut idle = Idle::default();
    idle.who_receive_from_broadcasts();
    idle.who_receive_from_queues();
    idle.who_send();
    idle.who_are_tasks_that_receive();
    idle.who_are_tasks_that_send();
    idle.who_wait_for_several();
    idle.who_have_a_descriptor();
    idle.who_have_threads();

    let (wakes, time) = idle.wakes(soak_time(Duration::from_secs(1)));
    assert_eq!(wakes, 0, "idle for {time:?}");

    // The threads that sleep there look 20 times in a second, whether the other process is there.
    #[cfg(feature = "shm")]
    {
        let before = Sleeper::others().len();
        idle.who_wait_for_other_processes();
        let (wakes, time) = idle.wakes(soak_time(Duration::from_secs(1)));
        let looks = (Sleeper::others().len() - before) as u128 * (time.as_millis() / 50 + 2);
        assert!(u128::from(wakes) <= looks, "idle for {time:?}, {wakes} times awake");
    }
    idle.end();
}
