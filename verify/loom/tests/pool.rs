//! The buffer pool: a slab has one owner, which sees what the one before left, and the memory ends after the
//! last of them.
//!
//! Loom watches a cell in place of each slab's bytes. It reports where two owners meet, where one does not
//! come after the other, and where the memory ends before its last use (its end counts as a write to every
//! slab) or never.
#![cfg(annulus_loom)]

use std::sync::Arc;

use annulus::pool::{Buffer, BufferPool, Handle};
use annulus_loom::{check, check_up_to};
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

/// Owns a buffer for a while: writes to it, lets others run, and finds what it wrote.
fn use_up(buffer: &mut Buffer, number: u8) {
    buffer[0] = number;
    thread::yield_now();
    assert_eq!(buffer[0], number, "somebody else has this slab too");
}

/// Takes two buffers if it can get them, gives the first back while it holds the second.
fn take_two(pool: &BufferPool, number: u8) {
    let mut first = pool.alloc();
    let mut second = pool.alloc();
    if let Some(first) = &mut first {
        use_up(first, number);
    }
    drop(first);
    if let Some(second) = &mut second {
        use_up(second, number + 1);
    }
}

/// Both slabs are free, and no third one is.
fn both_are_free(pool: &BufferPool) {
    assert_eq!(pool.available(), 2);
    let [first, second] = [pool.alloc().unwrap(), pool.alloc().unwrap()];
    assert!(pool.alloc().is_none());
    drop((second, first));
}

/// A pop that stands still while the other pops both slabs and pushes the first one back.
#[test]
fn slab_comes_back_during_a_pop() {
    check(|| {
        let pool = BufferPool::new(1, 2);
        let other = thread::spawn({
            let pool = pool.clone();
            move || take_two(&pool, 10)
        });
        take_two(&pool, 20);
        other.join().unwrap();
        both_are_free(&pool);
    });
}

/// The same, the steps divided between three.
#[test]
fn slab_comes_back_by_another() {
    check_up_to(2, || {
        let pool = BufferPool::new(1, 2);
        let [first, second] = [10, 20].map(|number| {
            let pool = pool.clone();
            thread::spawn(move || pool.alloc().map(|mut buffer| use_up(&mut buffer, number)))
        });
        take_two(&pool, 30);
        first.join().unwrap();
        second.join().unwrap();
        both_are_free(&pool);
    });
}

/// One slab, from owner to owner by the free list alone.
#[test]
fn next_owner_sees_the_last_owners_bytes() {
    check(|| {
        let pool = BufferPool::new(1, 1);
        let threads = [10, 20].map(|number| {
            let pool = pool.clone();
            thread::spawn(move || {
                let Some(mut buffer) = pool.alloc() else { return false };
                assert!([0, 10, 20].contains(&buffer[0]));
                use_up(&mut buffer, number);
                true
            })
        });
        let used = threads.map(|thread| thread.join().unwrap());
        assert!(used.contains(&true), "a slab is there, and nobody got it");
        assert!([10, 20].contains(&pool.alloc().unwrap()[0]));
    });
}

/// Carries a handle without any order.
struct Carrier(AtomicU64);

impl Carrier {
    fn new() -> Arc<Self> {
        Arc::new(Self(AtomicU64::new(0)))
    }

    fn put(&self, handle: Handle) {
        self.0.store(1 << 32 | u64::from(handle.to_bits()), Ordering::Relaxed);
    }

    fn get(&self) -> Option<Handle> {
        let bits = self.0.load(Ordering::Relaxed);
        (bits != 0).then(|| Handle::from_bits(bits as u32))
    }
}

/// Two threads find the same handle: one gets the buffer, with what was written to it.
#[test]
fn a_handle_for_two() {
    check(|| {
        let pool = BufferPool::new(1, 1);
        let carrier = Carrier::new();
        let mut buffer = pool.alloc().unwrap();
        let redeem = |number| {
            let (pool, carrier) = (pool.clone(), Arc::clone(&carrier));
            move || {
                let mut redeemed = pool.redeem(carrier.get()?).ok();
                if let Some(buffer) = &mut redeemed {
                    assert_eq!(buffer[0], 5, "what was written before the handle");
                    use_up(buffer, number);
                }
                Some(redeemed)
            }
        };
        let threads = [thread::spawn(redeem(10)), thread::spawn(redeem(20))];
        buffer[0] = 5;
        carrier.put(buffer.into_handle());
        // Buffers come back with their threads, so none is free again meanwhile.
        let tries = threads.map(|thread| thread.join().unwrap());
        let won = tries.iter().flatten().flatten().count();
        assert_eq!(won, tries.iter().flatten().count().min(1), "one of those that found it");
        assert_eq!(pool.redeem(carrier.get().unwrap()).is_ok(), won == 0);
    });
}

