//! The other processes of a row.

use crate::contenders::between::Between;
use crate::processes::{Child, Work};
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
