//! Queues from several processes to one.
//!
//! ```text
//! one_process.rs   all mappings in one process; places.rs: who comes and goes there
//! processes.rs     producers and consumers of their own, which come and go, and are killed; child.rs is one
//! hostile.rs       memory in which another process writes what it likes
//! ```
#![allow(clippy::disallowed_types, reason = "a test")]

mod child;
mod hostile;
mod one_process;
mod places;
mod processes;

use annulus::Message;
use annulus::WaitStrategy;
use annulus::shm::mpsc::{Builder, Consumer, Places, producer};
use annulus::shm::{Invitation, WhenGone};

/// Sleeps at once.
const BLOCK: WaitStrategy = WaitStrategy::block_after(0, 0);

/// Its producer, its number, and what follows from both.
pub(crate) type Payload = [u64; 5];

pub(crate) fn payload(sender: u64, number: u64) -> Payload {
    [sender, number, !number, number.rotate_left(32) ^ sender, number.wrapping_mul(3)]
}

/// It is whole.
pub(crate) fn check(message: &Payload) {
    assert_eq!(*message, payload(message[0], message[1]), "torn");
}

/// A queue with so many slots in each ring, and so many places.
fn queue(slots: usize, places: usize) -> Builder {
    Builder::new(annulus::Settings::new(slots)).producers(places)
}

/// One that ends with its last producer.
fn ending(slots: usize, places: usize) -> Builder {
    queue(slots, places).when_no_producer(WhenGone::Close)
}

/// One whose producers wait for a next consumer.
fn waiting(slots: usize, places: usize) -> Builder {
    queue(slots, places).when_consumer_dies(WhenGone::Wait)
}

/// The numbers that were received of each sender: from the first on, without a gap.
#[derive(Default)]
pub(crate) struct Received(std::collections::HashMap<u64, u64>);

impl Received {
    pub(crate) fn note(&mut self, message: &Payload) {
        check(message);
        let next = self.0.entry(message[0]).or_default();
        assert_eq!(message[1], *next, "of sender {}", message[0]);
        *next += 1;
    }

    pub(crate) fn of(&self, sender: u64) -> u64 {
        self.0.get(&sender).copied().unwrap_or(0)
    }

    pub(crate) fn all(&self) -> u64 {
        self.0.values().sum()
    }
}

/// Another producer, of this process.
fn joined<T: Message + bytemuck::Pod>(invitation: &Invitation) -> annulus::shm::mpsc::Producer<T> {
    producer(invitation).unwrap().0
}

/// Receives until nothing is left in a queue to which nobody sends meanwhile.
fn receive_all(consumer: &mut Consumer<Payload>, received: &mut Received) {
    while let Ok(message) = consumer.try_recv() {
        received.note(&message);
    }
    let stats = consumer.stats();
    assert_eq!(stats.received, Some(stats.published), "something is left");
    assert_eq!(stats.pending, Some(0));
}

/// Until so many places are taken.
fn until_taken(places: &Places, count: usize) {
    let begun = std::time::Instant::now();
    while places.taken() != count {
        assert!(begun.elapsed().as_secs() < 60, "{places:?}");
        std::thread::yield_now();
    }
}
