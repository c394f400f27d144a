//! A buffer pool of 1 MiB, which has two free lists: in which order slabs come, and many threads that would
//! notice a second owner.

use std::thread;

use annulus::pool::{Buffer, BufferPool};

/// From here on a pool is large.
const LARGE_BYTES: usize = 1 << 20;

/// How often each thread of a race goes round.
const ROUNDS: usize = match (cfg!(miri), cfg!(debug_assertions)) {
    (true, _) => 20,
    (_, true) => 20_000,
    _ => 200_000,
};

const THREADS: usize = if cfg!(miri) { 3 } else { 8 };

fn alloc_all(pool: &BufferPool) -> Vec<Buffer> {
    core::iter::from_fn(|| pool.alloc()).collect()
}

/// Slabs that were in handles wait in the order in which they came back, lap after lap, and the
/// one that was in none is next before them.
#[test]
fn slabs_from_handles_are_reused_in_order_of_return() {
    const COUNT: usize = 4;
    let pool = BufferPool::new(LARGE_BYTES / COUNT, COUNT);
    let start = |buffer: &Buffer| buffer.as_ptr();
    for lap in 0..if cfg!(miri) { 2 } else { 20 } {
        let buffers = alloc_all(&pool).into_iter();
        let mut redeemed: Vec<_> = buffers.map(|buffer| pool.redeem(buffer.into_handle()).unwrap()).collect();
        assert_eq!((redeemed.len(), pool.available()), (COUNT, 0));
        redeemed.rotate_left(lap % COUNT);
        redeemed.swap(0, 2);
        let order: Vec<_> = redeemed.iter().map(start).collect();
        drop(redeemed);
        assert_eq!(pool.available(), COUNT);
        let buffers = alloc_all(&pool);
        assert_eq!(buffers.iter().map(start).collect::<Vec<_>>(), order);
        // All go through handles once more, but the last two, which come back beside them.
        let mut buffers = buffers.into_iter();
        let [first, second] = [(); 2].map(|()| pool.redeem(buffers.next().unwrap().into_handle()).unwrap());
        let [third, fourth] = [(); 2].map(|()| buffers.next().unwrap());
        let expected = [&third, &fourth, &second, &first].map(start);
        drop((second, first, fourth, third));
        assert_eq!(alloc_all(&pool).iter().map(start).collect::<Vec<_>>(), expected);
    }
}

/// Each owner finds what it wrote, where slabs go through handles, and some do not.
#[test]
fn owners_find_their_own_bytes() {
    for count in [2, THREADS + 1] {
        let pool = BufferPool::new(LARGE_BYTES.div_ceil(count), count);
        let threads = (0..THREADS).map(|thread| {
            let pool = pool.clone();
            thread::spawn(move || {
                let mut owned = 0_usize;
                for round in 0..ROUNDS {
                    let number = (thread + round * THREADS) as u8;
                    let Some(mut buffer) = pool.alloc() else { continue };
                    owned += 1;
                    buffer[..64].fill(number);
                    if round % 5 != 0 {
                        buffer = pool.redeem(buffer.into_handle()).unwrap();
                    }
                    assert!(buffer[..64].iter().all(|&byte| byte == number), "a second owner");
                }
                owned
            })
        });
        let owned: usize = threads.collect::<Vec<_>>().into_iter().map(|thread| thread.join().unwrap()).sum();
        assert!(owned > 0);
        assert_eq!((pool.available(), alloc_all(&pool).len()), (count, count), "nothing is lost");
    }
}

/// The pool goes while one slab of each kind is out, and one waits in each list.
#[test]
fn the_pool_goes_first() {
    let pool = BufferPool::new(LARGE_BYTES / 4, 4);
    let mut buffers = alloc_all(&pool);
    let [kept, redeemed, waits] = [true, false, false].map(|plain| match (plain, buffers.pop().unwrap()) {
        (true, buffer) => buffer,
        (false, buffer) => pool.redeem(buffer.into_handle()).unwrap(),
    });
    drop((waits, buffers));
    assert_eq!(pool.available(), 2);
    drop(pool);
    for mut buffer in [kept, redeemed] {
        buffer.fill(7);
        assert_eq!(buffer[LARGE_BYTES / 4 - 1], 7);
    }
}
