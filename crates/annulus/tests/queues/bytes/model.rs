//! Against a plain model: any verbs in any order, with lengths at random.

use std::collections::VecDeque;

use annulus::Settings;
use annulus::TooLong;
use annulus::TryRecvError;
use annulus::queue::bytes;
use annulus::queue::bytes::{Consumer, Producer, TryWriteError, WriteError};
use proptest::prelude::*;

use crate::bytes::pattern;

/// One step of a model. Lengths are parts of a sixteenth of the longest record, so that one step fits all
/// capacities; 17 sixteenths are too long.
#[derive(Clone, Debug)]
enum Step {
    Write(u8, u64),
    /// Reserves, writes, and commits a part of it.
    Reserve(u8, u8, u64),
    /// Reserves, writes, and sends nothing.
    GiveUp(u8),
    Read,
    /// Looks at a record and leaves it.
    Forget,
    /// So many times.
    ReadMany(u8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..18_u8, any::<u64>()).prop_map(|(len, seed)| Step::Write(len, seed)),
        2 => (0..17_u8, 0..17_u8, any::<u64>()).prop_map(|(len, part, seed)| Step::Reserve(len, part, seed)),
        1 => (0..17_u8).prop_map(Step::GiveUp),
        3 => Just(Step::Read),
        1 => Just(Step::Forget),
        1 => (1..8_u8).prop_map(Step::ReadMany),
    ]
}

/// What a queue of bytes is to be: its records, each with the padding before it, in a ring of words.
struct Model {
    capacity: usize,
    records: VecDeque<(usize, Vec<u8>)>,
    /// Where the next record goes, in words from the ring's front.
    tail: usize,
}

fn words_of(len: usize) -> usize {
    1 + len.div_ceil(8)
}

impl Model {
    fn limit(&self) -> usize {
        self.capacity / 2
    }

    fn len_of(&self, sixteenths: u8) -> usize {
        if sixteenths > 16 { self.limit() + 1 } else { self.limit() * usize::from(sixteenths) / 16 }
    }

    /// The words of the ring: as many as the longest record may take, with padding before it.
    fn slots(&self) -> usize {
        2 * words_of(self.limit()) - 1
    }

    fn padding_before(&self, len: usize) -> usize {
        let left = self.slots() - self.tail;
        if words_of(len) > left { left } else { 0 }
    }

    /// Whether there is room for a record of so many bytes.
    fn has_room(&self, len: usize) -> bool {
        let used: usize = self.records.iter().map(|(padding, record)| padding + words_of(record.len())).sum();
        used + self.padding_before(len) + words_of(len) <= self.slots()
    }

    /// A record was sent, in the place of one of `reserved` bytes.
    fn was_sent(&mut self, record: Vec<u8>, reserved: usize) {
        assert!(self.has_room(reserved));
        let padding = self.padding_before(reserved);
        self.tail = (self.tail + padding + words_of(record.len())) % self.slots();
        self.records.push_back((padding, record));
    }

    /// The consumer looks for the next record, and passes the padding before it.
    fn look(&mut self) -> Option<&[u8]> {
        let (padding, record) = self.records.front_mut()?;
        *padding = 0;
        Some(record)
    }
}

fn read(model: &mut Model, consumer: &mut Consumer) -> bool {
    match (consumer.try_read(), model.look()) {
        (Ok(record), Some(expected)) => assert_eq!(*record, *expected),
        (Err(TryRecvError::Empty), None) => return false,
        (found, expected) => panic!("{found:?}, and not {expected:?}"),
    }
    model.records.pop_front();
    true
}

fn take(step: &Step, model: &mut Model, producer: &mut Producer, consumer: &mut Consumer) {
    match *step {
        Step::Write(len, seed) => {
            let record = pattern(model.len_of(len), seed);
            match producer.try_write(&record) {
                Ok(()) => {
                    let len = record.len();
                    model.was_sent(record, len);
                }
                Err(TryWriteError::Full) => assert!(!model.has_room(record.len())),
                Err(TryWriteError::TooLong(error)) => {
                    assert_eq!(error, TooLong::new(record.len(), model.limit()));
                    assert!(record.len() > model.limit());
                }
                Err(TryWriteError::Closed) => panic!("nobody closed it"),
            }
        }
        Step::Reserve(len, part, seed) => {
            let len = model.len_of(len);
            match producer.try_reserve(len) {
                Ok(mut reservation) => {
                    assert_eq!(reservation.len(), len);
                    let record = pattern(len, seed);
                    reservation.copy_from_slice(&record);
                    let part = len * usize::from(part) / 16;
                    reservation.commit_len(part).unwrap();
                    model.was_sent(record[..part].to_vec(), len);
                }
                Err(error) => {
                    assert_eq!(error, TryWriteError::Full);
                    assert!(!model.has_room(len));
                }
            }
        }
        Step::GiveUp(len) => {
            if let Ok(mut reservation) = producer.try_reserve(model.len_of(len)) {
                reservation.fill(0xAA);
            }
        }
        Step::Read => _ = read(model, consumer),
        Step::Forget => {
            if let Ok(record) = consumer.try_read() {
                assert_eq!(Some(&*record), model.look());
                std::mem::forget(record);
            }
        }
        Step::ReadMany(count) => _ = (0..count).all(|_| read(model, consumer)),
    }
    assert_eq!(consumer.is_empty(), model.records.is_empty());
    assert_eq!(producer.is_empty(), model.records.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 2 } else { 400 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn one_thread_agrees_with_the_model(
        capacity in 2_usize..400,
        first in prop_oneof![Just(0_u64), u64::MAX - 100..=u64::MAX, any::<u64>()],
        steps in prop::collection::vec(step(), if cfg!(miri) { 0..40 } else { 0..400 }),
    ) {
        let (mut producer, mut consumer) = bytes::with(Settings::new(capacity).first(first)).unwrap();
        let mut model = Model { capacity, records: VecDeque::new(), tail: 0 };
        for step in steps {
            take(&step, &mut model, &mut producer, &mut consumer);
        }
        producer.close();
        prop_assert_eq!(producer.write(&[]), Err(WriteError::Closed));
        while let Ok(record) = consumer.read() {
            prop_assert_eq!(&*record, &*model.records.pop_front().unwrap().1);
        }
        prop_assert!(model.records.is_empty());
    }
}
