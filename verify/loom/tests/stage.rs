//! Stages: a subscriber that follows others sees a message only after each of them has processed it, and then
//! sees all that they did with it.
//!
//! What an upstream does with a message is a note in a cell that is not atomic: loom reports it where a stage
//! that follows looks before the upstream is done, or with no order between the two.
#![cfg(annulus_loom)]

use annulus::TryRecvError;
use annulus::broadcast::{Mode, Staged, Subscriber, Unstaged};
use annulus_loom::{Checked, check};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread::{self, JoinHandle};

/// What one upstream notes, message by message.
struct Notes([UnsafeCell<Option<u64>>; 5]);

// SAFETY: loom fails the model where two threads meet in a cell and one of them writes.
unsafe impl Send for Notes {}
// SAFETY: as above.
unsafe impl Sync for Notes {}

impl Notes {
    fn new() -> Arc<Self> {
        Arc::new(Self([(); 5].map(|()| UnsafeCell::new(None))))
    }

    /// The upstream's work with a message.
    fn note(&self, sequence: u64, number: u64) {
        // SAFETY: loom watches that nobody else looks meanwhile.
        self.0[sequence as usize].with_mut(|note| unsafe { *note = Some(number) });
    }

    /// Asserts that the work with a message is done.
    fn assert(&self, sequence: u64, number: u64) {
        // SAFETY: loom watches that nobody writes meanwhile.
        let note = self.0[sequence as usize].with(|note| unsafe { *note });
        assert_eq!(note, Some(number), "message {sequence} was not processed");
    }
}

/// Calls `try_recv` up to `times` times, ends at the first `Closed`, and lets `look` at the sequence and the
/// number of each message. A lag is none of its concern.
fn receive<M: Mode>(subscriber: &mut Subscriber<u64, M>, times: usize, mut look: impl FnMut(u64, u64)) {
    for _ in 0..times {
        match subscriber.try_recv() {
            Ok(message) => look(subscriber.cursor() - 1, message.number()),
            Err(TryRecvError::Empty) => thread::yield_now(),
            Err(TryRecvError::Closed) => break,
        }
    }
}

/// An upstream in a thread of its own, which it lives longer than: it calls `try_recv` up to `times` times,
/// and notes each message.
fn working<M: Unstaged>(
    mut upstream: Subscriber<u64, Staged<M>>,
    notes: &Arc<Notes>,
    times: usize,
) -> JoinHandle<Subscriber<u64, Staged<M>>> {
    let notes = Arc::clone(notes);
    thread::spawn(move || {
        receive(&mut upstream, times, |sequence, number| notes.note(sequence, number));
        upstream
    })
}

/// More tries than any model has messages and lags.
const ALL: usize = 9;

/// Two messages: the first counts as processed when the upstream comes back for the second.
#[test]
fn stage_sees_the_writes_of_its_upstream() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let upstream = subscribable.subscribe_tracked();
        let mut downstream = subscribable.subscribe().after(&[&upstream]);
        publisher.publish_batch(&[0, 1].map(Checked::of));
        drop(publisher);
        let notes = Notes::new();
        let upstream = working(upstream, &notes, ALL);
        receive(&mut downstream, ALL, |sequence, number| notes.assert(sequence, number));
        drop(upstream.join().unwrap());
        receive(&mut downstream, ALL, |sequence, number| notes.assert(sequence, number));
        assert_eq!(downstream.total_received(), 2);
    });
}

/// The upstream says so, and comes back no more.
#[test]
fn done_is_processed() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let mut upstream = subscribable.subscribe_tracked();
        let mut downstream = subscribable.subscribe().after(&[&upstream]);
        publisher.publish(Checked::of(0));
        let notes = Notes::new();
        let noting = Arc::clone(&notes);
        let upstream = thread::spawn(move || {
            assert_eq!(upstream.try_recv(), Ok(u64::of(0)));
            noting.note(0, 0);
            upstream.done();
            upstream
        });
        while downstream.try_recv().is_err() {
            thread::yield_now();
        }
        notes.assert(0, 0);
        drop(upstream.join().unwrap());
    });
}

