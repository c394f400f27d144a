//! [`Inbox`]: through which new topics come to the receiver of all that match a pattern.
//!
//! A thread that makes a topic makes a subscriber of it for each inbox that is known to the version of the
//! map which it replaces, and puts it there before the topic is in the map. So a thread that finds the topic
//! there finds it in the inboxes, too: no message is older than its subscriber, and none is behind a mark
//! that comes after it. If another thread puts a topic of that name there first, the ring of this one comes
//! to its end at once. The subscribers are a stack, which is taken as a whole.

use alloc::boxed::Box;
use alloc::sync::Arc;
#[cfg(any(feature = "std", feature = "async"))]
use alloc::task::Wake;
use alloc::vec::Vec;
use core::ptr;

use super::kind::AnySubscriber;
use super::pattern::Pattern;
use super::topic::Topic;
use crate::message::Message;
use crate::sync::{AtomicBool, AtomicPtr, Ordering, ordering, seeded};
use crate::wait::EventCount;

/// A watcher is told of new topics.
pub(super) trait Watcher: Send + Sync {
    /// Subscribes to a topic, and keeps the subscriber for the owner. Does nothing if the topic does not
    /// match, if its messages are of another type, or if it was removed.
    fn join(&self, topic: &Topic);

    /// The bus is gone: no topics come any more.
    fn end(&self);
}

/// What comes, for a receiver of messages of type `T`.
pub(super) struct Inbox<T: Message> {
    pattern: Pattern,
    top: AtomicPtr<InboxNode<T>>,
    over: AtomicBool,
    /// Where the owner waits for all that comes, messages of its topics as well.
    pub(super) event: EventCount,
}

/// One that came. The node belongs to the stack, then to the owner.
struct InboxNode<T: Message> {
    joined: Joined<T>,
    below: *mut Self,
    /// For loom, which can't watch what is in the box.
    #[cfg(annulus_loom)]
    watched: crate::sync::UnsafeCell<()>,
}

/// A subscriber, with the name of its topic.
type Joined<T> = (Arc<str>, AnySubscriber<T>);

impl<T: Message> Inbox<T> {
    pub(super) fn new(pattern: Pattern) -> Self {
        let top = AtomicPtr::new(ptr::null_mut());
        Self { pattern, top, over: AtomicBool::new(false), event: EventCount::new() }
    }

    pub(super) fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Whether something came.
    pub(super) fn has_some(&self) -> bool {
        // Relaxed: `take` orders it.
        !self.top.load(Ordering::Relaxed).is_null()
    }

    /// Whether the bus is gone. All that came before is in the stack.
    pub(super) fn is_over(&self) -> bool {
        // Acquire: pairs with the Release in `end`.
        self.over.load(Ordering::Acquire)
    }

    /// Takes all that came, the oldest first.
    pub(super) fn take(&self) -> Vec<Joined<T>> {
        // Acquire: pairs with the Release in `join`.
        let mut node = self.top.swap(ptr::null_mut(), ordering!(Acquire unless "matching_take_relaxed"));
        let mut taken = Vec::new();
        while !node.is_null() {
            // SAFETY: from `into_raw` in `join`, and a thread that takes the stack has its nodes alone.
            let node_taken = *unsafe { Box::from_raw(node) };
            #[cfg(annulus_loom)]
            node_taken.watched.with_mut(|_| ());
            let InboxNode { joined, below, .. } = node_taken;
            taken.push(joined);
            node = below;
        }
        taken.reverse();
        taken
    }
}

impl<T: Message> Watcher for Inbox<T> {
    fn join(&self, topic: &Topic) {
        if !self.pattern.matches(topic.name()) {
            return;
        }
        let Some(subscriber) = topic.subscribe() else { return };
        // Relaxed, here and where it fails: the node below is not looked at.
        let below = self.top.load(Ordering::Relaxed);
        let node = Box::into_raw(Box::new(InboxNode {
            joined: (Arc::clone(topic.shared_name()), subscriber),
            below,
            #[cfg(annulus_loom)]
            watched: crate::sync::UnsafeCell::new(()),
        }));
        // Release: pairs with the Acquire in `take`.
        let order = ordering!(Release unless "matching_join_relaxed");
        let mut seen = below;
        // Unreached: two threads make topics at the same moment; loom bus
        while let Err(now) = self.top.compare_exchange_weak(seen, node, order, Ordering::Relaxed) {
            // SAFETY: no other thread has the node before the exchange succeeds.
            unsafe { (*node).below = now };
            seen = now;
        }
        if !seeded!("matching_wakes_nobody") {
            self.event.notify();
        }
    }

    fn end(&self) {
        // Release: pairs with the Acquire in `is_over`.
        self.over.store(true, Ordering::Release);
        if !seeded!("matching_end_wakes_nobody") {
            self.event.notify();
        }
    }
}

/// As the waker of each [relay](crate::wait::Relay) of the owner: a message came in a topic.
#[cfg(any(feature = "std", feature = "async"))]
impl<T: Message> Wake for Inbox<T> {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !seeded!("relay_wakes_nobody") {
            self.event.notify();
        }
    }
}

// SAFETY: the nodes go from thread to thread, and what is in them is `Send`.
unsafe impl<T: Message> Send for Inbox<T> {}
// SAFETY: as above; all else is atomic.
unsafe impl<T: Message> Sync for Inbox<T> {}

impl<T: Message> Drop for Inbox<T> {
    fn drop(&mut self) {
        drop(self.take());
    }
}
