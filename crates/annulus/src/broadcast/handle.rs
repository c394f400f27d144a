//! A share in a ring, made for speed: it finds a slot without a look at shared memory, and can be given up
//! without its address being taken.

use core::mem::ManuallyDrop;
use core::ops::Deref;

use super::progress::Following;
use super::ring_state::RingState;
use crate::base::common::Common;
use crate::base::sequence::Sequence;
use crate::close::Closer;
use crate::observer::Observer;
use crate::ring::{Pass, Slots, Store};
use crate::sync::seeded;

/// What a handle is to its ring, and what ends with it.
///
/// A handle is counted in [`RingState`] before it is made.
pub(crate) trait Role: Sized {
    /// The handle is gone.
    fn leave<S: Store>(self, shared: &RingState<S>);

    /// Its upstreams and its own progress, if it is a stage.
    #[inline(always)]
    fn following(&self) -> Option<&Following> {
        None
    }

    #[inline(always)]
    fn following_mut(&mut self) -> Option<&mut Following> {
        None
    }
}

/// A publisher.
pub(crate) struct Publishing;

/// A handle from which receivers are made.
pub(crate) struct SubscribableRole;

/// A subscriber that holds up no publisher.
pub struct Receiving;

/// A subscriber that publishers wait for at the gate.
pub struct Gating(pub(super) Pass);

impl Role for Publishing {
    fn leave<S: Store>(self, shared: &RingState<S>) {
        shared.publisher_goes();
    }
}

impl Role for SubscribableRole {
    fn leave<S: Store>(self, shared: &RingState<S>) {
        shared.receiver_goes();
    }
}

impl Role for Receiving {
    fn leave<S: Store>(self, shared: &RingState<S>) {
        shared.subscriber_goes();
    }
}

impl Role for Gating {
    fn leave<S: Store>(self, shared: &RingState<S>) {
        // SAFETY: the gate in `shared` is where the pass comes from; this is where it is given up.
        unsafe { shared.gate.leave(self.0) };
        // Before the notify: a publisher that waits for the last subscriber then learns that it was the last.
        shared.subscriber_goes();
        if !seeded!("gate_leave_wakes_nobody") {
            shared.released.notify();
        }
    }
}

/// A [share](Common) of what both sides share, a copy of where the slots are, and a drop that moves the share
/// out of line by value.
///
/// The drop of a plain share hands its address to a function that is not inlined. A publisher or subscriber
/// that holds one then has an address too, so its cursor lives in memory, and a publisher pays for that with
/// a second store for each message (decision 0002). With this, a handle whose methods are inlined lives in
/// registers.
pub(crate) struct Handle<S: Store, R: Role> {
    shared: ManuallyDrop<Common<RingState<S>>>,
    /// Where the slots are. They are of the ring in `shared`, which lives as long as this handle.
    pub(super) slots: Slots<S>,
    role: ManuallyDrop<R>,
}

impl<S: Store, R: Role> Handle<S, R> {
    #[inline(always)]
    fn of(shared: Common<RingState<S>>, role: R) -> Self {
        let slots = shared.slots();
        Self { shared: ManuallyDrop::new(shared), slots, role: ManuallyDrop::new(role) }
    }

    /// Whether both are of one ring.
    pub(super) fn is_of_ring_of<Q: Role>(&self, other: &Handle<S, Q>) -> bool {
        core::ptr::eq(&raw const **self.shared, &raw const **other.shared)
    }

    /// Another handle of the same ring.
    pub(super) fn another<Q: Role>(&self, role: Q) -> Handle<S, Q> {
        Handle::of(Common::clone(&self.shared), role)
    }

    /// What closes the ring from anywhere.
    pub(super) fn closer(&self) -> Closer
    where
        S: Send + Sync + 'static,
    {
        Closer::from_weak(self.shared.downgrade())
    }

    /// What takes snapshots of the ring from anywhere.
    pub(super) fn observer(&self) -> Observer
    where
        S: Send + Sync + 'static,
    {
        Observer::from_weak(self.shared.downgrade())
    }

    /// The same handle in another role.
    pub(super) fn becoming<Q: Role>(self, change: impl FnOnce(R) -> Q) -> Handle<S, Q> {
        let mut handle = ManuallyDrop::new(self);
        // SAFETY: the handle is not dropped, and neither field is used again.
        let (shared, role) =
            unsafe { (ManuallyDrop::take(&mut handle.shared), ManuallyDrop::take(&mut handle.role)) };
        Handle::of(shared, change(role))
    }

    #[inline]
    pub(super) fn role(&self) -> &R {
        &self.role
    }

