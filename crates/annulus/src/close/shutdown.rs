//! [`Shutdown`]: asks threads to stop, wakes those that wait for it, and closes rings so that threads that
//! sleep in one see it.
//!
//! The attached rings are a stack, after Treiber. A trigger takes the whole stack, and leaves a mark: nothing
//! is put there any more. So a ring is closed by the trigger that takes it, or by the thread that attaches it
//! and finds the mark:
//!
//! ```text
//! attach                                                       trigger
//! shutdown.attach1  top: t → node, if not triggered  Release   shutdown.close2  top := triggered      AcqRel
//!                   (is it? close the ring)          Acquire                    close what was there
//! ```

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use core::fmt;
#[cfg(feature = "async")]
use core::future::Future;
use core::ptr;
#[cfg(feature = "std")]
use std::time::Duration;

use crate::Closer;
use crate::base::drop_all::{drop_all, drop_each};
#[cfg(any(feature = "std", feature = "async"))]
use crate::receive::Waitable;
use crate::sync::{AtomicPtr, AtomicUsize, Ordering, seeded};
#[cfg(feature = "std")]
use crate::wait::{Armed, Choice, Opening};
#[cfg(any(feature = "std", feature = "async"))]
use crate::wait::{EndMark, EventCount, Source};
use crate::wait::{Latch, Until, WaitStrategy};

/// A flag that asks threads to stop. Its clones share it. Once triggered, it stays triggered. Rings that are
/// [attached](Self::attach) to it are closed with it, so threads that wait in `recv` or `publish` are woken
/// and see it, too.
///
/// A look at the flag is one load. To attach a ring makes no verb of the ring slower: a thread in a ring does
/// not look at the flag, only at its ring.
///
/// A thread or a task that is in no ring [waits](Self::wait) for it. With `std`, it is also an arm of
/// `select!` (`wait(shutdown)`), and one of the handles of a `Select` or a `Notifier`: a `Waitable` at
/// which there is nothing to receive.
///
/// # Examples
///
/// Two threads that sleep in rings, and one that is in no ring:
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
///     std::thread::spawn(move || assert_eq!(subscriber.recv(), Err(RecvError::CLOSED))),
///     std::thread::spawn(move || assert_eq!(consumer.recv(), Err(RecvError::CLOSED))),
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
    state: Arc<ShutdownState>,
}

/// What the clones share.
struct ShutdownState {
    triggered: Latch,
    /// The attached rings; [`triggered_mark`] once they were taken.
    top: AtomicPtr<Attached>,
    /// How many were attached since nodes were last given back, and how many are enough to look again.
    /// Hints.
    count: AtomicUsize,
    enough: AtomicUsize,
}

/// With no more nodes than this, a look at all of them is not worth its cost.
const FEW: usize = 8;

/// A ring to be closed. The node belongs to the stack while it is there, then to the thread that took it.
struct Attached {
    closer: Closer,
    /// The address of the node below, or 0. Not a pointer: shutdown.attach1 compares addresses, so the node
    /// there may be another one than it was when the address was read.
    below: usize,
}

/// An address where no node is: the stack is not used any more. This address is compared, and never followed.
fn triggered_mark() -> *mut Attached {
    ptr::without_provenance_mut(1)
}

impl Shutdown {
    /// A flag that nobody has triggered, with nothing attached.
    #[must_use]
    pub fn new() -> Self {
        Self {
            state: Arc::new(ShutdownState {
                triggered: Latch::new(1),
                top: AtomicPtr::new(ptr::null_mut()),
                count: AtomicUsize::new(0),
                enough: AtomicUsize::new(FEW),
            }),
        }
    }

    /// Attaches the ring of `closer`: [`trigger`](Self::trigger) will close it. If the trigger has come
    /// before, this closes the ring at once. Any number of rings can be attached, of any kinds, at any time
    /// and on any thread. To attach a ring does not keep it alive.
    ///
    /// Allocates a node, and takes no lock. A ring may be attached again, which changes nothing. Now and then
    /// it gives back the nodes of rings that are gone, and of those that are attached more than once. So the
    /// number of nodes is at most twice the number of rings that were attached at one time, and a few more.
    /// O(log n) on average, where n is that number.
    ///
    /// ```
    /// let (publisher, _subscribable) = annulus::broadcast::lossy::<u64>(64);
    /// let shutdown = annulus::Shutdown::new();
    /// shutdown.trigger();
    /// shutdown.attach(publisher.closer());
    /// assert!(publisher.is_closed());
    /// ```
    pub fn attach(&self, closer: Closer) {
        let new = Box::new(Attached { closer, below: 0 });
        if self.state.count.fetch_add(1, Ordering::Relaxed) < self.state.enough.load(Ordering::Relaxed) {
            return self.state.put(new);
        }
        match self.state.take_all() {
            Some(taken) => self.state.put_back(taken, new),
            None => self.state.put(new),
        }
    }

