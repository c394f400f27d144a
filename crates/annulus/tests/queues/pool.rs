//! The buffer pool: every answer against a plain model (`models/pool.rs`), every error, and many threads that
//! would notice a second owner.

#[path = "../models/pool.rs"]
mod model;

use std::collections::HashSet;
use std::thread;

use annulus::pool::{Buffer, BufferPool, Handle, HandleError, PoolError};
use annulus::{Message, TryRecvError, spsc};
use bytemuck::NoUninit;
use proptest::prelude::*;
use static_assertions::{assert_eq_size, assert_impl_all, assert_not_impl_any, const_assert_eq};

const CASES: u32 = if cfg!(miri) { 3 } else { 1000 };
const STEPS: usize = if cfg!(miri) { 40 } else { 300 };

/// How often each thread of a race goes round.
const ROUNDS: usize = match (cfg!(miri), cfg!(debug_assertions)) {
    (true, _) => 20,
    (_, true) => 20_000,
    _ => 200_000,
};

const THREADS: usize = if cfg!(miri) { 3 } else { 8 };

assert_impl_all!(BufferPool: Clone, Send, Sync, core::fmt::Debug);
assert_impl_all!(Buffer: Send, Sync, Unpin, AsRef<[u8]>, AsMut<[u8]>);
assert_impl_all!(Handle: Copy, Send, Sync, core::hash::Hash, Eq);
// In a broadcast ring all readers but one would get an error.
assert_not_impl_any!(Handle: Message, NoUninit);
assert_not_impl_any!(Buffer: Clone, Copy);
const_assert_eq!(size_of::<Handle>(), 4);
assert_eq_size!(Buffer, Option<Buffer>);

/// How many bytes, and a handle: as a number it may be a part of any message. Here each subscriber is to
/// have it.
type Packet = [u32; 2];

fn alloc_all(pool: &BufferPool) -> Vec<Buffer> {
    core::iter::from_fn(|| pool.alloc()).collect()
}

#[test]
fn gives_all_and_no_more() {
    let sizes = [(1, 1), (63, 3), (65, 2), (1, 2), (64, 7), (5000, 33)];
    for &(slab_bytes, count) in &sizes[..if cfg!(miri) { 3 } else { sizes.len() }] {
        let pool = BufferPool::new(slab_bytes, count);
        assert_eq!((pool.slab_bytes(), pool.count(), pool.available()), (slab_bytes, count, count));
        let mut buffers = alloc_all(&pool);
        assert_eq!((buffers.len(), pool.available()), (count, 0));
        assert!(pool.alloc().is_none());
        for (number, buffer) in buffers.iter_mut().enumerate() {
            assert_eq!(buffer.as_ptr().addr() % 64, 0);
            assert_eq!(**buffer, vec![0; slab_bytes], "zeros at first");
            buffer.fill(number as u8 + 1);
        }
        for (number, buffer) in buffers.iter().enumerate() {
            assert!(buffer.iter().all(|&byte| byte == number as u8 + 1), "nobody else wrote here");
        }
        for left in (0..count).rev() {
            buffers.pop();
            assert_eq!(pool.available(), count - left);
        }
        assert_eq!(alloc_all(&pool).len(), count);
    }
}

#[test]
fn last_one_freed_is_the_next() {
    let pool = BufferPool::new(8, 4);
    let mut buffers = alloc_all(&pool);
    buffers[2].fill(7);
    let start = buffers[2].as_ptr();
    drop(buffers.remove(2));
    let again = pool.alloc().unwrap();
    assert_eq!((again.as_ptr(), &*again), (start, &[7; 8][..]), "and holds what was left in it");
}

#[test]
fn sizes_that_can_not_be() {
    let error = |slab_bytes, count| BufferPool::try_new(slab_bytes, count).unwrap_err();
    assert_eq!(error(0, 1), PoolError::EmptySlab);
    assert_eq!(error(1, 0), PoolError::NoSlab);
    let largest = 1 << 24;
    assert_eq!(error(1, largest + 1), PoolError::TooMany { count: largest + 1, largest });
    assert_eq!(error(1, usize::MAX), PoolError::TooMany { count: usize::MAX, largest });
    for (slab_bytes, count) in [
        (usize::MAX, 1),
        (usize::MAX, largest),
        (usize::MAX / 2, 3),
        (1 << if cfg!(miri) { 62 } else { 58 }, 4),
    ] {
        assert_eq!(error(slab_bytes, count), PoolError::TooLarge { slab_bytes, count });
    }
    let texts = [(0, 1), (1, 0), (1, largest + 1), (usize::MAX, 2)]
        .map(|(slab_bytes, count)| error(slab_bytes, count).to_string());
    assert_eq!(
        texts,
        [
            "slabs of 0 bytes hold nothing: a slab needs at least 1".to_owned(),
            "a pool of 0 slabs gives nothing away: it needs at least 1".to_owned(),
            "16777217 slabs are too many for handles of 4 bytes: a pool has 16777216 at most".to_owned(),
            format!("no memory for 2 slabs of {} bytes", usize::MAX),
        ]
    );
}

