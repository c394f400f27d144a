//! What an arm does: every kind of handle, ends, values, control flow, time, panics.

use std::time::{Duration, Instant};

use annulus::queue::{bytes, ordered};
use annulus::{LossyRecvError, RecvError, broadcast, event, mpmc, mpsc, select, select_biased, spmc, spsc};

use crate::select::MOMENT;

/// A ring's name, and what sends to it.
type Sends<'a> = (&'a str, Box<dyn FnMut() + 'a>);

#[test]
fn receiving_handles_have_arms() {
    let (mut lossy, from_lossy) = broadcast::lossy(8);
    let (mut lossless, from_lossless) = broadcast::lossless(8);
    let (mut events, from_events) = event::channel(8, || 0_u8);
    let (mut one, mut from_one) = spsc::channel(8);
    let (mut many, mut from_many) = mpsc::channel(8);
    let (mut divided, mut from_divided) = spmc::channel(8);
    let (mut both, mut from_both) = mpmc::channel(8);
    let (sender, receiver) = ordered::channel(8);
    let mut group = from_lossless.subscribe_group::<2>();
    let mut first = from_lossless.subscribe_tracked();
    let mut second = from_lossless.subscribe().after(&[&first]);
    let mut in_place = from_events.subscribe();
    let mut by_value = from_events.subscribe();
    let (mut subscriber, mut counted) = (from_lossy.subscribe(), from_lossy.subscribe());

    let mut sends: Vec<Sends<'_>> = vec![
        ("lossy", Box::new(|| lossy.publish(1_u32))),
        ("lossless", Box::new(|| lossless.publish(2_u64).unwrap())),
        ("events", Box::new(|| events.send(3).unwrap())),
        ("spsc", Box::new(|| one.send("4".to_owned()).unwrap())),
        ("mpsc", Box::new(|| many.send('5').unwrap())),
        ("spmc", Box::new(|| divided.send(Some(6_i8)).unwrap())),
        ("mpmc", Box::new(|| both.send([7_u16]).unwrap())),
        ("shared", Box::new(|| sender.send((8_i16, ())).unwrap())),
    ];
    for (name, send) in &mut sends {
        // Two subscribers, or two arms of a ring, have two messages.
        let expected: &[&str] = match *name {
            "lossy" => &["subscriber", "counted"],
            "lossless" => &["group", "first", "second"],
            "events" => &["in place", "by value"],
            other => &[other],
        };
        send();
        let mut seen: Vec<_> = expected
            .iter()
            .map(|_| {
                select! {
                    recv(subscriber) -> message => { assert_eq!(message, Ok(1)); "subscriber" }
                    recv_or_lag(counted) -> message => { assert_eq!(message, Ok(1)); "counted" },
                    recv(group) -> message => { assert_eq!(message, Ok(2)); "group" }
                    recv(first) -> message => { assert_eq!(message, Ok(2)); first.try_recv().unwrap_err(); "first" }
                    recv(second) -> message => { assert_eq!(message, Ok(2)); "second" }
                    wait(in_place) -> there => {
                        assert_eq!(there, Ok(()));
                        assert_eq!(in_place.process(|event| *event), Ok(3));
                        "in place"
                    }
                    recv(by_value) -> message => { assert_eq!(message, Ok(3)); "by value" }
                    recv(from_one) -> message => { assert_eq!(message, Ok("4".to_owned())); "spsc" }
                    recv(from_many) -> message => { assert_eq!(message, Ok('5')); "mpsc" }
                    recv(from_divided) -> message => { assert_eq!(message, Ok(Some(6))); "spmc" }
                    recv(from_both) -> message => { assert_eq!(message, Ok([7])); "mpmc" }
                    recv(receiver) -> message => { assert_eq!(message, Ok((8, ()))); "shared" }
                }
            })
            .collect();
        seen.sort_unstable();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(seen, expected);
    }
}

