//! A ring lies on the heap, whatever the size of its messages: no thread needs stack for it to make it, use
//! it or drop it.
#![cfg(all(feature = "std", not(any(miri, annulus_loom, annulus_emulated))))]
#![allow(clippy::disallowed_types, reason = "a test")]
#![allow(clippy::large_stack_arrays, reason = "they are what is tested")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use annulus::bus::{Bus, TypedBus};
use annulus::pipeline::Pipeline;
use annulus::{broadcast, event, mpmc, mpsc, pool, queue, spmc, spsc};

/// Larger than the whole stack of the thread that makes the rings.
type Large = [u8; 1 << 20];
/// Of this the thread's stack holds some, and a ring of `SLOTS` more than the stack.
type Message = [u8; 1 << 16];
const SLOTS: usize = 256;

const KIBIBYTE: usize = 1 << 10;

fn in_thread(stack_bytes: usize, action: impl FnOnce() + Send + 'static) {
    thread::Builder::new().stack_size(stack_bytes).spawn(action).unwrap().join().unwrap();
}

#[test]
fn ring_is_made_where_not_even_one_message_fits_the_stack() {
    in_thread(256 * KIBIBYTE, || {
        drop(broadcast::lossy::<Large>(2));
        drop(broadcast::lossless::<Large>(2));
        drop(broadcast::mp_lossy::<Large>(2));
        drop(broadcast::mp_lossless::<Large>(2));
        drop(spsc::channel::<Large>(2));
        drop(mpsc::channel::<Large>(2));
        drop(spmc::channel::<Large>(2));
        drop(mpmc::channel::<Large>(2));
        drop(queue::ordered::channel::<Large>(2));
        drop(queue::bytes::channel(4 * size_of::<Large>()));
        drop(broadcast::bytes::lossy(4 * size_of::<Large>()));
        drop(pool::BufferPool::try_new(size_of::<Large>(), 2).unwrap());
    });
}

#[test]
fn handles_join_and_leave_there() {
    in_thread(256 * KIBIBYTE, || {
        let (publisher, subscribable) = broadcast::mp_lossless::<Large>(2);
        let subscriber = subscribable.subscribe();
        let stage = subscriber.clone().after(&[&subscribable.subscribe_tracked()]);
        drop((publisher.clone(), subscribable.subscribe_group::<2>(), subscribable.subscribe_lossy(), stage));
        let (producer, consumer) = mpmc::channel::<Large>(2);
        drop((producer.clone(), producer.register(), consumer.clone()));
        let (producer, _consumer) = mpsc::channel::<Large>(2);
        drop((producer.clone(), producer.register()));
        let (_producer, consumer) = spmc::channel::<Large>(2);
        drop(consumer.clone());
        let (sender, receiver) = queue::ordered::channel::<Large>(2);
        drop((sender.clone(), receiver.clone()));
    });
}

#[test]
fn topics_and_pipelines_are_made_there() {
    in_thread(256 * KIBIBYTE, || {
        let bus = Bus::<Large>::new(2);
        let (publisher, subscriber) = (bus.publisher("a"), bus.subscribe("a"));
        let many = bus.topic("b").mp_lossless().publisher().unwrap();
        drop((publisher, subscriber, many, bus.subscribe_matching("*").unwrap()));
        drop(TypedBus::new(2).publisher::<Large>("a"));
        let builder = Pipeline::builder().capacity(2).stack_bytes(64 << 20);
        let (input, stages) = builder.input::<Large>();
        let (output, pipeline) = stages.then(|message| message).build();
        drop((input, output));
        pipeline.join().unwrap();
    });
}

#[test]
#[cfg(all(feature = "shm", target_os = "linux"))]
fn rings_between_processes_are_made_there() {
    use annulus::Settings;
    use annulus::shm::{self, WhenGone};

    in_thread(256 * KIBIBYTE, || {
        drop(shm::broadcast::lossy::<Large>(Settings::new(2)).unwrap());
        drop(shm::spsc::producer::<Large>(Settings::new(2), WhenGone::Close).unwrap());
        drop(shm::mpsc::Builder::new(Settings::new(2)).build::<Large>().unwrap());
    });
}

