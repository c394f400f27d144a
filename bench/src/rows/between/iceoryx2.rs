//! Publish-subscribe between processes, beside iceoryx2: messages of 8 bytes to 64 KiB, with one subscriber
//! and with four.
//!
//! Every word of a message is written and looked at. iceoryx2's is written and read in the memory of its
//! publisher; ours is copied into the ring and out of it. From 8 KiB on our queue of records, which is
//! written and read where it lies, stands beside them where there is one subscriber.

use super::others::{Bystander, end_bystanders, start};
use super::round_trips::{Pong, with_a_process};
use super::streams::{ReceiveAll, between_processes};
use crate::contenders::between::{Between, LosslessRing, LossyRing};
use crate::contenders::iceoryx2::Iceoryx2;
use crate::contenders::records::Records;
use crate::contenders::{Annulus, Named};
use crate::messages::mix;
use crate::processes::{Works, work};
use crate::row::{Entry, Kind, Plan, Row, Sample};
use crate::timing::WARM_UP;

pub const RIVAL: &str = "iceoryx2";
const RECORDS: &str = "annulus, records in place";

/// So many take long enough.
const ROUNDS: usize = 11;

/// Up to so many bytes ours is to be the faster one by far.
pub const SMALL: usize = 1024;

/// Of iceoryx2's time.
const AT_MOST: f64 = 0.3;

/// `$each` for each size of a message, in words.
macro_rules! sizes {
    ($each:ident) => {
        [$each::<1>(), $each::<8>(), $each::<128>(), $each::<1024>(), $each::<8192>()].into_iter().flatten()
    };
}

pub fn rows() -> Vec<Row> {
    sizes!(round_trips).chain(sizes!(streams)).collect()
}

pub fn works() -> Works {
    sizes!(works_of).collect()
}

fn works_of<const WORDS: usize>() -> Works {
    vec![
        work::<Pong<LossyRing<WORDS>>>(),
        work::<Pong<Iceoryx2<WORDS, true>>>(),
        work::<Pong<Records<WORDS>>>(),
        work::<Bystander<LossyRing<WORDS>>>(),
        work::<Bystander<Iceoryx2<WORDS, true>>>(),
        work::<ReceiveAll<LosslessRing<WORDS>>>(),
        work::<ReceiveAll<Iceoryx2<WORDS, false>>>(),
        work::<ReceiveAll<Records<WORDS>>>(),
    ]
}

fn round_trips<const WORDS: usize>() -> [Row; 2] {
    let row = |name: &str, about| {
        Row::new(format!("processes: round trip, {}, {name}", size(WORDS)), about, 4, trips(WORDS))
    };
    let one = row(
        "one subscriber",
        "to a process on the other core and back, by publish-subscribe both ways, both sides polling; each message is \
         written whole, and all of it is looked at",
    );
    let four = row(
        "four subscribers",
        "the same, where three more processes have subscribed. They sleep, lose what does not fit their buffers, and \
         receive the last message in the end",
    );
    [
        row_of::<WORDS>(one, round_trip::<LossyRing<WORDS>, 0>, round_trip::<Iceoryx2<WORDS, true>, 0>)
            .entries(in_place::<WORDS>(round_trip::<Records<WORDS>, 0>)),
        row_of::<WORDS>(four, round_trip::<LossyRing<WORDS>, 3>, round_trip::<Iceoryx2<WORDS, true>, 3>),
    ]
}

fn streams<const WORDS: usize>() -> [Row; 2] {
    // A MiB at most.
    let capacity = (1 << 17) / WORDS;
    let row = |name: &str, about, messages| {
        let name = format!("processes: one way, {}, {name}", size(WORDS));
        Row::new(name, about, capacity.min(1024), messages)
    };
    let one = row(
        "one subscriber",
        "to a process on the other core, by publish-subscribe of which nothing is lost; each message is written whole, \
         and all of it is looked at",
        5 * trips(WORDS),
    );
    let four = row(
        "four subscribers",
        "the same to four processes that share the other core; they yield where nothing is there",
        2 * trips(WORDS),
    );
    [
        row_of::<WORDS>(
            one,
            between_processes::<LosslessRing<WORDS>, 1>,
            between_processes::<Iceoryx2<WORDS, false>, 1>,
        )
        .entries(in_place::<WORDS>(between_processes::<Records<WORDS>, 1>)),
        row_of::<WORDS>(
            four.threads(5),
            between_processes::<LosslessRing<WORDS>, 4>,
            between_processes::<Iceoryx2<WORDS, false>, 4>,
        ),
    ]
}

fn row_of<const WORDS: usize>(row: Row, ours: fn(&Plan) -> Sample, rival: fn(&Plan) -> Sample) -> Row {
    let threads = row.threads.max(2);
    let row = row.threads(threads).most_rounds(ROUNDS).entries([
        Entry { name: Annulus::NAME, kind: Kind::Ours, run: ours },
        Entry { name: RIVAL, kind: Kind::Rival, run: rival },
    ]);
    if 8 * WORDS <= SMALL { row.target(RIVAL, AT_MOST) } else { row }
}

fn in_place<const WORDS: usize>(run: fn(&Plan) -> Sample) -> Option<Entry> {
    (8 * WORDS > SMALL).then_some(Entry { name: RECORDS, kind: Kind::Other, run })
}

/// As many as take some tens of milliseconds.
fn trips(words: usize) -> u64 {
    match words {
        ..=128 => 20_000,
        129..=1024 => 8_000,
        _ => 2_000,
    }
}

fn size(words: usize) -> String {
    let bytes = 8 * words;
    if bytes < 1024 { format!("{bytes} bytes") } else { format!("{} KiB", bytes / 1024) }
}

/// Beside so many others that only subscribe.
fn round_trip<R: Between + 'static, const OTHERS: usize>(plan: &Plan) -> Sample {
    let (there, offer) = R::share(plan.capacity, 1 + OTHERS);
    let others = start::<R, Bystander<R>>(plan, &offer, OTHERS);
    with_a_process::<R>(plan, there, &offer, || {
        end_bystanders(others, mix(WARM_UP + plan.messages - 1));
    })
}
