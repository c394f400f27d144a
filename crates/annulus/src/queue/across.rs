//! Queues whose producers and consumer are in several processes, as each of these has them.
//!
//! Each process has a whole queue of its own: a queue state, one lane or more, and the end of its side. The
//! lanes' slots and numbers are shared by all ([`Across`](crate::lane::Across)). The other side is counted as
//! one handle that nobody drops. A producer's process has its own lane only, and the consumer's process has
//! all lanes.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::any::Any;
use core::convert::Infallible;
use core::marker::PhantomData;
use core::ptr::NonNull;

use super::checked::{Cell, CheckedRead, CheckedWrite};
use super::ends::{Read, Write};
use super::fan_in::FanIn;
use super::kind::{AnyKind, InPlace, Parts, in_place, sendable};
use super::read::{ReadEnd, SoleReader};
use super::state::LaneShare;
use super::write::WriteEnd;
use super::{Consumer, Producer};
use crate::base::peer_liveness::Gone;
use crate::lane::{self, Cells, ControlBlock, Count, Number, Numbers, OneToOne, OtherProcess, Producers};
#[cfg(annulus_loom)]
use crate::memory::Memory;
use crate::message::Message;
use crate::message::schema::BadValue;
use crate::settings::Settings;
use crate::wait::{Remote, WaitStrategy};

/// One producer, one consumer, in two processes. `M` is the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Across<M>(PhantomData<M>, Infallible);

/// The same, for messages whose size is known at run time. A slot is a byte of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg(not(annulus_loom))]
#[doc(hidden)]
pub enum BlocksAcross {}

/// Many producers, one consumer, each in a process of its own. `M` is the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ManyAcross<M>(PhantomData<M>, Infallible);

/// The same, for messages whose size is known at run time. A slot is a byte of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg(not(annulus_loom))]
#[doc(hidden)]
pub enum ManyBlocksAcross {}

/// A kind of queue between processes: what each of them makes of its [part](Part).
pub(crate) trait KindAcross: AnyKind {
    /// What is sent.
    type Message: Send;

    /// How many slots of a lane a message of so many bytes takes.
    #[cfg(not(annulus_loom))]
    fn slots_of(message_bytes: usize) -> usize;

    /// The producer of the queue's one lane here.
    ///
    /// # Safety
    ///
    /// As of [`Part::share`]; and no process has another producer of that lane.
    unsafe fn producer(
        part: Part<Self::Cell<Self::Message>>,
        plan: Settings,
    ) -> Producer<Self::Message, Self>;

    /// The consumer of the queue.
    ///
    /// # Safety
    ///
    /// As of [`Part::share`]; and no process has another one.
    unsafe fn consumer(
        part: Part<Self::Cell<Self::Message>>,
        plan: Settings,
    ) -> Consumer<Self::Message, Self>;
}

