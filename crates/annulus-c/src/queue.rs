//! Queues, each message of which reaches one consumer: how they are made. The verbs are in `producer` and
//! `consumer`.

use annulus::Settings;
use annulus::queue;
use annulus::queue::kind::QueueKind;
use annulus::{mpmc::Mpmc, spmc::Spmc};

use crate::blocks;
use crate::consumer::{Consumer, ConsumerEnd, annulus_consumer};
use crate::handle::{Handle, handle_place};
use crate::notified::Notified;
use crate::options::{Options, annulus_options};
use crate::producer::{Producer, ProducerEnd, annulus_producer};
use crate::ring::Ring;
use crate::status::annulus_status::{self, ANNULUS_INVALID};
use crate::status::{Done, guarded, of_capacity, of_register};
use crate::tsan::Order;
use crate::typed::{Block, Counts, Join, Receiving, Sending, alone, classes};

/// A queue of one producer and one consumer. Both can use messages where they lie in the ring.
pub const ANNULUS_SPSC: u32 = 1;
/// A queue of many producers and one consumer. Each producer has a ring of its own, of the capacity that was
/// asked for, and its messages arrive in the order in which they were sent. Both sides can use messages where
/// they lie in the ring.
pub const ANNULUS_MPSC: u32 = 2;
/// A queue of one producer and many consumers.
pub const ANNULUS_SPMC: u32 = 3;
/// A queue of many producers, each with a ring of its own, and many consumers.
pub const ANNULUS_MPMC: u32 = 4;
/// A queue of many producers and many consumers with one ring for all, one order, and one capacity.
pub const ANNULUS_ORDERED: u32 = 5;

/// Makes a queue, and its first producer and consumer.
///
/// `kind` is `ANNULUS_SPSC`, `ANNULUS_MPSC`, `ANNULUS_SPMC`, `ANNULUS_MPMC` or `ANNULUS_ORDERED`. Messages of
/// the last three have at most `ANNULUS_MESSAGE_MAX` bytes; for larger ones, send the 4 bytes of a handle of
/// a pool. All memory of the ring is allocated here, and freed with the last handle of the queue.
///
/// The caller owns both handles, and frees each with `annulus_producer_free` or `annulus_consumer_free`. A
/// handle may move to another thread; one thread at a time uses it. Any thread may call this.
///
/// Returns `ANNULUS_INVALID` (a null pointer, another `size` of the options, a kind or a way to wait that is
/// none, a capacity of 0), `ANNULUS_WRONG_SIZE` (messages of 0 bytes, or of too many), `ANNULUS_NO_MEMORY`.
/// Then both handles are null.
///
/// # Safety
///
/// Each pointer is null, or points to an object of its type that this may use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_queue_new(
    kind: u32,
    options: *const annulus_options,
    producer: *mut *mut annulus_producer,
    consumer: *mut *mut annulus_consumer,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let producer_place = unsafe { handle_place(producer) };
        // SAFETY: the caller's promise.
        let (producer, consumer) = (producer_place?, unsafe { handle_place(consumer) }?);
        // SAFETY: the caller's promise.
        let options = unsafe { annulus_options::checked(options) }?;
        let size = options.message_size;
        let (sends, receives) = match kind {
            ANNULUS_SPSC => in_blocks(options, ProducerEnd::Spsc, ConsumerEnd::Spsc),
            ANNULUS_MPSC => in_blocks(options, ProducerEnd::Mpsc, ConsumerEnd::Mpsc),
            ANNULUS_SPMC => classes!(size, WORDS => {
                typed::<Spmc, WORDS>(options, alone, |consumer| Ok(consumer.clone()))
            }),
            ANNULUS_MPMC => classes!(size, WORDS => {
                let join = |producer: &queue::Producer<_, Mpmc>| producer.register().map_err(of_register);
                typed::<Mpmc, WORDS>(options, join, |consumer| Ok(consumer.clone()))
            }),
            ANNULUS_ORDERED => classes!(size, WORDS => ordered::<WORDS>(options)),
            _ => Err(ANNULUS_INVALID),
        }?;
        let (mut sends, mut receives) = (sends, receives);
        if let ProducerEnd::Spsc(end) = &sends.end {
            let lent = end.units.lend();
            sends.ring.order = Order::at(lent.own.as_ptr(), lent.other.as_ptr());
            receives.ring.order = sends.ring.order.clone();
        }
        *producer = sends.hand_out();
        *consumer = receives.hand_out();
        Ok(())
    })
}

/// A queue of a kind that is used in place.
fn in_blocks<K: QueueKind + queue::kind::InPlace>(
    options: Options,
    producer_end: fn(blocks::Producer<K>) -> ProducerEnd,
    consumer_end: fn(blocks::Consumer<K>) -> ConsumerEnd,
) -> Done<(Producer, Consumer)> {
    let (producer, consumer) = blocks::channel::<K>(options)?;
    let ring = Ring {
        capacity: options.capacity,
        message_size: options.message_size,
        unit: (producer.stride_bytes() / blocks::WORD) as u64,
        closer: producer.units.closer(),
        observer: Some(producer.units.observer()),
        peer: None,
        order: Order::new(),
    };
    let producer = Producer { end: producer_end(producer), ring: ring.clone() };
    Ok((producer, Consumer { end: consumer_end(consumer), ring }))
}

/// A queue whose consumers claim messages.
fn typed<K: QueueKind, const WORDS: usize>(
    options: Options,
    join: Join<queue::Producer<Block<WORDS>, K>>,
    divide: Join<queue::Consumer<Block<WORDS>, K>>,
) -> Done<(Producer, Consumer)> {
    let settings = Settings::new(options.capacity);
    let settings = settings.wait_strategy(options.strategy).statistics(options.statistics);
    let (producer, consumer) = queue::with::<Block<WORDS>, K>(settings).map_err(of_capacity)?;
    let size = options.message_size;
    let ring = Ring::of(options, producer.closer(), producer.observer());
    let sending = Sending { handle: producer, size, join, lends: None };
    let receiving = Receiving {
        handle: Notified::Not(consumer),
        size,
        join: divide,
        counts: |_| Counts::default(),
        lends: None,
        begins_with_last: None,
    };
    let producer = Producer { end: ProducerEnd::Typed(Box::new(sending)), ring: ring.clone() };
    Ok((producer, Consumer { end: ConsumerEnd::Typed(Box::new(receiving)), ring }))
}

/// A queue with one order.
fn ordered<const WORDS: usize>(options: Options) -> Done<(Producer, Consumer)> {
    let settings = Settings::new(options.capacity);
    let settings = settings.wait_strategy(options.strategy).statistics(options.statistics);
    let (sender, receiver) = queue::ordered::with::<Block<WORDS>>(settings).map_err(of_capacity)?;
    let size = options.message_size;
    let ring = Ring::of(options, sender.closer(), sender.observer());
    let sending = Sending { handle: sender, size, join: |sender| Ok(sender.clone()), lends: None };
    let handle = Notified::Not(receiver);
    let receiving = Receiving {
        handle,
        size,
        join: |receiver| Ok(receiver.clone()),
        counts: |_| Counts::default(),
        lends: None,
        begins_with_last: None,
    };
    let producer = Producer { end: ProducerEnd::Typed(Box::new(sending)), ring: ring.clone() };
    Ok((producer, Consumer { end: ConsumerEnd::Typed(Box::new(receiving)), ring }))
}
