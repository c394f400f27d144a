//! Buffers from a pool, and from the allocator.

use std::hint::black_box;
use std::time::Instant;

use annulus::pool::BufferPool;

use crate::contenders::{Annulus, Named};
use crate::row::{Entry, Kind, Plan, Row, Sample};
use crate::timing::{ns_each, phases};

const BYTES: usize = 4096;

pub fn row() -> Row {
    Row::new(
        "pool, alloc + free",
        "a buffer of 4 KiB taken, its first byte written, and given back, on one thread",
        64,
        4_000_000,
    )
    .entries([Entry { name: Annulus::NAME, kind: Kind::Ours, run: pool }])
    .other("malloc and free", allocator)
}

#[inline(never)]
fn pool(plan: &Plan) -> Sample {
    let pool = BufferPool::new(BYTES, plan.capacity);
    run(plan, |i| {
        let mut buffer = pool.alloc().expect("nobody else has one");
        buffer[0] = i as u8;
        black_box(&mut buffer);
    })
}

#[inline(never)]
fn allocator(plan: &Plan) -> Sample {
    run(plan, |i| {
        // Not written to where it is allocated, as a pool's are not.
        let mut buffer = Vec::<u8>::with_capacity(BYTES);
        buffer.push(i as u8);
        black_box(&mut buffer);
    })
}

#[inline(always)]
fn run(plan: &Plan, mut once: impl FnMut(u64)) -> Sample {
    let mut begun = Instant::now();
    for phase in phases(plan.capacity as u64, plan.messages) {
        begun = Instant::now();
        phase.for_each(&mut once);
    }
    ns_each(begun, plan.messages).into()
}
