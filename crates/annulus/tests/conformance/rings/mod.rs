//! What the properties see of a ring: messages are numbers, whatever carries them.
//!
//! ```text
//! mod      Ring, Publish, Receive, Verb: what every ring has in common
//! copied   rings of u64, lossy and lossless, one publisher and many; taps
//! fellows  those to which several processes publish
//! frames   rings of frames
//! owned    rings of vectors that are changed in place, or sent whole
//! group    three members that receive as one
//! stage    one that follows nobody, and one that follows another in step
//! ends     the two ends of a queue, which count
//! queue    queues, where the property is the same
//! ordered  the same, of the ordered queue
//! records  the same, of queues of records
//! work     the same, of queues that consumers of several processes share
//! broadcast_records  lossless broadcast rings of records
//! matching  a topic of a bus, as one of those that match a pattern
//! in_tasks  any of them, where tasks wait (feature `async`)
//! ```

mod broadcast_records;
mod copied;
mod ends;
#[cfg(all(feature = "shm", target_os = "linux", not(any(miri, annulus_loom))))]
mod fellows;
#[cfg(all(feature = "shm", target_os = "linux", not(any(miri, annulus_loom))))]
mod frames;
mod group;
#[cfg(feature = "async")]
mod in_tasks;
mod matching;
mod ordered;
mod owned;
mod queue;
mod records;
mod stage;
#[cfg(all(feature = "shm", target_os = "linux", not(any(miri, annulus_loom))))]
mod work;

use std::any::Any;
use std::time::{Duration, Instant};

use annulus::Settings;
use annulus::{
    CapacityError, Closer, LossyTryRecvError, Observer, RecvError, RecvTimeoutError, SendError, TryRecvError,
    TrySendError,
};

#[cfg(feature = "async")]
use crate::support::tasks::{Messages, Task};

pub(crate) use broadcast_records::LosslessRecords;
#[cfg(all(feature = "shm", target_os = "linux", not(any(miri, annulus_loom))))]
pub(crate) use broadcast_records::SharedLosslessRecords;
pub(crate) use copied::{Lossless, Lossy, MpLossless, MpLossy, MpTap, Tap};
#[cfg(feature = "std")]
pub(crate) use copied::{MappedLossy, MappedMpLossless};
#[cfg(all(feature = "shm", target_os = "linux", not(any(miri, annulus_loom))))]
pub(crate) use copied::{SharedLossless, SharedLossy};
#[cfg(all(feature = "shm", target_os = "linux", not(any(miri, annulus_loom))))]
pub(crate) use fellows::{SharedMpLossless, SharedMpLossy};
#[cfg(all(feature = "shm", target_os = "linux", not(any(miri, annulus_loom))))]
pub(crate) use frames::{SharedFrames, SharedLosslessFrames};
pub(crate) use group::{Grouped, GroupedLossless, GroupedMpLossless, GroupedMpLossy};
#[cfg(feature = "async")]
pub(crate) use in_tasks::*;
pub(crate) use matching::{Matching, MatchingLossless};
pub(crate) use ordered::OneOrder as OneOrderQueue;
#[cfg(feature = "std")]
pub(crate) use owned::MappedEvents;
pub(crate) use owned::{Events, MpEvents, MpResetEvents, ResetEvents};
#[cfg(feature = "std")]
pub(crate) use queue::{MappedMpmc as MappedMpmcQueue, MappedSpsc as MappedSpscQueue};
pub(crate) use queue::{Mpmc as MpmcQueue, Mpsc as MpscQueue, Spmc as SpmcQueue, Spsc as SpscQueue};
#[cfg(all(feature = "shm", target_os = "linux", not(any(miri, annulus_loom))))]
pub(crate) use queue::{SharedMpsc as SharedMpscQueue, SharedSpsc as SharedSpscQueue};
pub(crate) use records::Records as RecordQueue;
#[cfg(all(feature = "shm", target_os = "linux", not(any(miri, annulus_loom))))]
pub(crate) use records::SharedRecords as SharedRecordQueue;
pub(crate) use stage::{
    Behind, BehindEvents, BehindLossless, BehindMpEvents, BehindMpLossless, BehindMpLossy, Tracked,
    TrackedLossless,
};
#[cfg(all(feature = "shm", target_os = "linux", not(any(miri, annulus_loom))))]
pub(crate) use work::SharedWork;

