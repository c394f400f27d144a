//! What another process writes is a message, or each verb says or counts that it is none, and goes on.

use std::fs::File;
use std::num::Wrapping;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use annulus::Settings;
use annulus::broadcast::{LossyMode, MayLose, Subscriber};
use annulus::schema::BadValue;
use annulus::shm::{Directory, Invitation, NamedSubscriber, Received, Shared, broadcast, mp_broadcast};
use annulus::{
    LossyRecvError, LossyTryRecvError, Message, Receive, RecvTimeoutError, Text, WaitStrategy, Worker,
};

use crate::broadcast::hostile::copy_of;
use crate::broadcast::names::Scratch;

const CAPACITY: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Message)]
#[repr(u8)]
pub(crate) enum Side {
    Buy = 1,
    Sell = 2,
}

/// It lies in the ring as it is.
#[derive(Clone, Copy, Debug, PartialEq, Message)]
#[repr(C)]
pub(crate) struct Quote {
    pub(crate) number: u32,
    side: Side,
    live: bool,
    venue: Text<4>,
}

/// It is packed.
#[derive(Clone, Copy, Debug, PartialEq, Message)]
pub(crate) enum Order {
    Limit { price: f64, side: Option<Side> },
    Named(char),
    Cancel,
}

pub(crate) fn quote(number: u32) -> Quote {
    Quote { number, side: Side::Sell, live: true, venue: "XETR".try_into().unwrap() }
}

/// A ring, written by another process: the file, where its slots begin, how far they are from each other.
struct Slots {
    file: File,
    begin: u64,
    stride: u64,
}

impl Slots {
    fn of<T: Message>(file: File, many: bool) -> Self {
        // The stamp, and the payload behind it.
        let words = (1 + T::SCHEMA.size().div_ceil(8)).next_power_of_two();
        let stride = 8 * if many { words.max(4) } else { words } as u64;
        let begin = file.metadata().unwrap().len() - stride * CAPACITY as u64;
        Self { file, begin, stride }
    }

    /// Writes there, in message `number`.
    fn write(&self, number: u64, at: usize, bytes: &[u8]) {
        let slot = self.begin + number % CAPACITY as u64 * self.stride;
        self.file.write_all_at(bytes, slot + 8 + at as u64).unwrap();
    }
}

/// A lossy ring with these messages, and its memory.
fn lossy_with<T: Message>(messages: &[T]) -> (Slots, Invitation) {
    let Shared { handle: mut publisher, invitation: good, .. } =
        broadcast::lossy::<T>(Settings::new(CAPACITY)).unwrap();
    publisher.publish_batch(messages);
    let (file, _, invitation) = copy_of(&good);
    (Slots::of::<T>(file, false), invitation)
}

/// Each byte of a message is given each value. What comes is a message, or it is said which field is none.
#[test]
fn message_of_any_bytes_is_one_or_its_bad_field_is_named() {
    fn of<T: Message + PartialEq + std::fmt::Debug>(message: T) -> u64 {
        let (slots, invitation) = lossy_with(&[message, message]);
        let ring = invitation.accept::<T>().unwrap();
        let mut stored = vec![0; T::SCHEMA.size()];
        slots.file.read_exact_at(&mut stored, slots.begin + 8).unwrap();
        let mut corrupt = 0;
        for at in 0..stored.len() {
            for value in 0..=255 {
                let mut bytes = stored.clone();
                bytes[at] = value;
                slots.write(0, at, &[value]);
                let mut subscriber = ring.subscribable().subscribe_from_oldest();
                match subscriber.try_recv_or_lag() {
                    Ok(_) => assert_eq!(BadValue::find(T::SCHEMA, &bytes), None),
                    Err(LossyTryRecvError::Corrupt(bad)) => {
                        assert_eq!(BadValue::find(T::SCHEMA, &bytes), Some(bad), "{bad}");
                        assert_eq!((subscriber.total_corrupt(), subscriber.total_received()), (1, 0));
                        corrupt += 1;
                    }
                    Err(error) => panic!("{error}"),
                }
                assert_eq!((subscriber.cursor(), subscriber.try_recv()), (1, Ok(message)));
            }
            slots.write(0, at, &stored[at..=at]);
        }
        corrupt
    }
    // The side: 254; the flag: 254; the length: 251 and 255; in the text no byte beyond ASCII stands alone.
    assert_eq!(of(quote(7)), 254 + 254 + 251 + 255 + 4 * 128);
    assert!(of(Order::Limit { price: 1.5, side: Some(Side::Buy) }) > 3 * 250);
    assert!(of(Order::Named('ß')) > 250 && of(Order::Cancel) > 250);
    assert_eq!((of([true, false, true]), of(Wrapping(true)), of(Wrapping(7_u16))), (3 * 254, 254, 0));
    assert_eq!(of(7u64), 0);
}

