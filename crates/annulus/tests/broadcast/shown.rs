//! What handles look like when they are printed, and verbs that are short forms of others.

use std::thread;
use std::time::Duration;

use annulus::Settings;
use annulus::pool::{BufferPool, Handle, HandleError};
use annulus::{WaitStrategy, mpmc, mpsc, spmc, spsc};

fn is_shown(what: &impl std::fmt::Debug, parts: &[&str]) {
    let shown = format!("{what:?}");
    assert!(parts.iter().all(|part| shown.contains(part)), "{parts:?} in {shown}");
}

/// Of a queue of any kind.
macro_rules! queues {
    ($($module:ident: $kind:ident),*) => {$(
        mod $module {
            use super::*;

            #[test]
            fn debug_output_names_handle_and_state() {
                let (mut producer, mut consumer) = $kind::with::<u8>(Settings::new(4)).unwrap();
                assert!(producer.is_empty() && consumer.is_empty());
                producer.send_until(1, WaitStrategy::BusySpin).unwrap();
                assert!(!producer.is_empty());
                is_shown(&producer, &["Producer", stringify!($kind), "len: 1", "capacity: 4", "closed: false"]);
                is_shown(&consumer, &["Consumer", stringify!($kind), "len: 1"]);
                is_shown(&consumer.try_iter(), &["TryIter"]);
                is_shown(&consumer.iter(), &["Iter", "Consumer"]);
                consumer.close();
                is_shown(&consumer, &["closed: true"]);
                assert_eq!(producer.send_until(2, WaitStrategy::BusySpin).unwrap_err().into_inner(), 2);
                let mut rest = consumer.into_iter();
                is_shown(&rest, &["Iter", "Consumer"]);
                assert_eq!((rest.next(), rest.next()), (Some(1), None));
            }

            #[test]
            fn send_to_a_closed_queue_gives_the_value_back() {
                let (mut producer, consumer) = $kind::channel(1);
                producer.send(1).unwrap();
                consumer.close();
                assert_eq!(producer.send(2).unwrap_err().0, 2);
                assert_eq!(producer.send_until(3, WaitStrategy::BusySpin).unwrap_err().into_inner(), 3);
            }

            #[test]
            fn settings_are_cloned_and_shown() {
                let settings = Settings::new(3).name("shown");
                is_shown(&settings.clone(), &["Settings", "capacity: 3", "shown"]);
                let (_producer, consumer) = $kind::with::<u8>(settings).unwrap();
                assert_eq!(consumer.capacity(), 3);
                assert!($kind::with::<u8>(Settings::new(0)).is_err());
            }

            #[test]
            fn spinning_consumer_receives_a_later_message() {
                let (mut producer, mut consumer) = $kind::channel(4);
                let sender = thread::spawn(move || {
                    thread::sleep(Duration::from_millis(5));
                    producer.send(7)
                });
                assert_eq!(consumer.recv_until(WaitStrategy::BusySpin), Ok(7));
                sender.join().unwrap().unwrap();
            }
        }
    )*};
}

mod queues {
    use super::*;
    queues!(a_spsc: spsc, a_mpsc: mpsc, a_spmc: spmc, a_mpmc: mpmc);
}

#[test]
fn long_and_short_names_do_the_same() {
    let (mut first, mut consumer) = mpsc::channel(4);
    let mut second = first.clone();
    first.send(1).unwrap();
    second.send(2).unwrap();
    let mut sum = 0;
    assert_eq!(consumer.consume(usize::MAX, |number| sum += number), 2);
    assert_eq!(sum, 3);
    second.send(4).unwrap();
    assert_eq!(consumer.try_iter().collect::<Vec<_>>(), [4]);
}

/// A ring that is used again begins to measure anew.
#[test]
fn producer_that_comes_later_has_a_latency_of_its_own() {
    let (mut first, mut consumer) = mpsc::with(Settings::new(4).statistics(true)).unwrap();
    let second = first.clone();
    let mut third = second;
    for value in 0..8 {
        third.send(value).unwrap();
        consumer.recv().unwrap();
    }
    assert!(consumer.stats().producers[1].latency.is_some());
    drop(third);
    // The consumer comes by, and gives the ring up.
    assert!(consumer.try_recv().is_err());
    first.send(9).unwrap();
    assert_eq!(consumer.recv(), Ok(9));
    let _fourth = first.clone();
    assert_eq!(consumer.rings(), 2);
    assert_eq!(consumer.stats().producers[1].latency, None);
}

