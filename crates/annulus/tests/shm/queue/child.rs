//! What another process does: it sends or receives.

use std::io::{Read, Write};

use annulus::WaitStrategy;
use annulus::shm::Invitation;
use annulus::shm::{Shared, WhenGone, bytes, spsc};

use crate::process::role;
use crate::queue::processes::{Payload, check, payload};
use crate::queue::records::{number_of, record};

/// `send CAPACITY`, `send-some COUNT`, `write CAPACITY`, `half-written messages|records`,
/// `receive STRATEGY`, `read STRATEGY`. In the test program itself it does nothing.
#[test]
fn child_plays_its_role() {
    let Some((role, mut socket)) = role() else { return };
    match role.split_once(' ') {
        // Without an end, one by one and in batches.
        Some(("send", capacity)) => {
            let settings = annulus::Settings::new(capacity.parse().unwrap());
            let Shared { handle: mut producer, invitation, .. } =
                spsc::producer::<Payload>(settings, WhenGone::Close).unwrap();
            invitation.send(&socket).unwrap();
            let mut next = 0;
            loop {
                let batch = [0, 1, 2].map(|ahead| payload(next + ahead));
                let count = if next % 2 == 0 { 1 } else { 3 };
                producer.send_batch(&batch[..count]).unwrap();
                next += count as u64;
            }
        }
        // Until it is killed.
        Some(("send-some", count)) => {
            let settings = annulus::Settings::new(64);
            let Shared { handle: mut producer, invitation, .. } =
                spsc::producer::<Payload>(settings, WhenGone::Close).unwrap();
            (0..count.parse().unwrap()).for_each(|number| producer.send(payload(number)).unwrap());
            invitation.send(&socket).unwrap();
            let _ = socket.read(&mut [0]);
        }
        // Records of many lengths, without an end.
        Some(("write", capacity)) => {
            let settings = annulus::Settings::new(capacity.parse().unwrap());
            let Shared { handle: mut producer, invitation, .. } =
                bytes::producer(settings, WhenGone::Close).unwrap();
            invitation.send(&socket).unwrap();
            for number in 0.. {
                let record = record(number, producer.max_len());
                let mut room = producer.reserve(record.len()).unwrap();
                room.write_at(0, &record);
                room.commit().unwrap();
            }
        }
        // Sends five, and is then about to send more: their slots are written, but not all of them.
        Some(("half-written", "messages")) => {
            let settings = annulus::Settings::new(8);
            let Shared { handle: mut producer, invitation, .. } =
                spsc::producer::<Payload>(settings, WhenGone::Close).unwrap();
            (0..5).for_each(|number| producer.send(payload(number)).unwrap());
            let mut room = producer.try_reserve(3).unwrap();
            // SAFETY: two of the three slots.
            (0..2).for_each(|at| unsafe { room.as_mut_ptr().add(at).write(payload(5 + at as u64)) });
            invitation.send(&socket).unwrap();
            let _ = socket.read(&mut [0]);
        }
        // The same with records.
        Some(("half-written", _)) => {
            let settings = annulus::Settings::new(4096);
            let Shared { handle: mut producer, invitation, .. } =
                bytes::producer(settings, WhenGone::Close).unwrap();
            (0..5).for_each(|number| producer.write(&record(number, 200)).unwrap());
            let mut room = producer.reserve(200).unwrap();
            room.write_at(0, &[7; 100]);
            invitation.send(&socket).unwrap();
            let _ = socket.read(&mut [0]);
        }
        // Says each number that it has received, so that its killer knows.
        Some(("receive", strategy)) => {
            let strategy = strategy.parse::<WaitStrategy>().unwrap();
            let invitation = Invitation::receive(&socket).unwrap();
            let (mut consumer, _) =
                spsc::consumer::<Payload>(&invitation.with_wait_strategy(strategy)).unwrap();
            socket.write_all(b"\n").unwrap();
            while let Ok(message) = consumer.recv() {
                check(&message);
                socket.write_all(&message[0].to_ne_bytes()).unwrap();
            }
        }
        // The same with records, each of which it says before it counts as received.
        Some(("read", strategy)) => {
            let strategy = strategy.parse::<WaitStrategy>().unwrap();
            let invitation = Invitation::receive(&socket).unwrap();
            let (mut consumer, _) = bytes::consumer(&invitation.with_wait_strategy(strategy)).unwrap();
            socket.write_all(b"\n").unwrap();
            while let Ok(record) = consumer.read() {
                socket.write_all(&number_of(&record.to_vec()).to_ne_bytes()).unwrap();
            }
        }
        other => panic!("{other:?}"),
    }
}