#[test]
#[should_panic(expected = "it needs at least 1")]
fn new_panics_where_try_new_has_an_error() {
    let _ = BufferPool::new(8, 0);
}

#[test]
fn handle_is_good_once() {
    let pool = BufferPool::new(8, 4);
    let mut buffer = pool.alloc().unwrap();
    buffer.copy_from_slice(b"12345678");
    let handle = buffer.into_handle();
    assert_eq!(pool.available(), 3);
    assert_eq!(Handle::from_bits(handle.to_bits()), handle);

    let buffer = pool.redeem(handle).unwrap();
    assert_eq!(&*buffer, b"12345678");
    let HandleError::Stale { slab, generation, current } = pool.redeem(handle).unwrap_err() else {
        panic!("it was redeemed");
    };
    assert_eq!(current, (generation + 1) & (u32::MAX >> 2), "30 bits of generation");
    let text = pool.redeem(handle).unwrap_err().to_string();
    assert!(
        text.contains(&format!("generation {generation} of slab {slab}, which is at {current}")),
        "{text}"
    );

    // The slab's next handle, before there is one, while it has an owner and when it is free.
    let index_bits = 32 - pool.generation_bits();
    let forged = Handle::from_bits(current << index_bits | slab as u32);
    assert_eq!(pool.redeem(forged).unwrap_err(), HandleError::NotOut { slab });
    drop(buffer);
    assert_eq!(pool.redeem(forged).unwrap_err(), HandleError::NotOut { slab });
    assert!(pool.redeem(handle).is_err(), "its slab was freed");

    // It is the true one as soon as it is made; the old one does not become better.
    let next = pool.alloc().unwrap().into_handle();
    assert_eq!(next, forged);
    assert!(pool.redeem(handle).is_err());
    assert!(pool.redeem(next).is_ok());
    assert_eq!(pool.available(), 4);
}

#[test]
fn slab_that_is_not_there() {
    let pool = BufferPool::new(8, 5); // three bits of index
    let buffers = alloc_all(&pool);
    for slab in 5..8 {
        for generation in [0, 1, u32::MAX >> 3] {
            let error = pool.redeem(Handle::from_bits(generation << 3 | slab)).unwrap_err();
            assert_eq!(error, HandleError::NoSuchSlab { slab: slab as usize, count: 5 });
        }
    }
    drop(buffers);
    assert_eq!(pool.available(), 5);
}

/// Two pools that differ in nothing but where they are.
#[test]
fn handle_of_another_pool() {
    let [mine, other] = [(); 2].map(|()| BufferPool::new(8, 16));
    let [here, there] = [&mine, &other].map(|pool| alloc_all(pool).into_iter().map(Buffer::into_handle));
    let (here, there): (Vec<_>, Vec<_>) = (here.collect(), there.collect());
    for (index, &handle) in there.iter().enumerate() {
        // One in 2^28 of such handles is taken for a true one.
        assert!(matches!(mine.redeem(handle), Err(HandleError::Stale { slab, .. }) if slab == index));
    }
    assert!(here.into_iter().all(|handle| mine.redeem(handle).is_ok()), "nothing has changed");
    assert!(there.into_iter().all(|handle| other.redeem(handle).is_ok()));
}

/// The handles of all slabs of `pool`, each after `turns` others.
fn all_out(pool: &BufferPool, turns: usize) -> Vec<Handle> {
    let once_more = |buffer: Buffer, _| pool.redeem(buffer.into_handle()).unwrap();
    alloc_all(pool).into_iter().map(|buffer| (0..turns).fold(buffer, once_more).into_handle()).collect()
}

/// How many handles of a pool that is gone the next one takes, in `pairs` of such pools, whose slabs are of
/// so many sizes. The next one often has the memory of the one before, which is up to the allocator: of some
/// sizes it may never have it.
fn taken_by_the_next(pairs: usize, count: usize, sizes: usize) -> usize {
    let mut taken = 0;
    for pair in 0..pairs {
        let size = 1 << (pair % sizes);
        let gone = BufferPool::new(size, count);
        let stale = all_out(&gone, pair % 3);
        drop(gone);
        let next = BufferPool::new(size, count);
        let _out = all_out(&next, pair % 2);
        taken += stale.into_iter().filter(|&handle| next.redeem(handle).is_ok()).count();
    }
    taken
}

