//! The other processes of a row.

use std::marker::PhantomData;

use crate::contenders::between::{Between, In};
use crate::messages::is_all;
use crate::processes::{Child, Parent, Work};
use crate::row::Plan;

/// The same ring without another process.
pub const IN_ONE_PROCESS: &str = "annulus, in one process";

/// Ours is to take at most so much of the time of others whose rings lie in shared memory.
pub const OF_OTHERS: f64 = 0.8;

/// So many other processes that do this work. All have joined the ring when this returns.
pub fn start<R: Between, W: Work>(plan: &Plan, offer: &R::Offer, count: usize) -> Vec<Child> {
    let children: Vec<Child> = (0..count).map(|_| Child::start::<W>(plan, count)).collect();
    for child in &children {
        R::offer(offer, &child.socket);
        let () = child.hear();
    }
    children
}

/// Of a process that has subscribed and sleeps until it is told to look.
pub struct Bystander<R>(PhantomData<R>);

impl<R: Between> Work for Bystander<R> {
    fn run(parent: Parent) {
        let mut input = R::join(&parent.socket);
        parent.tell(&());
        let () = parent.hear();
        let mut last = 0;
        // A look in vain may also be one that tells of a loss.
        for _ in 0..4 {
            while input.poll(|message| {
                assert!(is_all(message, message[0]));
                last = message[0];
            }) {}
        }
        parent.tell(&last);
    }
}

/// Has them look, and end. The last message has to be this.
pub fn end_bystanders(others: Vec<Child>, last: u64) {
    for other in others {
        other.tell(&());
        assert!(other.last_words::<u64>() == last, "the last message is there");
    }
}
