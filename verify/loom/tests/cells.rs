//! The newest value between processes, which are threads in a model: values that one of them writes into a
//! cell of two slots in turn, and that others read at any time.
#![cfg(annulus_loom)]

use std::sync::Arc;

use annulus::{Settings, cell_for_a_model};
use annulus_loom::{BLOCK, Checked, check_up_to};
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

/// What is read is whole, and no older than what was written before, or was read before.
fn newest<T: Checked>(values: u64, preemptions: usize) {
    check_up_to(preemptions, move || {
        let (mut writer, reader) = cell_for_a_model::<T>();
        let said = Arc::new(AtomicU64::new(0));
        let saying = Arc::clone(&said);
        let writing = thread::spawn(move || {
            for number in 0..values {
                writer.write(T::of(number), || saying.store(number + 1, Ordering::Release));
            }
        });
        let mut last = 0;
        for _ in 0..2 {
            let before = said.load(Ordering::Acquire);
            let shown = reader.written();
            let found = reader.look();
            // The last value is never overwritten.
            assert!(found.is_some() || shown < values);
            if let Some((written, value)) = found {
                assert!(written >= before.max(last), "{written} after {last} and {before}");
                assert_eq!(value.number(), written - 1);
                last = written;
            }
            assert!(reader.written() >= before.max(last));
        }
        writing.join().unwrap();
        // A writer that has stopped makes no reader look twice.
        assert_eq!(reader.look().map(|(written, _)| written), Some(values));
    });
}

#[test]
fn one_word_is_the_newest() {
    newest::<u64>(3, 3);
}

#[test]
fn two_words_are_the_newest() {
    newest::<[u64; 2]>(3, 2);
}

/// A reader that sleeps is woken by the notice, and finds the value. Nothing else wakes it: the ring stays
/// open.
#[test]
fn told_reader_finds_the_value() {
    for is_asymmetric in [false, true] {
        check_up_to(2, move || {
            let (mut writer, reader) = cell_for_a_model::<u64>();
            let settings = Settings::new(2).wait_strategy(BLOCK);
            let (mut notices, subscribable) =
                settings.lossy_for_two_processes::<u64>(is_asymmetric, || false);
            let mut told = subscribable.subscribe();
            let reading = thread::spawn(move || {
                assert_eq!(told.recv(), Ok(0));
                assert_eq!(reader.look().map(|(written, value)| (written, value.number())), Some((1, 0)));
                told
            });
            writer.write(u64::of(0), || notices.publish(0));
            drop(reading.join().unwrap());
            drop(notices);
        });
    }
}
