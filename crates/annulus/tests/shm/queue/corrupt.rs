//! What another process sends is a message, or each verb says or counts that it is none, and goes on.

use std::fmt::Debug;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use annulus::queue::kind::AnyKind;
use annulus::queue::{Consumer, Producer};
use annulus::schema::BadValue;
use annulus::shm::{Invitation, Shared, WhenGone, mpsc, recv_fd, spsc};
use annulus::{Message, RecvTimeoutError, Select, TryRecvError, TrySendError};

use crate::broadcast::corrupt::{BAD, GOOD, Order, Quote, a_worker_ends_its_batch, quote};
use crate::slots_of;

const CAPACITY: usize = 20;

/// The memory of a queue.
fn memory(invitation: &Invitation) -> File {
    let (here, there) = UnixStream::pair().unwrap();
    invitation.send(&here).unwrap();
    File::from(recv_fd(&there).unwrap())
}

type Opened<T, K> = (Producer<T, K>, Consumer<T, K>, File);

fn one<T: Message>() -> Opened<T, spsc::Across<T>> {
    let settings = annulus::Settings::new(CAPACITY);
    let Shared { handle: producer, invitation, .. } = spsc::producer::<T>(settings, WhenGone::Close).unwrap();
    (producer, spsc::consumer(&invitation).unwrap().0, memory(&invitation))
}

fn several<T: Message>() -> Opened<T, mpsc::ManyAcross<T>> {
    let builder =
        mpsc::Builder::new(annulus::Settings::new(CAPACITY)).producers(1).when_no_producer(WhenGone::Close);
    let Shared { handle: consumer, invitation, .. } = builder.build::<T>().unwrap();
    (mpsc::producer(&invitation).unwrap().0, consumer, memory(&invitation))
}

/// Writes into message `number`, as it lies in its slot.
fn write<T: Message>(file: &File, number: usize, at: usize, bytes: &[u8]) {
    let slot = number % CAPACITY * T::SCHEMA.size();
    file.write_all_at(bytes, slots_of(file) + (slot + at) as u64).unwrap();
}

/// Each byte of a message is given each value. What comes is a message, or it is said which field is none.
#[test]
fn message_of_any_bytes_is_one_or_its_bad_field_is_named() {
    fn of<T: Message + PartialEq + Debug>(message: T) -> u64 {
        let (mut producer, mut consumer, file) = one::<T>();
        let mut corrupt = 0;
        let size = T::SCHEMA.size();
        for (count, (at, value)) in
            (0..size).flat_map(|at| (0..=255).map(move |value| (at, value))).enumerate()
        {
            producer.send(message).unwrap();
            let mut bytes = vec![0; size];
            let slot = slots_of(&file) + (count % CAPACITY * size) as u64;
            file.read_exact_at(&mut bytes, slot).unwrap();
            bytes[at] = value;
            write::<T>(&file, count, at, &[value]);
            let found = BadValue::find(T::SCHEMA, &bytes);
            match consumer.try_recv() {
                Ok(_) => assert_eq!(found, None),
                Err(TryRecvError::Empty) => {
                    assert!(found.is_some() && consumer.last_corrupt() == found, "{found:?}");
                    corrupt += 1;
                }
                Err(error) => panic!("{error}: {count} {at} {value} {}", consumer.len()),
            }
            assert_eq!((consumer.try_recv(), consumer.total_corrupt()), (Err(TryRecvError::Empty), corrupt));
        }
        corrupt
    }
    assert_eq!(of(quote(7)), 254 + 254 + 251 + 255 + 4 * 128);
    assert!(of(Order::Named('ß')) > 250 && of(Order::Cancel) > 250);
    assert_eq!(of(7u64), 0);
}

/// A batch that finds too little room is sent in part; and a select waits at a queue whose messages are
/// checked.
#[test]
fn checked_messages_are_sent_in_batches() {
    fn of<T: Message + PartialEq + Debug, K: AnyKind<Corrupt = BadValue>>(
        (mut producer, mut consumer, _): Opened<T, K>,
        make: fn(bool) -> T,
    ) {
        let messages: Vec<T> = (0..CAPACITY + 5).map(|number| make(number % 3 == 0)).collect();
        let rest = &messages[CAPACITY..];
        assert_eq!(producer.try_send_batch(&messages), Err(TrySendError::Full(rest)));
        let mut select = Select::new();
        let at = select.recv(&mut consumer);
        assert_eq!(select.try_ready(), Some(at));
        drop(select);
        assert!(consumer.try_iter().eq(messages[..CAPACITY].iter().copied()));
        let mut select = Select::new();
        select.recv(&mut consumer);
        assert_eq!(select.try_ready(), None);
    }
    let order = |is_named| if is_named { Order::Named('ß') } else { Order::Cancel };
    of(one(), order);
    of(several(), order);
    of(one(), |flag| flag);
    of(several(), |flag| flag);
}

