//! Rings whose slots several processes have: the ring of the publisher's process, and the rings of the
//! others.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::any::Any;

use super::handle::{first_of_another, first_two, publisher_of_others};
use super::ring_state::{Elsewhere, RingParts, RingState};
use super::shm_publisher::FellowPublisher;
use super::{Awaited, Foreign, Lossless, Mode, Publisher, Subscribable, Subscriber};
use crate::base::common::Common;
use crate::base::sequence::Sequence;
use crate::error::CapacityError;
use crate::memory::Block;
use crate::message::Message;
use crate::ring::{Claims, Copied, MIN_CAPACITY, Mirror, Seats, Writers};
use crate::settings::Settings;
use crate::wait::{Remote, WaitStrategy};

/// The slots of a ring, and how far they lie from each other, in words.
pub(crate) type SharedSlots = (Block, usize);

/// What several processes have of a ring.
pub(crate) struct Across {
    /// [As many](crate::ring::slots_layout) as the ring has.
    pub(crate) slots: SharedSlots,
    pub(crate) mirror: Mirror,
    /// Where subscribers sleep that wait for a message.
    pub(crate) sleepers: Remote,
    /// Of a lossless ring.
    pub(crate) awaiting: Option<Awaiting>,
}

/// What only lossless rings have: the cursors that the publisher waits for, and where it sleeps.
pub(crate) struct Awaiting {
    pub(crate) seats: Seats,
    pub(crate) sleepers: Remote,
}

impl Across {
    fn split(self) -> (SharedSlots, Mirror, Elsewhere) {
        let Self { slots, mirror, sleepers, awaiting } = self;
        let gate = awaiting.map(|Awaiting { seats, sleepers }| (seats, sleepers));
        (slots, mirror, Elsewhere { sleepers, gate })
    }
}

impl Settings {
    /// A lossy ring over slots that other processes have, too.
    ///
    /// # Errors
    ///
    /// [`CapacityError`].
    ///
    /// # Safety
    ///
    /// As for [`Copied::over`]; the slots are all zero, and the mirror shows.
    pub(crate) unsafe fn lossy_across<T: Message>(
        self,
        across: Across,
    ) -> Result<(Publisher<T>, Subscribable<T>), CapacityError> {
        // SAFETY: the caller's promise.
        let both = unsafe { self.shown(across) }?;
        let (publisher, subscribable) = first_two(both);
        Ok((Publisher::new(publisher), Subscribable::new(subscribable)))
    }

    /// As [`lossy_across`](Self::lossy_across), lossless: all subscribers are [of another](of_another).
    ///
    /// # Errors
    ///
    /// [`CapacityError`].
    ///
    /// # Safety
    ///
    /// As for [`lossy_across`](Self::lossy_across).
    pub(crate) unsafe fn lossless_across<T: Message>(
        self,
        across: Across,
    ) -> Result<Publisher<T, Lossless>, CapacityError> {
        // SAFETY: the caller's promise.
        let [shared] = unsafe { self.shown(across) }?;
        Ok(Publisher::new(publisher_of_others(shared)))
    }

    /// The first publisher of a ring that several processes publish to.
    ///
    /// # Errors
    ///
    /// [`CapacityError`].
    ///
    /// # Safety
    ///
    /// As for [`Copied::over`]; the slots are all zero, can be written to, and the claims are theirs.
    /// `fellow` is as [`FellowParts`] says.
    #[cfg(not(annulus_loom))]
    pub(crate) unsafe fn fellow_across<T: Message, M: Mode>(
        self,
        (slots, stride): SharedSlots,
        sleepers: Remote,
        mut fellow: FellowParts,
    ) -> Result<FellowPublisher<T, M>, CapacityError> {
        let mirror = Mirror::Shares(Arc::clone(&fellow.claims));
        let [shared] = self.shared_with(fellow.elsewhere(sleepers), |capacity, first| {
            // SAFETY: the caller's promise.
            let store = unsafe { Copied::over(slots) };
            Ok(RingParts::new(capacity, first, (Writers::Claimants, stride), store).mirrored(mirror))
        })?;
        Ok(fellow.publisher(shared))
    }

    /// # Safety
    ///
    /// As for [`lossy_across`](Self::lossy_across).
    unsafe fn shown<T: Message, const SHARES: usize>(
        self,
        across: Across,
    ) -> Result<[Common<RingState<Copied<T>>>; SHARES], CapacityError> {
        let ((slots, stride), mirror, elsewhere) = across.split();
        self.shared_with(elsewhere, |capacity, first| {
            mirror.show_bound(first);
            // SAFETY: the caller's promise.
            let store = unsafe { Copied::over(slots) };
            Ok(RingParts::new(capacity, first, (Writers::One, stride), store).mirrored(mirror))
        })
    }
}

