//! Blocks of 32,768 words from many producers to one consumer, written where they are to lie.

use std::hint::{black_box, spin_loop};
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use annulus::mpsc;

use crate::contenders::{Annulus, Named, Rtrb};
use crate::cores::pin;
use crate::floor;
use crate::messages::{BLOCK, BLOCKS, Word, fill, is_all};
use crate::row::{Entry, Kind, Plan, Row, Sample};
use crate::timing::{ns_each, phases};

pub fn rows() -> Vec<Row> {
    let mut rows = vec![];
    rows.extend(of_words::<u32, 1>([
        "mpsc blocks of u32, one producer, unread",
        "mpsc blocks of u32, one producer, read",
    ]));
    rows.extend(of_words::<u32, 2>([
        "mpsc blocks of u32, two producers, unread",
        "mpsc blocks of u32, two producers, read",
    ]));
    rows.extend(of_words::<u32, 4>([
        "mpsc blocks of u32, four producers, unread",
        "mpsc blocks of u32, four producers, read",
    ]));
    rows.extend(of_words::<u32, 8>([
        "mpsc blocks of u32, eight producers, unread",
        "mpsc blocks of u32, eight producers, read",
    ]));
    rows.extend(of_words::<u64, 1>([
        "mpsc blocks of u64, one producer, unread",
        "mpsc blocks of u64, one producer, read",
    ]));
    rows.extend(of_words::<u64, 2>([
        "mpsc blocks of u64, two producers, unread",
        "mpsc blocks of u64, two producers, read",
    ]));
    rows.extend(of_words::<u64, 4>([
        "mpsc blocks of u64, four producers, unread",
        "mpsc blocks of u64, four producers, read",
    ]));
    rows.extend(of_words::<u64, 8>([
        "mpsc blocks of u64, eight producers, unread",
        "mpsc blocks of u64, eight producers, read",
    ]));
    rows
}

