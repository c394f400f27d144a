//! Random traffic over rings of all families, beside threads that select: ten seconds by hand
//! (`ANNULUS_SOAK_SECONDS=10`), a moment otherwise.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use annulus::queue::ordered;
use annulus::{Select, broadcast, event, mpmc, mpsc, select, select_biased, spmc, spsc};

use crate::support::{Pauses, soak_time, spawn, without_standing_still};

/// Sends 1, 2, 3 … with pauses at random until `is_over`, and returns their sum.
fn sends(seed: u64, is_over: &'static AtomicBool, mut send: impl FnMut(u64) + Send) -> u64 {
    let mut pauses = Pauses::new(seed);
    let mut sum = 0;
    for number in 1.. {
        if number > 1 && is_over.load(Ordering::Relaxed) {
            break;
        }
        send(number);
        sum += number;
        pauses.rest();
    }
    sum
}

/// What one thread of two has received: the queues are divided between them, the broadcast rings are not.
#[derive(Default)]
struct Received {
    lossless: u64,
    events: u64,
    group: u64,
    lossy: u64,
    divided: u64,
    timeouts: u64,
}

/// Every ring is closed in the end; then all that was sent has been received, and no select sleeps.
#[test]
fn rings_of_all_families_in_one_select() {
    without_standing_still(|| {
        let begun = Instant::now();
        while {
            traffic(soak_time(Duration::from_millis(200)).min(Duration::from_secs(1)));
            begun.elapsed() < soak_time(Duration::ZERO)
        } {}
    });
}

fn traffic(time: Duration) {
    static IS_OVER: AtomicBool = AtomicBool::new(false);
    IS_OVER.store(false, Ordering::Relaxed);

    let (mut lossy, from_lossy) = broadcast::lossy(8);
    let (mut lossless, from_lossless) = broadcast::lossless(4);
    let (mut events, from_events) = event::channel(4, || 0_u64);
    let (mut one, mut from_one) = spsc::channel(4);
    let (mut many, mut from_many) = mpsc::channel(4);
    let (mut divided, from_divided) = spmc::channel(4);
    let (mut both, from_both) = mpmc::channel(4);
    let (sender, receiver) = ordered::channel(4);

    let readers = [0_u64, 1].map(|who| {
        let (mut lossless, mut events) = (from_lossless.subscribe(), from_events.subscribe());
        let (mut group, mut lossy) = (from_lossless.subscribe_group::<2>(), from_lossy.subscribe());
        let (mut divided, mut both, receiver) = (from_divided.clone(), from_both.clone(), receiver.clone());
        let mut pauses = Pauses::new(who + 1);
        spawn(move || {
            let (mut received, mut closed) = (Received::default(), 0_u32);
            // (What is closed is always ready, so at the end each is seen to be.)
            while closed != 0b111_1111 {
                let mut ended = |ring: u32| closed |= 1 << ring;
                select! {
                    recv(lossless) -> number => number.map_or_else(|_| ended(0), |number| received.lossless += number),
                    wait(events) -> there => match there {
                        Ok(()) => received.events += events.process(|event| *event).unwrap(),
                        Err(_) => ended(1),
                    },
                    recv(group) -> number => number.map_or_else(|_| ended(2), |number| received.group += number),
                    recv(lossy) -> number => number.map_or_else(|_| ended(3), |number| received.lossy += number),
                    recv(divided) -> number => number.map_or_else(|_| ended(4), |number| received.divided += number),
                    recv(both) -> number => number.map_or_else(|_| ended(5), |number| received.divided += number),
                    recv(receiver) -> number => number.map_or_else(|_| ended(6), |number| received.divided += number),
                    default(Duration::from_micros(300)) => received.timeouts += 1,
                }
                pauses.rest();
            }
            received
        })
    });
    let (mut back, mut from_back) = spsc::channel(1);
    let relay = spawn(move || {
        // A select that sends what another one received.
        let (mut sum, mut waiting, mut open) = (0, Vec::new(), [true; 2]);
        while open != [false; 2] || !waiting.is_empty() {
            if let Some(&number) = waiting.last() {
                select_biased! {
                    send(back, number) -> sent => { sent.unwrap(); waiting.pop(); }
                    recv(from_one) -> number => if let Ok(number) = number { waiting.push(number) } else { open[0] = false; thread::yield_now(); },
                }
                continue;
            }
            let mut select = Select::new();
            let indexes = [select.recv(&mut from_one), select.recv(&mut from_many)];
            (0..2).filter(|&index| !open[index]).for_each(|index| select.remove(indexes[index]));
            let index = select.ready();
            drop(select);
            let number = if index == indexes[0] { from_one.recv() } else { from_many.recv() };
            match number {
                Ok(number) => waiting.push(number),
                Err(_) => open[index] = false,
            }
            sum += number.unwrap_or(0);
        }
        sum
    });
    let relayed = spawn(move || from_back.iter().sum::<u64>());

    let senders = [
        spawn(move || sends(11, &IS_OVER, |number| lossless.publish(number).unwrap())),
        spawn(move || sends(12, &IS_OVER, |number| events.send(number).unwrap())),
        spawn(move || sends(13, &IS_OVER, |number| one.send(number).unwrap())),
        spawn(move || sends(14, &IS_OVER, |number| many.send(number).unwrap())),
        spawn(move || sends(15, &IS_OVER, |number| divided.send(number).unwrap())),
        spawn(move || sends(16, &IS_OVER, |number| both.send(number).unwrap())),
        spawn(move || sends(17, &IS_OVER, |number| sender.send(number).unwrap())),
        spawn(move || sends(18, &IS_OVER, |number| lossy.publish(number))),
    ];
    drop((from_divided, from_both, receiver, from_lossless));
    thread::sleep(time);
    IS_OVER.store(true, Ordering::Relaxed);
    let sent = senders.map(|sender| sender.join().unwrap());
    let readers = readers.map(|reader| reader.join().unwrap());
    for reader in &readers {
        assert_eq!([reader.lossless, reader.group, reader.events], [sent[0], sent[0], sent[1]]);
        assert!(reader.lossy <= sent[7]);
    }
    relay.join().unwrap();
    assert_eq!(relayed.join().unwrap(), sent[2] + sent[3]);
    assert_eq!(readers[0].divided + readers[1].divided, sent[4] + sent[5] + sent[6]);
}