/// One kind of ring, and one way to receive from it.
pub(crate) trait Ring: 'static {
    /// Publishers wait for these subscribers.
    const LOSSLESS: bool;
    /// There may be many publishers.
    const MANY: bool;
    /// A publisher that waits for others does not know whether somebody may still come; and a task looks by
    /// itself.
    const BETWEEN_PROCESSES: bool = false;
    /// A number may be passed over, where a publisher stands still in the middle of a message. It counts as
    /// lagged, though there was no message.
    const PASSES_OVER: bool = false;

    type Publisher: Publish;
    type Source: Clone + Send + Sync + 'static;
    type Subscriber: Receive;

    fn make(settings: Settings) -> Result<(Self::Publisher, Self::Source), CapacityError>;
    fn subscribe(source: &Self::Source) -> Self::Subscriber;
    /// `None` where this way to receive has no such form.
    fn from_oldest(source: &Self::Source) -> Option<Self::Subscriber>;
    fn is_closed(source: &Self::Source) -> bool;

    /// A ring of `capacity` that begins with message `first`.
    fn begin(capacity: usize, first: u64) -> (Self::Publisher, Self::Source) {
        Self::make(Settings::new(capacity).first(first)).expect("a ring of this capacity can be made")
    }

    fn new(capacity: usize) -> (Self::Publisher, Self::Source) {
        Self::begin(capacity, 0)
    }

    /// A ring of that name.
    fn named(name: &'static str) -> (Self::Publisher, Self::Source) {
        Self::make(Settings::new(8).name(name)).expect("a ring of this capacity can be made")
    }
}

/// A publisher of numbers.
pub(crate) trait Publish: Sized + Send + 'static {
    /// Waits where the ring does.
    fn publish(&mut self, number: u64) -> Result<(), SendError<()>>;
    /// A task waits.
    #[cfg(feature = "async")]
    fn publish_async(&mut self, number: u64) -> Task<'_, Result<(), SendError<()>>>;
    /// Never waits.
    fn try_publish(&mut self, number: u64) -> Result<(), TrySendError<()>>;
    /// In one call where there is one.
    fn publish_batch(&mut self, numbers: &[u64]) -> Result<(), SendError<()>>;
    /// By a closure that panics.
    fn publish_panicking(&mut self);
    /// How many all publishers of the ring have published.
    fn published(&self) -> u64;
    fn capacity(&self) -> usize;
    /// Nobody is left to receive.
    fn is_abandoned(&self) -> bool;
    /// Nothing can be published any more.
    fn is_closed(&self) -> bool;
    fn close(&self);
    fn closer(&self) -> Closer;
    fn observer(&self) -> Observer;
    /// How many were accepted of all these, the publishers of one ring.
    fn accepted(publishers: &[Self]) -> u64 {
        publishers[0].published()
    }
    /// `None` where there can only be one.
    fn another(&self) -> Option<Self>;
    /// A handle that receives, made by this; `None` where publishers make none.
    fn receiving_handle(&self) -> Option<Box<dyn Any>> {
        None
    }
}

/// A subscriber of numbers.
pub(crate) trait Receive: Sized + Send + 'static {
    /// Never waits. Reports a lag where the handle has a verb that does, and goes on after it where not.
    fn try_recv(&mut self) -> Result<u64, LossyTryRecvError>;
    fn recv(&mut self) -> Result<u64, RecvError>;
    /// A task waits.
    #[cfg(feature = "async")]
    fn recv_async(&mut self) -> Task<'_, Result<u64, RecvError>>;
    /// `None` where there is no such form.
    #[cfg(feature = "async")]
    fn into_stream(self) -> Option<Messages> {
        None
    }
    fn recv_timeout(&mut self, timeout: Duration) -> Result<u64, RecvTimeoutError>;
    fn recv_until(&mut self, deadline: Instant) -> Result<u64, RecvTimeoutError>;
    /// The next message but for `panic`: what handles it does that. Nothing of the kind where messages are
    /// copied out.
    fn panic_on_next(&mut self) -> bool;
    fn cursor(&self) -> u64;
    fn received(&self) -> u64;
    fn lagged(&self) -> u64;
    fn len(&self) -> usize;
    fn capacity(&self) -> usize;
    fn is_closed(&self) -> bool;
    /// A clone; `None` where there can be none.
    fn fork(&self) -> Option<Self>;
    /// Everything that receives.
    fn verbs() -> Vec<Verb<Self>>;
}

/// One way to ask for messages.
pub(crate) struct Verb<S> {
    pub(crate) name: &'static str,
    /// It waits where nothing is there, so it is asked only where something is, or where the ring is closed.
    pub(crate) waits: bool,
    pub(crate) ask: fn(&mut S) -> Got,
}

/// What a verb came back with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Got {
    /// At least one.
    Messages(Vec<u64>),
    /// That many were lost.
    Lagged(u64),
    /// None now; or none for ever, from a verb that does not tell the two apart.
    Nothing,
    Closed,
}

