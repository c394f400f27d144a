//! Records of any length between two threads, written and read in place, without an allocation.
//!
//! Here they are lines of a log: a byte for the level, and a text that is formatted into the ring itself.

use std::io::Write;
use std::thread;

use annulus::queue::bytes::{self, Producer, WriteError};

/// Formats `text` behind its level, into the ring. What is longer than 120 bytes is cut.
fn log(producer: &mut Producer, level: u8, text: std::fmt::Arguments<'_>) -> Result<(), WriteError> {
    let mut record = producer.reserve(121)?; // waits while there is no room
    record[0] = level;
    let mut rest = &mut record[1..];
    // An error means that the rest of the record is full.
    let _ = rest.write_fmt(text);
    let unused = rest.len();
    record.commit_len(121 - unused) // takes only what was written
}

fn main() -> Result<(), WriteError> {
    let (mut producer, mut consumer) = bytes::channel(4096);
    let reader = thread::spawn(move || {
        let (mut lines, mut bytes, mut warnings) = (0, 0, 0);
        while let Ok(record) = consumer.read() {
            let (level, text) = record.split_first().expect("it has a level");
            let text = std::str::from_utf8(text).expect("only ASCII was written");
            if lines < 3 {
                println!("{level} {text}");
            }
            lines += 1;
            bytes += record.len();
            warnings += u32::from(*level > 0);
        } // the record is given back here
        (lines, bytes, warnings)
    });

    for number in 0..100_000_u32 {
        let level = u8::from(number % 1000 == 0);
        log(&mut producer, level, format_args!("order {number} at {:.2}", f64::from(number) / 7.0))?;
    }
    // Whole records can be copied in, too. Half the capacity is the limit.
    producer.write(b"\x01end")?;
    let error = producer.write(&[0; 2049]).unwrap_err();
    assert!(matches!(error, WriteError::TooLong(error) if error.len == 2049 && error.max == 2048));
    drop(producer);

    let (lines, bytes, warnings) = reader.join().expect("it does not panic");
    println!("{lines} records, {bytes} bytes, {warnings} warnings");
    assert_eq!((lines, warnings), (100_001, 101));
    Ok(())
}
