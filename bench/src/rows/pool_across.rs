//! Large messages to the other core: by the handle of a buffer, or by their bytes.
//!
//! Each message is written word by word where its sender has it, and every word is checked where its receiver
//! has it.

use std::hint::spin_loop;
use std::ops::Range;

use annulus::pool::{BufferPool, Handle};
use annulus::spsc;

use crate::contenders::{Annulus, CrossbeamTried, Named};
use crate::messages::{is_all, mix};
use crate::row::{Entry, Kind, Plan, Row, Sample};
use crate::timing::across_from;

pub fn rows() -> [Row; 6] {
    [
        row::<8>("zero-copy, 64 bytes", 200_000),
        row::<32>("zero-copy, 256 bytes", 100_000),
        row::<128>("zero-copy, 1 KiB", 50_000),
        row::<512>("zero-copy, 4 KiB", 20_000),
        row::<2_048>("zero-copy, 16 KiB", 5_000),
        row::<8_192>("zero-copy, 64 KiB", 2_000),
    ]
}

fn row<const WORDS: usize>(name: &'static str, messages: u64) -> Row {
    const COPIED: &str = "annulus, copied";
    Row::new(
        name,
        "a buffer from a pool of 64 filled, its handle sent through a queue, checked on the other core and given back; beside it the bytes copied \
         into such a queue and out of it, and boxes of the allocator through crossbeam-channel",
        64,
        messages,
    )
    .on_two_cores()
    .at("bytes of a buffer", 8 * WORDS as u64)
    .entries([
        Entry { name: Annulus::NAME, kind: Kind::Ours, run: pooled::<WORDS> },
        Entry { name: CrossbeamTried::NAME, kind: Kind::Rival, run: boxed::<WORDS> },
    ])
    .other(COPIED, copied::<WORDS>)
}

/// After two laps.
#[inline(always)]
fn across(plan: &Plan, publish: impl FnMut(Range<u64>), receive: impl FnOnce(u64) + Send) -> Sample {
    across_from(2 * plan.capacity as u64, plan, publish, receive)
}

#[inline(always)]
fn until<T>(mut there: impl FnMut() -> Option<T>) -> T {
    loop {
        match there() {
            Some(value) => return value,
            None => spin_loop(),
        }
    }
}

#[inline(never)]
fn pooled<const WORDS: usize>(plan: &Plan) -> Sample {
    let pool = BufferPool::new(8 * WORDS, plan.capacity);
    let (mut producer, mut consumer) = spsc::channel::<Handle>(plan.capacity);
    let receiver_pool = pool.clone();
    let send = move |phase: Range<u64>| {
        for i in phase {
            let mut buffer = until(|| pool.alloc());
            bytemuck::cast_slice_mut::<u8, u64>(&mut buffer).fill(mix(i));
            producer.try_send(buffer.into_handle()).expect("as many slots as buffers");
        }
    };
    let receive = move |total| {
        for i in 0..total {
            let handle = until(|| consumer.try_recv().ok());
            let buffer = receiver_pool.redeem(handle).expect("nobody redeemed it before");
            assert!(buffer.len() == 8 * WORDS && is_all(bytemuck::cast_slice::<u8, u64>(&buffer), mix(i)));
        }
    };
    across(plan, send, receive)
}

#[inline(never)]
fn copied<const WORDS: usize>(plan: &Plan) -> Sample {
    let (mut producer, mut consumer) = spsc::channel::<[u64; WORDS]>(plan.capacity);
    let [mut sent, mut received] = [(); 2].map(|()| vec![[0; WORDS]; 1]);
    let send = move |phase: Range<u64>| {
        for i in phase {
            sent[0].fill(mix(i));
            let reservation = loop {
                match producer.try_reserve(1) {
                    Ok(reservation) => break reservation,
                    Err(_) => spin_loop(),
                }
            };
            assert!(reservation.write_slice(&sent) == 1);
        }
    };
    let receive = move |total| {
        for i in 0..total {
            while consumer.try_recv_batch(&mut received) == 0 {
                spin_loop();
            }
            assert!(is_all(&received[0], mix(i)));
        }
    };
    across(plan, send, receive)
}

#[inline(never)]
fn boxed<const WORDS: usize>(plan: &Plan) -> Sample {
    let (sender, receiver) = crossbeam_channel::bounded::<Box<[u64]>>(plan.capacity);
    let send = move |phase: Range<u64>| {
        for i in phase {
            let mut message = vec![mix(i); WORDS].into_boxed_slice();
            while let Err(refused) = sender.try_send(message) {
                message = refused.into_inner();
                spin_loop();
            }
        }
    };
    let receive = move |total| {
        for i in 0..total {
            let message = until(|| receiver.try_recv().ok());
            assert!(message.len() == WORDS && is_all(&message, mix(i)));
        }
    };
    across(plan, send, receive)
}