#[test]
fn sending_handles_have_arms() {
    let (mut lossless, subscribable) = broadcast::lossless(2);
    let mut subscriber = subscribable.subscribe();
    let (shared_lossless, shared_subscribable) = broadcast::mp_lossless(2);
    let mut other = shared_subscribable.subscribe();
    let (mut events, subscribable) = event::channel(2, String::new);
    let mut in_place = subscribable.subscribe();
    let (mut shared_events, subscribable) = event::mp_channel(2, String::new);
    let mut by_value = subscribable.subscribe();
    let (mut one, mut from_one) = spsc::channel(2);
    let (mut many, mut from_many) = mpsc::channel(2);
    let (mut divided, mut from_divided) = spmc::channel(2);
    let (mut both, mut from_both) = mpmc::channel(2);
    let (sender, receiver) = ordered::channel(2);
    let mut sent = 0;
    loop {
        // By reference, too.
        let (borrowed, shared) = (&mut one, &sender);
        select! {
            send(lossless, 1_u8) -> sent => sent.unwrap(),
            send(shared_lossless, 2_u16) -> sent => sent.unwrap(),
            send(events, "3".to_owned()) -> sent => sent.unwrap(),
            send(shared_events, "4".to_owned()) -> sent => sent.unwrap(),
            send(borrowed, "5".to_owned()) -> sent => sent.unwrap(),
            send(many, '6') -> sent => sent.unwrap(),
            send(divided, 7) -> sent => sent.unwrap(),
            send(both, [8]) -> sent => sent.unwrap(),
            send(shared, 9) -> sent => sent.unwrap(),
            default => break,
        }
        sent += 1;
    }
    assert_eq!(sent, 18, "each of nine has room for two");
    assert_eq!(subscriber.try_iter().collect::<Vec<_>>(), [1, 1]);
    assert_eq!(other.try_iter().collect::<Vec<_>>(), [2, 2]);
    assert_eq!(in_place.try_iter().collect::<String>(), "33");
    assert_eq!(by_value.try_iter().collect::<String>(), "44");
    assert_eq!(from_one.try_iter().collect::<String>(), "55");
    assert_eq!(from_many.try_iter().collect::<String>(), "66");
    assert_eq!(from_divided.try_iter().sum::<i32>(), 14);
    assert_eq!(from_both.try_iter().map(|[number]| number).sum::<i32>(), 16);
    assert_eq!(receiver.try_iter().sum::<i32>(), 18);
}

#[test]
fn an_end_is_reported_as_by_the_verb() {
    let (producer, mut consumer) = spsc::channel::<String>(2);
    let (mut other, from_other) = spsc::channel(2);
    let (sender, receiver) = ordered::channel(1);
    drop((producer, from_other, receiver));
    select! {
        recv(consumer) -> message => assert_eq!(message, Err(RecvError::CLOSED)),
    }
    // The value comes back.
    select!(send(other, "value".to_owned()) -> sent => assert_eq!(sent.unwrap_err().into_inner(), "value"));
    select!(send(sender, "value".to_owned()) -> sent => assert_eq!(sent.unwrap_err().into_inner(), "value"));

    let (mut publisher, subscribable) = broadcast::lossy(2);
    let mut subscriber = subscribable.subscribe();
    publisher.publish_batch(&[1, 2, 3]);
    select!(recv_or_lag(subscriber) -> message => assert_eq!(message, Err(LossyRecvError::Lagged { skipped: 1 })));
    drop(publisher);
    select!(recv(subscriber) -> message => assert_eq!(message, Ok(2)));
    select!(recv_or_lag(subscriber) -> message => assert_eq!(message, Ok(3)));
    select!(recv_or_lag(subscriber) -> message => assert_eq!(message, Err(LossyRecvError::Closed)));
}

/// A value belongs to the program until its arm is chosen.
#[test]
fn value_is_made_only_for_its_arm() {
    let (mut producer, mut consumer) = spsc::channel(1);
    let (sender, receiver) = ordered::channel(1);
    producer.send("first".to_owned()).unwrap();
    sender.send("first".to_owned()).unwrap();
    let (mut value, mut made) = (Some("second".to_owned()), 0);
    for round in 0..2 {
        let text = "second".to_owned();
        select_biased! {
            send(producer, { made += 1; value.take().unwrap() }) -> sent => sent.unwrap(),
            send(sender, text) -> sent => { sent.unwrap(); unreachable!("its queue is full") }
            default => assert_eq!(text, "second", "it was not moved"),
        }
        assert_eq!(made, round);
        if round == 0 {
            assert_eq!(consumer.recv().as_deref(), Ok("first"));
        }
    }
    assert_eq!(consumer.recv().as_deref(), Ok("second"));
    drop(receiver);
}

