//! [`Shutdown`]: asks threads to stop, and closes rings so that those see it who sleep in one.
//!
//! What is attached is a stack, after Treiber. A trigger takes all of it, and leaves the mark that nothing is
//! put there any more; so what is attached is closed by the trigger that takes it, or by whoever attaches it
//! and finds the mark:
//!
//! ```text
//! attach                                         trigger
//! Y1  top: t → node, if not triggered  Release   Y2  top := triggered      AcqRel
//!     (is it? close the ring)          Acquire       close what was there
//! ```

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt;
use core::ptr;

use crate::Closer;
use crate::sync::{AtomicBool, AtomicPtr, Ordering, mutated};

/// A flag that asks threads to stop. Its clones share it. Once triggered, it stays triggered. Rings that are
/// [attached](Self::attach) to it are closed with it, so threads that wait in `recv` or `publish` are woken
/// and see it, too.
///
/// To look at it is one load, and to attach a ring costs the ring nothing: threads that work in it do not
/// look at the flag, but at their ring.
///
/// # Examples
///
/// Two threads that sleep in rings, and one that works elsewhere:
///
/// ```
/// use annulus::{RecvError, Shutdown, broadcast, spsc};
///
/// let (publisher, subscribable) = broadcast::lossy::<u64>(64);
/// let (producer, mut consumer) = spsc::channel::<u64>(64);
/// let mut subscriber = subscribable.subscribe();
/// let shutdown = Shutdown::new();
/// shutdown.attach(publisher.closer());
/// shutdown.attach(consumer.closer());
///
/// let threads = [
///     std::thread::spawn(move || assert_eq!(subscriber.recv(), Err(RecvError))),
///     std::thread::spawn(move || assert_eq!(consumer.recv(), Err(RecvError))),
///     std::thread::spawn({
///         let shutdown = shutdown.clone();
///         move || while !shutdown.is_shutdown() {}
///     }),
/// ];
/// shutdown.trigger();
/// threads.map(|thread| thread.join().unwrap());
/// # drop((publisher, producer));
/// ```
#[derive(Clone)]
pub struct Shutdown {
    state: Arc<State>,
}

/// What the clones share.
struct State {
    triggered: AtomicBool,
    /// What is attached; [`triggered_mark`] once it was taken.
    top: AtomicPtr<Attached>,
}

/// A ring to be closed. The node belongs to the stack while it is there, then to who took it.
struct Attached {
    closer: Closer,
    below: *mut Attached,
}

/// Where no node is: the stack is not used any more. It is compared, and never followed.
fn triggered_mark() -> *mut Attached {
    ptr::without_provenance_mut(1)
}

impl Shutdown {
    /// A flag that nobody has triggered, with nothing attached.
    #[must_use]
    pub fn new() -> Self {
        let state = State { triggered: AtomicBool::new(false), top: AtomicPtr::new(ptr::null_mut()) };
        Self { state: Arc::new(state) }
    }

    /// Closes the ring of `closer` together with this: by [`trigger`](Self::trigger), or at once where that
    /// has come before. Any number of rings can be attached, of any kinds, at any time and on any thread;
    /// that does not keep them alive.
    ///
    /// Allocates a place, and takes no lock. It gives back the places of rings that are gone: O(rings that
    /// are attached).
    ///
    /// ```
    /// let (publisher, _subscribable) = annulus::broadcast::lossy::<u64>(64);
    /// let shutdown = annulus::Shutdown::new();
    /// shutdown.trigger();
    /// shutdown.attach(publisher.closer());
    /// assert!(publisher.is_closed());
    /// ```
    pub fn attach(&self, closer: Closer) {
        self.state.forget_what_is_gone();
        self.state.put(Box::new(Attached { closer, below: ptr::null_mut() }));
    }

    /// Asks everybody who holds a clone to stop, and closes all rings that are attached, as [`Closer::close`]
    /// does: in no order. When it returns, they are closed, but for those that another thread is attaching or
    /// closing just now. Calling it again changes nothing.
    pub fn trigger(&self) {
        // Release: pairs with the Acquire in `is_shutdown`; what came before the trigger is visible to who
        // sees it.
        self.state.triggered.store(true, Ordering::Release);
        if !mutated!("shutdown_closes_nothing") {
            self.state.take(triggered_mark()).for_each(|attached| attached.closer.close());
        }
    }

    /// Whether somebody has asked. One load; never waits.
    #[inline]
    #[must_use]
    pub fn is_shutdown(&self) -> bool {
        // Acquire: pairs with the Release in `trigger`.
        self.state.triggered.load(Ordering::Acquire)
    }
}

impl State {
    /// Y1: puts `node` on the stack, or closes its ring.
    fn put(&self, mut node: Box<Attached>) {
        // Acquire: pairs with Y2; the close comes after the trigger.
        let mut top = self.top.load(Ordering::Acquire);
        while top != triggered_mark() || mutated!("attached_too_late") {
            node.below = top;
            let place = &raw mut *node;
            // Release: pairs with Y2, which then finds what is in the node.
            match self.top.compare_exchange_weak(top, place, Ordering::Release, Ordering::Acquire) {
                Ok(_) => {
                    // It is the stack's now.
                    _ = Box::into_raw(node);
                    return;
                }
                Err(now) => top = now,
            }
        }
        node.closer.close();
    }

    /// Y2: takes all that is on the stack, and leaves `instead` there.
    fn take(&self, instead: *mut Attached) -> Taken {
        // Acquire: pairs with Y1. Release: pairs with the Acquire of Y1.
        Taken(self.top.swap(instead, Ordering::AcqRel))
    }

    /// Gives back the places of rings that are gone.
    fn forget_what_is_gone(&self) {
        // Acquire: pairs with Y1, here and below.
        let top = self.top.load(Ordering::Acquire);
        // Where somebody else is at work, the next one does it.
        let take = || self.top.compare_exchange(top, ptr::null_mut(), Ordering::Acquire, Ordering::Relaxed);
        if top != triggered_mark() && take().is_ok() {
            // Each is put back, or closed where the trigger came meanwhile.
            Taken(top).filter(|attached| !attached.closer.is_gone()).for_each(|attached| self.put(attached));
        }
    }
}

/// What was on the stack.
struct Taken(*mut Attached);

impl Iterator for Taken {
    type Item = Box<Attached>;

    fn next(&mut self) -> Option<Box<Attached>> {
        if self.0.is_null() || self.0 == triggered_mark() {
            return None;
        }
        // SAFETY: it was put on the stack by `Box::into_raw`, and whoever took it from there has it alone.
        let node = unsafe { Box::from_raw(self.0) };
        self.0 = node.below;
        Some(node)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.for_each(drop);
    }
}

impl Drop for State {
    fn drop(&mut self) {
        drop(self.take(ptr::null_mut()));
    }
}

impl Default for Shutdown {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Shutdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shutdown").field("triggered", &self.is_shutdown()).finish()
    }
}