/// With few slabs the odds are so long that it never happens here: one in 2^31 for each handle.
#[test]
fn the_next_pool_takes_no_handle_of_one_that_is_gone() {
    let pairs = if cfg!(miri) { 5 } else { 2000 };
    assert_eq!(taken_by_the_next(pairs, 2, 16), 0, "of {}", 2 * pairs);
}

/// With many slabs they are short enough to be counted: one in 2^16 for each handle, of which there are 2^16.
#[test]
fn a_stale_handle_is_taken_as_often_as_the_odds_say() {
    // Six deviations, which are the root of the mean. Miri has no time for so many slabs: of a few no handle
    // is taken.
    let (count, pairs, mean, reach) = match (cfg!(miri), cfg!(debug_assertions)) {
        (true, _) => (4, 3, 0, 0),
        (_, true) => (1 << 16, 36, 36, 36),
        _ => (1 << 16, 144, 144, 72),
    };
    assert_eq!(BufferPool::new(1, count).generation_bits(), if cfg!(miri) { 30 } else { 16 });
    let taken = taken_by_the_next(pairs, count, 1);
    assert!(taken.abs_diff(mean) <= reach, "{taken} of {}, where {mean} were to be expected", pairs * count);
}

/// A slab's generations: all that there are, and then the first again.
#[test]
fn generation_comes_round() {
    let pool = BufferPool::new(1, if cfg!(miri) { 5 } else { 1 << 18 });
    let generations = 1_usize << pool.generation_bits();
    assert!(cfg!(miri) || generations == 1 << 14);
    let rounds = if cfg!(miri) { 20 } else { generations };
    let first = pool.alloc().unwrap().into_handle();
    let mut seen = HashSet::from([first]);
    let mut latest = first;
    for _ in 1..rounds {
        latest = pool.redeem(latest).unwrap().into_handle();
        assert!(seen.insert(latest), "it comes too soon");
        assert!(pool.redeem(first).is_err());
    }
    let next = pool.redeem(latest).unwrap().into_handle();
    assert_eq!(next == first, !cfg!(miri));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn model(
        count in 1_usize..10,
        slab_bytes in 1_usize..200,
        steps in prop::collection::vec(any::<[u8; 4]>().prop_map(model::Step::from), 1..STEPS),
    ) {
        model::run(slab_bytes, count, &steps);
    }

    /// No bits do harm, whatever state the slabs are in: the right ones, and only those, are a buffer.
    #[test]
    fn forged_handles(count in 1_usize..6, bits in prop::collection::vec(any::<u32>(), 1..STEPS)) {
        let pool = BufferPool::new(1, count);
        let mut buffers = alloc_all(&pool);
        let freed = buffers.pop();
        drop(freed);
        let mut out: HashSet<_> = buffers.drain(..count / 2).map(Buffer::into_handle).collect();
        for handle in bits.into_iter().map(Handle::from_bits) {
            let redeemed = pool.redeem(handle);
            prop_assert_eq!(redeemed.is_ok(), out.remove(&handle));
            buffers.extend(redeemed);
        }
    }
}

/// Each owner fills its slab with a number of its own, and finds it so before it frees or sends it: a second
/// owner would be seen.
#[test]
fn owners_find_their_own_bytes() {
    for (slab_bytes, count) in [(64, 2), (1, 3), (256, THREADS + 1)] {
        let pool = BufferPool::new(slab_bytes, count);
        let threads = (0..THREADS).map(|thread| {
            let pool = pool.clone();
            thread::spawn(move || {
                let mut kept: Option<(Buffer, u8)> = None;
                let mut owned = 0_usize;
                for round in 0..ROUNDS {
                    let number = (thread + round * THREADS) as u8;
                    let Some(mut buffer) = pool.alloc() else {
                        kept = None;
                        continue;
                    };
                    owned += 1;
                    buffer.fill(number);
                    // Two at a time, freed in another order than they came: what ABA takes.
                    let before =
                        if round % 3 == 0 { kept.replace((buffer, number)) } else { Some((buffer, number)) };
                    if let Some((buffer, number)) = before {
                        assert!(buffer.iter().all(|&byte| byte == number), "a second owner");
                    }
                }
                owned
            })
        });
        let owned: usize = threads.collect::<Vec<_>>().into_iter().map(|thread| thread.join().unwrap()).sum();
        assert!(owned > 0);
        assert_eq!(pool.available(), count, "nothing is lost");
        assert_eq!(alloc_all(&pool).len(), count);
    }
}