/// Without reading and with.
fn of_words<T: Word, const PRODUCERS: usize>([unread, read]: [&'static str; 2]) -> [Row; 2] {
    const FILL: &str = "filling the same memory";
    let small = size_of::<T>() == 4;
    let row = |name, about, axis| {
        Row::new(name, about, BLOCKS * BLOCK, if small { 16_384 } else { 8_192 })
            .threads(PRODUCERS + 1)
            .at(axis, PRODUCERS as u64)
    };
    [
        row(
            unread,
            "blocks of 32,768 words, reserved and filled by producers that share a core, passed over by the consumer on the other, which reads \
             nothing of them; the time of a block",
            if small { "producers, blocks of u32, unread" } else { "producers, blocks of u64, unread" },
        )
        .entries([
            Entry { name: Annulus::NAME, kind: Kind::Ours, run: unread_by::<AnnulusBlocks<T>, T, PRODUCERS> },
            Entry { name: Rtrb::NAME, kind: Kind::Rival, run: unread_by::<RtrbBlocks<T>, T, PRODUCERS> },
        ])
        .floor(FILL, floor::fill_blocks::<T, PRODUCERS>),
        row(
            read,
            "the same, with each word checked by the consumer where it lies; rtrb: a ring for each producer, looked at in turn",
            if small { "producers, blocks of u32, read" } else { "producers, blocks of u64, read" },
        )
        .entries([
            Entry { name: Annulus::NAME, kind: Kind::Ours, run: read_until::<AnnulusBlocks<T>, T, PRODUCERS> },
            Entry { name: Rtrb::NAME, kind: Kind::Rival, run: read_until::<RtrbBlocks<T>, T, PRODUCERS> },
        ]),
    ]
}

/// The consumer of several rings.
trait Blocks<T>: Sized {
    type Producer: FillBlock<T> + Send;
    fn rings(producers: usize, capacity: usize) -> (Vec<Self::Producer>, Self);
    /// Has `read` look at words of one ring that lie beside each other, up to a block of them, and say how
    /// many it is done with. Returns as many, 0 where nothing is there.
    fn take(&mut self, read: impl FnOnce(&[T]) -> usize) -> usize;
}

trait FillBlock<T> {
    /// Sends `value` up to `most` times. How often it did.
    fn fill(&mut self, value: T, most: usize) -> usize;
}

struct AnnulusBlocks<T: Word>(mpsc::Consumer<T>);

impl<T: Word> Blocks<T> for AnnulusBlocks<T> {
    type Producer = mpsc::Producer<T>;

    fn rings(producers: usize, capacity: usize) -> (Vec<Self::Producer>, Self) {
        let (producer, consumer) = mpsc::channel(capacity);
        (vec![producer; producers], Self(consumer))
    }

    #[inline(always)]
    fn take(&mut self, read: impl FnOnce(&[T]) -> usize) -> usize {
        let words = self.0.readable();
        let words = &words[..words.len().min(BLOCK)];
        if words.is_empty() {
            return 0;
        }
        let count = read(words);
        self.0.advance(count);
        count
    }
}

impl<T: Word> FillBlock<T> for mpsc::Producer<T> {
    #[inline(always)]
    #[allow(unsafe_code, reason = "so that all fill by the same loop")]
    fn fill(&mut self, value: T, most: usize) -> usize {
        let Ok(mut reservation) = self.try_reserve(most) else { return 0 };
        fill(reservation.as_uninit(), value);
        let count = reservation.len();
        // SAFETY: all slots are written.
        unsafe { reservation.commit(count) }
    }
}

struct RtrbBlocks<T> {
    rings: Vec<rtrb::Consumer<T>>,
    turn: usize,
}

impl<T: Word> Blocks<T> for RtrbBlocks<T> {
    type Producer = rtrb::Producer<T>;

    fn rings(producers: usize, capacity: usize) -> (Vec<Self::Producer>, Self) {
        let (producers, rings) = (0..producers).map(|_| rtrb::RingBuffer::new(capacity)).unzip();
        (producers, Self { rings, turn: 0 })
    }

    #[inline(always)]
    fn take(&mut self, read: impl FnOnce(&[T]) -> usize) -> usize {
        self.turn = (self.turn + 1) % self.rings.len();
        // All that is ever sent is a block.
        let Ok(chunk) = self.rings[self.turn].read_chunk(BLOCK) else {
            return 0;
        };
        let count = read(chunk.as_slices().0);
        chunk.commit(count);
        count
    }
}

impl<T: Word> FillBlock<T> for rtrb::Producer<T> {
    #[inline(always)]
    #[allow(unsafe_code, reason = "so that all fill by the same loop")]
    fn fill(&mut self, value: T, most: usize) -> usize {
        let Ok(mut chunk) = self.write_chunk_uninit(most) else { return 0 };
        let (first, second) = chunk.as_mut_slices();
        fill(first, value);
        fill(second, value);
        // SAFETY: all slots are written.
        unsafe { chunk.commit_all() };
        most
    }
}

#[inline(never)]
fn unread_by<B: Blocks<T>, T: Word, const PRODUCERS: usize>(plan: &Plan) -> Sample {
    produce::<B, T, PRODUCERS>(plan, |words| black_box(words).len())
}

#[inline(never)]
fn read_until<B: Blocks<T>, T: Word, const PRODUCERS: usize>(plan: &Plan) -> Sample {
    let mut had = [0; PRODUCERS];
    produce::<B, T, PRODUCERS>(plan, |words| {
        let next = |who: usize| T::of((had[who] / BLOCK * PRODUCERS + who) as u64);
        // The block that is next of one of them says whose this is.
        let who = (0..PRODUCERS)
            .find(|&who| words[0] == next(who))
            .expect("the next block of one of the producers");
        let rest = BLOCK - had[who] % BLOCK;
        let words = &words[..rest.min(words.len())];
        assert!(is_all(words, next(who)));
        had[who] += words.len();
        words.len()
    })
}

/// All producers on the other core. One that finds no room lets another have the core.
#[inline(always)]
fn produce<B: Blocks<T>, T: Word, const PRODUCERS: usize>(
    plan: &Plan,
    mut read: impl FnMut(&[T]) -> usize,
) -> Sample {
    const MANY: u64 = 8;
    let (producers, mut blocks) = B::rings(PRODUCERS, plan.capacity);
    let each = plan.messages / PRODUCERS as u64;
    let begin = Barrier::new(PRODUCERS + 1);
    thread::scope(|scope| {
        for (who, mut producer) in (0..).zip(producers) {
            let begin = &begin;
            scope.spawn(move || {
                pin(plan.cores.there);
                for phase in phases(MANY, each) {
                    begin.wait();
                    for i in phase {
                        let value = black_box(T::of(i * PRODUCERS as u64 + who));
                        let mut left = BLOCK;
                        while left > 0 {
                            let sent = producer.fill(value, left);
                            left -= sent;
                            match sent {
                                0 if PRODUCERS == 1 => spin_loop(),
                                0 => thread::yield_now(),
                                _ => {}
                            }
                        }
                    }
                }
            });
        }
        let mut begun = Instant::now();
        for phase in phases(MANY, each) {
            begin.wait();
            begun = Instant::now();
            let mut left = phase.count() * PRODUCERS * BLOCK;
            while left > 0 {
                match blocks.take(&mut read) {
                    0 => spin_loop(),
                    count => left -= count,
                }
            }
        }
        ns_each(begun, each * PRODUCERS as u64).into()
    })
}