/// By closure: each message counts as processed when its closure returns, and the upstream idles after the
/// last one.
#[test]
fn message_is_processed_by_closure() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let mut upstream = subscribable.subscribe_tracked();
        let mut downstream = subscribable.subscribe().after(&[&upstream]);
        publisher.publish_batch(&[0, 1].map(Checked::of));
        let notes = Notes::new();
        let noting = Arc::clone(&notes);
        let upstream = thread::spawn(move || {
            for sequence in [0, 1] {
                upstream.try_process(|message| noting.note(sequence, message.number())).unwrap();
            }
            upstream
        });
        let mut sequence = 0;
        while sequence < 2 {
            let looked = downstream.try_process_batch(2, |message, _| {
                notes.assert(sequence, message.number());
                sequence += 1;
            });
            match looked {
                Ok(count) => assert!(count > 0),
                Err(_) => thread::yield_now(),
            }
        }
        drop(upstream.join().unwrap());
    });
}

/// The message comes while both stages look for it.
#[test]
fn message_comes_by_way_of_the_upstream() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let upstream = subscribable.subscribe_tracked();
        let mut downstream = subscribable.subscribe().after(&[&upstream]);
        let writer = thread::spawn(move || publisher.publish(Checked::of(0)));
        let notes = Notes::new();
        let upstream = working(upstream, &notes, 2);
        receive(&mut downstream, 2, |sequence, number| notes.assert(sequence, number));
        writer.join().unwrap();
        let mut upstream = upstream.join().unwrap();
        receive(&mut upstream, ALL, |sequence, number| notes.note(sequence, number));
        receive(&mut downstream, ALL, |sequence, number| notes.assert(sequence, number));
        assert_eq!(downstream.total_received(), 1);
    });
}

/// The slower of two upstreams decides.
#[test]
fn a_diamond() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let [first, second] = [(); 2].map(|()| subscribable.subscribe_tracked());
        let mut downstream = subscribable.subscribe().after(&[&first, &second]);
        publisher.publish(Checked::of(0));
        drop(publisher);
        let notes = [(); 2].map(|()| Notes::new());
        let look = |sequence, number| notes.iter().for_each(|notes| notes.assert(sequence, number));
        let [first, second] = [working(first, &notes[0], ALL), working(second, &notes[1], ALL)];
        receive(&mut downstream, ALL, look);
        drop((first.join().unwrap(), second.join().unwrap()));
        receive(&mut downstream, ALL, look);
        assert_eq!(downstream.total_received(), 1);
    });
}

/// A follower of a stage that follows another follows that one too.
#[test]
fn a_chain() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let first = subscribable.subscribe_tracked();
        let second = subscribable.subscribe().after(&[&first]);
        let mut third = subscribable.subscribe().after(&[&second]);
        publisher.publish(Checked::of(0));
        drop(publisher);
        let notes = [(); 2].map(|()| Notes::new());
        let look = |sequence, number| notes.iter().for_each(|notes| notes.assert(sequence, number));
        let [first, second] = [working(first, &notes[0], 2), working(second, &notes[1], 2)];
        receive(&mut third, 2, look);
        let (_first, mut second) = (first.join().unwrap(), second.join().unwrap());
        receive(&mut second, ALL, |sequence, number| notes[1].note(sequence, number));
        receive(&mut third, ALL, look);
        assert_eq!(third.total_received(), 1);
    });
}

/// A batch and a drain end where the upstream has not processed.
#[test]
fn batches_end_where_the_upstream_is() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let mut upstream = subscribable.subscribe_tracked();
        let mut downstream = subscribable.subscribe().after(&[&upstream]);
        publisher.publish_batch(&[0, 1].map(Checked::of));
        let notes = Notes::new();
        let noting = Arc::clone(&notes);
        let working = thread::spawn(move || {
            for (sequence, message) in (0..).zip(upstream.try_iter()) {
                noting.note(sequence, message.number());
            }
            upstream.done();
            upstream
        });
        let mut buffer = [u64::of(9); 2];
        let count = downstream.try_recv_batch(&mut buffer);
        for (sequence, message) in (0..).zip(&buffer[..count]) {
            notes.assert(sequence, message.number());
        }
        for (sequence, message) in (count as u64..).zip(downstream.try_iter()) {
            notes.assert(sequence, message.number());
        }
        drop(working.join().unwrap());
        downstream.try_iter().for_each(drop);
        assert_eq!(downstream.total_received(), 2);
    });
}

/// An upstream that is gone is waited for no longer; what it did comes before that.
#[test]
fn dropped_upstream_opens_the_way() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let mut upstream = subscribable.subscribe_tracked();
        let mut downstream = subscribable.subscribe().after(&[&upstream]);
        publisher.publish_batch(&[0, 1].map(Checked::of));
        let notes = Notes::new();
        let noting = Arc::clone(&notes);
        let working = thread::spawn(move || {
            assert_eq!(upstream.try_recv(), Ok(u64::of(0)));
            noting.note(0, 0);
            drop(upstream);
        });
        while downstream.cursor() < 2 {
            receive(&mut downstream, 1, |_, _| notes.assert(0, 0));
        }
        working.join().unwrap();
    });
}

