//! What another process does: it publishes.

use std::io::Write;
use std::os::unix::fs::FileExt;

use annulus::Message;
use annulus::shm::WhenGone;
use annulus::shm::mp_broadcast::{self, Publisher};
use annulus::shm::{AttachError, Directory, Invitation, Shared, recv_fd};
use bytemuck::Pod;

use crate::mp_broadcast::{Payload, payload, ring};
use crate::process::role;

/// Most of the time that a publisher takes is that of the copy.
pub(crate) type Large = [u64; 2000];

/// `publish SENDER`, `publish-large SENDER`, `publish-in SENDER PATH`, or `make CAPACITY`. In the test
/// program itself it does nothing.
#[test]
fn this_process() {
    let Some((role, mut socket)) = role() else { return };
    let words: Vec<_> = role.split(' ').collect();
    let number = |index: usize| words[index].parse::<u64>().unwrap();
    match words[0] {
        // Without an end, one by one and in batches. It says in a file how many it has published.
        "publish" => {
            let invitation = Invitation::receive(&socket).unwrap();
            let said = std::fs::File::from(recv_fd(&socket).unwrap());
            let (mut publisher, sender, mut next) = (join::<Payload>(&invitation), number(1), 0_u64);
            socket.write_all(b"\n").unwrap();
            loop {
                let batch: [Payload; 70] = std::array::from_fn(|ahead| payload(sender, next + ahead as u64));
                let count = [1, 3, 70][next as usize % 3];
                publisher.publish_batch(&batch[..count]);
                next += count as u64;
                said.write_all_at(&next.to_ne_bytes(), 0).unwrap();
                if publisher.is_closed() {
                    return;
                }
            }
        }
        "publish-large" => {
            let invitation = Invitation::receive(&socket).unwrap();
            let (mut publisher, sender) = (join::<Large>(&invitation), number(1) << 32);
            socket.write_all(b"\n").unwrap();
            for number in 0.. {
                publisher.publish([sender + number; 2000]);
            }
        }
        // By name: the sender's number says whether a ring that it makes ends with its publishers.
        "publish-in" => {
            let (sender, path) = (number(1), words[2..].join(" "));
            let directory = Directory::open(path).unwrap();
            let policy = if sender % 2 == 1 { WhenGone::Close } else { WhenGone::Wait };
            let builder = ring(256, 4).when_no_publisher(policy);
            let (mut publisher, _name) = builder.publish_in::<Payload>(&directory, "a").unwrap();
            socket.write_all(b"\n").unwrap();
            for number in 0.. {
                publisher.publish(payload(sender, number));
                std::thread::yield_now();
            }
        }
        // Makes a ring, and publishes to it.
        "make" => {
            let Shared { handle: mut publisher, invitation, .. } =
                ring(number(1) as usize, 4).build::<Payload>().unwrap();
            invitation.send(&socket).unwrap();
            for number in 0.. {
                publisher.publish(payload(9, number));
                std::thread::yield_now();
            }
        }
        other => panic!("{other:?}"),
    }
}

/// As soon as there is a place.
fn join<T: Message + Pod>(invitation: &Invitation) -> Publisher<T> {
    loop {
        match mp_broadcast::publisher(invitation) {
            Ok(publisher) => return publisher,
            Err(AttachError::NoPlace { .. }) => std::thread::yield_now(),
            Err(error) => panic!("{error}"),
        }
    }
}