/// A handle is redeemed and its slab goes into the next one, while another thread tries the old handle: it is
/// good once.
#[test]
fn handle_and_the_next_of_its_slab() {
    check(|| {
        let pool = BufferPool::new(1, 1);
        let handle = pool.alloc().unwrap().into_handle();
        let other = thread::spawn({
            let pool = pool.clone();
            move || pool.redeem(handle).ok()
        });
        let mut next = None;
        let mine = pool.redeem(handle).ok().map(|mut buffer| {
            use_up(&mut buffer, 10);
            next = Some(buffer.into_handle());
        });
        let theirs = other.join().unwrap();
        assert!(mine.is_some() != theirs.is_some(), "the handle is good once");
        assert_eq!(next.is_some_and(|handle| pool.redeem(handle).is_ok()), mine.is_some());
        drop(theirs);
        assert_eq!(pool.available(), 1);
    });
}

/// As [`use_up`], of a slab that goes through a handle, and so to the end of the line of a large pool (which
/// is one of 16 bytes here).
fn take_by_handle(pool: &BufferPool, number: u8) -> Option<Buffer> {
    let handle = pool.alloc()?.into_handle();
    let mut buffer = pool.redeem(handle).unwrap();
    use_up(&mut buffer, number);
    Some(buffer)
}

/// Two threads take slabs from the line and append them to it.
#[test]
fn slabs_of_handles_go_to_the_end_of_the_line() {
    check_up_to(2, || {
        let pool = BufferPool::new(8, 2);
        drop(take_by_handle(&pool, 1));
        let other = thread::spawn({
            let pool = pool.clone();
            move || {
                let first = take_by_handle(&pool, 10);
                let second = take_by_handle(&pool, 11);
                drop(first);
                drop(second);
            }
        });
        drop(take_by_handle(&pool, 20));
        drop(take_by_handle(&pool, 21));
        other.join().unwrap();
        both_are_free(&pool);
    });
}

/// One slab, which waits in the line, for two threads that take it, write to it and append it.
#[test]
fn next_owner_sees_the_last_owners_bytes_in_the_line() {
    check(|| {
        let pool = BufferPool::new(16, 1);
        drop(take_by_handle(&pool, 1));
        let other = thread::spawn({
            let pool = pool.clone();
            move || drop(take_by_handle(&pool, 10))
        });
        let mine = pool.alloc();
        let found = mine.as_ref().map(|buffer| buffer[0]);
        assert!(found.is_none_or(|number| [1, 10].contains(&number)));
        drop(mine);
        other.join().unwrap();
        assert_eq!(pool.available(), 1);
    });
}

/// The last pool goes while two buffers that came out of handles end; a third slab waits in the line.
#[test]
fn pool_goes_while_the_line_grows() {
    check_up_to(2, || {
        let pool = BufferPool::new(8, 3);
        let [first, second, third] = [1, 2, 3].map(|number| take_by_handle(&pool, number).unwrap());
        drop(third);
        all_end(pool, [(first, FREED, 10), (second, FREED, 20)]);
    });
}

/// How a buffer ends that outlives its pool.
type End = fn(Buffer);

const FREED: End = drop;
const HANDED_OUT: End = |buffer| {
    let _ = buffer.into_handle();
};

/// The last pool goes while these buffers are used up and end.
fn all_end(pool: BufferPool, buffers: [(Buffer, End, u8); 2]) {
    let threads = buffers.map(|(mut buffer, end, number)| {
        thread::spawn(move || {
            use_up(&mut buffer, number);
            end(buffer);
        })
    });
    drop(pool);
    for thread in threads {
        thread.join().unwrap();
    }
}

/// The last pool goes while buffers end: the last of them frees the memory, after all others. One slab is
/// free, one in a handle.
fn pool_and_buffers_end(ends: [End; 2]) {
    check(move || {
        let pool = BufferPool::new(1, 4);
        let buffers = [(); 3].map(|()| pool.alloc().unwrap());
        let [first, second, third] = buffers;
        let _ = third.into_handle();
        all_end(pool, [(first, ends[0], 10), (second, ends[1], 20)]);
    });
}

#[test]
fn pool_goes_while_buffers_are_freed() {
    pool_and_buffers_end([FREED, FREED]);
}

#[test]
fn pool_goes_while_buffers_go_into_handles() {
    pool_and_buffers_end([HANDED_OUT, HANDED_OUT]);
}

#[test]
fn pool_goes_while_buffers_end_either_way() {
    pool_and_buffers_end([HANDED_OUT, FREED]);
}
