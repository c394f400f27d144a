//! Lossless rings whose publishers and subscribers are killed, and stopped, at random moments: what was
//! published is received by each subscriber that has a seat, once, and in one order; and nobody hangs.

use std::collections::HashMap;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use annulus::broadcast::{Awaited, Subscriber};
use annulus::shm::{Invitation, Shared, send_fd};
use annulus::{Settings, WaitStrategy};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::Signal;

use crate::mp_broadcast::child::mixed;
use crate::mp_broadcast::processes::heard;
use crate::mp_broadcast::{Memory, Payload, check, payload};
use crate::process::{Child, moment, rounds};

/// The sender of the messages that this process publishes.
const OWN: u64 = u64::MAX;
const LONG: Duration = Duration::from_secs(120);

/// What the subscriber of this process has received, which has its seat all the time.
struct Log {
    /// Of each sender, the number of its next message.
    next: HashMap<u64, u64>,
    /// The sum of all that was received before number `base + index`.
    sums: Vec<u64>,
    base: u64,
    lagged: u64,
}

impl Log {
    fn cursor(&self) -> u64 {
        self.base + self.sums.len() as u64 - 1
    }
}

fn log(log: &Mutex<Log>) -> MutexGuard<'_, Log> {
    log.lock().unwrap()
}

/// Receives all, and checks that no sender lacks a message.
fn receive_all(mut subscriber: Subscriber<Payload, Awaited>, shared: &Mutex<Log>) {
    while let Ok(message) = subscriber.recv() {
        check(&message);
        let mut log = log(shared);
        let next = log.next.entry(message[0]).or_insert(0);
        assert_eq!(message[1], *next, "of {}", message[0]);
        *next += 1;
        let sum = *log.sums.last().unwrap();
        // (Numbers that were left out add nothing.)
        let passed = subscriber.cursor() - log.cursor();
        log.sums.extend((1..passed).map(|_| sum));
        log.sums.push(sum.wrapping_add(mixed(subscriber.cursor() - 1, &message)));
        log.lagged = subscriber.total_lagged();
    }
}

/// A process with a file in which it says words.
fn child(role: &str, invitation: &Invitation) -> (Child, File) {
    let child = Child::new(role);
    let said = File::from(memfd_create("said", MemfdFlags::CLOEXEC).unwrap());
    said.set_len(24).unwrap();
    invitation.send(&child.socket).unwrap();
    send_fd(&child.socket, said.as_fd()).unwrap();
    heard(&child);
    (child, said)
}

fn words_in(said: &File) -> [u64; 3] {
    let mut words = [0; 3];
    said.read_exact_at(bytemuck::bytes_of_mut(&mut words), 0).unwrap();
    words
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < LONG, "{what}");
        thread::sleep(Duration::from_micros(200));
    }
}

/// Rounds of one publisher and one subscriber, one of which is killed, or both, or stopped for a while first.
fn rounds_of(capacity: usize, rounds: std::ops::Range<u64>) {
    let settings = Settings::new(capacity).wait_strategy(WaitStrategy::block_after(20, 20));
    let builder = annulus::shm::mp_broadcast::Builder::new(settings).publishers(4);
    let Shared { handle: mut own, peers: places, invitation, .. } =
        builder.build_lossless::<Payload>(3).unwrap();
    let ring = invitation.try_clone().unwrap().accept_lossless::<Payload>().unwrap();
    let subscriber = ring.subscribe().unwrap();
    let shared = Mutex::new(Log { next: HashMap::new(), sums: vec![0], base: 0, lagged: 0 });
    let is_over = Arc::new(AtomicBool::new(false));
    let memory = Memory::of(&invitation);
    let most_of_a_claim = (capacity as u64 / 8).clamp(1, 64);
    thread::scope(|scope| {
        scope.spawn(|| receive_all(subscriber, &shared));
        let publisher = {
            let is_over = Arc::clone(&is_over);
            scope.spawn(move || {
                let mut number = 0;
                while !is_over.load(Ordering::Relaxed) {
                    own.publish_timeout(payload(OWN, number), LONG).expect("it does not hang");
                    number += 1;
                }
                (own, number)
            })
        };
        let (mut left_out, mut inside) = (0, 0);
        for round in rounds.clone() {
            let (mut sends, published) = child(&format!("publish-lossless {round}"), &invitation);
            let (mut awaits, received) = child(&format!("await {round}"), &invitation);
            thread::sleep(moment(round) / 4);
            if round % 4 == 1 {
                sends.stop();
            }
            if round % 4 == 2 {
                awaits.stop();
            }
            thread::sleep(moment(round * 31) / 16);
            if round % 8 == 1 {
                sends.signal(Signal::CONT);
            }
            if round % 8 == 2 {
                awaits.signal(Signal::CONT);
            }
            let (kills_publisher, kills_subscriber) = (round % 3 != 0, round % 3 != 1);
            if kills_publisher {
                sends.kill();
            }
            if kills_subscriber {
                awaits.kill();
            }
            // Those that live go on.
            if !kills_publisher {
                sends.signal(Signal::CONT);
            }
            if !kills_subscriber {
                awaits.signal(Signal::CONT);
            }
            let before = log(&shared).cursor();
            until("the others go on", || log(&shared).cursor() > before + 2 * capacity as u64);
            if !kills_publisher {
                let before = words_in(&published)[0];
                until("the publisher goes on", || words_in(&published)[0] > before);
                sends.kill();
            }
            if !kills_subscriber {
                let before = words_in(&received)[1];
                until("the subscriber goes on", || words_in(&received)[1] > before);
                awaits.kill();
            }
            // All that it has published was received; and the same by both, from where the other one began.
            let (said, claimed) = (words_in(&published)[0], memory.word(128));
            until("all is passed", || log(&shared).cursor() >= claimed);
            until("all is received", || log(&shared).next.get(&round).copied().unwrap_or(0) >= said);
            let [first, cursor, sum] = words_in(&received);
            until("both are there", || log(&shared).cursor() >= cursor);
            let mut log = log(&shared);
            let base = log.base;
            let sum_before = |number: u64| log.sums[(number - base) as usize];
            assert_eq!(sum_before(cursor).wrapping_sub(sum_before(first - 1)), sum, "round {round}");
            let more = log.lagged - left_out;
            assert!(more <= most_of_a_claim, "round {round}: {more} numbers for one death");
            inside += u64::from(more > 0);
            left_out = log.lagged;
            let last = log.sums.len() - 1;
            log.base += last as u64;
            log.sums.drain(..last);
            log.next.remove(&round);
            assert_eq!(places.taken(), 1, "round {round}");
        }
        is_over.store(true, Ordering::Relaxed);
        let (own, number) = publisher.join().unwrap();
        until("all is received", || log(&shared).next[&OWN] == number);
        own.close();
        eprintln!(
            "capacity {capacity}: {} rounds, {inside} deaths inside a publish",
            rounds.end - rounds.start
        );
    });
}

/// In rings of several sizes, so that publishers wait for room often, or seldom.
#[test]
fn processes_of_either_side_are_killed_or_stopped_at_any_moment() {
    let sizes = [2, 8, 64, 1024];
    let part = rounds().div_ceil(sizes.len() as u64);
    for (size, first) in sizes.into_iter().zip((0..).step_by(part as usize)) {
        rounds_of(size, first..first + part);
    }
}
