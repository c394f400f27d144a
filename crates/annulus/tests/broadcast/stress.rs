//! Real threads, a writer that laps its readers, and payloads that would show a torn read: every byte of a
//! message is told by its sequence.

#![allow(clippy::disallowed_types, reason = "what the test counts is none of the library's atomics")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use annulus::LossyTryRecvError;
use annulus::broadcast::Subscriber;

/// How long each size is written, and longer where a reader has not met the writer yet: on a busy machine it
/// may not have run.
const TIME: Duration = Duration::from_millis(if cfg!(debug_assertions) { 150 } else { 250 });

/// How long a reader that never meets the writer is given. Miri counts messages, not time.
const PATIENCE: Duration = Duration::from_secs(if cfg!(miri) { 0 } else { 60 });

/// How many messages of so many bytes. Miri has no hurry: it counts messages instead of time.
const fn messages(bytes: usize) -> u64 {
    if cfg!(miri) { 3 + 100 / (bytes as u64 + 8) } else { u64::MAX }
}

/// The rings: slots, and messages in a batch (0: one by one).
const RINGS: &[(usize, usize)] = if cfg!(miri) { &[(2, 0)] } else { &[(2, 0), (7, 0), (64, 100)] };

/// The message of a sequence. Neighbouring messages differ in every byte, and so do those that share a slot
/// of a small ring.
fn message<const N: usize>(sequence: u64) -> [u8; N] {
    let mix = sequence.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    std::array::from_fn(|i| (mix >> (8 * (i % 8))) as u8 ^ (i / 8) as u8 ^ sequence as u8)
}

/// Receives until the close; checks each message against its sequence, and the account. Calls `met` for what
/// it received before the close. Returns what was received and what was lost.
fn read<const N: usize>(mut subscriber: Subscriber<[u8; N]>, mut met: impl FnMut()) -> (u64, u64) {
    let (start, mut received, mut lagged) = (subscriber.cursor(), 0, 0);
    loop {
        let cursor = subscriber.cursor();
        match subscriber.try_recv_or_lag() {
            Ok(bytes) => {
                received += 1;
                assert!(
                    bytes == message::<N>(cursor),
                    "{N} bytes: message {cursor} is torn or of another sequence"
                );
                if !subscriber.is_closed() {
                    met();
                }
            }
            Err(LossyTryRecvError::Lagged { skipped }) => lagged += skipped,
            Err(LossyTryRecvError::Empty) => thread::yield_now(),
            Err(LossyTryRecvError::Closed) => break,
        }
    }
    assert_eq!((subscriber.total_received(), subscriber.total_lagged()), (received, lagged));
    assert_eq!(subscriber.cursor(), start + received + lagged);
    (received, lagged)
}

/// One writer, two readers, and one that joins while they run.
fn race<const N: usize>(capacity: usize, batch: usize) {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<[u8; N]>(capacity);
    let ready = Arc::new(Barrier::new(4));
    // How many of the two readers have received beside the writer.
    let met = Arc::new(AtomicUsize::new(0));
    let readers = [subscribable.subscribe(), subscribable.subscribe()].map(|subscriber| {
        let (ready, met) = (Arc::clone(&ready), Arc::clone(&met));
        thread::spawn(move || {
            ready.wait();
            let mut first = true;
            read(subscriber, || {
                if std::mem::take(&mut first) {
                    met.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
    });
    let late = thread::spawn({
        let ready = Arc::clone(&ready);
        move || {
            ready.wait();
            thread::sleep(TIME / 4);
            let subscriber = subscribable.subscribe_from_oldest();
            let start = subscriber.cursor();
            let (received, lagged) = read(subscriber, || ());
            start + received + lagged
        }
    });
    ready.wait();
    let begun = Instant::now();
    let limit = |met| if met == 2 { TIME } else { TIME.max(PATIENCE) };
    while begun.elapsed() < limit(met.load(Ordering::Relaxed))
        && publisher.published() < messages(N)
        // Only one that found an error ends before the close.
        && !readers.iter().any(JoinHandle::is_finished)
    {
        let next = publisher.published();
        if batch == 0 {
            (next..next + if cfg!(miri) { 1 } else { 16 })
                .for_each(|sequence| publisher.publish(message(sequence)));
        } else {
            let messages: Vec<[u8; N]> = (next..next + batch as u64).map(message).collect();
            publisher.publish_batch(&messages);
        }
    }
    let published = publisher.published();
    drop(publisher);
    for reader in readers {
        let (received, lagged) = reader.join().unwrap();
        assert_eq!(received + lagged, published);
    }
    assert_eq!(late.join().unwrap(), published);
    assert!(
        cfg!(miri) || met.load(Ordering::Relaxed) == 2,
        "{N} bytes, {capacity} slots: a reader that did not meet the writer proves nothing"
    );
}

/// A reader right behind the writer, which never laps it. Nothing but the stamps orders the two, and nothing
/// depends on time: Miri's seeded bugs are looked for here.
fn right_behind(subscriber: Subscriber<[u8; 24]>, mut publish: impl FnMut([u8; 24])) {
    let messages = if cfg!(miri) { 40 } else { 100_000 };
    let received = Arc::new(AtomicUsize::new(0));
    let reader = {
        let received = Arc::clone(&received);
        thread::spawn(move || {
            read(subscriber, || {
                received.fetch_add(1, Ordering::Relaxed);
            })
        })
    };
    for sequence in 0..messages {
        publish(message(sequence as u64));
        // Only one that found an error ends before the close.
        while received.load(Ordering::Relaxed) < sequence && !reader.is_finished() {
            thread::yield_now();
        }
    }
    drop(publish);
    assert_eq!(reader.join().unwrap(), (messages as u64, 0));
}

#[test]
fn right_behind_the_writer() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy(2);
    right_behind(subscribable.subscribe(), move |message| publisher.publish(message));
}

/// One of many. (Where the system has no light fence, as under Miri, an only publisher has a full fence
/// before each stamp, and no bug in the order of the two shows.)
#[test]
fn right_behind_a_writer() {
    let (mut publisher, subscribable) = annulus::broadcast::mp_lossy(2);
    right_behind(subscribable.subscribe(), move |message| publisher.publish(message));
}

macro_rules! sizes {
    ($($name:ident: $bytes:literal),* $(,)?) => {$(
        #[test]
        fn $name() {
            for &(capacity, batch) in RINGS {
                race::<$bytes>(capacity, batch);
            }
        }
    )*};
}

sizes! {
    of_1_byte: 1,
    of_7_bytes: 7,
    of_8_bytes: 8,
    of_24_bytes: 24,
    of_56_bytes: 56,
    of_57_bytes: 57,
    of_200_bytes: 200,
    of_4096_bytes: 4096,
}
