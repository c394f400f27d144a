//! What another process does: it receives records, or publishes them.

use std::io::Write;
use std::os::unix::fs::FileExt;

use annulus::shm::broadcast::NoSeat;
use annulus::shm::{Invitation, recv_fd};

use super::{check, lossless, publish, ring};
use crate::process::role;

/// `read` or `read-all`, `publish CAPACITY` or `publish-all CAPACITY`. In the test program itself it does
/// nothing.
#[test]
fn child_plays_its_role() {
    let Some((role, mut socket)) = role() else { return };
    let words: Vec<_> = role.split(' ').collect();
    match words[0] {
        // To the end. It says at the end how many it has received, and lost.
        "read" => {
            let invitation = Invitation::receive(&socket).unwrap();
            let ring = invitation.accept_broadcast_bytes().unwrap();
            let mut subscriber = ring.subscribable().subscribe();
            let (first, most, mut buffer) = (subscriber.cursor(), subscriber.max_len(), Vec::new());
            writeln!(socket, "{first}").unwrap();
            while subscriber.recv(&mut buffer).is_ok() {
                check(&buffer, subscriber.cursor() - 1, most);
                let told = subscriber.total_received() + subscriber.total_lagged();
                assert_eq!(told, subscriber.cursor() - first);
            }
            writeln!(socket, "{} {}", subscriber.total_received(), subscriber.total_lagged()).unwrap();
        }
        // Without an end. It says in a file how many it has published.
        "publish" => {
            let (mut publisher, _, invitation) = ring(words[1].parse().unwrap());
            invitation.send(&socket).unwrap();
            let said = std::fs::File::from(recv_fd(&socket).unwrap());
            loop {
                let published = publish(&mut publisher) + 1;
                said.write_all_at(&published.to_ne_bytes(), 0).unwrap();
            }
        }
        // As `read`, of a lossless ring.
        "read-all" => {
            let ring = Invitation::receive(&socket).unwrap().accept_lossless_bytes().unwrap();
            let mut subscriber = loop {
                match ring.subscribe() {
                    Ok(subscriber) => break subscriber,
                    // (The seat of one that was killed.)
                    Err(NoSeat) => std::thread::yield_now(),
                }
            };
            let mut buffer = Vec::new();
            writeln!(socket, "{}", subscriber.cursor()).unwrap();
            while lossless::receive(&mut subscriber, &mut buffer).is_ok() {}
            writeln!(socket, "{} {}", subscriber.total_received(), subscriber.total_lagged()).unwrap();
        }
        // As `publish`, of a lossless ring, once somebody has a seat.
        "publish-all" => {
            let (mut publisher, invitation) = lossless::invited(words[1].parse().unwrap(), 2);
            invitation.send(&socket).unwrap();
            let said = std::fs::File::from(recv_fd(&socket).unwrap());
            assert!(publisher.wait_for_subscribers(1));
            loop {
                let published = lossless::publish(&mut publisher) + 1;
                said.write_all_at(&published.to_ne_bytes(), 0).unwrap();
            }
        }
        other => panic!("{other:?}"),
    }
}
