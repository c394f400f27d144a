//! The other process: it does something for each byte that it is told.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use annulus::Settings;
use annulus::shm::{Invitation, Shared, WhenGone, broadcast, mp_broadcast, mpsc, spsc};

use crate::mp_broadcast::by_hand::{Hand, Step};
use crate::process::{Child, role};
use crate::tasks::thread::{cost_of_waiting, threads_come_and_go};

impl Child {
    /// Does the next step: sends a message, or receives one.
    pub(crate) fn step(&self) {
        (&self.socket).write_all(&[1]).unwrap();
    }

    /// Until it has said something.
    pub(crate) fn heard(&self) {
        (&self.socket).read_exact(&mut [0]).unwrap();
    }
}

/// False when there are no more.
fn step(mut socket: &UnixStream) -> bool {
    socket.read_exact(&mut [0]).is_ok()
}

/// Calls `act` with the number of each.
fn each_step(socket: &UnixStream, mut act: impl FnMut(u64)) {
    let mut number = 0;
    while step(socket) {
        act(number);
        number += 1;
    }
}

/// In the test program itself it does nothing.
#[test]
fn child_plays_its_role() {
    let Some((role, socket)) = role() else { return };
    let mut socket = &socket;
    match role.as_str() {
        "publish" => {
            let Shared { handle: mut publisher, invitation, .. } =
                broadcast::lossy::<u64>(Settings::new(8)).unwrap();
            invitation.send(socket).unwrap();
            each_step(socket, |number| publisher.publish(number));
        }
        "publish several" => {
            let builder = mp_broadcast::Builder::new(Settings::new(8)).publishers(2);
            let builder = builder.when_no_publisher(WhenGone::Close);
            let Shared { handle: mut publisher, invitation, .. } = builder.build::<u64>().unwrap();
            invitation.send(socket).unwrap();
            each_step(socket, |number| publisher.publish(number));
        }
        "join and publish" => {
            let invitation = Invitation::receive(socket).unwrap();
            let mut publisher = mp_broadcast::publisher::<u64>(&invitation).unwrap();
            socket.write_all(&[1]).unwrap();
            each_step(socket, |number| publisher.publish(number));
        }
        // Comes as far as this in a publish, and no further.
        step if step.starts_with("publish until ") => {
            let invitation = Invitation::receive(socket).unwrap();
            let step = Step::ALL.into_iter().find(|one| step.ends_with(&format!(" {one:?}"))).unwrap();
            let _hand = Hand::at(step, &invitation);
            socket.write_all(&[1]).unwrap();
            let _ = socket.read(&mut [0]);
        }
        "publish one and close" => {
            let Shared { handle: mut publisher, invitation, .. } =
                broadcast::lossy::<u64>(Settings::new(8)).unwrap();
            invitation.send(socket).unwrap();
            step(socket);
            publisher.publish(0);
            drop(publisher);
            step(socket);
        }
        "publish lossless" => {
            let Shared { handle: mut publisher, invitation, .. } =
                broadcast::lossless::<u64>(Settings::new(8), 2).unwrap();
            invitation.send(socket).unwrap();
            each_step(socket, |number| publisher.publish(number).unwrap());
        }
        "await" => {
            let ring = Invitation::receive(socket).unwrap().accept_lossless::<u64>().unwrap();
            let mut subscriber = ring.subscribe().unwrap();
            socket.write_all(&[1]).unwrap();
            while step(socket) {
                subscriber.recv().unwrap();
            }
        }
        "send" => {
            let builder = annulus::Settings::new(8);
            let Shared { handle: mut producer, invitation, .. } =
                spsc::producer::<u64>(builder, WhenGone::Close).unwrap();
            invitation.send(socket).unwrap();
            each_step(socket, |number| producer.send(number).unwrap());
        }
        "join and send" => {
            let invitation = Invitation::receive(socket).unwrap();
            let (mut producer, _) = mpsc::producer::<u64>(&invitation).unwrap();
            socket.write_all(&[1]).unwrap();
            each_step(socket, |number| producer.send(number).unwrap());
        }
        "receive" => {
            let invitation = Invitation::receive(socket).unwrap();
            let (mut consumer, _) = spsc::consumer::<u64>(&invitation).unwrap();
            socket.write_all(&[1]).unwrap();
            while step(socket) {
                consumer.recv().unwrap();
            }
        }
        "wait" => {
            let (cost, polls) = cost_of_waiting(&Invitation::receive(socket).unwrap());
            writeln!(socket, "{cost} {polls}").unwrap();
        }
        "come and go" => {
            let (began, ended) = threads_come_and_go(&Invitation::receive(socket).unwrap());
            writeln!(socket, "{began} {ended}").unwrap();
        }
        other => panic!("{other:?}"),
    }
}
