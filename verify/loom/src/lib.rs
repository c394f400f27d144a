//! What the loom models share. Without `--cfg annulus_loom` there is nothing here, and no test either;
//! `ci/loom` runs them.
//!
//! Models in which a thread sleeps are in files whose names end in `wake`; they run with the waker's fence.
//! All others run without it, because it would hide a missing order elsewhere.
#![cfg(annulus_loom)]

pub mod shared;
mod signal;

// Of the test itself, which loom is not to see.
#[allow(clippy::disallowed_types)]
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once};
use std::time::Instant;

use annulus::broadcast::{Lossless, Mode, Publisher, Subscriber};
use annulus::queue::kind::{AnyKind, QueueKind};
use annulus::queue::{Consumer, Producer};
use annulus::{LossyTryRecvError, Message, TryRecvError, WaitStrategy};
use tracing_subscriber::util::SubscriberInitExt;

pub use signal::{Signal, block_on};

/// Sleeps at once.
pub const BLOCK: WaitStrategy = WaitStrategy::block_after(0, 0);

/// Never sleeps; loom lets the others run meanwhile.
pub const SPIN: WaitStrategy = WaitStrategy::PauseSpin;

/// A message that tells its number, and whether it is whole. Where one thread publishes, the number is the
/// sequence.
pub trait Checked: Message + PartialEq + core::fmt::Debug {
    /// The message of a number.
    fn of(number: u64) -> Self;

    /// The number of a message.
    ///
    /// # Panics
    ///
    /// If it is torn.
    fn number(&self) -> u64;
}

/// One word.
impl Checked for u64 {
    fn of(number: u64) -> Self {
        number + 100
    }

    fn number(&self) -> u64 {
        self.checked_sub(100).expect("a message that nobody published")
    }
}

/// Two words, which belong together.
impl Checked for [u64; 2] {
    fn of(number: u64) -> Self {
        [number + 100, !number]
    }

    fn number(&self) -> u64 {
        assert_eq!(self[0].wrapping_sub(100), !self[1], "a torn message");
        !self[1]
    }
}

/// Calls `try_recv_or_lag` up to `times` times, ends at the first `Closed`, and checks that the cursor has
/// moved by what was received and what was lost, no more and no less. Returns what was received: the sequence
/// and the number of each message.
///
/// # Panics
///
/// If an answer is wrong.
pub fn receive<T: Checked>(subscriber: &mut Subscriber<T>, times: usize) -> Vec<(u64, u64)> {
    let mut received = Vec::new();
    let (start, lagged_before) = (subscriber.cursor(), subscriber.total_lagged());
    let mut lagged = 0;
    for _ in 0..times {
        let cursor = subscriber.cursor();
        match subscriber.try_recv_or_lag() {
            Ok(message) => received.push((cursor, message.number())),
            Err(LossyTryRecvError::Lagged { skipped }) => {
                assert!(skipped > 0, "a lag of nothing");
                lagged += skipped;
            }
            Err(LossyTryRecvError::Empty) => loom::thread::yield_now(),
            Err(LossyTryRecvError::Closed) => break,
        }
    }
    assert_eq!(
        subscriber.cursor() - start,
        received.len() as u64 + lagged,
        "every message is received or counted"
    );
    assert_eq!(subscriber.total_lagged() - lagged_before, lagged);
    received
}

/// As [`receive`], where one thread publishes: each message is the one of its sequence. Returns the
/// sequences.
///
/// # Panics
///
/// If an answer is wrong.
pub fn receive_checked<T: Checked>(subscriber: &mut Subscriber<T>, times: usize) -> Vec<u64> {
    let check = |(sequence, number)| {
        assert_eq!(number, sequence, "a message of another sequence");
        sequence
    };
    receive(subscriber, times).into_iter().map(check).collect()
}

/// Receives from a lossless ring: calls `try_recv` up to `times` times, ends at the first `Closed`, and
/// returns the numbers of the messages. A message that was overwritten would be a panic in the library.
pub fn receive_lossless<T: Checked>(subscriber: &mut Subscriber<T, Lossless>, times: usize) -> Vec<u64> {
    let mut received = Vec::new();
    for _ in 0..times {
        match subscriber.try_recv() {
            Ok(message) => received.push(message.number()),
            Err(TryRecvError::Empty) => loom::thread::yield_now(),
            Err(TryRecvError::Closed) => break,
        }
    }
    received
}

/// Receives a batch of up to `N`, and returns the numbers of the messages.
///
/// # Panics
///
/// If one of them is torn, or none that anybody published.
pub fn receive_batch<T: Checked, M: Mode, const N: usize>(subscriber: &mut Subscriber<T, M>) -> Vec<u64> {
    let mut buffer = [0; N].map(T::of);
    let count = subscriber.try_recv_batch(&mut buffer);
    buffer[..count].iter().map(T::number).collect()
}

/// Publishes the messages from number `first` on to a lossless ring, with up to `tries` calls of
/// `try_publish`, and returns the number after the last one.
pub fn publish_tries<T: Checked>(publisher: &mut Publisher<T, Lossless>, first: u64, tries: usize) -> u64 {
    let mut next = first;
    for _ in 0..tries {
        match publisher.try_publish(T::of(next)) {
            Ok(()) => next += 1,
            Err(_) => loom::thread::yield_now(),
        }
    }
    next
}

