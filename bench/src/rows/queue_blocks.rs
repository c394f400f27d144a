//! Blocks of 32,768 words, written into a queue where they are to lie.

use std::hint::{black_box, spin_loop};
use std::ops::Range;
use std::time::Instant;

use annulus::spsc;

use crate::contenders::{Annulus, Named};
use crate::floor;
use crate::messages::{BLOCK, BLOCKS, fill, is_all};
use crate::row::{Entry, Kind, Plan, Row, Sample};
use crate::timing::{across_blocks, ns_each, phases};

pub fn rows() -> [Row; 2] {
    const FILL: &str = "filling the same memory";
    const HAND_OVER: &str = "filling buffers, a flag, reading them";
    let row = |name, about| Row::new(name, about, BLOCKS * BLOCK, 20_000);
    [
        row(
            "queue, blocks of 32,768 u32, unread",
            "reserved, filled, sent, and passed over by the consumer on the same core; the time of a block",
        )
        .entries([Entry { name: Annulus::NAME, kind: Kind::Ours, run: unread }])
        .floor(FILL, floor::fill_blocks::<u32, 1>)
        .target(FILL, 1.0 / 0.95),
        row(
            "queue, blocks of 32,768 u32, read",
            "reserved, filled, sent; the consumer on the other core checks each word where it lies; the time of a block",
        )
        .on_two_cores()
        .entries([Entry { name: Annulus::NAME, kind: Kind::Ours, run: read }])
        .floor(HAND_OVER, floor::hand_blocks_over::<u32>)
        .target(HAND_OVER, 1.0 / 0.80),
    ]
}

#[inline(never)]
#[allow(unsafe_code, reason = "it is a commit that is measured")]
fn unread(plan: &Plan) -> Sample {
    let (mut producer, mut consumer) = spsc::channel::<u32>(plan.capacity);
    let mut begun = Instant::now();
    for phase in phases(BLOCKS as u64, plan.messages) {
        begun = Instant::now();
        for i in phase {
            let mut reservation = producer.try_reserve(BLOCK).expect("the ring is empty");
            fill(reservation.as_uninit(), black_box(i as u32));
            // SAFETY: all slots are written; where they are not a whole block, it panics.
            assert!(unsafe { reservation.commit(BLOCK) } == BLOCK);
            assert!(consumer.readable().len() == BLOCK);
            consumer.advance(BLOCK);
        }
    }
    ns_each(begun, plan.messages).into()
}

#[inline(never)]
fn read(plan: &Plan) -> Sample {
    let (mut producer, mut consumer) = spsc::channel::<u32>(plan.capacity);
    let fill = move |phase: Range<u64>| {
        for i in phase {
            let reservation = loop {
                match producer.try_reserve(BLOCK) {
                    Ok(reservation) => break reservation,
                    Err(_) => spin_loop(),
                }
            };
            // All that is ever sent or taken is a block.
            assert!(reservation.fill(i as u32) == BLOCK);
        }
    };
    let check = move |total| {
        for i in 0..total {
            let block = loop {
                match consumer.readable() {
                    [] => spin_loop(),
                    blocks => break &blocks[..BLOCK],
                }
            };
            assert!(block.len() == BLOCK && is_all(block, i as u32));
            consumer.advance(BLOCK);
        }
    };
    across_blocks(plan, fill, check)
}
