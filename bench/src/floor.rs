//! The floors: what the machine does at best where the hardware, not a ring, sets the pace.

use std::hint::{black_box, spin_loop};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use rustix::thread::futex;

use crate::cores::{Cores, pin};
use crate::hand_over::{HandOver, Sleeper, Waker};
use crate::messages::{BATCH, BLOCK, Check, Page, Word, fill, is_all, mix};
use crate::one_way;
use crate::row::{Plan, Sample};
use crate::timing::{LIVE_WARM_UP, WARM_UP, across, across_blocks, ns_each, phases, side_by_side};

/// A word with its line, and the line that is fetched with it, to itself.
#[derive(Default)]
#[repr(align(128))]
struct Line(AtomicU64);

/// Lines that are used in turn: how long one takes hangs on where it is at home, and a ring has many.
const LINES: usize = 64;

struct Lines(Vec<Line>);

impl Lines {
    fn new() -> Self {
        Self((0..LINES).map(|_| Line::default()).collect())
    }

    #[inline(always)]
    fn of(&self, number: u64) -> &AtomicU64 {
        &self.0[number as usize % LINES].0
    }
}

/// Two threads, two lines: each writes its own and waits for the other's; then the next two. Nanoseconds a
/// round trip.
pub fn ping_pong(cores: Cores, round_trips: u64) -> f64 {
    ping_pong_by(cores, round_trips, || ())
}

/// With `pause` between two looks.
#[inline(always)]
fn ping_pong_by(cores: Cores, round_trips: u64, pause: impl Fn() + Sync) -> f64 {
    let (pings, pongs) = (Lines::new(), Lines::new());
    let total = WARM_UP + round_trips;
    let put = |lines: &Lines, number| lines.of(number).store(number, Ordering::Release);
    let wait_for = |lines: &Lines, number| {
        while lines.of(number).load(Ordering::Acquire) != number {
            pause();
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            pin(cores.there);
            for i in 1..=total {
                wait_for(&pings, i);
                put(&pongs, i);
            }
        });
        let mut begun = Instant::now();
        for phase in phases(WARM_UP, round_trips) {
            begun = Instant::now();
            for i in phase {
                put(&pings, i + 1);
                wait_for(&pongs, i + 1);
            }
        }
        ns_each(begun, round_trips)
    })
}

pub fn round_trip(plan: &Plan) -> Sample {
    ping_pong(plan.cores, plan.messages).into()
}

/// With the processor's pause instruction between two looks.
pub fn round_trip_with_pauses(plan: &Plan) -> Sample {
    ping_pong_by(plan.cores, plan.messages, spin_loop).into()
}

/// Sixteen bytes: the least in which a message of eight can be told from the one a lap before.
#[derive(Default)]
struct Slot {
    value: AtomicU64,
    next: AtomicU64,
}

/// A ring of such slots, four to a line.
struct Slots(Vec<Slot>);

impl Slots {
    fn new(capacity: usize) -> Self {
        Self((0..capacity).map(|_| Slot::default()).collect())
    }

    fn of(&self, sequence: u64) -> &Slot {
        &self.0[sequence as usize & (self.0.len() - 1)]
    }

    /// Two stores, and no word that says whether they belong together.
    #[inline(always)]
    fn store(&self, sequence: u64) {
        let slot = self.of(sequence);
        slot.value.store(mix(sequence), Ordering::Relaxed);
        slot.next.store(sequence + 1, Ordering::Release);
    }
}

/// One thread stores slots, and nobody reads them.
pub fn store_slots(plan: &Plan) -> Sample {
    let slots = black_box(Slots::new(plan.capacity));
    let mut begun = Instant::now();
    for phase in phases(plan.capacity as u64, plan.messages) {
        begun = Instant::now();
        for i in phase {
            slots.store(i);
        }
    }
    ns_each(begun, plan.messages).into()
}

/// One thread stores slots flat out, the other reads them as they come and goes on with the newest where it
/// was lapped.
pub fn hand_lines_over(plan: &Plan) -> Sample {
    let slots = Slots::new(plan.capacity);
    let (ready, done) = (AtomicBool::new(false), AtomicBool::new(false));
    let total = LIVE_WARM_UP + plan.messages;
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            pin(plan.cores.there);
            ready.store(true, Ordering::Release);
            let (mut sequence, mut received, mut values) = (0, 0, 0_u64);
            loop {
                let slot = slots.of(sequence);
                let next = slot.next.load(Ordering::Acquire);
                if next > sequence {
                    values ^= slot.value.load(Ordering::Relaxed);
                    received += 1;
                    sequence = next;
                } else if done.load(Ordering::Relaxed) {
                    black_box(values);
                    return received;
                }
            }
        });
        while !ready.load(Ordering::Acquire) {
            spin_loop();
        }
        let mut begun = Instant::now();
        for phase in phases(LIVE_WARM_UP, plan.messages) {
            begun = Instant::now();
            for i in phase {
                slots.store(i);
            }
        }
        let ns = ns_each(begun, plan.messages);
        done.store(true, Ordering::Relaxed);
        let received: u64 = reader.join().expect("the reader does not panic");
        Sample { ns, share: Some(received as f64 / total as f64), ..Sample::default() }
    })
}

/// One thread stores slots, the other reads every one of them.
pub fn hand_every_line_over(plan: &Plan) -> Sample {
    hand_over_by::<1>(plan)
}

/// The same with one look at the last of every 64.
pub fn hand_every_line_over_in_batches(plan: &Plan) -> Sample {
    hand_over_by::<BATCH>(plan)
}