/// An upstream that is lapped twice within half a ring passes over a message that still stands: its follower
/// passes over that message too.
#[test]
fn stage_loses_the_messages_its_upstream_passed_over() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let mut upstream = subscribable.subscribe_tracked();
        let mut downstream = subscribable.subscribe().after(&[&upstream]);
        publisher.publish_batch(&[0, 1, 2].map(Checked::of));
        assert!(upstream.try_recv_or_lag().is_err(), "message 0 is overwritten");
        publisher.publish_batch(&[3, 4].map(Checked::of));
        drop(publisher);
        let notes = Notes::new();
        let upstream = working(upstream, &notes, ALL);
        receive(&mut downstream, 3, |sequence, number| notes.assert(sequence, number));
        let upstream = upstream.join().unwrap();
        assert_eq!((upstream.total_received(), upstream.total_lagged()), (1, 4), "3 stands");
        receive(&mut downstream, ALL, |sequence, number| notes.assert(sequence, number));
        assert_eq!((downstream.total_received(), downstream.total_lagged()), (1, 4));
    });
}

/// The publisher laps both stages meanwhile: each message is received or counted, and the upstream processed
/// all that are received.
#[test]
fn lapped_upstream() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(2);
        let upstream = subscribable.subscribe_tracked();
        let mut downstream = subscribable.subscribe().after(&[&upstream]);
        publisher.publish_batch(&[0, 1].map(Checked::of));
        let writer = thread::spawn(move || publisher.publish(Checked::of(2)));
        let notes = Notes::new();
        let upstream = working(upstream, &notes, 2);
        receive(&mut downstream, 2, |sequence, number| notes.assert(sequence, number));
        writer.join().unwrap();
        let mut upstream = upstream.join().unwrap();
        receive(&mut upstream, ALL, |sequence, number| notes.note(sequence, number));
        receive(&mut downstream, ALL, |sequence, number| notes.assert(sequence, number));
        assert_eq!(downstream.total_received() + downstream.total_lagged(), 3);
        assert!(downstream.total_received() <= upstream.total_received());
    });
}

/// On a lossless ring the publisher waits for both stages, and nothing is lost on the way.
#[test]
fn lossless_ring() {
    check(|| {
        let (mut publisher, subscribable) = annulus::broadcast::lossless::<u64>(2);
        let upstream = subscribable.subscribe_tracked();
        let mut downstream = subscribable.subscribe().after(&[&upstream]);
        publisher.publish_batch(&[0, 1].map(Checked::of)).unwrap();
        let writer = thread::spawn(move || publisher.try_publish(Checked::of(2)).is_ok());
        let notes = Notes::new();
        let upstream = working(upstream, &notes, 2);
        receive(&mut downstream, 2, |sequence, number| notes.assert(sequence, number));
        let published = if writer.join().unwrap() { 3 } else { 2 };
        let mut upstream = upstream.join().unwrap();
        receive(&mut upstream, ALL, |sequence, number| notes.note(sequence, number));
        receive(&mut downstream, ALL, |sequence, number| notes.assert(sequence, number));
        assert_eq!((upstream.total_received(), downstream.total_received()), (published, published));
    });
}

/// Owned events: one counts as processed when the closure that looks at it has returned.
#[test]
fn owned_events() {
    check(|| {
        let (mut publisher, subscribable) = annulus::event::channel(2, || 0_u64);
        let mut upstream = subscribable.subscribe_tracked();
        let mut downstream = subscribable.subscribe().after(&[&upstream]);
        for number in [0, 1] {
            publisher.publish(|event| *event = number).unwrap();
        }
        let notes = Notes::new();
        let noting = Arc::clone(&notes);
        let upstream = thread::spawn(move || {
            for sequence in [0, 1] {
                upstream.try_process(|&number| noting.note(sequence, number)).unwrap();
            }
            upstream
        });
        let mut sequence = 0;
        while sequence < 2 {
            let looked = downstream.try_process_batch(2, |&number, _| {
                notes.assert(sequence, number);
                sequence += 1;
            });
            if looked.is_err() {
                thread::yield_now();
            }
        }
        drop(upstream.join().unwrap());
    });
}