/// Sends the messages from number `first` on, with up to `tries` calls of `try_send`, and returns the number
/// after the last one.
///
/// # Panics
///
/// If there are more messages than slots, or the queue is closed.
pub fn send_tries<T: Checked + Send, K: QueueKind>(
    producer: &mut Producer<T, K>,
    first: u64,
    tries: usize,
) -> u64 {
    let mut next = first;
    for _ in 0..tries {
        match producer.try_send(T::of(next)) {
            Ok(()) => next += 1,
            Err(error) => {
                assert!(error.is_full(), "nobody closed it");
                loom::thread::yield_now();
            }
        }
        assert!(producer.len() <= producer.capacity(), "more messages than slots");
    }
    next
}

/// Receives until the queue is closed and empty, and gives way where nothing is there.
pub fn receive_all<T: Send, K: AnyKind>(consumer: &mut Consumer<T, K>) -> Vec<T> {
    receive_up_to(consumer, usize::MAX)
}

/// As [`receive_all`], but no more than so many messages.
///
/// # Panics
///
/// At what is no message.
pub fn receive_up_to<T: Send, K: AnyKind>(consumer: &mut Consumer<T, K>, count: usize) -> Vec<T> {
    let mut received = Vec::new();
    while received.len() < count {
        match consumer.try_recv() {
            Ok(message) => received.push(message),
            Err(TryRecvError::Empty) => loom::thread::yield_now(),
            Err(TryRecvError::Closed) => break,
        }
    }
    received
}

/// A message that is counted while it lives.
#[derive(Debug)]
pub struct Counted(Arc<Mutex<usize>>);

/// How many [`Counted`] live.
#[must_use]
pub fn alive() -> Arc<Mutex<usize>> {
    Arc::default()
}

impl Counted {
    /// One more.
    ///
    /// # Panics
    ///
    /// Not unless another thread of the model did.
    #[must_use]
    pub fn new(alive: &Arc<Mutex<usize>>) -> Self {
        *alive.lock().unwrap() += 1;
        Self(Arc::clone(alive))
    }

    /// How many live.
    ///
    /// # Panics
    ///
    /// Not unless another thread of the model did.
    #[must_use]
    pub fn count(alive: &Mutex<usize>) -> usize {
        *alive.lock().unwrap()
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut alive = self.0.lock().unwrap();
        *alive = alive.checked_sub(1).expect("no message is dropped twice");
    }
}

/// The most executions of a model. On one core they take some seven minutes.
const MOST_EXECUTIONS: usize = 5_000_000;

/// Runs `model` in every interleaving and with every value that a load may return, up to three preemptions,
/// and says how many executions that were (`--nocapture` shows it).
///
/// # Panics
///
/// If the model fails in one of them, or has more than [`MOST_EXECUTIONS`].
pub fn check(model: impl Fn() + Sync + Send + 'static) {
    check_up_to(3, model);
}

/// As [`check`], up to `preemptions` of them, for a model that would take minutes.
///
/// `LOOM_MAX_PREEMPTIONS` says another number, and then a model may have any number of executions;
/// `LOOM_MAX_PERMUTATIONS` says how many it may have.
///
/// # Panics
///
/// As [`check`].
pub fn check_up_to(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    if builder.preemption_bound.is_none() {
        builder.max_permutations.get_or_insert(MOST_EXECUTIONS);
    }
    let most = builder.max_permutations.unwrap_or(usize::MAX);
    builder.preemption_bound.get_or_insert(preemptions);
    // (1,000 is too few for a queue of several processes, where nobody runs in circles.)
    builder.max_branches = builder.max_branches.max(3_000);
    let begun = Instant::now();
    let executions = Arc::new(Mutex::new(0_usize));
    let count = Arc::clone(&executions);
    let traced = std::env::var("ANNULUS_LOOM_TRACE").ok().and_then(|number| number.parse().ok());
    TELLS_NUMBER.call_once(tell_number);
    builder.check(move || {
        *count.lock().unwrap() += 1;
        if traced == Some(NUMBER.fetch_add(1, Ordering::Relaxed) + 1) {
            trace_from_here();
        }
        model();
    });
    let executions = *executions.lock().unwrap();
    println!("{executions} executions in {:.1?}", begun.elapsed());
    // (Loom stops before the last one.)
    assert!(executions + 1 < most, "it has more than {most} executions: check it up to fewer preemptions");
}

/// The number of an execution, of all that this process ran. `ci/loom` asks for a trace of the one that
/// failed.
#[allow(clippy::disallowed_types)]
static NUMBER: AtomicU64 = AtomicU64::new(0);
static TELLS_NUMBER: Once = Once::new();

/// From now on a panic tells the number: in a hook, because a model that fails may fail once more while it is
/// taken down, which ends the process.
fn tell_number() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        eprintln!("fails in execution {}", NUMBER.load(Ordering::Relaxed));
        hook(panic);
    }));
}

/// Prints what loom does from here on, as `LOOM_LOG` asks for it. The threads of a model share one of the
/// system's.
fn trace_from_here() {
    let filter = tracing_subscriber::EnvFilter::from_env("LOOM_LOG");
    let log = tracing_subscriber::fmt().with_env_filter(filter).without_time().with_ansi(false);
    // This execution is the last: it fails.
    std::mem::forget(log.with_test_writer().set_default());
}