    /// Asks all threads that hold a clone to stop, and closes all attached rings, as [`Closer::close`] does.
    /// It closes them in no particular order, and closes all of them, even if the destructor of a message
    /// panics. Calling it again changes nothing.
    ///
    /// When it returns, all rings are closed, unless another thread is in [`attach`](Self::attach) at that
    /// moment: such a thread may have taken any of the rings, and closes these itself before it returns.
    pub fn trigger(&self) {
        self.state.triggered.open();
        if !seeded!("shutdown_closes_nothing") {
            // All of them, even if a close panics because it drops the messages in a ring.
            let mut taken = self.state.take(triggered_mark());
            drop_all(|| taken.next().map(|attached| attached.closer.close()).is_some());
        }
    }

    /// Whether somebody has triggered it. One load; never waits.
    #[inline]
    #[must_use]
    pub fn is_shutdown(&self) -> bool {
        self.state.triggered.is_open()
    }

    /// Waits until somebody triggers it. Returns at once if somebody has. Waits by
    /// [`WaitStrategy::default`]. (Rings may still be about to be closed when it returns.)
    ///
    /// ```
    /// let shutdown = annulus::Shutdown::new();
    /// let other = shutdown.clone();
    /// let thread = std::thread::spawn(move || other.trigger());
    /// shutdown.wait();
    /// assert!(shutdown.is_shutdown());
    /// # thread.join().unwrap();
    /// ```
    pub fn wait(&self) {
        self.state.triggered.wait(WaitStrategy::default(), None);
    }

    /// As [`wait`](Self::wait), but gives up after `timeout` on the monotonic clock. A timeout that is too
    /// long for the clock means no timeout. Returns whether somebody has triggered it.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let shutdown = annulus::Shutdown::new();
    /// let mut ticks = 0;
    /// while !shutdown.wait_timeout(Duration::from_millis(1)) {
    ///     ticks += 1; // something to be done now and then
    ///     if ticks == 3 {
    ///         shutdown.trigger();
    ///     }
    /// }
    /// assert_eq!(ticks, 3);
    /// ```
    #[cfg(feature = "std")]
    #[must_use]
    pub fn wait_timeout(&self, timeout: Duration) -> bool {
        self.wait_until(timeout)
    }

    /// As [`wait`](Self::wait), but waits as [`Until`] says. False if it is not triggered in time.
    pub fn wait_until(&self, until: impl Into<Until>) -> bool {
        let until = until.into();
        self.state.triggered.wait(until.strategy_or(WaitStrategy::default), until.deadline())
    }

    /// As [`wait`](Self::wait), in a task: the task waits, not its thread.
    ///
    /// *Cancel safety*: a future that is dropped has changed nothing.
    ///
    /// ```
    /// let shutdown = annulus::Shutdown::new();
    /// let other = shutdown.clone();
    /// let thread = std::thread::spawn(move || other.trigger());
    /// pollster::block_on(shutdown.wait_async());
    /// # thread.join().unwrap();
    /// ```
    #[cfg(feature = "async")]
    pub fn wait_async(&self) -> impl Future<Output = ()> + Send + Unpin {
        self.state.triggered.opened()
    }

    /// An arm of [`select!`](crate::select!).
    #[cfg(feature = "std")]
    #[doc(hidden)]
    pub fn wait_in_select(&self) -> impl Choice<Found = ()> {
        // SAFETY: the eventcount is in what the clones share, and this one is borrowed.
        unsafe { Armed::new(Opening(&self.state.triggered), |_| WaitStrategy::default(), |_, found| found) }
    }
}

// SAFETY: the eventcount is in what the clones share.
#[cfg(any(feature = "std", feature = "async"))]
unsafe impl Source for Shutdown {
    fn wait_point(&self) -> &EventCount {
        self.state.triggered.wait_point()
    }

    fn is_ready(&mut self) -> bool {
        self.is_shutdown()
    }