/// Events are made by a closure, which returns them, so the stack holds a few: but not all.
#[test]
fn events_are_made_one_after_the_other() {
    in_thread(1024 * KIBIBYTE, || {
        let (mut publisher, events) = event::channel::<Message>(SLOTS, || [7; _]);
        let mut subscriber = events.subscribe();
        publisher.publish(|message| message[0] = 8).unwrap();
        assert_eq!(subscriber.process(|message| (message[0], message[1])), Ok((8, 7)));
        drop(event::channel::<Message>(SLOTS, || [0; _]).0.with_reset(|message| message[0] = 0));
        drop(event::mp_channel::<Message>(SLOTS, || [0; _]));
        drop(event::mp_channel::<Message>(SLOTS, || [0; _]).0.with_reset(|message| message[0] = 0));
    });
}

/// By value, which takes some messages' stack where nothing is optimized; but never the ring's.
#[test]
fn messages_go_through_a_ring_that_is_larger_than_the_stack() {
    in_thread(8192 * KIBIBYTE, || {
        let (mut publisher, subscribable) = broadcast::lossy::<Message>(SLOTS);
        let mut subscriber = subscribable.subscribe();
        publisher.publish([1; _]);
        assert_eq!(subscriber.recv().unwrap()[9], 1);
        let (publisher, subscribable) = broadcast::mp_lossless::<Message>(SLOTS);
        let mut subscriber = subscribable.subscribe();
        publisher.publish([2; _]).unwrap();
        assert_eq!(subscriber.recv().unwrap()[9], 2);
    });
    in_thread(8192 * KIBIBYTE, || {
        let (mut producer, mut consumer) = spmc::channel::<Message>(SLOTS);
        assert!(producer.send([3; _]).is_ok() && producer.send([4; _]).is_ok());
        assert_eq!(consumer.recv().unwrap()[9], 3);
        let (mut producer, mut consumer) = mpmc::channel::<Message>(SLOTS);
        assert!(producer.send([5; _]).is_ok() && producer.send([6; _]).is_ok());
        assert_eq!(consumer.recv().unwrap()[9], 5);
        let (sender, receiver) = queue::ordered::channel::<Message>(SLOTS);
        assert!(sender.send([7; _]).is_ok() && sender.send([8; _]).is_ok());
        assert_eq!(receiver.recv().unwrap()[9], 7);
    });
}

/// In place: the message is written in its slot, and read there.
#[test]
fn messages_that_are_written_in_place_need_no_stack() {
    in_thread(256 * KIBIBYTE, || {
        let (mut producer, mut consumer) = spsc::channel::<Large>(2);
        let mut slots = producer.try_reserve(2).unwrap();
        for slot in slots.as_uninit() {
            // SAFETY: any bytes are a message, and the slot has so many.
            unsafe { slot.as_mut_ptr().write_bytes(9, 1) };
        }
        // SAFETY: both were written.
        assert_eq!(unsafe { slots.commit(2) }, 2);
        assert_eq!(consumer.peek().unwrap()[5], 9);
        assert_eq!(consumer.readable().len(), 2);
        consumer.advance(1);

        let (mut producer, mut consumer) = queue::bytes::channel(4 * size_of::<Large>());
        let mut record = producer.try_reserve(size_of::<Large>()).unwrap();
        record.fill(6);
        record.commit().unwrap();
        let record = consumer.read().unwrap();
        assert_eq!((record.len(), record[77]), (size_of::<Large>(), 6));
    });
}

/// It is dropped where it lies, by the drop of the last handle.
#[test]
fn messages_left_in_a_queue_are_dropped_without_stack() {
    static DROPPED: AtomicUsize = AtomicUsize::new(0);

    struct Counted(Large);

    impl Drop for Counted {
        fn drop(&mut self) {
            assert_eq!(self.0[1], 7);
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn left_by<P: Send + 'static, C: Send + 'static>(mut ends: (P, C), send: fn(&mut P, Counted) -> bool) {
        in_thread(64 << 20, move || {
            assert!(send(&mut ends.0, Counted([7; _])) && send(&mut ends.0, Counted([7; _])));
            in_thread(256 * KIBIBYTE, || {
                let (producer, consumer) = ends;
                drop(consumer);
                drop(producer);
            });
        });
        assert_eq!(DROPPED.swap(0, Ordering::Relaxed), 2);
    }

    left_by(spsc::channel(2), |producer, message| producer.try_send(message).is_ok());
    left_by(mpsc::channel(2), |producer, message| producer.try_send(message).is_ok());
    left_by(spmc::channel(2), |producer, message| producer.try_send(message).is_ok());
    left_by(mpmc::channel(2), |producer, message| producer.try_send(message).is_ok());
    left_by(queue::ordered::channel(2), |sender, message| sender.try_send(message).is_ok());
}