/// One of several publishers, before it has its ring.
pub(crate) struct FellowParts {
    pub(crate) claims: Arc<Claims>,
    /// The place that it has.
    pub(crate) place: usize,
    /// Leaves the place, and says whether the ring ends with it.
    pub(crate) leave: Box<dyn Fn() -> bool + Send + Sync>,
    /// The lock of the place: nobody else has it as long as this is there.
    pub(crate) lock: Box<dyn Any + Send + Sync>,
    /// Of a lossless ring. Its publishers have the mode [`Lossless`], and the others [`Lossy`](super::Lossy).
    pub(crate) awaiting: Option<Awaiting>,
}

impl FellowParts {
    fn elsewhere(&mut self, sleepers: Remote) -> Elsewhere {
        let gate = self.awaiting.take().map(|Awaiting { seats, sleepers }| (seats, sleepers));
        Elsewhere { sleepers, gate }
    }

    fn publisher<T: Message, M: Mode>(self, shared: Common<RingState<Copied<T>>>) -> FellowPublisher<T, M> {
        let Self { claims, place, leave, lock, awaiting: _ } = self;
        FellowPublisher::new(shared, claims, place, leave, lock)
    }
}

/// A publisher of a ring that another process has made.
///
/// # Safety
///
/// As for [`Settings::fellow_across`], of slots which that process has filled. `headroom` is less than
/// `capacity`.
pub(crate) unsafe fn fellow_of_another<T: Message, M: Mode>(
    (capacity, headroom): (usize, usize),
    first: Sequence,
    strategy: WaitStrategy,
    ((slots, stride), sleepers): (SharedSlots, Remote),
    mut fellow: FellowParts,
) -> FellowPublisher<T, M> {
    let mirror = Mirror::Shares(Arc::clone(&fellow.claims));
    // SAFETY: the caller's promise.
    let ring = RingParts::of_another((unsafe { Copied::over(slots) }, stride), capacity, first, mirror);
    let [shared] = RingState::across(ring, headroom, fellow.elsewhere(sleepers), strategy, None, None);
    fellow.publisher(shared)
}

/// The ring of another process: what makes subscribers of it. Of a lossless one they are such as nobody waits
/// for, but for the [awaited](Subscribable::subscribe_awaited) ones.
///
/// # Errors
///
/// [`CapacityError::TooSmall`].
///
/// # Safety
///
/// As for [`Copied::over`], and the mirror sees.
pub(crate) unsafe fn of_another<T: Message>(
    capacity: usize,
    headroom: usize,
    first: Sequence,
    strategy: WaitStrategy,
    across: Across,
) -> Result<Subscribable<T, Foreign>, CapacityError> {
    if capacity < MIN_CAPACITY {
        return Err(CapacityError::TooSmall { capacity, minimum: MIN_CAPACITY });
    }
    if headroom >= capacity {
        return Err(CapacityError::Headroom { headroom, capacity });
    }
    let ((slots, stride), mirror, elsewhere) = across.split();
    // SAFETY: the caller's promise.
    let ring = RingParts::of_another((unsafe { Copied::over(slots) }, stride), capacity, first, mirror);
    let [shared] = RingState::across(ring, headroom, elsewhere, strategy, None, None);
    Ok(Subscribable::new(first_of_another(shared)))
}

impl<T: Message> Subscribable<T, Foreign> {
    /// A subscriber for which the publisher waits, from the oldest message on that can be promised, or from
    /// the next; `None` if no seat is left. The ring is a lossless one of another process.
    pub(crate) fn subscribe_awaited(&self, from_oldest: bool) -> Option<Subscriber<T, Awaited>> {
        let (handle, start) = self.shared.try_join(from_oldest)?;
        Some(Subscriber::new(handle, start))
    }
}

#[cfg(all(test, not(miri), not(annulus_loom)))]
mod tests;

#[cfg(annulus_loom)]
pub use model::FellowRing;

/// For models, in which two processes are two threads.
#[cfg(annulus_loom)]
mod model {
    use alloc::boxed::Box;
    use alloc::sync::Arc;
    use alloc::vec::Vec;
    use core::marker::PhantomData;
    use core::ptr::NonNull;

