//! What a poll of another process's ring finds, where no message is there.

use core::ptr::NonNull;
use std::sync::{Arc, Mutex};

use super::{Across, of_another};
use crate::base::sequence::Sequence;
use crate::broadcast::Publisher;
use crate::memory::{Block, Memory, PlacedMemory};
use crate::os::shared_memory::Access;
use crate::ring::{Mirror, SharedNumbers, Writers, slots_layout, stride_for};
use crate::settings::Settings;
use crate::sync::AtomicU32;
use crate::wait::{Remote, WaitStrategy};

/// What both processes have apart from the slots.
struct Numbers {
    shown: SharedNumbers,
    word: AtomicU32,
}

/// A poll that found nothing asks whether the publisher's process is gone. A message that comes meanwhile is
/// found by this poll.
#[test]
fn message_that_comes_while_a_poll_asks_is_found_by_that_poll() {
    let stride = stride_for(8, Writers::One);
    let memory = PlacedMemory::create("annulus test", 4096, Access::CreatorAlone, Memory::default());
    let memory = Arc::new(memory.ok().unwrap());
    let numbers = Arc::new(Numbers { shown: SharedNumbers::zeroed(), word: AtomicU32::new(0) });
    let across = |mirror| Across {
        slots: (Block::shared(Arc::clone(&memory), 0, slots_layout(stride, 2).unwrap()), stride),
        mirror,
        // SAFETY: it keeps the numbers, in which the word is.
        sleepers: unsafe { Remote::new(NonNull::from(&numbers.word), false, Arc::clone(&numbers) as _) },
        awaiting: None,
    };
    let shown = NonNull::from(&numbers.shown);
    let publisher = Arc::new(Mutex::new(None::<Publisher<u64>>));
    let kernel = Arc::clone(&publisher);
    let is_gone = move || {
        // The first poll asks at once.
        kernel.lock().unwrap().as_mut().unwrap().publish(7);
        false
    };
    // SAFETY: the sleepers keep the numbers, the blocks the slots, which are as many and zero; any bytes are
    // a `u64`.
    let (made, subscribable) = unsafe {
        let (made, _) = Settings::new(2).lossy_across::<u64>(across(Mirror::shows(shown, None))).unwrap();
        let sees = across(Mirror::sees(shown, is_gone));
        (made, of_another::<u64>(2, 0, Sequence::FIRST, WaitStrategy::default(), sees).unwrap())
    };
    let mut subscriber = subscribable.subscribe();
    *publisher.lock().unwrap() = Some(made);
    assert_eq!(subscriber.try_recv(), Ok(7));
}