/// Now and then a message is measured, wherever it lies when the consumer comes to look.
#[test]
fn message_further_on_is_measured_too() {
    let (mut producer, mut consumer) = spsc::with(Settings::new(256).statistics(true)).unwrap();
    assert!(consumer.try_recv().is_err());
    producer.send(0).unwrap();
    assert_eq!(consumer.recv(), Ok(0));
    for value in 1..=256 {
        producer.try_send(value).unwrap();
    }
    assert!(producer.try_send(257).unwrap_err().is_full());
    assert!((1..=256).all(|value| consumer.recv() == Ok(value)));
    let samples = consumer.stats().producers[0].latency.unwrap().samples;
    assert_eq!(samples, 2, "the first, and the one at which the producer looked for room again");
}

#[test]
fn reservation_says_how_many_slots_it_has() {
    let (mut producer, _consumer) = spsc::channel::<u8>(4);
    is_shown(&producer.try_reserve(3).unwrap(), &["Reservation", "3"]);
}

#[test]
fn commit_sends_slots_that_were_written_by_hand() {
    let (mut producer, mut consumer) = spsc::channel(4);
    let mut reservation = producer.try_reserve(3).unwrap();
    reservation.as_uninit()[0].write(5);
    reservation.as_uninit()[1].write(6);
    // SAFETY: the first two were written.
    assert_eq!(unsafe { reservation.commit(2) }, 2);
    assert_eq!(consumer.try_iter().collect::<Vec<_>>(), [5, 6]);
}

#[test]
fn lossy_ring_counts_published_messages() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<u32>(4);
    let mut subscriber = subscribable.subscribe();
    publisher.publish_batch(&[1, 2]);
    assert_eq!(publisher.published(), 2);
    is_shown(&subscriber.try_iter(), &["TryIter", "Subscriber"]);
    is_shown(&subscriber.iter(), &["Iter", "Subscriber"]);
    drop(publisher);
    let rest = subscriber.into_iter();
    is_shown(&rest, &["Iter", "Subscriber"]);
    assert_eq!(rest.collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn events_are_published_by_any_strategy() {
    let (mut publisher, subscribable) = annulus::event::channel(4, || 0);
    let mut subscriber = subscribable.subscribe();
    publisher.publish_until(WaitStrategy::BusySpin, |number| *number = 7).unwrap();
    assert_eq!(subscriber.process(|number| *number), Ok(7));
    publisher.publish_timeout(Duration::from_secs(60), |number| *number = 8).unwrap();
    assert_eq!(subscriber.process(|number| *number), Ok(8));
}

#[test]
fn buffer_is_its_bytes() {
    let mut buffer = BufferPool::new(8, 1).alloc().unwrap();
    AsMut::<[u8]>::as_mut(&mut buffer)[0] = 5;
    assert_eq!(AsRef::<[u8]>::as_ref(&buffer), [5, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn wrong_handle_is_named() {
    let pool = BufferPool::new(8, 3);
    let error = pool.redeem(Handle::from_bits(u32::MAX)).unwrap_err();
    assert_eq!(error, HandleError::NoSuchSlab { slab: 3, count: 3 });
    assert!(error.to_string().starts_with("the handle names slab 3 of a pool that has 3"), "{error}");
    // With one slab, a handle is its generation.
    let pool = BufferPool::new(8, 1);
    let handle = pool.alloc().unwrap().into_handle();
    let _buffer = pool.redeem(handle).unwrap();
    let Err(HandleError::Stale { current, .. }) = pool.redeem(handle) else { panic!("it is good for once") };
    let error = pool.redeem(Handle::from_bits(current)).unwrap_err();
    assert_eq!(error, HandleError::NotOut { slab: 0 });
    assert!(error.to_string().starts_with("no handle of slab 0 is out"), "{error}");
}