/// The kinds of queue between processes, by their parts. The end of a consumer is an `$end`, or checks what
/// comes out of one.
macro_rules! kinds {
    ($(
        $(#[$attribute:meta])*
        [$($M:ident: $bound:path)?] $Kind:ty = $name:literal {
            Message: $Message:ty, Corrupt: $Corrupt:ty, slots_of: $slots_of:expr,
            Cell: $Cell:ty, ControlBlock: $ControlBlock:ty, Write: $Write:ty, Read: $Read:ty = $end:ident
        }
    )*) => {$(
        $(#[$attribute])*
        sendable!([$($M: $bound)?] $Write, $Read);

        $(#[$attribute])*
        // SAFETY: the ends were checked; a cell has the layout of an `M`, and that is a `T`; or it is a `T`.
        unsafe impl<$($M: $bound)?> Parts for $Kind {
            type Bad = $Corrupt;
            type Write<T> = $Write;
            type Read<T> = $Read;
            type ControlBlock = $ControlBlock;
            type Cell<T> = $Cell;
            const NAME: &'static str = $name;
        }

        $(#[$attribute])*
        impl<$($M: $bound)?> AnyKind for $Kind {
            type Corrupt = $Corrupt;
        }

        $(#[$attribute])*
        impl<$($M: $bound)?> KindAcross for $Kind {
            type Message = $Message;

            #[cfg(not(annulus_loom))]
            fn slots_of(message_bytes: usize) -> usize {
                $slots_of(message_bytes)
            }

            unsafe fn producer(part: Part<Self::Cell<$Message>>, plan: Settings) -> Producer<$Message, Self> {
                // SAFETY: the caller's promise.
                let share = unsafe { part.share(&plan, <$ControlBlock>::over) };
                let next = share.lane.tail();
                let end = WriteEnd::at(share, next);
                end.state().list(1);
                Producer { end: end.into() }
            }

            unsafe fn consumer(part: Part<Self::Cell<$Message>>, plan: Settings) -> Consumer<$Message, Self> {
                // SAFETY: the caller's promise.
                let share = unsafe { part.share(&plan, <$ControlBlock>::over) };
                let next = share.lane.head();
                let end = $end::at(share, next);
                end.state().list(1);
                Consumer { end: end.into(), strategy: None }
            }
        }
    )*};
}

kinds! {
    [M: Message] Across<M> = "spsc across processes" {
        Message: M, Corrupt: BadValue, slots_of: |_| 1, Cell: Cell<M>, ControlBlock: lane::Across,
        Write: CheckedWrite<T, M, WriteEnd<Cell<M>, lane::Across>>,
        Read: CheckedRead<T, M, SoleReader<Cell<M>, lane::Across>> = SoleReader
    }

    [M: Message] ManyAcross<M> = "mpsc across processes" {
        Message: M, Corrupt: BadValue, slots_of: |_| 1, Cell: Cell<M>, ControlBlock: lane::Across,
        Write: CheckedWrite<T, M, WriteEnd<Cell<M>, lane::Across>>,
        Read: CheckedRead<T, M, FanIn<Cell<M>, lane::Across>> = FanIn
    }

    // Of their messages only the bytes are known.
    #[cfg(not(annulus_loom))]
    [] BlocksAcross = "spsc across processes" {
        Message: u8, Corrupt: Infallible, slots_of: |bytes| bytes, Cell: T, ControlBlock: lane::BlocksAcross,
        Write: WriteEnd<T, lane::BlocksAcross>,
        Read: SoleReader<T, lane::BlocksAcross> = SoleReader
    }

    #[cfg(not(annulus_loom))]
    [] ManyBlocksAcross = "mpsc across processes" {
        Message: u8, Corrupt: Infallible, slots_of: |bytes| bytes, Cell: T, ControlBlock: lane::BlocksAcross,
        Write: WriteEnd<T, lane::BlocksAcross>,
        Read: FanIn<T, lane::BlocksAcross> = FanIn
    }
}

// Messages that lie in their slots as they are.
in_place!([M: Message<Wire = M>] Across<M>, in end);
in_place!([M: Message<Wire = M>] ManyAcross<M>, in end);
#[cfg(not(annulus_loom))]
in_place!([] BlocksAcross);
#[cfg(not(annulus_loom))]
in_place!([] ManyBlocksAcross);

#[cfg(not(annulus_loom))]
impl<M: Message> Consumer<M, ManyAcross<M>> {
    /// Where the message lay that was received last: the number of its lane, and its own.
    #[inline(always)]
    pub(crate) fn last_place(&self) -> (usize, Number) {
        self.end.end.last_place()
    }
}

#[cfg(not(annulus_loom))]
impl Consumer<u8, ManyBlocksAcross> {
    /// As of a queue of a type: the number is the one in memory, which counts messages.
    #[inline]
    pub(crate) fn last_place(&self) -> (usize, Number) {
        self.end.last_place()
    }
}

/// Makes the control block of a lane over numbers in the memory of the queue: [`lane::Across::over`].
type Over<C> = unsafe fn(NonNull<Numbers>, Number, usize) -> C;

/// What a process has of a lane.
pub(crate) struct LanePart<T> {
    pub(crate) slots: Cells<T>,
    /// In the memory of the queue.
    pub(crate) numbers: NonNull<Numbers>,
    /// Where its producer sleeps.
    pub(crate) released: Remote,
}

impl<T: Send> LanePart<T> {
    /// # Safety
    ///
    /// As of [`Numbers`]: they live, and can be written to, as long as the memory, which the slots keep, too.
    unsafe fn lane<C: ControlBlock>(
        self,
        first: Number,
        size: usize,
        over: Over<C>,
    ) -> (OneToOne<T, C>, Remote) {
        // SAFETY: the caller's promise.
        let control = unsafe { over(self.numbers, first, size) };
        (OneToOne::over(self.slots, first, control), self.released)
    }
}

/// What one process has of a queue.
pub(crate) struct Part<T> {
    /// At least one. A producer's process has only its own.
    pub(crate) first: LanePart<T>,
    pub(crate) others: Box<[LanePart<T>]>,
    /// How many slots a message takes.
    pub(crate) size: usize,
    /// The numbers of the queue: its close. They are in `memory`, as are the numbers of the lanes.
    pub(crate) numbers: NonNull<Numbers>,
    /// Where the consumer sleeps.
    pub(crate) published: Remote,
    /// Whether the process of the other side is gone.
    pub(crate) gone: Gone,
    /// Where there may be several.
    pub(crate) producers: Option<Producers>,
    /// Of the sole producer, and of the consumer, where another process has or had one.
    pub(crate) soles: [Option<Count>; 2],
    pub(crate) memory: Arc<dyn Any + Send + Sync>,
}

impl<T: Send> Part<T> {
    /// # Safety
    ///
    /// As of [`LanePart::lane`], for all numbers.
    unsafe fn share<C>(self, plan: &Settings, over: Over<C>) -> LaneShare<OneToOne<T, C>>
    where
        C: ControlBlock<OtherSide = OtherProcess> + Send + Sync,
    {
        // SAFETY: the caller's promise.
        let other =
            unsafe { OtherProcess::new(self.numbers, self.gone, self.producers, self.soles, self.memory) };
        let (first, size) = (Number::new(plan.first), self.size);
        // SAFETY: the caller's promise.
        let lane = |part: LanePart<T>| unsafe { part.lane(first, size, over) };
        LaneShare::across(
            plan,
            lane(self.first),
            self.others.into_vec().into_iter().map(lane),
            self.published,
            other,
        )
    }
}

impl Settings {
    /// Of a handle that comes to a queue of another process, with lanes of so many slots, whose first message
    /// was number `first`.
    pub(crate) fn of_guest(capacity: usize, first: u64, strategy: WaitStrategy) -> Self {
        Self::new(capacity).first(first).waiting(strategy)
    }
}

/// For models, in which two processes are two threads.
#[cfg(annulus_loom)]
impl Settings {
    /// A queue, as the processes of its producer and of its consumer have it. `producer_is_gone` says
    /// whether the first of the two is, and `consumer_is_gone` whether the second is. `is_asymmetric`: the
    /// fences of wakers are light, and sleepers make up for it.
    ///
    /// The third of what it returns makes another consumer, which takes over from the first.
    #[doc(hidden)]
    #[allow(clippy::type_complexity, reason = "two handles, and one more")]
    pub fn for_two_processes<T: Message>(
        self,
        is_asymmetric: bool,
        producer_is_gone: impl Fn() -> bool + Send + Sync + 'static,
        consumer_is_gone: impl Fn() -> bool + Send + Sync + 'static,
    ) -> (Producer<T, Across<T>>, Consumer<T, Across<T>>, impl FnOnce() -> Consumer<T, Across<T>>) {
        use crate::sync::AtomicU32;

        struct Together<T> {
            slots: Cells<T>,
            numbers: Numbers,
            words: [AtomicU32; 2],
        }

        let capacity = self.capacity;
        let memory = Arc::new(Together::<Cell<T>> {
            slots: Cells::new(capacity, &Memory::default(), crate::base::allocation::Before::NOTHING)
                .unwrap(),
            numbers: Numbers::zeroed(),
            words: [AtomicU32::new(0), AtomicU32::new(0)],
        });
        memory.numbers.begin_at(Number::new(self.first), 0);
        // SAFETY: each keeps the memory, in which the word is.
        let sleepers = [0, 1].map(|index| unsafe {
            Remote::new(NonNull::from(&memory.words[index]), is_asymmetric, Arc::clone(&memory) as _)
        });
        let elsewhere = |index: usize| sleepers[index].again().woken_from_elsewhere(|| false);
        let here = |index: usize| sleepers[index].again();
        let part = |[published, released]: [Remote; 2], gone| Part {
            first: LanePart {
                // SAFETY: the slots are in the memory, which `memory` keeps.
                slots: unsafe { memory.slots.again() },
                numbers: NonNull::from(&memory.numbers),
                released,
            },
            others: Box::default(),
            size: 1,
            numbers: NonNull::from(&memory.numbers),
            published,
            gone,
            producers: None,
            soles: [None, None],
            memory: Arc::clone(&memory) as _,
        };
        let is_gone = Arc::new(producer_is_gone);
        let again = Arc::clone(&is_gone);
        let plan = Settings::of_guest(capacity, self.first, self.strategy);
        let next = part([elsewhere(0), here(1)], Gone::new(move || again()));
        // SAFETY: as above. The second consumer is made when the first is gone.
        unsafe {
            let consumer = part([elsewhere(0), here(1)], Gone::new(move || is_gone()));
            let consumer = Across::<T>::consumer(consumer, plan.clone());
            let part = part([here(0), elsewhere(1)], Gone::new(consumer_is_gone));
            let producer = Across::<T>::producer(part, self);
            (producer, consumer, move || Across::<T>::consumer(next, plan))
        }
    }
}

#[cfg(annulus_loom)]
pub use places::Joins;

/// For models of queues with several producers, in which each process is a thread.
#[cfg(annulus_loom)]
mod places {
    use alloc::boxed::Box;
    use alloc::sync::Arc;
    use core::ptr::NonNull;

    use super::{KindAcross, LanePart, ManyAcross, Part};
    use crate::base::allocation::Before;
    use crate::base::peer_liveness::Gone;
    use crate::lane::{Cells, Number, Numbers, PlaceTable};
    use crate::memory::Memory;
    use crate::message::Message;
    use crate::queue::checked::Cell;
    use crate::queue::{Consumer, Producer};
    use crate::settings::Settings;
    use crate::sync::{AtomicBool, AtomicU32, Ordering, seeded};
    use crate::wait::Remote;

    /// What all processes map, and the locks of the places.
    struct Mapping<T: Message> {
        /// Of each lane.
        slots: Box<[Cells<Cell<T>>]>,
        /// Of the queue, then of each lane.
        numbers: Box<[Numbers]>,
        /// For each of them.
        words: Box<[AtomicU32]>,
        /// True while a process has the lock. A thread that sets one to false kills that process.
        locks: Arc<[AtomicBool]>,
        ends: bool,
    }

    impl<T: Message> PlaceTable for Mapping<T> {
        fn count(&self) -> usize {
            self.locks.len()
        }

        fn ends(&self) -> bool {
            self.ends
        }

        fn queue(&self) -> &Numbers {
            &self.numbers[0]
        }

        fn numbers(&self, place: usize) -> &Numbers {
            &self.numbers[1 + place]
        }

        fn is_held(&self, place: usize) -> bool {
            // An exchange, because a look at a kernel's lock is never stale. Relaxed: it orders nothing.
            self.locks[place].fetch_or(false, Ordering::Relaxed)
        }
    }

    /// Has a lock, as long as it is there.
    struct HeldLock(Arc<[AtomicBool]>, usize);

    impl HeldLock {
        fn take(locks: &Arc<[AtomicBool]>, place: usize) -> Option<Self> {
            let is_taken = locks[place].swap(true, Ordering::AcqRel) && !seeded!("shm_place_of_another");
            (!is_taken).then(|| Self(Arc::clone(locks), place))
        }
    }

    impl Drop for HeldLock {
        fn drop(&mut self) {
            // places.leave6. An exchange, because loom would let a later one miss a store.
            self.0[self.1].swap(false, Ordering::AcqRel);
        }
    }

    /// What a process needs to join.
    #[doc(hidden)]
    pub struct Joins<T: Message> {
        mapping: Arc<Mapping<T>>,
        /// Where the consumer sleeps, then where the producer of each place does.
        sleepers: Box<[Remote]>,
        plan: Settings,
    }

    impl<T: Message> Joins<T> {
        fn lane(&self, place: usize, released: Remote) -> LanePart<Cell<T>> {
            let Mapping { slots, numbers, .. } = &*self.mapping;
            LanePart {
                // SAFETY: they are in the mapping, which the owner of the lane keeps.
                slots: unsafe { slots[place].again() },
                numbers: NonNull::from(&numbers[1 + place]),
                released,
            }
        }

        fn guest(&self) -> Settings {
            Settings::of_guest(self.plan.capacity, self.plan.first, self.plan.strategy)
        }

        /// A producer, if a place is free.
        #[must_use]
        pub fn producer(&self) -> Option<Producer<T, ManyAcross<T>>> {
            let (mapping, locks) = (&self.mapping, &self.mapping.locks);
            // places.join1.
            let place = (0..mapping.count()).find_map(|place| HeldLock::take(locks, place))?;
            let own = place.1;
            let part = Part {
                first: self.lane(own, self.sleepers[1 + own].again().woken_from_elsewhere(|| false)),
                others: Box::default(),
                size: 1,
                numbers: NonNull::from(mapping.queue()),
                published: self.sleepers[0].again(),
                gone: Gone::new(|| false),
                producers: Some(mapping.producers(Some(own))),
                soles: [None, None],
                memory: Arc::new((place, Arc::clone(mapping))),
            };
            mapping.come(own);
            // places.join3. SAFETY: the numbers are in the mapping, which it keeps. It has the lock of its
            // place.
            Some(unsafe { ManyAcross::<T>::producer(part, self.guest()) })
        }

        /// The consumer. The consumer before it is gone.
        #[must_use]
        pub fn consumer(&self) -> Consumer<T, ManyAcross<T>> {
            let mapping = &self.mapping;
            let lane = |place| self.lane(place, self.sleepers[1 + place].again());
            let watched = Arc::clone(mapping);
            let part = Part {
                first: lane(0),
                others: (1..mapping.count()).map(lane).collect(),
                size: 1,
                numbers: NonNull::from(mapping.queue()),
                published: self.sleepers[0].again().woken_from_elsewhere(|| false),
                gone: Gone::new(move || watched.is_over()),
                producers: Some(mapping.producers(None)),
                soles: [None, None],
                memory: Arc::clone(mapping) as _,
            };
            // SAFETY: the numbers are in the mapping, which it keeps; and there is no other consumer.
            unsafe { ManyAcross::<T>::consumer(part, self.guest()) }
        }
    }

    impl Settings {
        /// A queue with a place for each of `locks`, as its processes see it. `is_asymmetric`: the fences of
        /// wakers are light, and sleepers make up for it. `ends`: with its last producer.
        #[doc(hidden)]
        #[must_use]
        pub fn for_processes<T: Message>(
            self,
            is_asymmetric: bool,
            locks: &Arc<[AtomicBool]>,
            ends: bool,
        ) -> Joins<T> {
            let (places, capacity) = (locks.len(), self.capacity);
            let mapping = Mapping {
                slots: (0..places)
                    .map(|_| Cells::new(capacity, &Memory::default(), Before::NOTHING).unwrap())
                    .collect(),
                numbers: (0..=places).map(|_| Numbers::zeroed()).collect(),
                words: (0..=places).map(|_| AtomicU32::new(0)).collect(),
                locks: Arc::clone(locks),
                ends,
            };
            mapping.numbers.iter().for_each(|numbers| numbers.begin_at(Number::new(self.first), 0));
            let mapping = Arc::new(mapping);
            // SAFETY: each keeps the mapping, in which the word is.
            let remote =
                |word| unsafe { Remote::new(NonNull::from(word), is_asymmetric, Arc::clone(&mapping) as _) };
            let sleepers = mapping.words.iter().map(remote).collect();
            Joins { mapping: Arc::clone(&mapping), sleepers, plan: self }
        }
    }
}
