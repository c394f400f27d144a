//! What the loom models share. Without `--cfg annulus_loom` there is nothing here, and no test either; `ci/loom` runs them.
#![cfg(annulus_loom)]

use annulus::{Message, Subscriber, TryRecvError};

/// A message that tells which sequence it belongs to, and whether it is whole.
pub trait Checked: Message + PartialEq + core::fmt::Debug {
    /// The message of a sequence.
    fn of(sequence: u64) -> Self;
}

/// One word.
impl Checked for u64 {
    fn of(sequence: u64) -> Self {
        sequence + 100
    }
}

/// Two words, which belong together.
impl Checked for [u64; 2] {
    fn of(sequence: u64) -> Self {
        [sequence + 100, !sequence]
    }
}

/// Calls `try_recv` up to `times` times, ends at the first `Closed`, and checks each answer: a message is the one of its
/// sequence, whole, and the cursor has moved by what was received and what was lost, no more and no less.
///
/// # Panics
///
/// If an answer is wrong.
pub fn receive_checked<T: Checked>(subscriber: &mut Subscriber<T>, times: usize) -> Vec<u64> {
    let mut received = Vec::new();
    let (start, lagged_before) = (subscriber.cursor(), subscriber.total_lagged());
    let mut lagged = 0;
    for _ in 0..times {
        let cursor = subscriber.cursor();
        match subscriber.try_recv() {
            Ok(message) => {
                assert_eq!(message, T::of(cursor), "a message of another sequence, or a torn one");
                received.push(cursor);
            }
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

/// Runs `model` in every interleaving and with every value that a load may return, up to three preemptions.
pub fn check(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound.get_or_insert(3);
    builder.check(model);
}
