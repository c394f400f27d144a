//! Questions to a process on the other core, and its answers: beside two bare queues, and beside iceoryx2's
//! request and response.

use std::array;
use std::hint::spin_loop;
use std::marker::PhantomData;
use std::time::Instant;

use super::iceoryx2::{RIVAL, SMALL};
use super::round_trips::{Pong, with_a_process};
use crate::contenders::between::{Between, Queue};
use crate::contenders::iceoryx2::Iceoryx2Service;
use crate::contenders::questions::{Answers, Asks, Questions, Service};
use crate::contenders::{Annulus, Named};
use crate::messages::mix;
use crate::processes::{Child, Parent, Work, Works, work};
use crate::row::{Entry, Kind, Plan, Row, Sample};
use crate::timing::{WARM_UP, ns_each, phases};

/// So many take long enough.
const ROUNDS: usize = 11;

/// Open at one time, where there are several.
const SEVERAL: usize = 8;

const BARE: &str = "annulus, two queues";

/// Of iceoryx2's time, up to [`SMALL`].
const OF_RIVAL: f64 = 0.6;

/// Of the time of two queues, which know nothing of questions.
const OF_BARE: f64 = 1.15;

pub fn rows() -> Vec<Row> {
    [rows_of::<1>(), rows_of::<128>(), rows_of::<512>()].into_iter().flatten().collect()
}

pub fn works() -> Works {
    [works_of::<1>(), works_of::<128>(), works_of::<512>()].into_iter().flatten().collect()
}

fn works_of<const WORDS: usize>() -> Works {
    vec![
        work::<Answer<Service<WORDS>>>(),
        work::<Answer<Iceoryx2Service<WORDS>>>(),
        work::<Pong<Queue<WORDS>>>(),
    ]
}

fn rows_of<const WORDS: usize>() -> [Row; 2] {
    let row = |name: &str, about, capacity| {
        let name = format!("processes: questions of {} bytes, {name}", 8 * WORDS);
        Row::new(name, about, capacity, 20_000).on_two_cores().most_rounds(ROUNDS)
    };
    let entries = |ours, rival| {
        [
            Entry { name: Annulus::NAME, kind: Kind::Ours, run: ours },
            Entry { name: RIVAL, kind: Kind::Rival, run: rival },
        ]
    };
    let beside_rival = |row: Row| if 8 * WORDS <= SMALL { row.target(RIVAL, OF_RIVAL) } else { row };
    [
        row(
            "one at a time",
            "asked of a process on the other core, which answers with as much, both sides polling; all of it is written and \
             looked at",
            SEVERAL,
        )
        .entries(entries(asked::<Service<WORDS>, 1>, asked::<Iceoryx2Service<WORDS>, 1>))
        .other(BARE, bare::<WORDS>)
        .target(BARE, OF_BARE),
        row("8 at a time", "the same, where 8 are asked, and then their answers awaited", SEVERAL)
            .entries(entries(asked::<Service<WORDS>, SEVERAL>, asked::<Iceoryx2Service<WORDS>, SEVERAL>)),
    ]
    .map(beside_rival)
}

fn bare<const WORDS: usize>(plan: &Plan) -> Sample {
    let (there, offer) = Queue::<WORDS>::share(plan.capacity, 1);
    with_a_process::<Queue<WORDS>>(plan, there, &offer, || ())
}

/// So many at a time. Nanoseconds a question.
#[inline(never)]
fn asked<Q: Questions + 'static, const OPEN: usize>(plan: &Plan) -> Sample {
    let child = Child::start::<Answer<Q>>(plan, 1);
    let mut client = Q::join(&child.socket);
    let mut begun = Instant::now();
    for phase in phases(WARM_UP / OPEN as u64, plan.messages / OPEN as u64) {
        begun = Instant::now();
        for i in phase {
            let values = array::from_fn::<u64, OPEN, _>(|open| mix(i * OPEN as u64 + open as u64));
            let mut pending = values.map(|value| client.ask(value));
            for (pending, value) in pending.iter_mut().zip(values) {
                while !Q::Client::is_answered(pending, value) {
                    spin_loop();
                }
            }
        }
    }
    let ns = ns_each(begun, plan.messages / OPEN as u64 * OPEN as u64);
    child.tell(&());
    let () = child.last_words();
    ns.into()
}

/// Of the process that answers.
struct Answer<Q>(PhantomData<Q>);

impl<Q: Questions> Work for Answer<Q> {
    fn run(parent: Parent) {
        let (mut server, offer) = Q::serve(parent.order.capacity);
        Q::offer(&offer, &parent.socket);
        // (At every number that may be open, these are whole rounds.)
        for _ in 0..WARM_UP + parent.order.messages {
            while !server.poll() {
                spin_loop();
            }
        }
        parent.hear::<()>();
        parent.tell(&());
    }
}
