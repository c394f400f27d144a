//! Each builder, as one shape: a ring with these options, an address in its slots, and its placement.

use std::fmt::Debug;

use annulus::Settings;
use annulus::broadcast;
use annulus::event;
use annulus::memory::{Memory, MemoryError, Placement};
use annulus::pool::{self, PoolError};
use annulus::queue::{self, ordered};
use annulus::{CapacityError, mpmc, mpsc, spmc, spsc};

/// A ring, or a pool, that was made.
pub(crate) struct Made {
    pub(crate) name: &'static str,
    placement: Box<dyn Fn() -> Placement>,
    /// An address in its slots, where a handle shows one.
    pub(crate) address: Option<usize>,
}

impl Made {
    pub(crate) fn placement(&self) -> Placement {
        (self.placement)()
    }
}

/// How many bytes the slots have, at least.
pub(crate) const BYTES: usize = 64 << 10;

const SLOTS: usize = BYTES / 8;

type Make = fn(Memory) -> Result<Made, MemoryError>;

/// One of each kind.
pub(crate) const KINDS: [Make; 14] = [
    spsc,
    mpsc,
    |memory| plain_queue::<spmc::Spmc>("spmc", memory),
    |memory| plain_queue::<mpmc::Mpmc>("mpmc", memory),
    shared_queue,
    queue_of_bytes,
    |memory| copied("lossy", memory, broadcast::lossy_with::<u64>),
    |memory| copied("lossless", memory, broadcast::lossless_with::<u64>),
    |memory| copied("mp_lossy", memory, broadcast::mp_lossy_with::<u64>),
    |memory| copied("mp_lossless", memory, broadcast::mp_lossless_with::<u64>),
    events,
    mp_events,
    records,
    pool,
];

fn refused(error: CapacityError) -> MemoryError {
    match error {
        CapacityError::Memory(error) => error,
        other => panic!("{other}"),
    }
}

fn made(name: &'static str, address: Option<usize>, placement: impl Fn() -> Placement + 'static) -> Made {
    Made { name, placement: Box::new(placement), address }
}

pub(crate) fn address_of<T>(value: &T) -> usize {
    std::ptr::from_ref(value).addr()
}

fn in_place<K: queue::kind::InPlace + queue::kind::QueueKind>(
    name: &'static str,
    memory: Memory,
) -> Result<Made, MemoryError> {
    let settings = Settings::new(SLOTS).memory(memory);
    let (mut producer, mut consumer) = queue::with::<u64, K>(settings).map_err(refused)?;
    producer.send(7).unwrap();
    let address = address_of(&consumer.readable()[0]);
    Ok(made(name, Some(address), move || {
        assert_eq!(consumer.placement(), producer.placement());
        consumer.placement()
    }))
}

fn spsc(memory: Memory) -> Result<Made, MemoryError> {
    in_place::<spsc::Spsc>("spsc", memory)
}

fn mpsc(memory: Memory) -> Result<Made, MemoryError> {
    in_place::<mpsc::Mpsc>("mpsc", memory)
}

fn plain_queue<K: queue::kind::QueueKind>(name: &'static str, memory: Memory) -> Result<Made, MemoryError> {
    let settings = Settings::new(SLOTS).memory(memory);
    let (producer, consumer) = queue::with::<u64, K>(settings).map_err(refused)?;
    Ok(made(name, None, move || {
        assert_eq!(consumer.placement(), producer.placement());
        producer.placement()
    }))
}

fn shared_queue(memory: Memory) -> Result<Made, MemoryError> {
    let (sender, receiver) = ordered::with::<u64>(Settings::new(SLOTS).memory(memory)).map_err(refused)?;
    Ok(made("shared", None, move || {
        assert_eq!(receiver.placement(), sender.placement());
        sender.placement()
    }))
}

