//! Senders and receivers that are processes of their own, and are killed and stopped.

use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use annulus::Receive;
use annulus::shm::watch::{AcceptedWatch, GetError};
use annulus::shm::{Invitation, PeerState, send_fd};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::Signal;

use super::{Large, number_of, table, value};
use crate::process::{Child, moment, rounds};

/// A process that sends to so many cells, what it has sent, and how many that are.
fn sending(cells: usize) -> (Child, AcceptedWatch<Large>, File) {
    let child = Child::new(&format!("send {cells}"));
    let invitation = Invitation::receive(&child.socket).unwrap();
    let said = File::from(memfd_create("said", MemfdFlags::CLOEXEC).unwrap());
    said.set_len(8).unwrap();
    send_fd(&child.socket, said.as_fd()).unwrap();
    (child, invitation.accept_watch().unwrap(), said)
}

fn said(said: &File) -> u64 {
    let mut word = [0; 8];
    said.read_exact_at(&mut word, 0).unwrap();
    u64::from_ne_bytes(word)
}

/// Each cell has the newest value that was sent to it, of so many; or one more, which was being told.
fn check_all(reader: &AcceptedWatch<Large>, sent: u64) {
    let cells = reader.cells() as u64;
    for cell in 0..cells {
        let newest =
            |sent: u64| (sent.saturating_sub(cell)).div_ceil(cells).checked_sub(1).map(|n| n * cells + cell);
        match reader.get(cell as usize) {
            Ok(found) => {
                let found = Some(number_of(&found));
                assert!(found == newest(sent) || found == newest(sent + 1), "{found:?} of {sent}");
            }
            Err(error) => assert_eq!((error, newest(sent)), (GetError::Empty, None)),
        }
    }
}

/// A sender is killed at any moment. What it had sent is there, and was received; a value that it had not
/// finished leaves the one before.
#[test]
fn senders_that_are_killed() {
    for round in 0..rounds() {
        let cells = [1, 3, 100][round as usize % 3];
        let (mut child, reader, file) = sending(cells);
        let (mut changes, mut receiver) = (reader.changes(), reader.receiver());
        let mut last = vec![None; cells];
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(moment(round));
                child.kill();
            });
            let first = scope.spawn(move || {
                let last = receiver.iter().map(|value| number_of(&value)).last();
                assert_eq!(receiver.recv().map(drop).map_err(|end| end.peer_died()), Err(true));
                last
            });
            for change in &mut changes {
                let number = number_of(&change.value);
                assert!(last[change.cell].is_none_or(|last| last < number), "{number} after {last:?}");
                last[change.cell] = Some(number);
            }
            assert_eq!(first.join().unwrap(), last[0]);
        });
        assert_eq!(reader.state(), PeerState::Dead);
        check_all(&reader, said(&file));
        // Nothing was lost: what is there was told of.
        let there: Vec<_> =
            (0..cells).map(|cell| reader.get(cell).ok().map(|value| number_of(&value))).collect();
        assert_eq!(there, last);
    }
}

/// A sender that is stopped at any moment holds up no read, and is alive. It goes on, or is killed there.
#[test]
fn senders_that_are_stopped() {
    for round in 0..rounds().div_ceil(10) {
        let (mut child, reader, file) = sending(3);
        let mut changes = reader.changes();
        for stop in 0..10 {
            thread::sleep(moment(10 * round + stop) / 10);
            child.stop();
            check_all(&reader, said(&file));
            while changes.try_recv().is_ok() {}
            assert_eq!(reader.state(), PeerState::Alive);
            child.signal(Signal::CONT);
        }
        child.stop();
        child.kill();
        check_all(&reader, said(&file));
        while changes.recv().is_ok() {}
        assert_eq!(reader.state(), PeerState::Dead);
    }
}

/// Receivers are killed and stopped while they read: the sender goes on, and another receiver is told of all.
#[test]
fn receivers_that_are_killed_and_stopped() {
    let (mut sender, _, invitation) = table(3);
    let receiving = || {
        let child = Child::new("receive");
        invitation.send(&child.socket).unwrap();
        (&child.socket).read_exact(&mut [0]).unwrap();
        child
    };
    let survivor = receiving();
    let mut number = 0;
    for round in 0..rounds() {
        let mut child = receiving();
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(moment(round));
                if round % 2 == 0 {
                    child.stop();
                    thread::sleep(moment(round) / 4);
                }
                child.kill();
                is_over.store(true, Ordering::Release);
            });
            loop {
                sender.send_to(number as usize % 3, value(number)).unwrap();
                number += 1;
                if is_over.load(Ordering::Acquire) {
                    break;
                }
            }
        });
    }
    drop(sender);
    let (told, last) = survivor.said();
    assert_eq!(last, number - 1);
    assert!((1..=number).contains(&told));
}
