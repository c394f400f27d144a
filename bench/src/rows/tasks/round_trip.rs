//! A message to another task and its answer back.

use std::time::Instant;

use super::super::entries::contenders;
use super::executor::{ONE, ROUNDS, TWO, names};
use super::floor::BareWake;
use crate::contenders::{
    AnnulusBroadcastTasks, AnnulusMpscTasks, AnnulusSpscTasks, AsyncBroadcastTasks, AsyncChannelTasks,
    CrossfireOneTasks, CrossfireTasks, FlumeTasks, KanalTasks, Named, TaskChannel, TaskReceiver, TaskSender,
    TokioBroadcastTasks, TokioTasks,
};
use crate::row::{Entry, Plan, Row, Sample};
use crate::timing::{WARM_UP, ns_each, phases, processor_time};
use crate::workers::Workers;

/// What ours may take of the best rival's time.
const LIMIT: f64 = 0.8;

pub fn rows() -> Vec<Row> {
    /// The entries of each kind of channel, with so many workers.
    macro_rules! with {
        ($workers:ident) => {
            [
                row("spsc", $workers, contenders!(round_trip: AnnulusSpscTasks, TokioTasks, TokioBroadcastTasks,
                    FlumeTasks, KanalTasks, AsyncChannelTasks, CrossfireOneTasks; $workers)),
                row("mpsc", $workers, contenders!(round_trip: AnnulusMpscTasks, TokioTasks, TokioBroadcastTasks,
                    FlumeTasks, KanalTasks, AsyncChannelTasks, CrossfireTasks; $workers)),
                row("lossless broadcast", $workers, contenders!(round_trip: AnnulusBroadcastTasks, TokioTasks,
                    TokioBroadcastTasks, AsyncBroadcastTasks, FlumeTasks, KanalTasks, AsyncChannelTasks,
                    CrossfireTasks; $workers)),
            ]
        };
    }
    with!(ONE).into_iter().chain(with!(TWO)).collect()
}

fn row(kind: &str, workers: usize, entries: impl IntoIterator<Item = Entry>) -> Row {
    let (place, about_place) = names(workers);
    Row::new(
        format!("async {kind}, round trip, {place}"),
        format!(
            "u64, from a task to another through one channel, and back through a second one; {about_place}"
        ),
        64,
        50_000,
    )
    .threads(workers)
    .most_rounds(ROUNDS)
    .entries(entries)
    .floor(
        BareWake::NAME,
        if workers == ONE { round_trip::<BareWake, ONE> } else { round_trip::<BareWake, TWO> },
    )
    .at_most_of_the_best(LIMIT)
}

#[inline(never)]
fn round_trip<C: TaskChannel, const WORKERS: usize>(plan: &Plan) -> Sample {
    let (mut there, mut arrival) = C::channel(plan.capacity);
    let (mut back, mut answer) = C::channel(plan.capacity);
    let messages = plan.messages;
    let workers = Workers::new(WORKERS, plan.cores);
    let echo = workers.spawn(async move {
        for _ in 0..WARM_UP + messages {
            let value = arrival.receive().await.expect("the other task is there");
            assert!(back.send(value + 1).await);
        }
        // Not before the last answer was received: a closed ring is another thing.
        arrival.receive().await
    });
    let asking = workers.spawn(async move {
        let (mut begun, mut processor_time_before) = (Instant::now(), processor_time());
        for phase in phases(WARM_UP, messages) {
            (begun, processor_time_before) = (Instant::now(), processor_time());
            for i in phase {
                assert!(there.send(i).await);
                assert!(answer.receive().await == Some(i + 1));
            }
        }
        let cpu = processor_time() - processor_time_before;
        let cpu_ns = Some(cpu.as_secs_f64() * 1e9 / messages as f64);
        Sample { ns: ns_each(begun, messages), cpu_ns, ..Sample::default() }
    });
    let sample = workers.join(asking);
    assert!(workers.join(echo).is_none(), "nothing more was sent");
    sample
}
