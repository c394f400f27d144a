//! The rows of the table, in their order: what is measured, by which loop, and beside which floor.
//!
//! A loop is written once, generic over the contender. To add a rival, add its adapter to `contenders` and
//! its name where a row calls `contenders!`; to add a row, add a file.
//!
//! What is received is checked by `assert!(a == b)` (`assert_eq!` takes the address of both, and so stores
//! both, for each message), in batches by [`Check`](crate::messages::Check).

mod between;
mod bus;
mod entries;
mod events;
mod fan_out;
mod group;
mod huge_pages;
mod inlining;
mod latency;
mod live;
mod lossless;
mod made;
mod many_cores;
mod many_publishers;
mod newest;
mod notifier;
mod one_thread;
mod page;
mod pipeline;
mod placement;
mod pool;
mod pool_across;
mod queue_blocks;
mod queue_many;
mod queue_many_blocks;
mod queue_many_to_many;
mod queue_one;
mod queue_one_order;
mod queue_wake;
mod quote;
mod replies;
mod round_trip;
mod select;
mod shapes;
mod short_lives;
mod statistics;
mod stream;
mod tasks;
mod wait_strategies;
mod wake_up;

use crate::processes::{Works, work};
use crate::row::{Group, Row};

/// In the order of the table.
pub fn all() -> Vec<Row> {
    let mut rows = vec![];
    let mut of = |group, more: Vec<Row>| rows.extend(more.into_iter().map(|row| Row { group, ..row }));
    of(Group::BroadcastOneThread, one_thread::rows().into());
    of(Group::BroadcastOneThread, inlining::rows().into());
    of(Group::BroadcastOneThread, vec![group::row(), many_publishers::on_one_thread()]);
    of(Group::BroadcastOneThread, vec![quote::on_one_thread()]);
    of(Group::BroadcastOneThread, fan_out::rows().into());
    of(Group::BroadcastOneThread, vec![bus::row()]);
    of(Group::BroadcastOneThread, newest::rows_on_one_thread().into());
    of(Group::BroadcastAcross, newest::rows_across().into());
    of(Group::BroadcastAcross, vec![live::row(), many_publishers::at_once(), quote::market_data()]);
    of(Group::Lossless, lossless::rows().into());
    of(Group::Lossless, events::rows().into());
    of(Group::Payload, page::rows().into());
    of(Group::QueueOne, queue_one::rows().into());
    of(Group::QueueOne, queue_blocks::rows().into());
    of(Group::QueueMany, queue_many::rows().into());
    of(Group::QueueMany, queue_one_order::rows().into());
    of(Group::QueueMany, queue_many_blocks::rows());
    of(Group::QueueMany, queue_many_to_many::rows().into());
    of(Group::Latency, vec![round_trip::row(), wake_up::row()]);
    of(Group::Latency, queue_wake::rows().into());
    of(Group::Latency, vec![notifier::row()]);
    of(Group::Latency, latency::rows());
    of(Group::Latency, wait_strategies::rows());
    of(Group::ShortLives, made::rows());
    of(Group::ShortLives, replies::rows().into());
    of(Group::ShortLives, short_lives::rows().into());
    of(Group::BeyondThreads, tasks::rows());
    of(Group::BeyondThreads, select::rows().into());
    of(Group::Pipelines, pipeline::rows().into());
    of(Group::Statistics, statistics::rows().into());
    of(Group::Memory, vec![pool::row()]);
    of(Group::Memory, pool_across::rows().into());
    of(Group::Memory, huge_pages::rows().into());
    of(Group::Placement, placement::streams());
    of(Group::NowAndThen, placement::now_and_then());
    of(Group::BusyMachine, placement::beside_a_busy_program());
    of(Group::Sleepers, placement::sleepers());
    of(Group::ManyCores, many_cores::rows());
    of(Group::Processes, between::rows());
    rows
}

/// What other processes of rows do.
pub fn works() -> Works {
    let mut works = between::works();
    works.push(work::<made::Maker>());
    #[cfg(test)]
    let works = [works, crate::processes::tests::works()].concat();
    works
}

/// Which rows are left out here, and why.
pub fn left_out() -> Vec<String> {
    between::left_out()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cores::Cores;
    use crate::messages::BATCH;
    use crate::row::{Entry, Kind, Plan};
    use std::collections::BTreeSet;
    use std::time::Duration;

    /// Few messages, with all the checks.
    #[test]
    fn entries_of_every_row_run() {
        let cores = Cores::all().unwrap();
        crate::cores::pin(cores.here);
        for row in all() {
            let plan = Plan {
                messages: row.messages.min(2 * BATCH as u64),
                span: row.span.min(Duration::from_millis(10)),
                ..row.plan(cores)
            };
            for entry in &row.entries {
                // (For the test that fails.)
                println!("{}: {}", row.name, entry.name);
                let sample = (entry.run)(&plan);
                assert!(sample.ns > 0.0, "{}: {}", row.name, entry.name);
                assert!(sample.share.is_none_or(|share| (0.0..=1.0).contains(&share)), "{}", row.name);
            }
        }
    }

    /// No test: what the processes of rows are, when a test program starts them.
    #[test]
    #[ignore = "started by rows in tests"]
    fn process_is_a_child() {
        crate::processes::be_a_child(&works()).unwrap();
    }

    /// A round is asked for by its row's name.
    #[test]
    fn no_two_rows_have_the_same_name() {
        let rows = all();
        let names: BTreeSet<&str> = rows.iter().map(|row| &*row.name).collect();
        assert_eq!(names.len(), rows.len());
    }

    #[test]
    fn row_has_one_entry_of_ours_and_the_rivals_that_its_targets_name() {
        for row in all() {
            let (ours, others): (Vec<&Entry>, _) =
                row.entries.iter().partition(|entry| entry.kind == Kind::Ours);
            assert_eq!(ours.len(), 1, "{}", row.name);
            let names: BTreeSet<&str> = others.iter().map(|entry| entry.name).collect();
            assert!(!names.is_empty() && names.len() == others.len(), "{}", row.name);
            assert!(row.targets.iter().all(|target| names.contains(&*target.against)), "{}", row.name);
        }
    }
}
