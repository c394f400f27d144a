//! What another process does: it reads frames, or publishes them.

use std::collections::VecDeque;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;

use annulus::broadcast::Mode;
use annulus::shm::frames::{FrameError, SubscribeError, Subscriber};
use annulus::shm::{Invitation, recv_fd};

use super::{check, lossless, publish, ring};
use crate::process::role;

/// `read HOLDS`, or `publish CAPACITY`. In the test program itself it does nothing.
#[test]
fn child_plays_its_role() {
    let Some((role, socket)) = role() else { return };
    let words: Vec<_> = role.split(' ').collect();
    let number = |index: usize| words[index].parse::<usize>().unwrap();
    match words[0] {
        // To the end, always holding so many. It says at the end how many it has received, and lost.
        "read" => {
            let ring = Invitation::receive(&socket).unwrap().accept_frames().unwrap();
            read(socket, number(1), || ring.subscribe());
        }
        // As `read`, of a lossless ring.
        "read-all" => {
            let ring = Invitation::receive(&socket).unwrap().accept_lossless_frames().unwrap();
            read(socket, number(1), || ring.subscribe());
        }
        // Without an end. It says in a file how many it has published.
        "publish" => {
            let (mut publisher, invitation) = ring(number(1), 20_000, 2, 2);
            invitation.send(&socket).unwrap();
            let said = std::fs::File::from(recv_fd(&socket).unwrap());
            loop {
                let published = publish(&mut publisher) + 1;
                said.write_all_at(&published.to_ne_bytes(), 0).unwrap();
            }
        }
        "publish-all" => {
            let (mut publisher, invitation) = lossless::ring(3, 2, 2);
            invitation.send(&socket).unwrap();
            let said = std::fs::File::from(recv_fd(&socket).unwrap());
            loop {
                let published = lossless::publish(&mut publisher) + 1;
                said.write_all_at(&published.to_ne_bytes(), 0).unwrap();
            }
        }
        other => panic!("{other:?}"),
    }
}

/// Reads to the end, with so many frames held.
fn read<M: Mode>(
    mut socket: UnixStream,
    holds: usize,
    subscribe: impl Fn() -> Result<Subscriber<M>, SubscribeError>,
) {
    let mut subscriber = loop {
        match subscribe() {
            Ok(subscriber) => break subscriber,
            // (The place of one that was killed.)
            Err(SubscribeError::Full(_)) => std::thread::yield_now(),
            Err(error) => panic!("{error}"),
        }
    };
    let first = subscriber.cursor();
    socket.write_all(b"\n").unwrap();
    let (mut held, mut received) = (VecDeque::new(), 0);
    loop {
        match subscriber.recv() {
            Ok(frame) => held.push_back(frame),
            Err(FrameError::Closed) => break,
            Err(error) => panic!("{error}"),
        }
        received += 1;
        assert_eq!(received + subscriber.total_lagged(), subscriber.cursor() - first);
        held.iter().for_each(check);
        if held.len() == holds {
            held.pop_front();
        }
    }
    writeln!(socket, "{received} {}", subscriber.total_lagged()).unwrap();
}