/// Ten messages, of which [`BAD`] are none.
fn spoiled<T: Message, K: AnyKind<Corrupt = BadValue>>(
    (mut producer, consumer, file): Opened<T, K>,
    make: fn(u32) -> T,
    (at, bad): (usize, u8),
) -> (Producer<T, K>, Consumer<T, K>) {
    producer.send_batch(&std::array::from_fn::<_, 10, _>(|number| make(number as u32))).unwrap();
    for number in BAD {
        write::<T>(&file, number as usize, at, &[bad]);
    }
    (producer, consumer)
}

/// Each verb receives all that is good, in order, and counts the rest.
fn each_verb<T: Message + PartialEq + Debug, K: AnyKind<Corrupt = BadValue>>(
    open: fn() -> Opened<T, K>,
    make: fn(u32) -> T,
    spoil: (usize, u8),
) {
    let verb = |name: &str, receive: &dyn Fn(&mut Consumer<T, K>) -> Vec<T>| {
        let (mut producer, mut consumer) = spoiled(open(), make, spoil);
        assert_eq!(receive(&mut consumer), GOOD.map(make), "{name}");
        assert_eq!(consumer.try_recv(), Err(TryRecvError::Empty), "{name}");
        assert_eq!((consumer.total_corrupt(), consumer.len()), (4, 0), "{name}");
        producer.send(make(10)).unwrap();
        assert_eq!(consumer.try_recv(), Ok(make(10)), "{name}");
    };
    verb("try_recv", &|consumer| std::iter::from_fn(|| consumer.try_recv().ok()).collect());
    verb("recv", &|consumer| (0..6).map(|_| consumer.recv().unwrap()).collect());
    verb("recv_timeout", &|consumer| {
        let mut received = Vec::new();
        loop {
            match consumer.recv_timeout(Duration::from_millis(1)) {
                Ok(message) => received.push(message),
                Err(error) => {
                    assert_eq!(error, RecvTimeoutError::Timeout);
                    return received;
                }
            }
        }
    });
    verb("try_recv_batch", &|consumer| {
        let mut buffer = [make(99); 20];
        let count = consumer.try_recv_batch(&mut buffer);
        buffer[..count].to_vec()
    });
    verb("recv_batch", &|consumer| {
        let mut buffer = [make(99); 20];
        let count = consumer.recv_batch(&mut buffer).unwrap();
        buffer[..count].to_vec()
    });
    verb("recv_many", &|consumer| {
        let mut received = Vec::new();
        assert_eq!(consumer.recv_many(&mut received, 20), Ok(6));
        received
    });
    verb("consume", &|consumer| {
        let mut received = Vec::new();
        consumer.consume(usize::MAX, |message| received.push(message));
        received
    });
    verb("consume_up_to", &|consumer| {
        let mut received = Vec::new();
        assert_eq!(consumer.consume(6, |message| received.push(message)), 6);
        received
    });
    verb("try_iter", &|consumer| consumer.try_iter().collect());
    verb("iter", &|consumer| consumer.iter().take(6).collect());
}

#[test]
fn verbs_go_on() {
    // A quote's side, where it lies; an order's variant, which comes first.
    let order = |number| if number % 2 == 0 { Order::Named('a') } else { Order::Cancel };
    each_verb::<Quote, _>(one, quote, (4, 9));
    each_verb::<Quote, _>(several, quote, (4, 9));
    each_verb::<Order, _>(one, order, (0, 7));
    each_verb::<Order, _>(several, order, (0, 7));

    let (producer, consumer) = spoiled(one(), quote, (4, 9));
    drop(producer);
    a_worker_ends_its_batch(consumer);
    let (producer, consumer) = spoiled(several(), quote, (4, 9));
    drop(producer);
    a_worker_ends_its_batch(consumer);
}

/// What is sent while a handler runs is for the next call.
#[test]
fn consume_is_lengthened_by_none_of_the_corrupt() {
    let (mut producer, mut consumer) = spoiled(one(), quote, (4, 9));
    let consumed = consumer.consume(usize::MAX, |_| producer.send(quote(10)).unwrap());
    assert_eq!((consumed, consumer.len()), (6, 6));
}
