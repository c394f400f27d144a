//! What the loom models share. Without `--cfg annulus_loom` there is nothing here, and no test either; `ci/loom` runs them.
//!
//! Models in which a thread sleeps are in files whose names end in `wake`; they run with the waker's fence. All others run without
//! it, because it would hide a missing order elsewhere.
#![cfg(annulus_loom)]

use std::sync::{Arc, Mutex};

use annulus::{Lossless, Message, PollError, Subscriber, TryRecvError, WaitStrategy};

/// Sleeps at once.
pub const BLOCK: WaitStrategy = WaitStrategy::Block { spin_iters: 0, yield_iters: 0 };

/// Never sleeps; loom lets the others run meanwhile.
pub const SPIN: WaitStrategy = WaitStrategy::YieldSpin;

/// A message that tells its number, and whether it is whole. Where one thread publishes, the number is the sequence.
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

/// Calls `try_recv` up to `times` times, ends at the first `Closed`, and checks that the cursor has moved by what was received and what was
/// lost, no more and no less. Returns what was received: the sequence and the number of each message.
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
        match subscriber.try_recv() {
            Ok(message) => received.push((cursor, message.number())),
            Err(TryRecvError::Lagged { skipped }) => {
                assert!(skipped > 0, "a lag of nothing");
                lagged += skipped;
            }
            Err(TryRecvError::Empty) => loom::thread::yield_now(),
            Err(TryRecvError::Closed) => break,
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

/// As [`receive`], where one thread publishes: each message is the one of its sequence. Returns the sequences.
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

/// Receives from a lossless ring until it is closed, and returns the numbers of the messages. A lost message would be a panic in the
/// library.
pub fn receive_all<T: Checked>(subscriber: &mut Subscriber<T, Lossless>) -> Vec<u64> {
    let mut received = Vec::new();
    loop {
        match subscriber.try_recv() {
            Ok(message) => received.push(message.number()),
            Err(PollError::Empty) => loom::thread::yield_now(),
            Err(PollError::Closed) => return received,
        }
    }
}

/// Runs `model` in every interleaving and with every value that a load may return, up to three preemptions, and says how many
/// executions that were.
pub fn check(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound.get_or_insert(3);
    let executions = Arc::new(Mutex::new(0_u64));
    let count = Arc::clone(&executions);
    builder.check(move || {
        *count.lock().unwrap() += 1;
        model();
    });
    println!("{} executions", executions.lock().unwrap());
}
