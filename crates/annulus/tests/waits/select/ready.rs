//! Which arm is taken, and what is ready.

use std::thread;
use std::time::Duration;

use annulus::queue::ordered;
use annulus::{RecvError, Select, broadcast, select, select_biased, spsc};

use crate::select::MOMENT;

/// Each arm that stays ready has its turn, and a biased select prefers the first.
#[test]
fn no_arm_starves() {
    let channels = || -> (Vec<_>, Vec<_>) { (0..5).map(|_| spsc::channel(4096)).unzip() };
    let (mut producers, mut consumers) = channels();
    for producer in &mut producers {
        producer.send_batch(&[(); 4000]).unwrap();
    }
    let [first, second, third, fourth, fifth] = &mut consumers[..] else { unreachable!() };
    let (mut last, mut counts) = ([0; 5], [0; 5]);
    for turn in 1..=8000 {
        let index = select! {
            recv(first) -> _ => 0,
            recv(second) -> _ => 1,
            recv(third) -> _ => 2,
            recv(fourth) -> _ => 3,
            recv(fifth) -> _ => 4,
        };
        // As `Select` does, between two.
        assert!(turn - last[index] <= 100 * 5, "{turn} {last:?}");
        last[index] = turn;
        counts[index] += 1;
    }
    assert!(counts.iter().all(|count| (1500..=1700).contains(count)), "{counts:?}");
    for _ in 0..100 {
        select_biased! {
            recv(first) -> _ => {}
            recv(second) -> _ => panic!("the first is ready"),
        }
    }
    let mut select = Select::new();
    for consumer in [first, second, third, fourth, fifth] {
        select.recv(consumer);
    }
    let mut last = [0; 5];
    for turn in 1..=8000 {
        let index = select.ready();
        assert!(turn - last[index] <= 100 * 5);
        last[index] = turn;
    }
}

#[test]
fn select_can_be_printed() {
    let (_producer, mut consumer) = spsc::channel::<u64>(1);
    let mut select = Select::default();
    select.recv(&mut consumer);
    assert_eq!(format!("{select:?}"), "Select { handles: 1, fair: true }");
}

#[test]
fn select_names_the_ready_arm() {
    let (mut producer, mut consumer) = spsc::channel(1);
    let (publisher, subscribable) = broadcast::mp_lossless(2);
    let mut subscriber = subscribable.subscribe();
    let (sender, receiver) = ordered::channel(1);
    let mut by_reference = &receiver;
    let mut select = Select::new();
    assert_eq!(select.ready_timeout(Duration::MAX), None, "there is no handle");
    let indexes = [select.recv(&mut consumer), select.recv(&mut subscriber), select.recv(&mut by_reference)];
    assert_eq!((indexes, select.try_ready()), ([0, 1, 2], None));
    assert_eq!(select.ready_timeout(MOMENT), None);
    publisher.publish(7).unwrap();
    assert_eq!([select.ready(), select.ready()], [1, 1], "it takes nothing");
    sender.send(8).unwrap();
    select.remove(1);
    assert_eq!(select.ready(), 2, "the indexes stay");
    drop((select, sender));
    assert_eq!(
        (subscriber.try_recv(), receiver.recv(), receiver.recv()),
        (Ok(7), Ok(8), Err(RecvError::CLOSED))
    );

    let (sender, receiver) = ordered::channel(1);
    let (mut by_reference, mut shared_publisher) = (&sender, &publisher);
    let mut select = Select::new_biased();
    select.send(&mut producer);
    select.send(&mut by_reference);
    select.send(&mut shared_publisher);
    assert_eq!(select.ready(), 0);
    select.remove(0);
    assert_eq!(select.ready(), 1);
    sender.send(1).unwrap();
    assert_eq!(select.ready(), 2);
    publisher.publish(1).unwrap();
    publisher.publish(2).unwrap();
    assert_eq!(select.try_ready(), None);
    drop(receiver);
    assert_eq!(select.ready(), 1, "nobody will receive");
    drop(subscriber);
    drop(subscribable);
    select.remove(1);
    assert_eq!(select.ready(), 2, "nor here");
    drop(select);
    producer.send(1).unwrap();
    assert_eq!(consumer.recv(), Ok(1));
}

/// It takes nothing, so another consumer must be woken for the message.
#[test]
fn message_that_select_leaves_wakes_another() {
    for _ in 0..if cfg!(miri) { 2 } else { 50 } {
        let (sender, receiver) = ordered::channel(4);
        thread::scope(|scope| {
            let mut mine = receiver.clone();
            scope.spawn(move || {
                let mut select = Select::new();
                select.recv(&mut mine);
                select.ready();
                // And goes without it.
            });
            let other = scope.spawn(|| receiver.recv());
            thread::sleep(Duration::from_micros(300));
            sender.send(7).unwrap();
            assert_eq!(other.join().unwrap(), Ok(7));
            // For a select that came late.
            sender.close();
        });
    }
}
