//! What another process does: it sends, or it receives.

use std::io::{Read, Write};

use annulus::shm::Invitation;

use super::{consumer, job, producer, read};
use crate::process::role;

/// `send PRODUCER`, `receive`, `work`, `hold COUNT`. In the test program itself it does nothing.
#[test]
fn child_plays_its_role() {
    let Some((role, mut socket)) = role() else { return };
    let words: Vec<_> = role.split(' ').collect();
    let invitation = Invitation::receive(&socket).unwrap();
    match words[0] {
        // Without an end. It says each number that it has sent.
        "send" => {
            let from = words[1].parse().unwrap();
            let mut producer = producer(&invitation);
            socket.write_all(b"\n").unwrap();
            for number in 0.. {
                if producer.send(job(from, number)).is_err() {
                    return;
                }
                socket.write_all(&u64::to_ne_bytes(number)).unwrap();
            }
        }
        // Says what it has received: behind that.
        "receive" => {
            let mut consumer = consumer(&invitation);
            socket.write_all(b"\n").unwrap();
            while let Ok(message) = consumer.recv() {
                tell(&mut socket, &message, 0);
            }
            let _ = socket.read(&mut [0]);
        }
        // Claims, and says what it has done, before that is done. It gives some back, and holds up to three.
        "work" => {
            let mut consumer = consumer(&invitation);
            socket.write_all(b"\n").unwrap();
            let (mut held, mut count) = (Vec::new(), 0_u64);
            loop {
                count += 1;
                match consumer.try_claim() {
                    Ok(claimed) if count % 5 == 0 => drop(claimed),
                    Ok(claimed) => held.push(claimed),
                    Err(_) if held.is_empty() => match consumer.claim() {
                        Ok(claimed) => held.push(claimed),
                        // It is there until it is told to go.
                        Err(_) => return drop(socket.read(&mut [0])),
                    },
                    Err(_) => {}
                }
                if held.len() == 3 || count % 2 == 0 {
                    let Some(claimed) = held.pop() else { continue };
                    tell(&mut socket, &claimed, claimed.given_before());
                    claimed.done();
                }
            }
        }
        "hold" => {
            let mut consumer = consumer(&invitation);
            let count: usize = words[1].parse().unwrap();
            let _held: Vec<_> = (0..count).map(|_| consumer.claim().unwrap()).collect();
            socket.write_all(b"\n").unwrap();
            let _ = socket.read(&mut [0]);
        }
        other => panic!("{other:?}"),
    }
}

/// Its producer, its number, and how often it was given before.
fn tell(socket: &mut impl Write, message: &super::Job, given: u64) {
    let (from, number) = read(message);
    socket.write_all(bytemuck::bytes_of(&[from, number, given])).unwrap();
}
