//! What it takes to make a small ring: so many calls of the allocator, and as many to drop it.

use annulus::broadcast::{Lossless, Lossy, Subscribable};
use annulus::event;

use crate::counting::allocations;

/// How often `make` calls the allocator. What it made is dropped with as many calls.
fn calls<R>(mut make: impl FnMut() -> R) -> u64 {
    // What is made once for all is made now.
    drop(make());
    let mut made = None;
    let calls = allocations(|| made = Some(make()));
    assert_eq!(allocations(|| drop(made)), calls);
    calls
}

/// Two sides, of which one makes the handle that receives.
fn with_reader<P, S, R>((publisher, subscribable): (P, S), subscribe: impl FnOnce(&S) -> R) -> (P, S, R) {
    let reader = subscribe(&subscribable);
    (publisher, subscribable, reader)
}

/// The slots lie in one block with what the handles share, where they are small: decision 0136. Larger ones
/// are a block of their own.
#[test]
fn small_ring_is_one_block() {
    assert_eq!(calls(|| annulus::spsc::channel::<u64>(64)), 1);
    assert_eq!(calls(|| annulus::mpsc::channel::<u64>(64)), 1);
    assert_eq!(calls(|| annulus::spmc::channel::<u64>(64)), 1);
    assert_eq!(calls(|| annulus::mpmc::channel::<u64>(64)), 1);
    assert_eq!(calls(|| annulus::queue::ordered::channel::<u64>(64)), 1);
    let lossy = || with_reader(annulus::broadcast::lossy::<u64>(64), Subscribable::<u64, Lossy>::subscribe);
    assert_eq!(calls(lossy), 1);
    // (With the place of the first cursor.)
    let lossless =
        || with_reader(annulus::broadcast::lossless::<u64>(64), Subscribable::<u64, Lossless>::subscribe);
    assert_eq!(calls(lossless), 1);
    let events = || with_reader(annulus::event::channel(64, || 0_u64), event::Subscribable::subscribe);
    assert_eq!(calls(events), 1);
    assert_eq!(calls(|| annulus::spsc::channel::<u64>(1024)), 2);
    assert_eq!(calls(|| annulus::queue::ordered::channel::<u64>(1024)), 2);
    assert_eq!(calls(|| annulus::broadcast::lossy::<u64>(1024)), 2);
}

/// A table of lanes comes with the second producer, beside its ring: three blocks for both.
#[test]
fn second_producer_brings_the_table_of_lanes() {
    let (first, _consumer) = annulus::mpsc::channel::<u64>(64);
    let mut second = None;
    assert_eq!(allocations(|| second = Some(first.clone())), 4);
    assert_eq!(allocations(|| drop((first, second))), 0, "the consumer keeps all");
}

/// Its answer's, which the receiver frees.
#[test]
fn question_is_one_block() {
    let (mut client, mut server) = annulus::service::channel::<u64, u64>(64);
    let mut counts = [0; 3];
    // What is made once for all is made in the first round.
    for _ in 0..2 {
        let (mut pending, mut told) = (None, None);
        counts = [
            allocations(|| pending = Some(client.ask(6).unwrap())),
            allocations(|| server.recv().unwrap().answer(36).unwrap()),
            allocations(|| told = pending.take().map(annulus::service::PendingAnswer::recv)),
        ];
        assert_eq!(told, Some(Ok(36)));
    }
    assert_eq!(counts, [1, 0, 1]);
}

/// What holds one value is one block.
#[test]
fn channel_of_one_value_is_one_block() {
    assert_eq!(calls(annulus::oneshot::channel::<u64>), 1);
    #[cfg(feature = "std")]
    assert_eq!(calls(|| annulus::watch::channel(0_u64)), 1);
}