fn queue_of_bytes(memory: Memory) -> Result<Made, MemoryError> {
    let (mut producer, mut consumer) =
        queue::bytes::with(Settings::new(BYTES).memory(memory)).map_err(refused)?;
    producer.write(b"seven").unwrap();
    let address = consumer.read().unwrap().as_ptr().addr();
    Ok(made("queue::bytes", Some(address), move || {
        assert_eq!(consumer.placement(), producer.placement());
        producer.placement()
    }))
}

/// Both sides of a ring of copied messages.
trait Sides: 'static {
    fn placements(&self) -> [Placement; 4];
}

macro_rules! sides {
    ($($Publisher:ty, $Mode:ty;)*) => {$(
        impl Sides for ($Publisher, broadcast::Subscribable<u64, $Mode>) {
            fn placements(&self) -> [Placement; 4] {
                let group = self.1.subscribe_group::<2>().placement();
                [self.0.placement(), self.1.placement(), self.1.subscribe().placement(), group]
            }
        }
    )*};
}

sides! {
    broadcast::Publisher<u64>, broadcast::Lossy;
    broadcast::Publisher<u64, broadcast::Lossless>, broadcast::Lossless;
    broadcast::MpPublisher<u64>, broadcast::Lossy;
    broadcast::MpPublisher<u64, broadcast::Lossless>, broadcast::Lossless;
}

fn copied<S: Sides>(
    name: &'static str,
    memory: Memory,
    make: fn(Settings) -> Result<S, CapacityError>,
) -> Result<Made, MemoryError> {
    let sides = make(Settings::new(SLOTS).memory(memory)).map_err(refused)?;
    Ok(made(name, None, move || {
        let [publisher, others @ ..] = sides.placements();
        assert_eq!(others, std::array::from_fn(|_| publisher.clone()));
        publisher
    }))
}

fn events(memory: Memory) -> Result<Made, MemoryError> {
    let settings = Settings::new(SLOTS).memory(memory);
    let (mut publisher, subscribable) = event::with(settings, || 0_u64).map_err(refused)?;
    let mut subscriber = subscribable.subscribe();
    publisher.publish(|event| *event = 7).unwrap();
    let address = address_of(&*subscriber.peek().unwrap());
    Ok(made("events", Some(address), move || {
        assert_eq!(publisher.placement(), subscribable.placement());
        assert_eq!(publisher.placement(), subscriber.placement());
        publisher.placement()
    }))
}

fn mp_events(memory: Memory) -> Result<Made, MemoryError> {
    let settings = Settings::new(SLOTS).memory(memory);
    let (publisher, subscribable) = event::mp_with(settings, || 0_u64).map_err(refused)?;
    Ok(made("mp_events", None, move || {
        assert_eq!(publisher.placement(), subscribable.placement());
        publisher.placement()
    }))
}

fn records(memory: Memory) -> Result<Made, MemoryError> {
    let (publisher, subscribable) =
        broadcast::bytes::lossy_with(Settings::new(BYTES).memory(memory)).map_err(refused)?;
    let subscriber = subscribable.subscribe();
    Ok(made("broadcast::bytes", None, move || {
        let placement = publisher.placement();
        assert_eq!(placement, subscribable.placement());
        assert_eq!(placement, subscriber.placement());
        // The places of the records take as much as the records.
        let mapped = placement.mapped_bytes();
        assert!(mapped == 0 || mapped >= 2 * BYTES, "broadcast::bytes: {placement}");
        placement
    }))
}

fn pool(memory: Memory) -> Result<Made, MemoryError> {
    let pool = pool::BufferPool::with_memory(1024, BYTES / 1024, memory).map_err(|error| match error {
        PoolError::Memory(error) => error,
        other => panic!("{other}"),
    })?;
    let address = pool.alloc().unwrap().as_ptr().addr();
    Ok(made("pool", Some(address), move || pool.placement()))
}

/// That it is what one expects, with the name of the ring.
#[track_caller]
#[allow(clippy::needless_pass_by_value, reason = "shorter calls")]
pub(crate) fn same<T: PartialEq + Debug>(made: &Made, is: T, expected: T) {
    assert_eq!(is, expected, "{}: {}", made.name, made.placement());
}
