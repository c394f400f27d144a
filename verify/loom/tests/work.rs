//! Lanes whose messages have owners: each message is received once, whatever a reader dies of, and counted.
//! In a model the processes are threads, and a death gives a lock up.
//!
//! Loom watches each slot: a writer beside a reader fails the model.
#![cfg(annulus_loom)]

use annulus::{WorkTaker, WorkWriter, work_for_a_model};
use annulus_loom::check;
use loom::thread;

fn send(writer: &mut WorkWriter, value: u64) {
    while !writer.send(value) {
        thread::yield_now();
    }
}

/// The next one, with how often it was given before.
fn take(reader: &mut WorkTaker) -> (u64, u64) {
    loop {
        if let Some(taken) = reader.take() {
            return taken;
        }
        thread::yield_now();
    }
}

/// All that is there, when nobody sends any more.
fn rest(reader: &mut WorkTaker) -> Vec<u64> {
    std::iter::from_fn(|| reader.take().map(|(value, _)| value)).collect()
}

/// Two readers beside a writer that goes round: each message once, and in order for each reader.
#[test]
fn message_has_one_reader() {
    check(|| {
        let (mut writer, mut readers) = work_for_a_model(2, 2, false);
        let (mut other, mut reader) = (readers.pop().unwrap(), readers.pop().unwrap());
        let reading = thread::spawn(move || {
            let taken = [other.take(), other.take()];
            taken.into_iter().flatten().map(|(value, _)| value).collect::<Vec<_>>()
        });
        let sending = thread::spawn(move || (0..2).for_each(|value| send(&mut writer, value)));
        let mut mine: Vec<_> = reader.take().into_iter().map(|(value, _)| value).collect();
        sending.join().unwrap();
        let theirs = reading.join().unwrap();
        mine.extend(rest(&mut reader));
        assert!(mine.is_sorted() && theirs.is_sorted());
        let mut all = [mine, theirs].concat();
        all.sort_unstable();
        assert_eq!(all, [0, 1]);
    });
}

/// A slot is written again behind the copy of the message before.
#[test]
fn slot_is_written_behind_its_reader() {
    check(|| {
        let (mut writer, mut readers) = work_for_a_model(1, 1, false);
        let mut reader = readers.pop().unwrap();
        let reading = thread::spawn(move || [take(&mut reader), take(&mut reader)]);
        send(&mut writer, 7);
        send(&mut writer, 8);
        assert_eq!(reading.join().unwrap(), [(7, 0), (8, 0)]);
    });
}

/// A reader claims a message and dies, beside another one: that has each message that the dead one has not,
/// and the dead one's after that. The writer passes over its slot.
#[test]
fn message_of_a_dead_reader_is_given_again() {
    check(|| {
        let (mut writer, mut readers) = work_for_a_model(2, 2, false);
        let (dying, mut reader) = (readers.pop().unwrap(), readers.pop().unwrap());
        send(&mut writer, 0);
        let death = thread::spawn(move || dying.dies());
        send(&mut writer, 1);
        let first = take(&mut reader);
        send(&mut writer, 2);
        let held = death.join().unwrap();
        let mut all = vec![first.0];
        all.extend(rest(&mut reader));
        assert!(reader.sweep(1));
        let again = reader.take();
        assert_eq!(again, held.map(|value| (value, 1)));
        all.extend(again.map(|(value, _)| value));
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2]);
        assert_eq!(reader.counts(1), [u64::from(held.is_some()), 0]);
    });
}

/// The same, beside the sweep: two readers look after the dead one, and one of them has its message.
#[test]
fn dead_reader_is_swept_once() {
    check(|| {
        let (mut writer, mut readers) = work_for_a_model(1, 3, false);
        let (mut other, mut reader) = (readers.pop().unwrap(), readers.pop().unwrap());
        send(&mut writer, 7);
        assert_eq!(readers.pop().unwrap().dies(), Some(7));
        let look = |reader: &mut WorkTaker| {
            _ = reader.sweep(0);
            reader.take()
        };
        let looking = thread::spawn(move || (look(&mut other), other));
        let mine = look(&mut reader);
        let (theirs, _other) = looking.join().unwrap();
        let last = reader.take();
        let all: Vec<_> = [mine, theirs, last].into_iter().flatten().collect();
        assert_eq!(all, [(7, 1)]);
        assert_eq!(reader.counts(0), [1, 0]);
    });
}

