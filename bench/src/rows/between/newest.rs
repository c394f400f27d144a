//! The newest value of another process: beside a copy of as many bytes, and beside iceoryx2's blackboard.

use std::hint::black_box;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use super::iceoryx2::RIVAL;
use crate::contenders::iceoryx2::Iceoryx2Blackboard;
use crate::contenders::tables::{Reads, Table, Watch, Writes};
use crate::contenders::{Annulus, Named};
use crate::messages::{is_all, mix};
use crate::processes::{Child, Parent, Work, Works, work};
use crate::row::{Entry, Kind, Plan, Row, Sample};
use crate::timing::{WARM_UP, ns_each, phases};

/// So many take long enough.
const ROUNDS: usize = 11;

const COPY: &str = "a copy of as many bytes";

/// Of the time of a copy.
const OF_COPY: f64 = 2.0;

pub fn rows() -> Vec<Row> {
    [rows_of::<4>(), rows_of::<32>(), rows_of::<128>()].into_iter().flatten().collect()
}

pub fn works() -> Works {
    [works_of::<4>(), works_of::<32>(), works_of::<128>()].into_iter().flatten().collect()
}

fn works_of<const WORDS: usize>() -> Works {
    vec![work::<Write<Watch, WORDS>>(), work::<Write<Iceoryx2Blackboard, WORDS>>()]
}

fn rows_of<const WORDS: usize>() -> [Row; 2] {
    let row = |name: &str, about| {
        let name = format!("processes: newest value of {} bytes, {name}", 8 * WORDS);
        Row::new(name, about, 1, 1_000_000).on_two_cores().most_rounds(ROUNDS)
    };
    let entries = |ours, rival| {
        [
            Entry { name: Annulus::NAME, kind: Kind::Ours, run: ours },
            Entry { name: RIVAL, kind: Kind::Rival, run: rival },
        ]
    };
    [
        row("read", "of another process, read again and again while nothing is sent; all of it is looked at")
            .entries(entries(read::<Watch, WORDS, false>, read::<Iceoryx2Blackboard, WORDS, false>))
            .other(COPY, copied::<WORDS>)
            .target(COPY, OF_COPY),
        row(
            "read while it is sent",
            "the same, while the process on the other core sends one after the other; the time is that of a read",
        )
        .entries(entries(read::<Watch, WORDS, true>, read::<Iceoryx2Blackboard, WORDS, true>)),
    ]
}

/// Each read has the value of a write, whole. Nanoseconds a read.
#[inline(always)]
fn read_all<const WORDS: usize>(messages: u64, mut get: impl FnMut() -> [u64; WORDS]) -> f64 {
    let mut begun = Instant::now();
    for phase in phases(WARM_UP, messages) {
        begun = Instant::now();
        for _ in phase {
            let words = get();
            // In memory, where its user has it: what is only compared is never copied.
            let words = black_box(&words);
            assert!(is_all(words, words[0]));
        }
    }
    ns_each(begun, messages)
}

#[inline(never)]
fn copied<const WORDS: usize>(plan: &Plan) -> Sample {
    let words = Box::new([mix(7); WORDS]);
    read_all(plan.messages, || *black_box(&*words)).into()
}

/// `SENT`: the other process sends all the while.
#[inline(never)]
fn read<T: Table<WORDS> + 'static, const WORDS: usize, const SENT: bool>(plan: &Plan) -> Sample {
    let child = Child::start::<Write<T, WORDS>>(plan, 1);
    let reader = T::join(&child.socket);
    child.tell(&SENT);
    child.hear::<()>();
    let ns = read_all(plan.messages, || reader.get());
    child.tell(&());
    let () = child.last_words();
    ns.into()
}

/// Of the process that writes: once, or until it is told to end.
struct Write<T, const WORDS: usize>(PhantomData<T>);

impl<T: Table<WORDS>, const WORDS: usize> Work for Write<T, WORDS> {
    fn run(parent: Parent) {
        let (mut writer, offer) = T::make();
        T::offer(&offer, &parent.socket);
        let is_sent: bool = parent.hear();
        writer.put(mix(0));
        let over = AtomicBool::new(!is_sent);
        thread::scope(|scope| {
            scope.spawn(|| {
                parent.tell(&());
                parent.hear::<()>();
                over.store(true, Ordering::Relaxed);
            });
            let mut sent = 0;
            while !over.load(Ordering::Relaxed) {
                sent += 1;
                writer.put(mix(sent));
            }
        });
        parent.tell(&());
    }
}