    /// The role, to change, and what is shared.
    #[inline]
    pub(super) fn role_mut(&mut self) -> (&mut R, &RingState<S>) {
        (&mut self.role, &self.shared)
    }
}

/// The two handles from which all others of a ring come.
#[inline(always)]
pub(super) fn first_two<S: Store + Send + Sync>(
    [shared, other]: [Common<RingState<S>>; 2],
) -> (Handle<S, Publishing>, Handle<S, SubscribableRole>) {
    // (Before they are handles: nothing takes the address of one.)
    shared.list(2);
    (Handle::of(shared, Publishing), Handle::of(other, SubscribableRole))
}

/// The publisher of a ring whose subscribers are of other processes. They count as one receiver that never
/// leaves.
#[cfg(feature = "shm")]
pub(super) fn publisher_of_others<S: Store + Send + Sync>(
    shared: Common<RingState<S>>,
) -> Handle<S, Publishing> {
    let handle = Handle::of(shared, Publishing);
    handle.shared.list(1);
    handle
}

/// The first handle of a ring whose publisher is of another process.
#[cfg(feature = "shm")]
pub(super) fn first_of_another<S: Store>(shared: Common<RingState<S>>) -> Handle<S, SubscribableRole> {
    Handle::of(shared, SubscribableRole)
}

impl<S: Store> Handle<S, Publishing> {
    /// Another publisher.
    pub(super) fn publisher(&self) -> Self {
        self.publisher_comes();
        self.another(Publishing)
    }

    /// One that can make receivers. If there was none any more, nor a receiver, there is from now on.
    ///
    /// # Panics
    ///
    /// If others join at seats, which are for the handles of other processes.
    #[track_caller]
    pub(super) fn subscribable_of_publisher(&self) -> Handle<S, SubscribableRole> {
        assert!(
            !self.gate.has_seats(),
            "annulus: a subscriber of this ring attaches to it by its invitation; it has no `Subscribable`"
        );
        self.receiver_comes();
        self.another(SubscribableRole)
    }
}

impl<S: Store> Handle<S, SubscribableRole> {
    /// Another one that can make receivers.
    pub(super) fn another_subscribable(&self) -> Self {
        Self::of_subscribable_share(self.subscribable_share())
    }

    /// What becomes another one, and is counted as one.
    #[inline]
    pub(super) fn subscribable_share(&self) -> Common<RingState<S>> {
        self.receiver_comes();
        Common::clone(&self.shared)
    }

    /// The one that is counted.
    #[inline]
    pub(super) fn of_subscribable_share(share: Common<RingState<S>>) -> Self {
        Self::of(share, SubscribableRole)
    }

    /// A receiver that holds nobody up.
    pub(super) fn receiver(&self) -> Handle<S, Receiving> {
        self.subscriber_comes();
        self.another(Receiving)
    }

    /// A receiver, which joins at the gate, and where it begins: with the oldest message that can be
    /// promised, or with the next.
    pub(super) fn join(&self, from_oldest: bool) -> (Handle<S, Gating>, Sequence) {
        self.try_join(from_oldest).expect("within one process there is room for all")
    }

    /// As [`join`](Self::join); `None` if the ring has no seat left.
    pub(super) fn try_join(&self, from_oldest: bool) -> Option<(Handle<S, Gating>, Sequence)> {
        let (pass, start) = self.gate.join(from_oldest, |promised| {
            if from_oldest { promised.max(self.first()) } else { self.frontier(promised).head }
        })?;
        self.subscriber_comes();
        let role = Gating(pass);
        if !seeded!("gate_join_wakes_nobody") {
            // A publisher may have been held up by the cursor that the cell began with; or waits for this.
            self.released.notify();
        }
        Some((self.another(role), start))
    }
}

impl<S: Store, R: Role> Deref for Handle<S, R> {
    type Target = RingState<S>;

    #[inline]
    fn deref(&self) -> &RingState<S> {
        &self.shared
    }
}

impl<S: Store, R: Role> Drop for Handle<S, R> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: this is the drop of the handle: nobody uses the fields afterwards, and they were not taken
        // before.
        unsafe { give_up(ManuallyDrop::take(&mut self.shared), ManuallyDrop::take(&mut self.role)) };
    }
}

#[cold]
#[inline(never)]
fn give_up<S: Store, R: Role>(shared: Common<RingState<S>>, role: R) {
    // Decision 0143: a handle that is alone notifies nobody.
    if !shared.is_unique() || shared.is_known_elsewhere() {
        role.leave(&shared);
    }
    drop(shared);
}
