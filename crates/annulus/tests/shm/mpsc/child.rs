//! What another process does: it sends or receives.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use annulus::WaitStrategy;
use annulus::shm::mpsc::{self, Consumer, Producer};
use annulus::shm::{AttachError, Invitation, Shared};

use crate::mpsc::{Payload, check, payload, queue, waiting};
use crate::process::role;

/// `send SENDER`, `send-some SENDER COUNT`, `come-and-go SENDER JOINS`, `make STRATEGY`, `hold`, or `receive
/// STRATEGY`. In the test program itself it does nothing.
#[test]
fn child_plays_its_role() {
    let Some((role, mut socket)) = role() else { return };
    let words: Vec<_> = role.split(' ').collect();
    let number = |index: usize| words[index].parse::<u64>().unwrap();
    let strategy = |index: usize| words[index].parse::<WaitStrategy>().unwrap();
    match words[0] {
        // Without an end, one by one and in batches.
        "send" => {
            let mut producer = join(&Invitation::receive(&socket).unwrap());
            socket.write_all(b"\n").unwrap();
            let (sender, mut next) = (number(1), 0);
            loop {
                let batch = [0, 1, 2].map(|ahead| payload(sender, next + ahead));
                let count = if next % 2 == 0 { 1 } else { 3 };
                if producer.send_batch(&batch[..count]).is_err() {
                    return;
                }
                next += count as u64;
            }
        }
        // Until it is killed, or its killer is gone.
        "send-some" => {
            let mut producer = join(&Invitation::receive(&socket).unwrap());
            (0..number(2)).for_each(|next| producer.send(payload(number(1), next)).unwrap());
            socket.write_all(b"\n").unwrap();
            let _ = socket.read(&mut [0]);
        }
        // Ten messages each time; a message has the number that follows.
        "come-and-go" => {
            let invitation = Invitation::receive(&socket).unwrap();
            let mut next = 0;
            for _ in 0..number(2) {
                let mut producer = join(&invitation);
                for _ in 0..10 {
                    producer.send(payload(number(1), next)).unwrap();
                    next += 1;
                }
                // In another place the next ones would be received before these.
                while !producer.is_empty() {
                    std::thread::yield_now();
                }
            }
            socket.write_all(b"\n").unwrap();
        }
        // Makes a queue, and is its consumer.
        "make" => {
            let Shared { handle: consumer, invitation, .. } = waiting(16, 4).build::<Payload>().unwrap();
            invitation.send(&socket).unwrap();
            receive(consumer, strategy(1), socket);
        }
        // The same, but it receives nothing, and its producers do not wait for a next one.
        "hold" => {
            let Shared { handle: _consumer, invitation, .. } = queue(2, 2).build::<Payload>().unwrap();
            invitation.send(&socket).unwrap();
            let _ = socket.read(&mut [0]);
        }
        "receive" => {
            let invitation = Invitation::receive(&socket).unwrap();
            let (consumer, _) = mpsc::consumer::<Payload>(&invitation).unwrap();
            socket.write_all(b"\n").unwrap();
            receive(consumer, strategy(1), socket);
        }
        other => panic!("{other:?}"),
    }
}

/// As soon as there is a place.
fn join(invitation: &Invitation) -> Producer<Payload> {
    loop {
        match mpsc::producer::<Payload>(invitation) {
            Ok((producer, _)) => return producer,
            Err(AttachError::NoPlace { .. }) => std::thread::yield_now(),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Prints the producer and the number of each message, so that the test that kills it knows.
fn receive(mut consumer: Consumer<Payload>, strategy: WaitStrategy, mut socket: UnixStream) {
    while let Ok(message) = consumer.recv_until(strategy) {
        check(&message);
        let [sender, number] = [message[0], message[1]].map(u64::to_ne_bytes);
        socket.write_all(&[sender, number].concat()).unwrap();
    }
}