    fn strategy(&self) -> WaitStrategy {
        WaitStrategy::default()
    }

    // Unreached: there is nothing to receive, here and below
    fn has_more(&mut self) -> bool {
        false
    }

    // Unreached: as above
    fn mark(&mut self) -> EndMark {
        EndMark::of([])
    }

    // Unreached: as above
    fn has_passed(&self, _: &mut EndMark) -> bool {
        true
    }
}

#[cfg(any(feature = "std", feature = "async"))]
impl Waitable for Shutdown {
    fn is_closed(&self) -> bool {
        self.is_shutdown()
    }
}

impl ShutdownState {
    /// shutdown.attach1: puts `node` on the stack, or closes its ring.
    fn put(&self, node: Box<Attached>) {
        let node = Box::into_raw(node);
        // For the thread that follows the address (`TakenList::next`).
        node.expose_provenance();
        // Acquire: pairs with shutdown.close2; the close comes after the trigger.
        let mut top = self.top.load(Ordering::Acquire);
        while top != triggered_mark() || seeded!("attached_too_late") {
            // SAFETY: nobody else has it yet.
            unsafe { (*node).below = top.addr() };
            // Release: pairs with shutdown.close2, which then finds what is in the node.
            match self.top.compare_exchange_weak(top, node, Ordering::Release, Ordering::Acquire) {
                // It is the stack's now.
                Ok(_) => return,
                // Unreached: another thread attaches a ring at the same moment; loom shutdown
                Err(now) => top = now,
            }
        }
        // SAFETY: from `into_raw` above, and nobody else has it.
        unsafe { Box::from_raw(node) }.closer.close();
    }

    /// shutdown.close2: takes all that is on the stack, and leaves `instead` there.
    fn take(&self, instead: *mut Attached) -> TakenList {
        // Acquire: pairs with shutdown.attach1. Release: pairs with the Acquire of shutdown.attach1.
        TakenList(self.top.swap(instead, Ordering::AcqRel))
    }

    /// Takes all that is on the stack, unless the trigger has come, or another thread is at work there: then
    /// the next attachment looks.
    fn take_all(&self) -> Option<TakenList> {
        // Acquire: pairs with shutdown.attach1, here and below.
        let top = self.top.load(Ordering::Acquire);
        if top == triggered_mark() {
            return None;
        }
        let (success, failure) = (Ordering::Acquire, Ordering::Relaxed);
        // (The pointer is the exchange's, not the one that was read before: the node there may be another one
        // by now.)
        self.top.compare_exchange(top, ptr::null_mut(), success, failure).ok().map(TakenList)
    }

    /// Puts `taken` and `new` on the stack, and gives back the nodes of rings that are gone, and all but one
    /// of each other ring.
    fn put_back(&self, taken: TakenList, new: Box<Attached>) {
        let mut rings = BTreeSet::new();
        // Each is put there, or closed where the trigger came meanwhile: all of them, as in `trigger`.
        drop_each(taken.chain([new]), |attached| {
            if !attached.closer.is_gone() && rings.insert(attached.closer.address()) {
                self.put(attached);
            }
        });
        // Relaxed: hints.
        self.count.store(0, Ordering::Relaxed);
        self.enough.store(rings.len().max(FEW), Ordering::Relaxed);
    }
}

/// What was on the stack.
struct TakenList(*mut Attached);

impl Iterator for TakenList {
    type Item = Box<Attached>;

    fn next(&mut self) -> Option<Box<Attached>> {
        if self.0.is_null() || self.0 == triggered_mark() {
            return None;
        }
        // SAFETY: it was put on the stack by `Box::into_raw`, and the thread that took it from there has it
        // alone.
        let node = unsafe { Box::from_raw(self.0) };
        self.0 = ptr::with_exposed_provenance_mut(node.below);
        Some(node)
    }
}

impl Drop for TakenList {
    fn drop(&mut self) {
        self.for_each(drop);
    }
}

impl Drop for ShutdownState {
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

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::base::common::Common;
    use crate::close::Close;

    /// Counts how often it is closed, and panics where it is asked to.
    struct Ring {
        closed: AtomicUsize,
        panics: bool,
    }

    impl Ring {
        fn new(panics: bool) -> Common<Self> {
            let [ring] = Common::allocation().fill(Self { closed: AtomicUsize::new(0), panics });
            ring
        }

        fn closed(&self) -> usize {
            self.closed.load(Ordering::Relaxed)
        }
    }