/// Readers would wait for the value for ever, so the process ends.
#[test]
#[cfg(all(unix, not(miri)))]
fn a_panic_in_a_claim_aborts() {
    use std::os::unix::process::ExitStatusExt;

    const CHILD: &str = "ANNULUS_SELECT_ABORTS";

    if std::env::var_os(CHILD).is_none() {
        let mut child = crate::support::alone::again("select::arms::a_panic_in_a_claim_aborts");
        let Ok(output) = child.env(CHILD, "1").output() else {
            return; // an emulator, which can't begin another program
        };
        assert_eq!(output.status.signal(), Some(6), "SIGABRT");
        return;
    }
    let (sender, _receiver) = ordered::channel::<u64>(1);
    let no_value = || -> u64 { panic!("no value") };
    let panics = std::panic::AssertUnwindSafe(|| select!(send(sender, no_value()) -> _ => {}));
    assert!(std::panic::catch_unwind(panics).is_err());
}

/// `break`, `continue`, `return` and `?` are those of the function around.
#[test]
fn control_flow_leaves_the_arm() {
    fn sum_until_close(mut consumer: spsc_of::Consumer, limit: u64) -> Result<u64, RecvError> {
        let (mut producer, mut odd) = spsc::channel(64);
        let mut sum = 0;
        'all: loop {
            select! {
                recv(consumer) -> number => {
                    let number = number?;
                    if number % 2 == 1 {
                        producer.send(number).unwrap();
                        continue;
                    }
                    sum += number;
                    if sum > limit { break 'all }
                }
                recv(odd) -> number => match number {
                    Ok(0) => return Ok(0),
                    Ok(number) => sum += number,
                    Err(_) => break,
                },
            }
        }
        Ok(sum)
    }
    let channel = || {
        let (mut producer, consumer) = spsc::channel(64);
        producer.send_batch(&[1, 2, 3, 4, 5, 6, 100]).unwrap();
        (producer, consumer)
    };
    let (producer, consumer) = channel();
    drop(producer);
    assert_eq!(sum_until_close(consumer, 1_000), Err(RecvError::CLOSED));
    let (_producer, consumer) = channel();
    assert!(sum_until_close(consumer, 99).unwrap() >= 100);
}

mod spsc_of {
    pub(super) type Consumer = annulus::queue::Consumer<u64, annulus::spsc::Spsc>;
}

#[test]
fn default_arm_waits_until_its_timeout() {
    let (mut producer, mut consumer) = spsc::channel(1);
    let begun = Instant::now();
    assert!(select! {
        recv(consumer) -> _ => false,
        default(MOMENT) => true,
    });
    assert!(begun.elapsed() >= MOMENT);
    assert!(select!(recv(consumer) -> _ => false, default => true));
    producer.send(7).unwrap();
    assert_eq!(select!(recv(consumer) -> number => number.unwrap(), default => 0), 7);
    producer.send(8).unwrap();
    assert_eq!(select!(default(Duration::ZERO) => 0, recv(consumer) -> number => number.unwrap()), 8);
    producer.send(9).unwrap();
    assert_eq!(select!(recv(consumer) -> number => number.unwrap(), default(Duration::MAX) => 0), 9);
}

/// A panic in an arm, or in the value of a send, leaves everything as it was.
#[test]
fn panic_in_an_arm_leaves_handles_unchanged() {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    let (mut producer, mut consumer) = spsc::channel(1);
    let value = |number: u64| if number == 0 { panic!("no value") } else { number };
    let sent = catch_unwind(AssertUnwindSafe(|| select!(send(producer, value(0)) -> _ => {})));
    assert!(sent.is_err() && consumer.is_empty());
    select!(send(producer, value(1)) -> sent => sent.unwrap());
    let received =
        catch_unwind(AssertUnwindSafe(|| select!(recv(consumer) -> number => panic!("{number:?}"))));
    assert!(received.is_err() && consumer.is_empty());
    producer.send(2).unwrap();
    assert_eq!(consumer.recv(), Ok(2));
}