/// It is said which field, and what is there.
#[test]
fn field_and_the_number() {
    let (slots, invitation) = lossy_with(&[quote(0), quote(1)]);
    slots.write(0, 4, &[9]);
    slots.write(1, 6, &[5, 0]);
    let mut subscriber = invitation.accept::<Quote>().unwrap().subscribable().subscribe_from_oldest();
    let error = subscriber.try_recv_or_lag().unwrap_err();
    let LossyTryRecvError::Corrupt(bad) = error else { panic!("9 is no side") };
    assert_eq!((&*bad.field().unwrap().name, bad.number(), bad.offset()), ("side", 9, 4));
    let text = "what another process has written is no message: `side`, at byte 4, is 9: no value of enum u8{Buy=1,Sell=2}";
    assert_eq!(error.to_string(), text);
    let Err(LossyRecvError::Corrupt(bad)) = subscriber.recv_or_lag() else { panic!("5 do not fit") };
    assert_eq!((&*bad.field().unwrap().name, bad.number(), bad.offset()), ("venue", 5, 6));
    let said = [
        LossyRecvError::Corrupt(bad).to_string(),
        LossyTryRecvError::Corrupt(bad).to_string(),
        format!("what another process has written is no message: {bad}"),
    ];
    assert!(said.iter().all(|text| *text == said[0]), "{said:?}");
    let said = format!("{subscriber:?}");
    assert_eq!(said, "Subscriber { cursor: 2, received: 0, lagged: 0, corrupt: 2, .. }");
}

/// A subscriber of a name is told of what is none, too, and goes on.
#[test]
fn subscriber_of_a_name_is_told_what_is_none() {
    let (slots, invitation) = lossy_with(&[quote(0), quote(1)]);
    slots.write(0, 4, &[9]);
    let scratch = Scratch::new("corrupt");
    let directory = Directory::open(&scratch.0).unwrap();
    let _name = invitation.publish(&directory, "quotes").unwrap();
    let mut subscriber = NamedSubscriber::<Quote>::new(&directory, "quotes").unwrap().begin_with_oldest();
    assert!(matches!(subscriber.recv(), Ok(Received::Began { missed: 0, .. })));
    let Ok(Received::Corrupt(bad)) = subscriber.recv() else { panic!("9 is no side") };
    assert_eq!((bad.number(), bad.offset()), (9, 4));
    assert_eq!(subscriber.recv().unwrap(), Received::Message(quote(1)));
}

/// Messages 1, 4, 5 and 9 of ten are none.
pub(crate) const GOOD: [u32; 6] = [0, 2, 3, 6, 7, 8];

pub(crate) const BAD: [u64; 4] = [1, 4, 5, 9];

fn spoil(slots: &Slots) {
    for number in BAD {
        slots.write(number, 4, &[0]);
    }
}

fn numbers(quotes: impl IntoIterator<Item = Quote>) -> Vec<u32> {
    quotes.into_iter().map(|quote| quote.number).collect()
}

