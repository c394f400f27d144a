//! Messages one after the other, from one task or from eight, to one task.

use std::time::Instant;

use super::super::entries::contenders;
use super::executor::{ONE, ROUNDS, TWO, names};
use crate::contenders::{
    AnnulusBroadcastTasks, AnnulusMpmcTasks, AnnulusMpscTasks, AnnulusOrderedTasks, AnnulusSpscTasks,
    AsyncBroadcastTasks, AsyncChannelTasks, CrossfireOneTasks, CrossfireTasks, FlumeTasks, KanalTasks,
    TaskChannel, TaskReceiver, TaskSender, TokioTasks,
};
use crate::exchange::copies;
use crate::row::{Entry, Plan, Row, Sample};
use crate::timing::{LIVE_WARM_UP, ns_each, processor_time};
use crate::workers::Workers;

/// What ours may take of the best rival's time.
const LIMIT: f64 = 0.7;

/// Capacities: room for many turns of both sides, and for few.
const LARGE: usize = 4096;
const SMALL: usize = 64;

pub fn rows() -> Vec<Row> {
    /// One task to another through each kind of channel, with so many workers.
    macro_rules! from_one {
        ($workers:ident) => {
            [
                ("spsc", [LARGE, SMALL].as_slice(), contenders!(from_one: AnnulusSpscTasks, TokioTasks, FlumeTasks,
                    KanalTasks, AsyncChannelTasks, CrossfireOneTasks; $workers).to_vec()),
                ("mpsc", &[LARGE], rivals_for_many!(from_one, AnnulusMpscTasks, $workers)),
                ("mpmc", &[LARGE], rivals_for_many!(from_one, AnnulusMpmcTasks, $workers)),
                ("one ring for many", &[LARGE], rivals_for_many!(from_one, AnnulusOrderedTasks, $workers)),
                ("lossless broadcast", &[LARGE, SMALL], contenders!(from_one: AnnulusBroadcastTasks, TokioTasks,
                    AsyncBroadcastTasks, FlumeTasks, KanalTasks, AsyncChannelTasks, CrossfireTasks; $workers).to_vec()),
            ]
        };
    }
    /// Eight tasks to one.
    macro_rules! from_eight {
        ($workers:ident) => {
            [
                ("mpsc", [LARGE, SMALL].as_slice(), rivals_for_many!(from_eight, AnnulusMpscTasks, $workers)),
                ("mpmc", &[LARGE], rivals_for_many!(from_eight, AnnulusMpmcTasks, $workers)),
                (
                    "one ring for many",
                    &[LARGE, SMALL],
                    rivals_for_many!(from_eight, AnnulusOrderedTasks, $workers),
                ),
            ]
        };
    }
    macro_rules! rivals_for_many {
        ($run:ident, $ours:ident, $workers:ident) => {
            contenders!($run: $ours, TokioTasks, FlumeTasks, KanalTasks, AsyncChannelTasks, CrossfireTasks;
                $workers).to_vec()
        };
    }
    let mut rows = vec![];
    let mut of = |producers, workers, (kind, capacities, entries): (&str, &[usize], Vec<Entry>)| {
        rows.extend(capacities.iter().map(|&capacity| row(producers, workers, kind, capacity, &entries)));
    };
    from_one!(ONE).into_iter().for_each(|kind| of(1, ONE, kind));
    from_one!(TWO).into_iter().for_each(|kind| of(1, TWO, kind));
    from_eight!(ONE).into_iter().for_each(|kind| of(8, ONE, kind));
    from_eight!(TWO).into_iter().for_each(|kind| of(8, TWO, kind));
    rows
}

fn row(producers: usize, workers: usize, kind: &str, capacity: usize, entries: &[Entry]) -> Row {
    let (place, about_place) = names(workers);
    let tasks = if producers == 1 { "one task" } else { "eight tasks" };
    let from = if producers == 1 { "1 to 1" } else { "8 to 1" };
    Row::new(
        format!("async {kind}, {from}, {capacity} slots, {place}"),
        format!("u64, from {tasks} to another, {about_place}"),
        capacity,
        320_000,
    )
    .threads(workers)
    .most_rounds(ROUNDS)
    .entries(entries.iter().copied())
    .at_most_of_the_best(LIMIT)
}

#[inline(never)]
fn from_one<C: TaskChannel, const WORKERS: usize>(plan: &Plan) -> Sample {
    stream::<C, 1>(plan, WORKERS, |sender| [sender])
}

#[inline(never)]
fn from_eight<C: TaskChannel<Sender: Clone>, const WORKERS: usize>(plan: &Plan) -> Sample {
    stream::<C, 8>(plan, WORKERS, copies)
}

/// The time is the receiver's: from the last message of a warm-up to the last of all.
#[inline(always)]
fn stream<C: TaskChannel, const P: usize>(
    plan: &Plan,
    workers: usize,
    senders: impl FnOnce(C::Sender) -> [C::Sender; P],
) -> Sample {
    let messages = plan.messages;
    let share = (LIVE_WARM_UP + messages) / P as u64;
    let (sender, mut receiver) = C::channel(plan.capacity);
    let workers = Workers::new(workers, plan.cores);
    let receiving = workers.spawn(async move {
        let mut sum = 0_u64;
        let mut next = [0; P];
        let (mut begun, mut processor_time_before) = (Instant::now(), processor_time());
        for (count, last) in [(LIVE_WARM_UP, false), (messages, true)] {
            for _ in 0..count {
                let message = receiver.receive().await.expect("more is to come");
                let next = &mut next[(message % P as u64) as usize];
                assert!(message / P as u64 == *next, "of each producer, in order, and none is missing");
                *next += 1;
                sum = sum.wrapping_add(message);
            }
            if !last {
                (begun, processor_time_before) = (Instant::now(), processor_time());
            }
        }
        let ns = ns_each(begun, messages);
        let cpu = processor_time() - processor_time_before;
        assert!(receiver.receive().await.is_none(), "that was all");
        assert_eq!(sum, (0..share * P as u64).fold(0, u64::wrapping_add));
        Sample { ns, cpu_ns: Some(cpu.as_secs_f64() * 1e9 / messages as f64), ..Sample::default() }
    });
    let mut who = 0;
    let sending = senders(sender).map(|mut sender| {
        let number = who;
        who += 1;
        workers.spawn(async move {
            for i in 0..share {
                assert!(sender.send(i * P as u64 + number).await, "the receiver is there");
            }
        })
    });
    let sample = workers.join(receiving);
    sending.into_iter().for_each(|task| workers.join(task));
    sample
}