/// With the least that keeps the writer from lapping: the reader says now and then how far it is, and the
/// writer looks when it has used up what it knows.
fn hand_over_by<const STEP: usize>(plan: &Plan) -> Sample {
    let (slots, progress) = (Slots::new(plan.capacity), Line::default());
    let capacity = plan.capacity as u64;
    let mut limit = capacity;
    let write = |phase: Range<u64>| {
        for i in phase {
            while i == limit {
                limit = progress.0.load(Ordering::Acquire) + capacity;
            }
            slots.store(i);
        }
    };
    let read = |total| {
        let mut check = Check::new();
        for first in (0..total).step_by(STEP) {
            let end = first + STEP as u64;
            while slots.of(end - 1).next.load(Ordering::Acquire) != end {}
            for i in first..end {
                check.look_at(slots.of(i).value.load(Ordering::Relaxed));
            }
            check.settle();
            if end.is_multiple_of(BATCH as u64) {
                progress.0.store(end, Ordering::Release);
            }
        }
    };
    across(plan, write, read)
}

/// Two threads, each of which claims the next slot by adding to one word, and stores it.
pub fn claim_and_store_slots(plan: &Plan) -> Sample {
    let (slots, claimed) = (Slots::new(plan.capacity), Line::default());
    let work = [(), ()].map(|()| {
        |phase: Range<u64>| {
            for _ in phase {
                slots.store(claimed.0.fetch_add(1, Ordering::Relaxed));
            }
        }
    });
    side_by_side(plan, work).into()
}

/// A `memcpy` into a buffer as large as the ring's payloads and one out of it, and the same sum.
pub fn copy_in_and_out<const WORDS: usize>(plan: &Plan) -> Sample {
    let mut ring = vec![[0_u64; WORDS]; plan.capacity];
    let mut received = [0_u64; WORDS];
    let mut page = Page::<WORDS>::new();
    let mut begun = Instant::now();
    for phase in phases(plan.capacity as u64, plan.messages) {
        begun = Instant::now();
        for i in phase {
            page.change(i);
            let slot = &mut ring[i as usize & (plan.capacity - 1)];
            slot.copy_from_slice(&page.words);
            received.copy_from_slice(black_box(slot));
            assert!(Page::sum_of(black_box(&received)) == page.sum);
        }
    }
    ns_each(begun, plan.messages).into()
}

/// Fills one part after another of the same memory as the rings have, which nobody reads.
pub fn fill_blocks<T: Word, const RINGS: usize>(plan: &Plan) -> Sample {
    let words = RINGS * plan.capacity;
    let mut memory = Box::new_uninit_slice(words);
    let mut begun = Instant::now();
    for phase in phases((words / BLOCK) as u64, plan.messages) {
        begun = Instant::now();
        for i in phase {
            let start = i as usize * BLOCK % words;
            fill(black_box(&mut memory[start..start + BLOCK]), black_box(T::of(i)));
        }
    }
    ns_each(begun, plan.messages).into()
}

/// As many blocks as the ring has. One thread fills them in turn and says how far it is, by one flag; the
/// other checks them and says how far it is, by another.
pub fn hand_blocks_over<T: Word>(plan: &Plan) -> Sample {
    let count = plan.capacity / BLOCK;
    // Nobody ever waits for a lock: the flags say whose a block is.
    let blocks: Vec<Mutex<Vec<T>>> = (0..count).map(|_| Mutex::new(vec![T::default(); BLOCK])).collect();
    let block = |i: u64| blocks[i as usize % count].lock().expect("nobody panics");
    let (filled, checked) = (Line::default(), Line::default());
    let fill = |phase: Range<u64>| {
        for i in phase {
            while i - checked.0.load(Ordering::Acquire) == count as u64 {
                spin_loop();
            }
            black_box(block(i).as_mut_slice()).fill(T::of(i));
            filled.0.store(i + 1, Ordering::Release);
        }
    };
    let check = |total| {
        for i in 0..total {
            while filled.0.load(Ordering::Acquire) <= i {
                spin_loop();
            }
            assert!(is_all(&block(i), T::of(i)));
            checked.0.store(i + 1, Ordering::Release);
        }
    };
    across_blocks(plan, fill, check)
}

/// One futex, and nothing around it.
pub struct BareFutex;

/// A word to sleep on, and what is handed over.
#[derive(Default)]
pub struct Bell {
    rung: AtomicU32,
    value: AtomicU64,
}

impl HandOver for BareFutex {
    type Waker = Arc<Bell>;
    type Sleeper = Arc<Bell>;

    fn pair() -> (Self::Waker, Self::Sleeper) {
        let bell = Arc::new(Bell::default());
        (bell.clone(), bell)
    }
}

impl Waker for Arc<Bell> {
    fn wake(&mut self, value: u64) {
        self.value.store(value, Ordering::Relaxed);
        self.rung.store(1, Ordering::Release);
        futex::wake(&self.rung, futex::Flags::PRIVATE, 1).expect("a futex of ours");
    }
}

impl Sleeper for Arc<Bell> {
    fn sleep(&mut self) -> u64 {
        while self.rung.swap(0, Ordering::Acquire) == 0 {
            // It fails where the word has changed, or for a signal: the next look tells.
            _ = futex::wait(&self.rung, futex::Flags::PRIVATE, 0, None);
        }
        self.value.load(Ordering::Relaxed)
    }
}

/// A line, written by one thread and looked at by the other; then the next.
pub fn one_way(plan: &Plan) -> Sample {
    let lines = Lines::new();
    let mut next = 1;
    one_way::one_way(
        plan,
        |i| lines.of(i + 1).store(i + 1, Ordering::Release),
        || {
            let now = lines.of(next).load(Ordering::Acquire);
            // More than that where this side was taken off its core for a whole turn.
            (now >= next).then(|| {
                next = now + 1;
                now - 1
            })
        },
    )
}
