//! Waiting, and what it costs.
//!
//! Every verb comes in several forms:
//!
//! | form | when there is nothing to do |
//! | --- | --- |
//! | `try_recv`, `try_send`, `try_publish` | returns at once |
//! | `recv`, `send`, `publish` | waits by the strategy of the ring, or of the handle |
//! | `recv_timeout`, `send_timeout`, … | waits for a limited time |
//! | `recv_until`, `send_until`, … | waits as an [`Until`](crate::Until) says: a time, a moment, a strategy, or two of them |
//! | `recv_async`, `send_async`, … | the task waits, not its thread (feature `async`) |
//! | `select!`, `Select` | waits for the first of several handles |
//! | `Notifier` | a loop that has file descriptors waits for one more (Linux) |
//! | `Worker` | its thread waits, and calls a handler |
//!
//! # Which verb has which form
//!
//! A verb that waits has its own name. The same with `try_` never waits, with `_timeout` and `_until` it has
//! a limit, and with `_async` a task waits:
//!
//! | handles | verb | without waiting | `_timeout`, `_until` | `_async` |
//! | --- | --- | --- | --- | --- |
//! | `broadcast::Subscriber`, `broadcast::bytes::Subscriber` | `recv`, `recv_or_lag` | `try_` | yes | yes |
//! | `broadcast::SubscriberGroup` | `recv` | `try_` | yes | yes |
//! | `broadcast::Subscriber`, `SubscriberGroup` | `recv_batch` | `try_` | yes | yes |
//! | the same | `recv_many` | `try_iter` | yes | no |
//! | a stage of a broadcast ring | `process` | `try_` | yes | yes |
//! | the same | `process_batch` | `try_` | yes | no |
//! | `event::Subscriber` | `recv`, `recv_batch`, `process`, `process_batch` | `try_` | yes | yes |
//! | the same | `recv_many` | `try_iter` | yes | no |
//! | the same | `wait` | `peek` | yes | yes |
//! | `queue::Consumer`, `queue::ordered::Receiver` | `recv`, `recv_batch` | `try_` | yes | yes |
//! | the same | `recv_many` | `try_iter` | yes | no |
//! | `queue::Consumer` | `wait_readable`, `wait_readable_shared` | `readable`, `readable_shared` | yes | yes |
//! | `queue::bytes::Consumer` | `read` | `try_` | yes | yes |
//! | `bus::MatchingSubscriber` | `recv` | `try_` | yes | yes, and `recv_batch_async` |
//! | `oneshot::Receiver` | `recv` | `try_` | yes | yes, and `receiver.await` |
//! | `service::PendingAnswer` | `recv` | `try_` | yes | as a [`Receive`](crate::Receive), and `answer.await` |
//! | `watch::Receiver` | `recv` | `try_` | yes | yes |
//! | the same | `changed`, `wait_for` | `has_changed`, `borrow` | yes | yes |
//! | lossless `broadcast::bytes::Publisher` | `publish` | `try_` | yes | yes |
//! | lossless `broadcast::Publisher`, `MpPublisher` | `publish` | `try_` | yes | yes |
//! | the same | `publish_batch` | | yes | no |
//! | the same | `publish_with` | | no | no |
//! | `event::Publisher`, `event::MpPublisher` | `publish`, `send` | `try_` | yes | yes |
//! | `queue::Producer` | `send`, `send_batch`, `reserve` | `try_` | yes | yes |
//! | `queue::ordered::Sender` | `send`, `send_batch` | `try_` | yes | yes |
//! | `queue::bytes::Producer` | `write`, `reserve` | `try_` | yes | yes |
//! | `pipeline::Input` | `publish` | `try_` | as a [`Transmit`](crate::Transmit) | yes |
//! | the same | `publish_batch`, `publish_with` | | no | no |
//! | each publisher of a broadcast ring | `wait_for_subscribers` | `subscriber_count` | yes | yes |
//! | `oneshot::Sender`, `watch::Sender` | `closed` | `is_closed` | yes | yes |
//! | `Shutdown` | `wait` | `is_shutdown` | yes | yes |
//! | `Select` | `ready` | `try_` | yes | no: tasks have the `select!` of their executor's library |
//! | `Worker`, `Pipeline` | `join` | `is_finished` | `_timeout` | no |
//! | each [`Receive`](crate::Receive) | `recv` | `try_` | yes | yes |
//! | each [`Transmit`](crate::Transmit) | `send` | `try_` | yes | yes |
//!
//! Arguments come in one order: data, limit, closure. Each receiving handle is also an iterator that waits
//! (`for message in &mut receiver`) and a stream (`stream`, `into_stream`, feature `async`), by itself or as
//! a [`Receive`](crate::Receive).
//!
//! # Verbs that never wait
//!
//! A verb that sends or receives and never waits begins with `try_`. These verbs never wait either, because
//! they have no form that does:
//!
//! | verb | of | what it does |
//! | --- | --- | --- |
//! | `publish`, `publish_with`, `publish_batch` | a lossy ring's publisher | overwrites the oldest messages (a slot that another publisher is still writing is passed over, and readers count that message as lost) |
//! | `latest`, `skip_to_latest` | a lossy ring's subscriber | passes what is older than the newest message |
//! | `peek` | a consumer, an event subscriber | shows the next message, which stays |
//! | `readable` | a consumer | shows messages that lie next to each other, which stay |
//! | `readable_shared` | a consumer | the same, also between processes |
//! | `advance` | a consumer | drops what was shown |
//! | `skip`, `consume` | a consumer, a receiver | drops what is there, or hands it to a closure |
//! | `alloc`, `redeem` | a pool | takes a free buffer, or the buffer of a handle |
//!
//! # What can wait
//!
//! All waiters of a ring wait at one place, so the other side learns of all of them by one look:
//!
//! | what waits | verb | what a message costs its sender, if somebody waits | what it costs while idle |
//! | --- | --- | --- | --- |
//! | a thread | `recv`, `recv_timeout`, … | one system call for all threads that sleep (a futex wake) | nothing; if the strategy spins, a core |
//! | a task | `recv_async`, `stream`, … (feature `async`) | the call of each task's waker, which is its executor's code | nothing |
//! | a file descriptor | [`Notifier::arm`](#file-descriptors), then `epoll`, `poll` or `io_uring` | one system call for each descriptor that is armed (a `write`) | nothing |
//! | a thread of its own | [`Worker`](#workers), which calls a handler | as for a thread | as for a thread; an idle timeout wakes it |
//! | a thread, at several rings | [`select!`, `Select`](#several-rings-at-once) | the call of a waker, which unparks the thread: at most one system call | as for a thread; the first handle's strategy decides |
//!
//! If another process sends (feature `shm`), a thread in `recv` or `send` costs the sender what this table
//! says. For all others, one thread of the library waits for each ring, and its wake-up is one system call
//! for the sender. No task is polled meanwhile. Each thread that waits for another process looks 20 times in
//! a second whether that process is still there.
//!
//! If nobody waits, a message costs its sender one look in each case, and no system call. After the wake-up
//! of a thread in a verb, that is so again until somebody waits. A waiter with a waker (a task, a descriptor,
//! a select) is expected back after its wake-up: up to 128 sends look for it, as long as they find no waiter.
//! Each of these looks takes several times as long as the plain one, and no system call.
//!
//! # Strategies
//!
//! A [`WaitStrategy`](crate::WaitStrategy) is either a way to spin or a way to sleep.
//!
//! - `Block`, the default, spins briefly and then sleeps in the kernel. It uses no processor time while it
//!   sleeps. Waking up takes the time of a system call and of the scheduler.
//! - `BusySpin` and `PauseSpin` never sleep. They react fastest, but keep a whole core busy. Use them only if
//!   each thread has a core of its own.
//! - `Monitor` lets the processor wait until the ring's own word changes, where the processor has an
//!   instruction for that ([`ProcessorWait`](crate::wait::ProcessorWait)). It keeps the core, too, but uses
//!   less power, and leaves more of the core to the other hardware thread. Without the instruction it does
//!   what `PauseSpin` does. Virtual machines often hide it.
//! - `BackoffSpin` and `Adaptive` spin, and after a while they offer their core to others between polls.
//!
//! Choose a strategy for the whole ring, for one receiving handle (`set_wait_strategy`), or for one call:
//!
//! ```
//! use annulus::{Settings, WaitStrategy, spsc};
//!
//! let settings = Settings::new(64).wait_strategy(WaitStrategy::BackoffSpin);
//! let (mut producer, mut consumer) = spsc::with(settings)?;
//! let reader = std::thread::spawn(move || {
//!     let first = consumer.recv(); // as the ring says
//!     consumer.set_wait_strategy(WaitStrategy::PauseSpin); // for what follows
//!     // Sleeps at once, if the message is not there yet.
//!     let second = consumer.recv_until(WaitStrategy::block_after(0, 0));
//!     (first, second)
//! });
//! producer.send(1).unwrap();
//! producer.send(2).unwrap();
//! assert_eq!(reader.join().unwrap(), (Ok(1), Ok(2)));
//! # Ok::<(), annulus::CapacityError>(())
//! ```
//!
//! # Threads that share a core
//!
//! A thread that spins keeps its core, also from the thread that it waits for. `Block` spins for about two
//! microseconds. Then it offers its core to others a few times, if that helped the last time somebody waited
//! at this ring, and then it sleeps. So a queue between two threads of one core is about as fast as one
//! between two cores. With `BusySpin`, `PauseSpin` and `Monitor` each
//! message may take a time slice of the scheduler.
//!
//! # What the other side pays
//!
//! - *While nobody sleeps*, a publish or a send looks at one word to learn that. On Linux this is a plain
//!   load. On other systems a full memory fence comes with it.
//! - *When readers sleep*, the next publish wakes all of them with one system call. Until they run, further
//!   messages cost no further call. In a queue with many consumers, one message wakes one of the sleepers.
//! - *If a writer waits for room*, the same holds in the other direction.
//!
//! # Many rings in turn
//!
//! In [`mpsc`](crate::mpsc) and [`mpmc`](crate::mpmc) there are as many rings as there were producers at one
//! time. Their memory is freed with the queue. A producer that joins takes over the ring of a producer that
//! has left, and sends behind the messages in it.
//!
//! Each [`Consumer`](crate::queue::Consumer) visits the rings that have messages in turn, in the order in
//! which the rings were made. A turn of one ring is at most 128 messages.
//!
//! *No message waits for ever.* Suppose that there are n rings, and that a message has fewer than 128
//! messages before it in its own ring. Then it is received within (n + 1) · 128 receives of any one consumer
//! that goes on, whatever other producers do. Each further 128 messages before it add the same number of
//! receives. Some verbs have other bounds:
//!
//! - In place (`readable`, `peek`), a turn ends with the slice in which the 128th message lies. So a turn has
//!   at most 127 + capacity messages, and a message is received within (n + 1) · (127 + capacity) receives. A
//!   turn in which nothing is taken ends only by `advance(0)`.
//! - [`consume`](crate::queue::Consumer::consume) and [`try_iter`](crate::queue::Consumer::try_iter) visit
//!   each ring once, and take what was there when its turn began. So a turn has at most as many messages as
//!   the capacity. If `consume` cuts a turn short, its next call goes on with it. If a `try_iter` is dropped
//!   before its end, the turn of the ring where it was ends.
//!
//! *What a poll costs.* A search looks at the rings that had messages lately, and at one word for each 64
//! rings. After thousands of looks that found nothing, a consumer leaves out the empty rings, until their
//! producers send again. (It takes millions of looks if no thread of the process ever slept in a ring, ended
//! a queue, or called `annulus::wait::prepare_process`.) So a poll takes O(rings with messages lately +
//! rings / 64) steps, however many producers join meanwhile. (While another consumer leaves out rings, it
//! looks at all of them.)
//!
//! # Rests
//!
//! A consumer of a queue that runs right behind a producer takes the cache lines that the producer is
//! writing, and gets only a few messages for each look. Both are much faster if the consumer looks less
//! often. So a consumer sometimes *rests*: it executes some 32 pause instructions before it looks again. It
//! does so only if all of this is true:
//!
//! - There is one ring to look at: the queue is an `spsc`, or an `mpsc` with one producer, or an `mpsc` whose
//!   other producers were quiet for long.
//! - The verb has taken all messages that it knew of.
//! - Several looks in a row found at least 4 messages each, and at most 512, or an eighth of the capacity (in
//!   `mpsc`, at most 64).
//!
//! The consumer keeps resting while each pause brings at least 32 messages, which happens only in very fast
//! streams. If a pause brings fewer, it tries again after twice as many looks, up to 1,024. `docs/benchmarks`
//! has figures. [`recv_until`](crate::queue::Consumer::recv_until) never rests with `BusySpin`, `PauseSpin`
//! or `Monitor`.
//!
//! On Linux, the process must register with the kernel for its sleeps. It does so with its first ring, which
//! takes no time as long as there is one thread. If there are more, it would take milliseconds, so another
//! thread does it during the first sleeps. Until then, a sleeping thread wakes up now and then, a few times
//! in all, and a thread of the library does so for tasks, selects and descriptors. Nobody waits for the
//! registration. `annulus::wait::prepare_process` does it in advance. Call it at the start of `main` if the
//! first ring is made later:
//!
//! ```
//! annulus::wait::prepare_process();
//! ```
//!
//! # Tasks
//!
//! With the feature `async`, each verb that waits has a form for tasks. It works with any executor, and with
//! any number of them at one ring:
//!
//! ```
//! # #[cfg(feature = "async")] {
//! let (mut producer, mut consumer) = annulus::spsc::channel(4);
//! let reader = std::thread::spawn(move || pollster::block_on(async {
//!     let mut sum = 0;
//!     while let Ok(number) = consumer.recv_async().await {
//!         sum += number;
//!     }
//!     sum
//! }));
//! (1..=100).for_each(|number| producer.send(number).unwrap()); // blocks, where the other end awaits
//! drop(producer);
//! assert_eq!(reader.join().unwrap(), 5050);
//! # }
//! ```
//!
//! - *A task that waits* is not polled. The other side wakes it: by the same look at one word, without a
//!   lock, and without a system call of its own. With `n` tasks that wait, a wake-up of all takes O(`n`)
//!   steps and `n` calls of the executors' wakers, on the thread that publishes. If that thread has no time
//!   for this, let few tasks wait at its ring.
//! - *A future may be dropped at any time*, for example by `select!`. It has then received nothing, or sent
//!   nothing, and loses nothing. If it was woken for a message of a queue, another waiter is woken in its
//!   place.
//! - *A batch is the exception*: a future of `send_batch_async` that is dropped may have sent the first
//!   values, and nobody learns how many.
//! - *No pin*: the futures of queues that lend nothing (`recv_async`, `recv_batch_async`, `send_async`,
//!   `send_batch_async`) are `Send` and [`Unpin`], and so are all streams. Those that lend what lies in a
//!   ring (`wait_readable_async`, `reserve_async`, `read_async`), and `write_async`, are `Send`, but have to
//!   be pinned, for example by [`pin!`](core::pin::pin).
//! - *A future or a stream that is set aside* after it was polled, neither polled again nor dropped, keeps
//!   its place, and a wake-up that came to it. In a queue with several consumers a message wakes one of them.
//!   If that one is set aside, the message waits until another consumer looks, or until this one is polled,
//!   or dropped: then it wakes another in its place. So drop what you do not poll any more. A future that is
//!   forgotten ([`mem::forget`](core::mem::forget)) never passes its wake-up on.
//! - *What a future is*: each may be dropped at any time, as the second column says. None needs its executor
//!   to be of a certain kind.
//!
//!   | futures | if it is dropped before it is ready | `Send` | `Unpin` |
//!   | --- | --- | --- | --- |
//!   | `recv_async`, `recv_or_lag_async`, `stream`, `into_stream` | nothing is received (`into_stream` drops its handle) | yes | yes |
//!   | `receiver.await` of a `oneshot`, `answer.await` of a `service` | the receiver is dropped, and a value that was sent with it | yes | yes |
//!   | `recv_batch_async` of queues and events | nothing is received | yes | yes |
//!   | `recv_batch_async` of other handles | nothing is received | yes | no |
//!   | `process_async`, `process_batch_async` of events | nothing is processed, and the closure has not run | if the closure is | yes |
//!   | `process_async` of stages of broadcast rings | the same | if the closure is | no |
//!   | event `wait_async`, `changed_async`, `closed_async`, `Shutdown::wait_async` | nothing has changed | yes | yes |
//!   | `watch::Receiver::wait_for_async` | values that the closure was asked for count as seen | if the closure is | yes |
//!   | `wait_readable_async`, `read_async` | nothing is received | yes | no |
//!   | `send_async` of queues | nothing is sent; the value is dropped | yes | yes |
//!   | `send_async` of events, `publish_async` of values, `Transmit::send_async` | the same | yes | no |
//!   | `publish_async` with a closure | nothing is published; the closure of one of many publishers may have run | if the closure is | no |
//!   | `write_async`, `reserve_async` | nothing is written or reserved | yes | no |
//!   | `send_batch_async` | the first values may be sent, and it can't be known how many | if the values can be shared (`Sync`) | yes |
//!
//! - *Memory*: the first task that waits at one side of a ring allocates places for wakers. There are only as
//!   many places as there were tasks that waited at one time.
//! - *After a task was woken*, the other side expects it to wait again: its next 128 messages at most, until
//!   then, each take an atomic read-modify-write more. In return, a task that waits again needs no fence on
//!   all cores.
//! - *A task whose messages are all there* does not return to its executor, and nothing here counts how often
//!   it could have. With tokio, whose own channels stop a task after some messages, await
//!   `tokio::task::coop::consume_budget` now and then if other tasks are to run meanwhile.
//! - *A waker that panics* harms nobody else. Without `std`, a panic of a waker that unwinds ends the
//!   process.
//! - Without `std` nothing does the work of both fences, so each publish executes a full fence.
//!
//! # Several rings at once
//!
//! `select!` waits for several handles, of whichever rings, to receive or to send, and
//! sleeps once for all of them:
//!
//! ```
//! # #[cfg(feature = "std")] {
//! use annulus::{broadcast, select, spsc};
//!
//! let (mut publisher, subscribable) = broadcast::lossy(8);
//! let (mut prices, (_customer, mut orders)) = (subscribable.subscribe(), spsc::channel::<u64>(8));
//! publisher.publish(99.5);
//! select! {
//!     recv(prices) -> price => assert_eq!(price, Ok(99.5)),
//!     recv(orders) -> order => assert!(order.is_err()),
//! }
//! # }
//! ```
//!
//! `Select` does this for a number of handles that is not known in advance. In tasks, use
//! the `select!` of the executor's library. What it costs:
//!
//! - *The sender* pays what it pays for a task that waits: nothing until the select is about to sleep.
//! - *The select* looks at each handle in turn. Before it sleeps it registers at all of them, and a wake-up
//!   takes it out everywhere. So a select over many rings that sleeps for each message costs more than a
//!   queue with many producers, which has one place to wait.
//!
//! # File descriptors
//!
//! On Linux, `Notifier` brings any receiving handle into a loop that waits for file descriptors:
//! `epoll`, `poll`, `io_uring`, or the loop of another library. A turn of the loop has three steps: receive
//! what is there, `arm`, and wait if `arm` says so. The type keeps their order, so no wake-up can be lost.
//!
//! ```
//! # #[cfg(all(target_os = "linux", feature = "std"))] {
//! use annulus::{Notifier, Readiness};
//! use rustix::event::{PollFd, PollFlags, poll};
//!
//! let (mut publisher, subscribable) = annulus::broadcast::lossy(64);
//! let mut notifier = Notifier::new(subscribable.subscribe())?;
//! let writer = std::thread::spawn(move || publisher.publish(7));
//!
//! while notifier.arm() == Readiness::Armed {
//!     poll(&mut [PollFd::new(&notifier, PollFlags::IN)], None)?; // with other descriptors
//! }
//! assert_eq!(notifier.get_mut().try_recv(), Ok(7));
//! # writer.join().unwrap();
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Dropped or disarmed, a notifier passes a wake-up that it did not use on to another consumer of its queue.
//!
//! ## Level or edge
//!
//! The descriptor stays readable from the wake-up to the next `arm` or `disarm`, which clear it. So both
//! kinds of trigger work. A level-triggered loop must call one of these after each wake-up, or else it is
//! woken again at once. With an edge trigger each arming has an edge of its own. A one-shot trigger
//! (`EPOLLONESHOT`, `IORING_OP_POLL_ADD`) is set again after each `Readiness::Armed`.
//!
//! Take the descriptor out of an `epoll` (`EPOLL_CTL_DEL`) before you drop the notifier. The write of a
//! sender that was about to write may come after the drop, and an `epoll` that still has the descriptor then
//! reports it. It does so, too, as long as there is a duplicate (by `dup`, or in a child process): to close
//! the notifier's own descriptor does not take it out.
//!
//! ## What a descriptor costs
//!
//! - *A sender* pays what it pays for a thread that sleeps: while no notifier is armed, it looks at one word.
//!   For one that is armed, it takes a bounded number of steps without a lock, and makes one system call, a
//!   `write` to an `eventfd`, which never blocks. It does so once for each arming. A thread with real-time
//!   deadlines may publish, if it has the time for that call. The kernel wakes the thread that waits inside
//!   the call. If the notifier is dropped at that moment, the sender also closes the descriptor.
//! - *The loop* pays one `read` of the descriptor for each arming, and after a pause a `membarrier` (see
//!   `annulus::wait::prepare_process`). The first arming at a ring may allocate memory for the waker.
//! - *While idle* it costs nothing: no thread, no timer, no look. (If other processes send, a thread of the
//!   library waits for them, with the feature `shm`. Before the process has registered for its sleeps, a
//!   thread looks in its place, a few times in all.)
//!
//! If the system refuses the `membarrier` (a sandbox that came after the ring), `arm` waits a millisecond in
//! its place, and nothing is lost.
//!
//! ## With tokio
//!
//! Put the notifier into an `AsyncFd`, with an interest in reading only. (It has the same descriptor until it
//! is dropped, which is what `AsyncFd` wants to be promised. An `AsyncFd` that is dropped takes it out of the
//! `epoll` first.) Call `clear_ready` after each wait and before the next `arm`. The feature `async` is the
//! shorter way: `recv_async` needs no descriptor.
//!
//! # Workers
//!
//! A `Worker` is a thread that receives from any ring and calls a handler. It waits like any other reader
//! of its ring, so it costs the other side what a thread costs. While nothing comes, it sleeps without a
//! timer, and uses no processor time (unless it has an idle callback, which a timer calls). A stop wakes it
//! at once:
//!
//! ```
//! use annulus::Worker;
//!
//! let (mut producer, consumer) = annulus::spsc::channel(4);
//! let worker = Worker::builder(consumer, 0)
//!     .name("sum")
//!     .spawn(|sum, number: i32, _end_of_batch| *sum += number)?;
//! (1..=100).for_each(|number| producer.send(number).unwrap());
//! worker.stop(); // after the hundred
//! assert_eq!(worker.join().unwrap().context, 5050);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Timeouts
//!
//! Timeouts use the monotonic clock. A timeout of zero still receives what is there:
//!
//! ```
//! use annulus::{RecvTimeoutError, broadcast};
//! use std::time::Duration;
//!
//! let (mut publisher, subscribable) = broadcast::lossy(8);
//! let mut subscriber = subscribable.subscribe();
//! publisher.publish(7);
//! assert_eq!(subscriber.recv_timeout(Duration::ZERO), Ok(7));
//! assert_eq!(subscriber.recv_timeout(Duration::from_millis(1)), Err(RecvTimeoutError::Timeout));
//! ```
//!
//! # Mistakes to avoid
//!
//! - **More spinning threads than cores.** A thread that spins can keep the thread that it waits for off the
//!   core. `Block` does not have this problem.
//! - **Spinning under a real-time priority.** Under `SCHED_FIFO` and `SCHED_RR`, giving up the core lets only
//!   threads of the same priority run. A spinning thread of a higher priority can then wait for ever. Use
//!   `Block`, or give each thread a core.
//! - **Waiting for room inside a closure of a stage.** A closure that processes a message of a lossless ring
//!   must not call `publish` on the same ring: the slot becomes free only after the closure has returned. Use
//!   `try_publish` or `publish_timeout` there.
//!
//! Without the feature `std` there is no `Block`, and there are no timeouts: waiting always spins.