/// A reader dies while it gives its message again, before or behind the step that it has written down:
/// another one finishes that, and counts it once. So the message is there once.
#[test]
fn step_that_was_begun_is_finished_once() {
    for is_done in [false, true] {
        check(move || {
            let (mut writer, mut readers) = work_for_a_model(2, 2, false);
            let (dying, mut reader) = (readers.pop().unwrap(), readers.pop().unwrap());
            send(&mut writer, 0);
            let death = thread::spawn(move || dying.dies_giving(is_done));
            let mine = reader.take().map(|(value, _)| value);
            let held = death.join().unwrap();
            assert!(reader.sweep(1));
            let mut all: Vec<_> = mine.into_iter().collect();
            all.extend(rest(&mut reader));
            assert_eq!(all, [0]);
            assert_eq!(reader.counts(1), [u64::from(held.is_some()), 0]);
        });
    }
}

/// What a dead one held is dropped, and there is room.
#[test]
fn message_of_a_dead_reader_is_dropped() {
    check(|| {
        let (mut writer, mut readers) = work_for_a_model(1, 2, true);
        let (dying, mut reader) = (readers.pop().unwrap(), readers.pop().unwrap());
        send(&mut writer, 0);
        assert_eq!(dying.dies(), Some(0));
        let sending = thread::spawn(move || send(&mut writer, 1));
        assert!(reader.sweep(1));
        assert_eq!(take(&mut reader), (1, 0));
        sending.join().unwrap();
        assert_eq!(reader.counts(1), [0, 1]);
    });
}

/// What one reader gives back another one finds, though it lies before the head.
#[test]
fn message_that_is_given_back_is_found() {
    check(|| {
        let (mut writer, mut readers) = work_for_a_model(2, 2, false);
        let (mut other, mut reader) = (readers.pop().unwrap(), readers.pop().unwrap());
        send(&mut writer, 0);
        send(&mut writer, 1);
        let giving = thread::spawn(move || other.gives_back());
        let mut all = vec![take(&mut reader).0];
        giving.join().unwrap();
        all.extend(rest(&mut reader));
        all.sort_unstable();
        assert_eq!(all, [0, 1]);
    });
}

/// A message that is taken back beside a claim is one or the other's. The next one comes behind it.
#[test]
fn message_is_taken_back_or_received() {
    check(|| {
        let (mut writer, mut readers) = work_for_a_model(2, 1, false);
        let mut reader = readers.pop().unwrap();
        let reading = thread::spawn(move || (reader.take(), reader));
        send(&mut writer, 7);
        let is_back = writer.takes_back();
        let (taken, mut reader) = reading.join().unwrap();
        let received = taken.or_else(|| reader.take());
        assert_eq!(received.is_some(), !is_back);
        send(&mut writer, 8);
        assert_eq!(rest(&mut reader), [8]);
    });
}

/// A writer dies between the word of its message and the tail, beside a reader that may have that message
/// already. The next writer goes on behind it.
#[test]
fn next_writer_goes_on_behind_the_dead_one() {
    check(|| {
        let (writer, mut readers) = work_for_a_model(2, 1, false);
        let mut reader = readers.pop().unwrap();
        let reading = thread::spawn(move || (reader.take(), reader));
        let mut next = writer.dies_sending(7);
        send(&mut next, 8);
        let (taken, mut reader) = reading.join().unwrap();
        let mut all: Vec<_> = taken.into_iter().map(|(value, _)| value).collect();
        all.extend(rest(&mut reader));
        assert_eq!(all, [7, 8]);
    });
}
