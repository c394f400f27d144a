//! A ring for each producer: producers that leave, and the next ones. Without the producers' fence, so no
//! handle closes or joins here while a message is on its way; that is in `fan_in_wake.rs`.
#![cfg(annulus_loom)]

use annulus::mpsc;
use annulus_loom::{Checked, check, receive_all};
use loom::thread;

/// The last producer closes the queue, and a consumer that sees it closed finds what all of them sent.
#[test]
fn the_last_one_out() {
    check(|| {
        let (mut first, mut consumer) = mpsc::channel::<[u64; 2]>(2);
        let mut second = first.clone();
        let here = thread::spawn(move || assert!(first.try_send(Checked::of(1)).is_ok()));
        let there = thread::spawn(move || assert!(second.try_send(Checked::of(2)).is_ok()));
        while !consumer.is_closed() {
            thread::yield_now();
        }
        let mut received: Vec<_> = receive_all(&mut consumer).iter().map(Checked::number).collect();
        received.sort_unstable();
        assert_eq!(received, [1, 2]);
        here.join().unwrap();
        there.join().unwrap();
    });
}

/// A producer sends and leaves: its ring goes back when it is empty, and not before.
#[test]
fn leaver_s_last_message() {
    check(|| {
        let (mut leaver, mut consumer) = mpsc::channel::<[u64; 2]>(2);
        let stays = leaver.clone();
        let writer = thread::spawn(move || assert!(leaver.try_send(Checked::of(0)).is_ok()));
        let mut received = Vec::new();
        received.extend(consumer.try_recv().ok());
        writer.join().unwrap();
        // Before the end, at which every ring is looked at once more.
        (0..2).for_each(|_| received.extend(consumer.try_recv().ok()));
        drop(stays);
        assert_eq!(received, [<[u64; 2]>::of(0)]);
    });
}

/// A producer leaves and another one comes, which may get its ring: it goes on behind what the first one
/// sent, in slots that were given back.
#[test]
fn a_ring_for_the_next() {
    check(|| {
        let (mut leaver, mut consumer) = mpsc::channel::<[u64; 2]>(1);
        let mut stays = leaver.clone();
        assert!(stays.try_send(Checked::of(2)).is_ok());
        let here = thread::spawn(move || assert!(leaver.try_send(Checked::of(0)).is_ok()));
        let there = thread::spawn(move || {
            let mut next = stays.clone();
            // What the first one has sent may lie there still.
            let sent = next.try_send(Checked::of(1)).is_ok();
            (sent, stays, next)
        });
        let mut received = Vec::new();
        for _ in 0..3 {
            received.extend(consumer.try_recv().ok());
        }
        here.join().unwrap();
        let (sent, ..) = there.join().unwrap();
        received.append(&mut receive_all(&mut consumer));
        let mut received: Vec<_> = received.iter().map(Checked::number).collect();
        received.sort_unstable();
        assert_eq!(received, if sent { vec![0, 1, 2] } else { vec![0, 2] });
        assert!(consumer.rings() <= 3);
    });
}