    use super::{Across, Awaiting, FellowParts, SharedSlots, fellow_of_another, of_another};
    use crate::base::allocation::Before;
    use crate::base::peer_liveness::NowAndThen;
    use crate::base::sequence::Sequence;
    use crate::broadcast::bytes;
    use crate::broadcast::{
        Awaited, FellowPublisher, Foreign, Lossless, Lossy, Mode, Publisher, Subscribable, Subscriber,
    };
    use crate::memory::{Block, Memory};
    use crate::message::Message;
    use crate::ring::{
        ClaimPlaces, Claims, Copied, Known, Mirror, Scanned, SeatCell, SeatLocks, Seats, SharedNumbers,
        Store, Strided, Writers,
    };
    use crate::settings::Settings;
    use crate::sync::{AtomicBool, AtomicU32, AtomicU64, Ordering};
    use crate::wait::Remote;

    /// What both processes map.
    struct Mapping<T> {
        slots: Copied<T>,
        shown: SharedNumbers,
        words: [AtomicU32; 2],
        scanned: Scanned,
        cells: Vec<SeatCell>,
    }

    /// True while somebody has the lock. A thread that sets one to false kills the holder.
    type Locks = Arc<[AtomicBool]>;

    /// The locks, and what they keep.
    struct LocksOver<T>(Locks, #[allow(dead_code, reason = "kept")] Arc<Mapping<T>>);

    impl<T: Message> SeatLocks for LocksOver<T> {
        fn take(&self, seat: usize) -> bool {
            !self.0[seat].swap(true, Ordering::AcqRel)
        }

        fn give_up(&self, seat: usize) {
            // An exchange, because loom would let a later one miss a store.
            self.0[seat].swap(false, Ordering::AcqRel);
        }
    }

    impl Settings {
        /// A lossy ring, as the process of its publisher and as another one have it. `is_gone` says whether
        /// the first of the two is. `is_asymmetric`: the fence of the first is light, and sleepers make up
        /// for that.
        #[doc(hidden)]
        pub fn lossy_for_two_processes<T: Message>(
            self,
            is_asymmetric: bool,
            is_gone: impl Fn() -> bool + Send + Sync + 'static,
        ) -> (Publisher<T>, Subscribable<T, Foreign>) {
            let (capacity, strategy) = (self.capacity, self.strategy);
            let (shows, sees) = for_two::<T>(capacity, is_asymmetric, is_gone, None);
            // SAFETY: the sleepers keep the mapping. The block is as large as the slots in it.
            unsafe {
                let (publisher, _) = self.lossy_across(shows).unwrap();
                (publisher, of_another(capacity, 0, Sequence::FIRST, strategy, sees).unwrap())
            }
        }

        /// As the one before, for a lossless ring with a seat for each of `locks`.
        #[doc(hidden)]
        #[must_use]
        pub fn lossless_for_two_processes<T: Message>(
            self,
            is_asymmetric: bool,
            locks: &Locks,
        ) -> (Publisher<T, Lossless>, Subscribable<T, Foreign>) {
            let (capacity, strategy) = (self.capacity, self.strategy);
            let (shows, sees) = for_two::<T>(capacity, is_asymmetric, || false, Some(locks));
            // SAFETY: as above.
            unsafe {
                let publisher = self.lossless_across(shows).unwrap();
                (publisher, of_another(capacity, 0, Sequence::FIRST, strategy, sees).unwrap())
            }
        }
    }

    impl Settings {
        /// As the one before, for records: a ring of so many bytes.
        #[doc(hidden)]
        #[must_use]
        pub fn lossless_records_for_two_processes(
            self,
            is_asymmetric: bool,
            locks: &Locks,
        ) -> (bytes::Publisher<Lossless>, bytes::Subscribable<Foreign>) {
            let (area, extents) = bytes::area_of(self).unwrap();
            let (publisher, subscribable) = extents.lossless_for_two_processes(is_asymmetric, locks);
            let publisher = bytes::Publisher::new(publisher, Arc::clone(&area));
            (publisher, bytes::Subscribable::new(subscribable, area))
        }
    }

    impl<T: Message> Subscribable<T, Foreign> {
        /// A subscriber for which the publisher of the other process waits, if a seat is left.
        #[doc(hidden)]
        #[must_use]
        pub fn awaited(&self, from_oldest: bool) -> Option<Subscriber<T, Awaited>> {
            self.subscribe_awaited(from_oldest)
        }
    }

    impl bytes::Subscribable<Foreign> {
        /// The same, of records.
        #[doc(hidden)]
        #[must_use]
        pub fn awaited(&self, from_oldest: bool) -> Option<bytes::Subscriber<Awaited>> {
            self.subscribe_awaited(from_oldest)
        }
    }

    /// A ring that several processes publish to, as all of them have it. Its publishers are of that mode.
    #[doc(hidden)]
    pub struct FellowRing<T, M: Mode = Lossy> {
        mapping: Arc<FellowMapping<T>>,
        capacity: usize,
        strategy: crate::WaitStrategy,
        /// For messages, and for room.
        sleepers: [Remote; 2],
        mode: PhantomData<M>,
    }

    struct FellowMapping<T> {
        slots: Copied<T>,
        shown: SharedNumbers,
        words: [AtomicU32; 2],
        intents: Vec<AtomicU64>,
        known: Vec<Known>,
        /// True while somebody has the lock of that place.
        locks: Vec<AtomicBool>,
        scanned: Scanned,
        cells: Vec<SeatCell>,
        /// True while somebody has the lock of that seat.
        seat_locks: Vec<AtomicBool>,
    }

    impl<T: Message> ClaimPlaces for Arc<FellowMapping<T>> {
        fn is_gone(&self, place: usize) -> bool {
            // An exchange, because loom would let a later one miss a store.
            !self.locks[place].fetch_or(false, Ordering::AcqRel)
        }

        fn used(&self) -> usize {
            self.locks.len()
        }

        fn known(&self, place: usize) -> &Known {
            &self.known[place]
        }

        fn have_died(&self) -> bool {
            (0..self.used()).any(|place| self.is_gone(place))
        }

        fn intent(&self, place: usize) -> &AtomicU64 {
            &self.intents[place]
        }
    }

    impl<T: Message> SeatLocks for Arc<FellowMapping<T>> {
        fn take(&self, seat: usize) -> bool {
            !self.seat_locks[seat].swap(true, Ordering::AcqRel)
        }

        fn give_up(&self, seat: usize) {
            // An exchange, as above.
            self.seat_locks[seat].swap(false, Ordering::AcqRel);
        }
    }

    /// The lock of a place.
    struct FellowLock<T>(Arc<FellowMapping<T>>, usize);

    impl<T> Drop for FellowLock<T> {
        fn drop(&mut self) {
            // An exchange, as above.
            self.0.locks[self.1].swap(false, Ordering::AcqRel);
        }
    }

    impl Settings {
        /// A lossy ring of so many places.
        #[doc(hidden)]
        #[must_use]
        pub fn lossy_for_processes<T: Message>(self, is_asymmetric: bool, places: usize) -> FellowRing<T> {
            self.fellows_for_processes(is_asymmetric, places, 0)
        }

        /// A lossless one, with so many seats.
        #[doc(hidden)]
        #[must_use]
        pub fn lossless_for_processes<T: Message>(
            self,
            is_asymmetric: bool,
            places: usize,
            seats: usize,
        ) -> FellowRing<T, Lossless> {
            self.fellows_for_processes(is_asymmetric, places, seats)
        }

        fn fellows_for_processes<T: Message, M: Mode>(
            self,
            is_asymmetric: bool,
            places: usize,
            seats: usize,
        ) -> FellowRing<T, M> {
            let (capacity, strategy) = (self.capacity, self.strategy);
            let slots = Copied::<T>::new(
                capacity,
                Copied::<T>::stride(Writers::Claimants),
                &Memory::default(),
                Before::NOTHING,
            );
            let mapping = FellowMapping {
                slots: slots.unwrap(),
                shown: SharedNumbers::zeroed(),
                words: core::array::from_fn(|_| AtomicU32::new(0)),
                intents: (0..places).map(|_| AtomicU64::new(0)).collect(),
                known: (0..places).map(|_| Known::nothing(NowAndThen::new())).collect(),
                locks: (0..places).map(|_| AtomicBool::new(false)).collect(),
                scanned: Scanned::zeroed(),
                cells: (0..seats).map(|_| SeatCell::free()).collect(),
                seat_locks: (0..seats).map(|_| AtomicBool::new(false)).collect(),
            };
            let mapping = Arc::new(mapping);
            let sleepers = mapping.words.each_ref().map(|word| {
                // SAFETY: each keeps the mapping, in which the word is.
                unsafe { Remote::new(NonNull::from(word), is_asymmetric, Arc::clone(&mapping) as _) }
            });
            FellowRing { mapping, capacity, strategy, sleepers, mode: PhantomData }
        }
    }

    impl<T: Message, M: Mode> FellowRing<T, M> {
        fn parts(&self, is_writable: bool) -> (Arc<Claims>, SharedSlots, Remote) {
            let mapping = &self.mapping;
            let slots = (mapping.slots.start(), Copied::<T>::stride(Writers::Claimants), self.capacity);
            let shown = NonNull::from(&mapping.shown);
            // SAFETY: they keep the mapping, in which all of it is.
            let claims = unsafe { Claims::new(shown, slots, is_writable, Arc::clone(mapping), || false) };
            let slots = (Block::borrowed(mapping.slots.start().cast()), slots.1);
            (Arc::new(claims), slots, self.sleepers[0].again().woken_from_elsewhere(|| false))
        }

        /// The seats, and where publishers sleep; `None` of a lossy ring.
        fn awaiting(&self) -> Option<Awaiting> {
            let (scanned, cells) =
                (NonNull::from(&self.mapping.scanned), NonNull::from(&*self.mapping.cells));
            let sleepers = self.sleepers[1].again().woken_from_elsewhere(|| false);
            // SAFETY: the mapping, which is the locks, too, keeps both.
            let seats = || unsafe { Seats::new(scanned, cells, Arc::clone(&self.mapping)) };
            M::LOSSLESS.then(|| Awaiting { seats: seats(), sleepers })
        }

        /// A publisher of a further process, in the first place that is free. The ring ends with none.
        ///
        /// # Panics
        ///
        /// If none is free.
        #[must_use]
        pub fn publisher(&self) -> FellowPublisher<T, M> {
            let place = self.mapping.locks.iter().position(|lock| !lock.swap(true, Ordering::AcqRel));
            let (place, (claims, slots, sleepers)) = (place.expect("a place"), self.parts(true));
            let lock = Box::new(FellowLock(Arc::clone(&self.mapping), place));
            let leave = Box::new(|| false);
            let fellow = FellowParts { claims, place, leave, lock, awaiting: self.awaiting() };
            let (first, bounds) = (Sequence::FIRST, (self.capacity, 0));
            // SAFETY: the claims keep the mapping, which has such slots.
            unsafe { fellow_of_another(bounds, first, self.strategy, (slots, sleepers), fellow) }
        }

        /// What a process that subscribes has of it.
        ///
        /// # Panics
        ///
        /// Never: the ring was made.
        #[must_use]
        pub fn subscribable(&self) -> Subscribable<T, Foreign> {
            let (claims, slots, sleepers) = self.parts(false);
            let across =
                Across { slots, mirror: Mirror::Shares(claims), sleepers, awaiting: self.awaiting() };
            // SAFETY: as above.
            unsafe { of_another(self.capacity, 0, Sequence::FIRST, self.strategy, across) }.unwrap()
        }

        /// The process that has this seat ends.
        pub fn kill(&self, seat: usize) {
            self.mapping.seat_locks[seat].swap(false, Ordering::AcqRel);
        }
    }

    /// What each of the two has: the publisher's process, and the other one.
    fn for_two<T: Message>(
        capacity: usize,
        is_asymmetric: bool,
        is_gone: impl Fn() -> bool + Send + Sync + 'static,
        locks: Option<&Locks>,
    ) -> (Across, Across) {
        let slots = Copied::<T>::new(
            capacity,
            Copied::<T>::stride(Writers::One),
            &Memory::default(),
            Before::NOTHING,
        );
        let mapping = Arc::new(Mapping {
            slots: slots.unwrap(),
            shown: SharedNumbers::zeroed(),
            words: core::array::from_fn(|_| AtomicU32::new(0)),
            scanned: Scanned::zeroed(),
            cells: locks.iter().flat_map(|locks| locks.iter()).map(|_| SeatCell::free()).collect(),
        });
        let remotes = mapping.words.each_ref().map(|word| {
            // SAFETY: each keeps the mapping, in which the word is.
            unsafe { Remote::new(NonNull::from(word), is_asymmetric, Arc::clone(&mapping) as _) }
        });
        let across = |mirror, [sleepers, publisher]: [Remote; 2]| Across {
            slots: (Block::borrowed(mapping.slots.start().cast()), Copied::<T>::stride(Writers::One)),
            mirror,
            sleepers,
            awaiting: locks.map(|locks| {
                let (scanned, cells) = (NonNull::from(&mapping.scanned), NonNull::from(&*mapping.cells));
                let locks = LocksOver(Arc::clone(locks), Arc::clone(&mapping));
                // SAFETY: the locks keep the mapping.
                let seats = unsafe { Seats::new(scanned, cells, locks) };
                Awaiting { seats, sleepers: publisher }
            }),
        };
        let shown = NonNull::from(&mapping.shown);
        let [published, released] = &remotes;
        let elsewhere = |remote: &Remote| remote.again().woken_from_elsewhere(|| false);
        // SAFETY: the sleepers keep the mapping.
        let mirrors = unsafe { (Mirror::shows(shown, None), Mirror::sees(shown, is_gone)) };
        (
            across(mirrors.0, [published.again(), elsewhere(released)]),
            across(mirrors.1, [elsewhere(published), released.again()]),
        )
    }
}