/// Each of these receives all that is good, in order, and counts the rest.
fn each_verb<M: MayLose>(mut subscribe: impl FnMut() -> Subscriber<Quote, M>) {
    let mut verb = |name, receive: &mut dyn FnMut(&mut Subscriber<Quote, M>) -> Vec<Quote>| {
        let mut subscriber = subscribe();
        assert_eq!(numbers(receive(&mut subscriber)), GOOD, "{name}");
        // (What has all that is good may not have come to the last one.)
        while let Err(LossyTryRecvError::Corrupt(_)) = subscriber.try_recv_or_lag() {}
        assert_eq!((subscriber.cursor(), subscriber.total_received()), (10, 6), "{name}");
        assert_eq!((subscriber.total_lagged(), subscriber.total_corrupt()), (0, 4), "{name}");
        let own = subscriber.stats().own.unwrap();
        assert_eq!((own.received, own.lagged, own.corrupt, own.pending), (6, 0, 4, 0), "{name}");
    };
    verb("try_recv", &mut |subscriber| std::iter::from_fn(|| subscriber.try_recv().ok()).collect());
    verb("try_recv_or_lag", &mut |subscriber| {
        (0..10).filter_map(|_| subscriber.try_recv_or_lag().ok()).collect()
    });
    verb("recv", &mut |subscriber| (0..6).map(|_| subscriber.recv().unwrap()).collect());
    verb("recv_timeout", &mut |subscriber| {
        let mut received = Vec::new();
        loop {
            match subscriber.recv_timeout(Duration::from_millis(1)) {
                Ok(quote) => received.push(quote),
                // (A copy of a ring has no publisher.)
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Closed) => return received,
            }
        }
    });
    verb("try_recv_batch", &mut |subscriber| {
        let mut buffer = [quote(99); 20];
        let count = subscriber.try_recv_batch(&mut buffer);
        buffer[..count].to_vec()
    });
    verb("recv_batch", &mut |subscriber| {
        let mut buffer = [quote(99); 20];
        let count = subscriber.recv_batch(&mut buffer).unwrap();
        buffer[..count].to_vec()
    });
    verb("recv_many", &mut |subscriber| {
        let mut received = Vec::new();
        assert_eq!(subscriber.recv_many(&mut received, 20), Ok(6));
        received
    });
    verb("try_iter", &mut |subscriber| subscriber.try_iter().collect());
    verb("iter", &mut |subscriber| subscriber.iter().take(6).collect());
}

