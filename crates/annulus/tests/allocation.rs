//! Nothing is allocated after the ring is made.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call goes to the system's allocator unchanged; counting touches a thread-local cell that needs no
// allocation and has no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(action: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.with(Cell::get);
    action();
    ALLOCATIONS.with(Cell::get) - before
}

#[test]
fn counting_counts() {
    assert_eq!(allocations(|| drop(Box::new(1))), 1);
}

#[test]
fn messages_allocate_nothing() {
    let (mut publisher, subscribable) = annulus::channel::<[u64; 40]>(16);
    let mut subscriber = subscribable.subscribe();
    let mut buffer = [[0; 40]; 8];
    let count = allocations(|| {
        for number in 0..100 {
            publisher.publish([number; 40]);
            publisher.publish_batch(&[[number; 40]; 20]);
            publisher.publish_with(|| [number; 40]);
            let _ = subscriber.try_recv();
            let _ = subscriber.recv();
            let _ = subscriber.recv_timeout(std::time::Duration::ZERO);
            subscriber.recv_batch(&mut buffer);
            subscriber.drain().take(2).for_each(drop);
            let _ = (subscriber.latest(), subscriber.skip_to_latest(), subscriber.pending());
            let joined = subscribable.subscribe();
            drop((joined.clone(), joined, subscribable.subscribe_from_oldest()));
        }
    });
    assert_eq!(count, 0);
}