impl Got {
    /// What a batch that waits brought: as many as it says, and at least one.
    fn of_batch(result: Result<usize, RecvError>, messages: Vec<u64>) -> Self {
        assert_eq!(messages.len(), result.unwrap_or(0));
        match result {
            Ok(0) => panic!("a batch that waits brings something"),
            Ok(_) => Self::Messages(messages),
            Err(_) => Self::Closed,
        }
    }
}

impl From<Vec<u64>> for Got {
    fn from(messages: Vec<u64>) -> Self {
        if messages.is_empty() { Self::Nothing } else { Self::Messages(messages) }
    }
}

impl From<Option<u64>> for Got {
    fn from(message: Option<u64>) -> Self {
        message.map_or(Self::Nothing, |message| Self::Messages(vec![message]))
    }
}

impl From<Result<u64, LossyTryRecvError>> for Got {
    fn from(result: Result<u64, LossyTryRecvError>) -> Self {
        match result {
            Ok(message) => Self::Messages(vec![message]),
            Err(LossyTryRecvError::Empty) => Self::Nothing,
            Err(LossyTryRecvError::Lagged { skipped }) => Self::Lagged(skipped),
            Err(LossyTryRecvError::Closed) => Self::Closed,
        }
    }
}

impl From<Result<u64, TryRecvError>> for Got {
    fn from(result: Result<u64, TryRecvError>) -> Self {
        result.map_err(LossyTryRecvError::from).into()
    }
}

impl From<Result<u64, RecvError>> for Got {
    fn from(result: Result<u64, RecvError>) -> Self {
        result.map_or(Self::Closed, |message| Self::Messages(vec![message]))
    }
}

impl From<Result<u64, RecvTimeoutError>> for Got {
    fn from(result: Result<u64, RecvTimeoutError>) -> Self {
        match result {
            Ok(message) => Self::Messages(vec![message]),
            Err(RecvTimeoutError::Timeout) => Self::Nothing,
            Err(RecvTimeoutError::Closed) => Self::Closed,
        }
    }
}

/// The numbers of what `ask` handed to the closure it got; the count and the flags must be true.
fn batch<T: ?Sized>(
    number: impl Fn(&T) -> u64,
    ask: impl FnOnce(&mut dyn FnMut(&T, bool)) -> Result<usize, RecvTimeoutError>,
) -> Got {
    let mut seen = Vec::new();
    let mut ends = Vec::new();
    let result = ask(&mut |message, end_of_batch| {
        seen.push(number(message));
        ends.push(end_of_batch);
    });
    assert_eq!(ends.iter().rposition(|&end| end), seen.len().checked_sub(1), "the last, and");
    assert_eq!(ends.iter().filter(|&&end| end).count(), usize::from(!seen.is_empty()), "only the last");
    match result {
        Ok(count) => {
            assert_eq!(count, seen.len());
            Got::Messages(seen)
        }
        Err(RecvTimeoutError::Timeout) => Got::Nothing,
        Err(RecvTimeoutError::Closed) => Got::Closed,
    }
}

/// A list of verbs: a name, whether it waits, and what it does.
macro_rules! verbs {
    ($($name:literal, $waits:literal, |$subscriber:ident| $ask:expr;)*) => {
        vec![$(crate::rings::Verb {
            name: $name,
            waits: $waits,
            ask: |$subscriber| crate::rings::Got::from($ask),
        }),*]
    };
}
pub(crate) use verbs;

/// For rings whose slots are mapped for them alone, where the system does that.
#[cfg(feature = "std")]
fn mapped() -> annulus::memory::Memory {
    annulus::memory::Memory::prefer().prefault()
}

/// A ring: its name, its nature, its types, and how to make and join it.
macro_rules! ring {
    ($name:ident, lossless: $lossless:literal, many: $many:literal, $publisher:ty, $source:ty, $subscriber:ty,
     |$builder:ident| $make:expr, |$from:ident| $subscribe:expr, oldest: |$past:ident| $oldest:expr
     $(, between_processes: $between:literal)? $(, passes_over: $passes:literal)? $(,)?) => {
        pub(crate) struct $name;

        impl crate::rings::Ring for $name {
            const LOSSLESS: bool = $lossless;
            const MANY: bool = $many;
            $(const BETWEEN_PROCESSES: bool = $between;)?
            $(const PASSES_OVER: bool = $passes;)?
            type Publisher = $publisher;
            type Source = $source;
            type Subscriber = $subscriber;

            fn make(
                $builder: annulus::Settings,
            ) -> Result<(Self::Publisher, Self::Source), annulus::CapacityError> {
                $make
            }

            fn subscribe($from: &Self::Source) -> Self::Subscriber {
                $subscribe
            }

            fn from_oldest($past: &Self::Source) -> Option<Self::Subscriber> {
                $oldest
            }

            fn is_closed(source: &Self::Source) -> bool {
                source.is_closed()
            }
        }
    };
}
pub(crate) use ring;