/// Packets through a lossless ring: every subscriber receives the handle, one of them redeems it, and finds
/// what was sent.
#[test]
fn subscribers_try_and_one_gets_it() {
    const COUNT: usize = if cfg!(miri) { 4 } else { 32 };
    let pool = BufferPool::new(100, COUNT);
    let (mut publisher, subscribable) = annulus::broadcast::lossless::<Packet>(COUNT / 2);
    let readers = [(); 3].map(|()| {
        let (mut subscriber, pool) = (subscribable.subscribe(), pool.clone());
        thread::spawn(move || {
            let (mut redeemed, mut sum) = (0, 0);
            loop {
                let [bytes, handle] = match subscriber.try_recv() {
                    Ok(packet) => packet,
                    Err(TryRecvError::Empty) => {
                        thread::yield_now();
                        continue;
                    }
                    Err(TryRecvError::Closed) => return (redeemed, sum),
                };
                if let Ok(buffer) = pool.redeem(Handle::from_bits(handle)) {
                    let bytes = &buffer[..bytes as usize];
                    assert!(bytes.iter().all(|&byte| byte == bytes[0]), "a torn packet");
                    sum += u64::from(bytes[0]);
                    redeemed += 1;
                }
            }
        })
    });
    drop(subscribable);
    let (rounds, mut sum) = (ROUNDS / 4, 0);
    for round in 0..rounds {
        let mut buffer = loop {
            match pool.alloc() {
                Some(buffer) => break buffer,
                None => thread::yield_now(),
            }
        };
        let bytes = 1 + round % 100;
        buffer[..bytes].fill(round as u8);
        sum += u64::from(round as u8);
        publisher.publish([bytes as u32, buffer.into_handle().to_bits()]).unwrap_or_else(|_| panic!());
    }
    drop(publisher);
    let accounts = readers.map(|reader| reader.join().unwrap());
    assert_eq!(accounts.iter().map(|account| account.0).sum::<usize>(), rounds, "each handle was good once");
    assert_eq!(accounts.iter().map(|account| account.1).sum::<u64>(), sum);
    assert_eq!(pool.available(), COUNT, "nothing is lost");
}

/// From thread to thread round a circle of queues: bytes, and order between threads that share nothing else.
#[test]
fn round_a_circle() {
    const THREADS: usize = if cfg!(miri) { 2 } else { 4 };
    let count = THREADS * 2;
    let pool = BufferPool::new(128, count);
    let (mut producers, consumers): (Vec<_>, Vec<_>) =
        (0..THREADS).map(|_| spsc::channel::<Handle>(count)).unzip();
    for mut buffer in alloc_all(&pool) {
        buffer.fill(0);
        producers[0].send(buffer.into_handle()).unwrap();
    }
    // The circle's last link leads to the first thread's ring.
    producers.rotate_left(1);
    let hops = (ROUNDS / 200).max(2) as u32;
    let threads: Vec<_> = producers
        .into_iter()
        .zip(consumers)
        .map(|(mut producer, mut consumer)| {
            let pool = pool.clone();
            thread::spawn(move || {
                // Each slab comes round `hops` times; then it is freed here.
                let mut ended = 0;
                while let Ok(handle) = consumer.recv() {
                    let mut buffer = pool.redeem(handle).unwrap();
                    let hop = u32::from_ne_bytes(buffer[..4].try_into().unwrap());
                    assert!(buffer[4..].iter().all(|&byte| byte == hop as u8));
                    if hop == hops {
                        ended += 1;
                        drop(buffer);
                    } else {
                        buffer.fill((hop + 1) as u8);
                        buffer[..4].copy_from_slice(&(hop + 1).to_ne_bytes());
                        producer.send(buffer.into_handle()).unwrap();
                    }
                    if pool.available() == pool.count() {
                        break;
                    }
                }
                ended
            })
        })
        .collect();
    let ended: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert_eq!((ended, pool.available()), (count, count));
}

/// Buffers outlive their pool, in either way, on many threads. Miri sees to the memory.
#[test]
fn the_pool_goes_first() {
    let rounds = if cfg!(miri) { 20 } else { ROUNDS / 100 };
    for round in 0..rounds {
        let pool = BufferPool::new(100, THREADS + 2);
        let threads: Vec<_> = (0..THREADS)
            .map(|number| {
                let (clone, mut buffer) = (pool.clone(), pool.alloc().unwrap());
                thread::spawn(move || {
                    buffer.fill(number as u8);
                    if (number + round) % 3 == 0 {
                        let second = clone.alloc();
                        drop(clone);
                        drop(second);
                    } else {
                        drop(clone);
                    }
                    assert!(buffer.iter().all(|&byte| byte == number as u8));
                    if (number + round) % 2 == 0 {
                        let _ = buffer.into_handle();
                    }
                })
            })
            .collect();
        drop(pool);
        for thread in threads {
            thread.join().unwrap();
        }
    }
}

#[test]
fn debug_output_names_pool_and_buffer() {
    let pool = BufferPool::new(100, 4);
    assert_eq!(format!("{pool:?}"), "BufferPool { slab_bytes: 100, count: 4, .. }");
    assert_eq!(format!("{:?}", pool.alloc().unwrap()), "Buffer { slab: 0, .. }");
}