/// Each expression uses the handle of its own arm, and those of the others.
#[test]
fn handles_are_free_in_all_expressions() {
    let (mut lossless, subscribable) = broadcast::lossless(16);
    let mut subscriber = subscribable.subscribe();
    let (mut events, subscribable) = event::channel(16, String::new);
    let mut in_place = subscribable.subscribe();
    let (mut one, mut from_one) = spsc::channel(16);
    let (mut records, mut from_records) = bytes::channel(64);
    let taken = [(); 4].map(|()| {
        let (one, lossless) = (&mut one, &mut lossless);
        select_biased! {
            recv(subscriber) -> message => {
                assert_eq!(message, Ok(2));
                lossless.publish(3).unwrap();
                assert_eq!(subscriber.recv(), Ok(3));
                one.send("a".to_owned()).unwrap();
                "subscriber"
            }
            recv(from_one) -> message => {
                assert_eq!(message.as_deref(), Ok("a"));
                events.send("c".to_owned()).unwrap();
                one.send("d".to_owned()).unwrap();
                assert_eq!(from_one.recv().as_deref(), Ok("d"));
                "one"
            }
            wait(in_place) -> there => {
                there.unwrap();
                events.send("b".to_owned()).unwrap();
                assert_eq!(in_place.try_iter().collect::<String>(), "cb");
                one.send("e".to_owned()).unwrap();
                "in place"
            }
            send(lossless, 1) -> sent => {
                sent.unwrap();
                assert_eq!(subscriber.recv(), Ok(1));
                lossless.publish(2).unwrap();
                records.try_reserve(3).unwrap().commit().unwrap();
                "lossless"
            }
            reserve(records, 3) -> record => {
                record.unwrap().commit().unwrap();
                records.try_reserve(2).unwrap().commit().unwrap();
                one.send("e".to_owned()).unwrap();
                "records"
            }
            send(events, "f".to_owned()) -> sent => {
                sent.and_then(|()| events.send("g".to_owned())).unwrap();
                "events"
            }
            default => {
                lossless.publish(4).unwrap();
                events.send("h".to_owned()).unwrap();
                one.send("i".to_owned()).unwrap();
                records.try_reserve(1).unwrap().commit().unwrap();
                "default"
            }
        }
    });
    assert_eq!(taken, ["lossless", "subscriber", "one", "in place"]);
    assert_eq!(from_records.try_read().unwrap().len(), 3);
}

/// The verb's own room is claimed before the value is made; afterwards the handle is free.
#[test]
fn handle_that_sent_sends_again() {
    macro_rules! sends_twice {
        ($sender:ident . $verb:ident ($first:expr, $second:expr)) => {
            select! {
                send($sender, $first) -> sent => {
                    sent.unwrap();
                    $sender.$verb($second).unwrap();
                }
            }
            let by_reference = &mut $sender;
            select_biased! {
                send(by_reference, $first) -> sent => sent.and_then(|()| by_reference.$verb($second)).unwrap(),
                default => unreachable!(),
            }
        };
    }
    let (mut sender, receiver) = spsc::channel(4);
    sends_twice!(sender.send(String::from("a"), String::from("b")));
    drop(receiver);
    let (mut sender, receiver) = mpsc::channel(4);
    sends_twice!(sender.send(String::from("a"), String::from("b")));
    drop(receiver);
    let (mut sender, receiver) = spmc::channel(4);
    sends_twice!(sender.send(String::from("a"), String::from("b")));
    drop(receiver);
    let (mut sender, receiver) = mpmc::channel(4);
    sends_twice!(sender.send(String::from("a"), String::from("b")));
    drop(receiver);
    let (mut sender, receiver) = ordered::channel(4);
    sends_twice!(sender.send(String::from("a"), String::from("b")));
    drop(receiver);
    let (mut sender, subscribable) = broadcast::lossless(4);
    sends_twice!(sender.publish(1, 2));
    drop(subscribable);
    let (mut sender, subscribable) = broadcast::mp_lossless(4);
    sends_twice!(sender.publish(1, 2));
    drop(subscribable);
    let (mut sender, subscribable) = event::channel(4, String::new);
    sends_twice!(sender.send(String::from("a"), String::from("b")));
    drop(subscribable);
    let (mut sender, subscribable) = event::mp_channel(4, String::new);
    sends_twice!(sender.send(String::from("a"), String::from("b")));
    drop(subscribable);
}