/// Those that say it say each once, where it was.
fn each_is_said<M: MayLose<Corrupt = BadValue>>(mut subscribe: impl FnMut() -> Subscriber<Quote, M>) {
    type Says<M> = fn(&mut Subscriber<Quote, M>) -> Result<Quote, LossyTryRecvError<BadValue>>;
    let verbs: [Says<M>; 4] = [
        |subscriber| subscriber.try_recv_or_lag(),
        |subscriber| Ok(subscriber.recv_or_lag()?),
        |subscriber| subscriber.recv_or_lag_timeout(Duration::ZERO),
        |subscriber| subscriber.recv_or_lag_until(WaitStrategy::BusySpin),
    ];
    for says in verbs {
        let (mut subscriber, mut said) = (subscribe(), Vec::new());
        while subscriber.cursor() < 10 {
            let number = subscriber.cursor();
            match says(&mut subscriber) {
                Ok(quote) => assert_eq!(u64::from(quote.number), number),
                Err(LossyTryRecvError::Corrupt(_)) => said.push(number),
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(said, BAD);
    }
}

/// What is corrupt is not the newest message.
fn newest_is_passed<M: LossyMode>(mut newest: Subscriber<Quote, M>) {
    // What is newest is none, and what was before it is old.
    assert!(newest.latest().is_none());
    assert_eq!((newest.cursor(), newest.total_lagged(), newest.total_corrupt()), (10, 9, 1));
}

#[test]
fn verbs_go_on() {
    let (slots, invitation) = lossy_with(&std::array::from_fn::<_, 10, _>(|number| quote(number as u32)));
    spoil(&slots);
    let ring = invitation.accept::<Quote>().unwrap();
    each_verb(|| ring.subscribable().subscribe_from_oldest());
    each_is_said(|| ring.subscribable().subscribe_from_oldest());
    newest_is_passed(ring.subscribable().subscribe_from_oldest());
    a_worker_ends_its_batch(ring.subscribable().subscribe_from_oldest());

    // A stage passes what is none, as its followers do.
    let begin = || ring.subscribable().subscribe_from_oldest();
    let mut first = begin().after(&[]);
    let mut second = begin().after(&[&first]);
    let mut seen = Vec::new();
    while first.try_process_batch(20, |quote, _| seen.push(*quote)).is_ok() {}
    first.done();
    assert_eq!((numbers(seen), numbers(second.try_iter())), (GOOD.to_vec(), GOOD.to_vec()));
    second.done();
    assert_eq!((first.total_corrupt(), second.total_corrupt()), (4, 4));
}

/// What a worker hands out of it, until it is closed. The last one that is good ends a batch.
pub(crate) fn a_worker_ends_its_batch<R: Receive<Item = Quote> + Send + 'static>(receiver: R) {
    let handler = |quotes: &mut Vec<_>, quote: Quote, end_of_batch| quotes.push((quote.number, end_of_batch));
    let seen = Worker::builder(receiver, Vec::new()).spawn(handler).unwrap().join().unwrap().context;
    assert!(seen.iter().map(|&(number, _)| number).eq(GOOD), "{seen:?}");
    assert!(seen.last().unwrap().1, "{seen:?}");
}

/// Each member of a group passes it by itself.
#[test]
fn members_of_a_group_pass_corrupt_messages() {
    let Shared { handle: mut publisher, invitation: good, .. } =
        broadcast::lossy::<Quote>(Settings::new(CAPACITY)).unwrap();
    let (empty, _page, invitation) = copy_of(&good);
    let mut group = invitation.accept::<Quote>().unwrap().subscribable().subscribe_group::<2>();
    (0..10).for_each(|number| publisher.publish(quote(number)));
    let full = Slots::of::<Quote>(copy_of(&good).0, false);
    spoil(&full);
    let mut bytes = vec![0; full.file.metadata().unwrap().len() as usize];
    full.file.read_exact_at(&mut bytes, 0).unwrap();
    empty.write_all_at(&bytes, 0).unwrap();

    group.pause(1);
    let together: Vec<_> = (0..10).filter_map(|_| group.try_recv().ok()).collect();
    assert_eq!((group.total_corrupt(0), group.total_corrupt(1)), (4, 0));
    let alone: Vec<_> = (0..10).filter_map(|_| group.try_recv_member(1).ok()).collect();
    assert_eq!((group.total_corrupt(0), group.total_corrupt(1)), (4, 4));
    assert_eq!((numbers(together), numbers(alone), group.aligned_count()), (GOOD.to_vec(), GOOD.to_vec(), 2));
}

/// Where publishers wait for subscribers, messages are read in runs.
#[test]
fn verbs_go_on_in_runs() {
    let Shared { handle: mut publisher, invitation: good, .. } =
        broadcast::lossless::<Quote>(Settings::new(CAPACITY), 8).unwrap();
    let keeps_it_open = good.accept_lossless::<Quote>().unwrap().subscribe().unwrap();
    (0..10).for_each(|number| publisher.publish(quote(number)).unwrap());
    let (file, _page, invitation) = copy_of(&good);
    drop(keeps_it_open);
    spoil(&Slots::of::<Quote>(file, false));
    let ring = invitation.accept_lossless::<Quote>().unwrap();
    each_verb(|| ring.subscribe_from_oldest().unwrap());
    each_is_said(|| ring.subscribe_from_oldest().unwrap());
}

/// And where other processes publish, too.
#[test]
fn subscribers_of_several_publishers_pass_corrupt_messages() {
    let builder = mp_broadcast::Builder::new(Settings::new(CAPACITY)).publishers(2);
    let Shared { handle: mut publisher, invitation: good, .. } = builder.build::<Quote>().unwrap();
    (0..10).for_each(|number| publisher.publish(quote(number)));
    let (file, _page, invitation) = copy_of(&good);
    spoil(&Slots::of::<Quote>(file, true));
    let ring = invitation.accept::<Quote>().unwrap();
    each_verb(|| ring.subscribable().subscribe_from_oldest());
    each_is_said(|| ring.subscribable().subscribe_from_oldest());
    newest_is_passed(ring.subscribable().subscribe_from_oldest());
}
