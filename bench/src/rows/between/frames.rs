//! Frames that are written and read where they lie, beside iceoryx2's slices: 64 bytes to 8 MiB, with one
//! reader and with three.
//!
//! Where only the first line of a frame is written, all sizes are to cost the same. Where all of it is
//! written, the difference is what the user's own stores take.

use std::hint::spin_loop;
use std::marker::PhantomData;
use std::thread;

use super::iceoryx2::RIVAL;
use super::one_way::{Polls, Sleeps, asleep, polled};
use super::others::{Bystander, start};
use super::streams::{send_all, warm_up};
use crate::contenders::between::{Between, In};
use crate::contenders::frames::Frames;
use crate::contenders::iceoryx2::Iceoryx2Frames;
use crate::contenders::{Annulus, Named};
use crate::messages::mix;
use crate::processes::{Child, Parent, Work, Works, work};
use crate::row::{Entry, Kind, Plan, Row, Sample};
use crate::stamps;
use crate::timing::now_ns;

/// So many take long enough.
const ROUNDS: usize = 11;

/// The newest frames that stay, where one is on its way at a time.
const FEW: usize = 2;

/// What is written where it is not all.
const LINE: usize = 64;

const PAGE: usize = 4096;
const MIB: usize = 1 << 20;

/// `$each` for each size of a frame, of which a line is written.
macro_rules! sizes {
    ($each:ident) => {
        [
            $each::<LINE, LINE>(),
            $each::<PAGE, LINE>(),
            $each::<{ 16 * PAGE }, LINE>(),
            $each::<MIB, LINE>(),
            $each::<{ 8 * MIB }, LINE>(),
        ]
        .into_iter()
        .flatten()
    };
}

/// The same for those that are larger than a line, all of which is written.
macro_rules! whole {
    ($each:ident) => {
        [
            $each::<PAGE, PAGE>(),
            $each::<{ 16 * PAGE }, { 16 * PAGE }>(),
            $each::<MIB, MIB>(),
            $each::<{ 8 * MIB }, { 8 * MIB }>(),
        ]
        .into_iter()
        .flatten()
    };
}

pub fn rows() -> Vec<Row> {
    let mut rows = vec![];
    if stamps::are_reliable() {
        rows.extend(sizes!(latencies).chain(whole!(latencies)));
    }
    rows.extend(streams::<PAGE, LINE>().into_iter().chain(streams::<PAGE, PAGE>()));
    rows
}

pub fn works() -> Works {
    sizes!(works_of).chain(whole!(works_of)).collect()
}

fn works_of<const BYTES: usize, const FILLED: usize>() -> Works {
    vec![
        work::<Polls<Frames<BYTES, FILLED>>>(),
        work::<Polls<Iceoryx2Frames<BYTES, FILLED, false>>>(),
        work::<Sleeps<Frames<BYTES, FILLED>>>(),
        work::<Sleeps<Iceoryx2Frames<BYTES, FILLED, true>>>(),
        work::<Bystander<Frames<BYTES, FILLED>>>(),
        work::<Bystander<Iceoryx2Frames<BYTES, FILLED, false>>>(),
        work::<Watches<Frames<BYTES, FILLED>>>(),
        work::<Watches<Iceoryx2Frames<BYTES, FILLED, false>>>(),
    ]
}

/// How long one is on its way.
fn latencies<const BYTES: usize, const FILLED: usize>() -> Vec<Row> {
    let row = |manner: &str, about: &'static str, messages| {
        row::<BYTES, FILLED>("one way", manner, about, FEW, if FILLED < MIB { messages } else { 1_000 })
    };
    let ours = |run| [Entry { name: Annulus::NAME, kind: Kind::Ours, run }];
    let rival = |run| [Entry { name: RIVAL, kind: Kind::Rival, run }];
    let polling = [
        row(
            "polled",
            "by time stamps, from before a frame is had to a reader that polls, and has looked at the first word and the last one; \
             the median, and the slowest of a thousand in the table of latencies",
            20_000,
        )
        .entries(ours(polled::<Frames<BYTES, FILLED>, 0>))
        .entries(rival(polled::<Iceoryx2Frames<BYTES, FILLED, false>, 0>)),
        row(
            "polled, two more asleep",
            "the same, where two more processes have subscribed. They sleep, and receive the last frame in the end",
            20_000,
        )
        .entries(ours(polled::<Frames<BYTES, FILLED>, 2>))
        .entries(rival(polled::<Iceoryx2Frames<BYTES, FILLED, false>, 2>)),
    ];
    let sleeping = [
        row(
            "asleep",
            "the same to a reader that sleeps at once where nothing is there; iceoryx2's by its event",
            2_000,
        )
        .entries(ours(asleep::<Frames<BYTES, FILLED>, 1>))
        .entries(rival(asleep::<Iceoryx2Frames<BYTES, FILLED, true>, 1>)),
        row(
            "three readers asleep",
            "the same to three that sleep, which share the other core: to the slowest",
            2_000,
        )
        .entries(ours(asleep::<Frames<BYTES, FILLED>, 3>))
        .entries(rival(asleep::<Iceoryx2Frames<BYTES, FILLED, true>, 3>)),
    ];
    // What is written is the user's: by one row a size it is told apart.
    let most = if FILLED > LINE { 1 } else { 4 };
    polling.into_iter().chain(sleeping).take(most).collect()
}