    impl Close for Ring {
        fn close(&self) {
            self.closed.fetch_add(1, Ordering::Relaxed);
            assert!(!self.panics, "on purpose");
        }

        fn is_closed(&self) -> bool {
            self.closed() != 0
        }
    }

    fn closer_of(ring: &Common<Ring>) -> Closer {
        Closer::from_weak(ring.downgrade())
    }

    /// How many nodes there are.
    fn nodes(shutdown: &Shutdown) -> usize {
        let mut count = 0;
        let mut node = shutdown.state.top.load(Ordering::Relaxed);
        while !node.is_null() {
            count += 1;
            // SAFETY: nobody else is at work.
            node = ptr::with_exposed_provenance_mut(unsafe { (*node).below });
        }
        count
    }

    #[test]
    fn nodes_of_rings_that_are_gone_are_given_back() {
        let shutdown = Shutdown::new();
        let rings: Vec<_> = (0..10).map(|_| Ring::new(false)).collect();
        for ring in &rings {
            shutdown.attach(closer_of(ring));
        }
        let mut most = 0;
        for _ in 0..100 {
            shutdown.attach(closer_of(&Ring::new(false)));
            most = most.max(nodes(&shutdown));
        }
        assert!((10..=2 * 10 + FEW).contains(&most), "{most} nodes");
        shutdown.trigger();
        assert!(rings.iter().all(|ring| ring.closed() == 1));
        let late = Ring::new(false);
        shutdown.attach(closer_of(&late));
        shutdown.trigger();
        assert_eq!((late.closed(), rings[0].closed()), (1, 1));
    }

    /// A ring has one node that stays, however often it is attached.
    #[test]
    fn living_ring_that_is_attached_again_takes_no_memory() {
        let shutdown = Shutdown::new();
        let rings: Vec<_> = (0..3).map(|_| Ring::new(false)).collect();
        let mut most = 0;
        for turn in 0..1000 {
            shutdown.attach(closer_of(&rings[turn % rings.len()]));
            most = most.max(nodes(&shutdown));
        }
        assert!((3..=2 * 3 + FEW).contains(&most), "{most} nodes");
        shutdown.trigger();
        assert!(rings.iter().all(|ring| ring.closed() >= 1));
    }

    #[test]
    fn close_that_panics_keeps_no_other_from_being_closed() {
        let shutdown = Shutdown::new();
        let rings: Vec<_> = (0..5).map(|number| Ring::new(number == 2)).collect();
        for ring in &rings {
            shutdown.attach(closer_of(ring));
        }
        let other = shutdown.clone();
        let waits = std::thread::spawn(move || other.wait());
        assert!(catch_unwind(AssertUnwindSafe(|| shutdown.trigger())).is_err());
        assert!(rings.iter().all(|ring| ring.closed() == 1));
        waits.join().unwrap();
    }

    /// A trigger comes while a thread that attaches a ring has taken the nodes.
    #[test]
    fn close_that_panics_keeps_no_other_from_being_put_back() {
        let shutdown = Shutdown::new();
        let rings: Vec<_> = (0..5).map(|number| Ring::new(number == 2)).collect();
        for ring in &rings[..4] {
            shutdown.attach(closer_of(ring));
        }
        let taken = shutdown.state.take(ptr::null_mut());
        shutdown.trigger();
        assert!(rings.iter().all(|ring| ring.closed() == 0));
        let new = Box::new(Attached { closer: closer_of(&rings[4]), below: 0 });
        assert!(catch_unwind(AssertUnwindSafe(|| shutdown.state.put_back(taken, new))).is_err());
        assert!(rings.iter().all(|ring| ring.closed() == 1));
    }

    #[test]
    fn threads_attach_beside_a_trigger() {
        for _ in 0..if cfg!(miri) { 5 } else { 200 } {
            let shutdown = Shutdown::new();
            let rings: Vec<_> = (0..4 * FEW).map(|_| Ring::new(false)).collect();
            std::thread::scope(|scope| {
                for part in rings.chunks(FEW) {
                    let shutdown = &shutdown;
                    scope.spawn(move || {
                        for ring in part {
                            shutdown.attach(closer_of(ring));
                            shutdown.attach(closer_of(&Ring::new(false)));
                        }
                    });
                }
                shutdown.trigger();
            });
            assert!(rings.iter().all(|ring| ring.closed() == 1));
        }
    }
}