/// How fast they follow each other.
fn streams<const BYTES: usize, const FILLED: usize>() -> [Row; 2] {
    let row = |manner, about| row::<BYTES, FILLED>("stream", manner, about, 64, 200_000);
    [
        row(
            "one reader",
            "the time of a frame until all are sent, and the last one is received, while a process on the other core receives what it \
             can and looks at the first word and the last one; and the part that it received",
        )
        .entries([
            Entry { name: Annulus::NAME, kind: Kind::Ours, run: watched::<Frames<BYTES, FILLED>, 1> },
            Entry { name: RIVAL, kind: Kind::Rival, run: watched::<Iceoryx2Frames<BYTES, FILLED, false>, 1> },
        ]),
        row("three readers", "the same for three that share the other core; they yield where nothing is there")
            .threads(4)
            .entries([
                Entry { name: Annulus::NAME, kind: Kind::Ours, run: watched::<Frames<BYTES, FILLED>, 3> },
                Entry {
                    name: RIVAL,
                    kind: Kind::Rival,
                    run: watched::<Iceoryx2Frames<BYTES, FILLED, false>, 3>,
                },
            ]),
    ]
}

fn row<const BYTES: usize, const FILLED: usize>(
    work: &str,
    manner: &str,
    about: &'static str,
    capacity: usize,
    messages: u64,
) -> Row {
    let size = match BYTES {
        ..1024 => format!("{BYTES} bytes"),
        1024..MIB => format!("{} KiB", BYTES >> 10),
        _ => format!("{} MiB", BYTES >> 20),
    };
    let part = if FILLED == BYTES { "all" } else { "a line" };
    let name = format!("processes: frames, {work}, {size}, {part} written, {manner}");
    Row::new(name, about, capacity, messages).on_two_cores().most_rounds(ROUNDS)
}

/// To so many processes, each of which receives what it can. Until the last one is done; the part is what the
/// one received that received the least.
fn watched<R: Between + 'static, const READERS: usize>(plan: &Plan) -> Sample {
    let messages = plan.messages;
    let (out, offer) = R::share(plan.capacity, READERS);
    let children = start::<R, Watches<R>>(plan, &offer, READERS);
    let all = || children.into_iter().map(Child::last_words::<(u64, u64)>).collect::<Vec<_>>();
    let (begun, done) = send_all(messages, out, all);
    let ended = done.iter().map(|&(ended, _)| ended).max().expect("there is one");
    let received = done.iter().map(|&(_, received)| received).min().expect("there is one");
    let share = received as f64 / (warm_up(messages) + messages) as f64;
    let ns = (ended - begun) as f64 / messages as f64;
    Sample { ns, share: Some(share), ..Sample::default() }
}

/// Of one that receives what it can, until the last one. When it had that, and how many it received.
struct Watches<R>(PhantomData<R>);

impl<R: Between> Work for Watches<R> {
    fn run(parent: Parent) {
        let mut input = R::join(&parent.socket);
        parent.tell(&());
        let (messages, is_crowded) = (parent.order.messages, parent.order.children > 1);
        let last = mix(warm_up(messages) + messages - 1);
        let (mut received, mut value) = (0_u64, !last);
        while value != last {
            let look = |message: &[u64]| {
                value = message[0];
                assert!(message[1] == value);
            };
            if input.poll(look) {
                received += 1;
            } else if is_crowded {
                thread::yield_now();
            } else {
                spin_loop();
            }
        }
        parent.tell(&(now_ns(), received));
    }
}
