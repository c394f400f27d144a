//! One set of properties, over every ring and every way to receive from it.
//!
//! ```text
//! rings/   what the properties see of a ring, and each ring as that
//! every/   the properties
//! verbs/   what one ring alone promises at its edges
//! model/   the lossless rings and the groups against a plain model, in random steps
//! support/ what tests of other files use, too
//! ```
//!
//! A property is a function over [`rings::Ring`]; the macro below makes one test of it for each ring. A new
//! ring joins by a `ring!` in `rings/` and a line here, a new property by a function in `every/` and a line
//! in the macro.
#![allow(clippy::too_many_lines, reason = "a test reads from top to bottom")]

mod every;
mod model;
mod rings;
#[path = "../support/mod.rs"]
mod support;
mod verbs;

/// The tests of each ring, in a module of its name.
macro_rules! conformance {
    ($($module:ident: $ring:ident),* $(,)?) => {
        conformance! { @threads [
            numbers::numbers_of_a_resting_ring_are_exact,
            numbers::numbers_of_a_busy_ring_are_consistent,
            observers::side_that_comes_back_is_listed_again,
        ] $($module: $ring),* }
    };
    // The numbers of a process do not have the handles of others.
    (between processes: $($module:ident: $ring:ident),* $(,)?) => {
        conformance! { @threads [] $($module: $ring),* }
    };
    (@threads $more:tt $($module:ident: $ring:ident),*) => {$(
        mod $module {
            #[allow(unused_imports, reason = "some rings have fewer tests")]
            use crate::every::{
                accounts, close, idle, joining, laps, liveness, numbers, observers, order, panics, timeouts,
                written,
            };
            use crate::model;
            use crate::rings::$ring as Ring;

            conformance! { @thread_tests $more }
        }
    )*};
    (@thread_tests [$($more:tt)*]) => {
        conformance! { @tests
            laps::messages_come_in_order_at_every_capacity_and_start,
            laps::verbs_receive_everything_in_order,
            accounts::received_plus_lagged_is_the_position,
            accounts::waiting_publisher_fills_capacity_less_headroom,
            accounts::publisher_without_subscribers_never_waits,
            order::threads_agree_on_one_order,
            close::verbs_receive_messages_before_the_close,
            close::joining_a_closed_ring_finds_its_end,
            close::ends_may_go_in_any_order,
            close::waiting_publisher_is_told_when_no_reader_can_come,
            close::close_wakes_waiters,
            close::closed_ring_refuses_messages,
            close::closer_does_not_keep_ring_open,
            close::close_separates_accepted_from_refused_messages,
            joining::joiner_begins_with_the_next_message,
            joining::joiner_at_the_oldest_finds_the_promised_messages,
            joining::clone_begins_at_its_originals_position,
            joining::joiners_beside_a_publisher_miss_nothing,
            panics::closure_that_panics_publishes_nothing,
            panics::message_of_a_panicked_handler_is_processed,
            panics::panicked_subscriber_holds_no_publisher_up,
            panics::publisher_that_panics_closes_if_it_was_the_last,
            timeouts::timeout_ends_in_time_and_not_before,
            timeouts::message_in_time_is_received,
            written::subscriber_does_not_pass_an_unwritten_message,
            written::oldest_message_exists_while_publishers_publish,
            written::zero_timeout_receives_a_standing_message,
            joining::subscriber_is_no_further_behind_than_the_room,
            liveness::calls_end_while_handles_come_and_go,
            liveness::message_is_received_whatever_others_publish,
            idle::many_sleepers_use_no_core_and_all_wake,
            idle::one_sleeper_uses_no_core_and_wakes,
            model::agrees_with_its_model,
            $($more)*
        }
    };
    // Broadcast rings whose capacity is a power of two, and whose messages no closure makes.
    (broadcast of records: $($module:ident: $ring:ident),* $(,)?) => {$(
        mod $module {
            use crate::every::{close, idle, joining, liveness, order, timeouts};
            use crate::rings::$ring as Ring;

            conformance! { @tests
                order::threads_agree_on_one_order,
                close::verbs_receive_messages_before_the_close,
                close::joining_a_closed_ring_finds_its_end,
                close::ends_may_go_in_any_order,
                close::waiting_publisher_is_told_when_no_reader_can_come,
                close::close_wakes_waiters,
                close::closed_ring_refuses_messages,
                close::closer_does_not_keep_ring_open,
                close::close_separates_accepted_from_refused_messages,
                joining::joiner_begins_with_the_next_message,
                joining::joiners_beside_a_publisher_miss_nothing,
                timeouts::timeout_ends_in_time_and_not_before,
                timeouts::message_in_time_is_received,
                liveness::calls_end_while_handles_come_and_go,
                liveness::message_is_received_whatever_others_publish,
                idle::many_sleepers_use_no_core_and_all_wake,
                idle::one_sleeper_uses_no_core_and_wakes,
            }
        }
    )*};
    // Each message of these reaches one subscriber, so what is said of several is not theirs.
    (queues: $($module:ident: $ring:ident),* $(,)?) => {
        conformance! { @queues [
            numbers::numbers_of_a_resting_ring_are_exact,
            numbers::numbers_of_a_busy_ring_are_consistent,
            observers::side_that_comes_back_is_listed_again,
        ] $($module: $ring),* }
    };
    // Nor do numbers that count words.
    (queues of records: $($module:ident: $ring:ident),* $(,)?) => {
        conformance! { @queues [] $($module: $ring),* }
    };
    (queues between processes: $($module:ident: $ring:ident),* $(,)?) => {
        conformance! { @queues [] $($module: $ring),* }
    };
    (@queues $more:tt $($module:ident: $ring:ident),*) => {$(
        mod $module {
            #[allow(unused_imports, reason = "some rings have fewer tests")]
            use crate::every::{accounts, close, idle, laps, liveness, numbers, observers, panics, timeouts};
            use crate::rings::$ring as Ring;

            conformance! { @queue_tests $more }
        }
    )*};
    (@queue_tests [$($more:tt)*]) => {
        conformance! { @tests
            laps::messages_come_in_order_at_every_capacity_and_start,
            laps::verbs_receive_everything_in_order,
            accounts::received_plus_lagged_is_the_position,
            close::verbs_receive_messages_before_the_close,
            close::ends_may_go_in_any_order,
            close::waiting_publisher_is_told_when_no_reader_can_come,
            close::closed_ring_refuses_messages,
            close::closer_does_not_keep_ring_open,
            close::close_of_a_queue_separates_accepted_from_refused_messages,
            panics::message_of_a_panicked_handler_is_processed,
            panics::publisher_that_panics_closes_if_it_was_the_last,
            timeouts::timeout_ends_in_time_and_not_before,
            timeouts::message_in_time_is_received,
            liveness::calls_end_while_handles_come_and_go,
            liveness::message_is_received_whatever_others_publish,
            idle::one_sleeper_uses_no_core_and_wakes,
            $($more)*
        }
    };
    // Topics that match a pattern: a subscriber joins while the bus is there, and is told of the end when the
    // bus goes.
    (patterns: $($module:ident: $ring:ident),* $(,)?) => {$(
        mod $module {
            use crate::every::{accounts, close, idle, joining, laps, liveness, panics, timeouts, written};
            use crate::rings::$ring as Ring;

            conformance! { @tests
                laps::messages_come_in_order_at_every_capacity_and_start,
                laps::verbs_receive_everything_in_order,
                accounts::received_plus_lagged_is_the_position,
                accounts::waiting_publisher_fills_capacity_less_headroom,
                close::verbs_receive_messages_before_the_close,
                close::close_wakes_waiters,
                joining::joiner_begins_with_the_next_message,
                joining::joiners_beside_a_publisher_miss_nothing,
                panics::publisher_that_panics_closes_if_it_was_the_last,
                timeouts::timeout_ends_in_time_and_not_before,
                timeouts::message_in_time_is_received,
                written::subscriber_does_not_pass_an_unwritten_message,
                written::zero_timeout_receives_a_standing_message,
                liveness::message_is_received_whatever_others_publish,
                idle::many_sleepers_use_no_core_and_all_wake,
                idle::one_sleeper_uses_no_core_and_wakes,
            }
        }
    )*};
    (task patterns: $($module:ident: $ring:ident),* $(,)?) => {
        conformance! { @in_tasks [
            close::close_wakes_waiters,
            idle::many_sleepers_use_no_core_and_all_wake,
            tasks::one_message_wakes_a_thousand,
            tasks::waker_that_panics_disturbs_no_other_task,
        ] $($module: $ring),* }
    };
    // Any of them where tasks wait.
    (tasks: $($module:ident: $ring:ident),* $(,)?) => {
        conformance! { @in_tasks [
            accounts::waiting_publisher_fills_capacity_less_headroom,
            accounts::publisher_without_subscribers_never_waits,
            order::threads_agree_on_one_order,
            close::waiting_publisher_is_told_when_no_reader_can_come,
            close::close_wakes_waiters,
            close::closed_ring_refuses_messages,
            close::close_separates_accepted_from_refused_messages,
            joining::joiners_beside_a_publisher_miss_nothing,
            panics::panicked_subscriber_holds_no_publisher_up,
            idle::many_sleepers_use_no_core_and_all_wake,
            tasks::one_message_wakes_a_thousand,
            tasks::waker_that_panics_disturbs_no_other_task,
        ] $($module: $ring),* }
    };
    (task queues: $($module:ident: $ring:ident),* $(,)?) => {
        conformance! { @in_tasks [
            close::waiting_publisher_is_told_when_no_reader_can_come,
            close::closed_ring_refuses_messages,
            close::close_of_a_queue_separates_accepted_from_refused_messages,
            idle::one_sleeper_uses_no_core_and_wakes,
        ] $($module: $ring),* }
    };
    (@in_tasks $more:tt $($module:ident: $ring:ident),*) => {$(
        #[cfg(feature = "async")]
        mod $module {
            #[allow(unused_imports, reason = "some rings have fewer tests")]
            use crate::every::{accounts, close, idle, joining, laps, liveness, order, panics, tasks, timeouts};
            use crate::rings::$ring as Ring;

            conformance! { @task_tests $more }
        }
    )*};
    (@task_tests [$($more:tt)*]) => {
        conformance! { @tests
            laps::messages_come_in_order_at_every_capacity_and_start,
            accounts::received_plus_lagged_is_the_position,
            close::verbs_receive_messages_before_the_close,
            timeouts::timeout_ends_in_time_and_not_before,
            timeouts::message_in_time_is_received,
            liveness::message_is_received_whatever_others_publish,
            tasks::idle_task_is_polled_once,
            tasks::dropped_future_loses_nothing,
            tasks::last_waker_is_woken,
            tasks::stream_stays_at_its_end,
            tasks::task_may_receive_inside_its_wake,
            tasks::waker_that_panics_when_it_goes_loses_nothing,
            tasks::close_wakes_tasks_of_both_sides,
            $($more)*
        }
    };
    // Tasks beside threads: the verbs that block do so there, and the others await.
    (runtime: $($module:ident: $ring:ident),* $(,)?) => {
        conformance! { @runtime [runtime::thousand_tasks_receive_each_message,] $($module: $ring),* }
    };
    (runtime queues: $($module:ident: $ring:ident),* $(,)?) => {
        conformance! { @runtime [] $($module: $ring),* }
    };
    (@runtime $more:tt $($module:ident: $ring:ident),*) => {$(
        #[cfg(all(feature = "async", not(miri)))]
        mod $module {
            use crate::every::{runtime, tasks};
            use crate::rings::$ring as Ring;

            conformance! { @runtime_tests $more }
        }
    )*};
    (@runtime_tests [$($more:tt)*]) => {
        conformance! { @tests
            tasks::ends_may_be_tasks_or_threads,
            runtime::select_loses_nothing,
            runtime::timeout_loses_nothing,
            runtime::tasks_move_between_threads,
            runtime::futures_polled_too_often_and_too_late_lose_nothing,
            runtime::one_end_blocks_and_the_other_awaits,
            $($more)*
        }
    };
    (@tests $($file:ident::$property:ident),* $(,)?) => {$(
        #[test]
        fn $property() {
            // Where a ring waits for what never comes, the test fails rather than to hang.
            crate::support::without_standing_still($file::$property::<Ring>);
        }
    )*};
}

conformance! {
    lossy: Lossy,
    lossless: Lossless,
    mp_lossy: MpLossy,
    mp_lossless: MpLossless,
    events: Events,
    mp_events: MpEvents,
    events_reset: ResetEvents,
    mp_events_reset: MpResetEvents,
    tap: Tap,
    mp_tap: MpTap,
    group: Grouped,
    group_lossless: GroupedLossless,
    group_mp_lossy: GroupedMpLossy,
    group_mp_lossless: GroupedMpLossless,
    tracked: Tracked,
    tracked_lossless: TrackedLossless,
    behind: Behind,
    behind_lossless: BehindLossless,
    behind_mp_lossy: BehindMpLossy,
    behind_mp_lossless: BehindMpLossless,
    behind_events: BehindEvents,
    behind_mp_events: BehindMpEvents,
}

conformance! { queues:
    spsc: SpscQueue,
    mpsc: MpscQueue,
    spmc: SpmcQueue,
    mpmc_queue: MpmcQueue,
    one_order_queue: OneOrderQueue,
}

conformance! { queues of records:
    records: RecordQueue,
}

#[cfg(feature = "std")]
conformance! {
    lossy_mapped: MappedLossy,
    mp_lossless_mapped: MappedMpLossless,
    events_mapped: MappedEvents,
}
#[cfg(feature = "std")]
conformance! { queues:
    spsc_mapped: MappedSpscQueue,
    mpmc_queue_mapped: MappedMpmcQueue,
}
#[cfg(all(feature = "shm", target_os = "linux", not(any(miri, annulus_loom))))]
conformance! { between processes:
    lossy_shared: SharedLossy,
    lossless_shared: SharedLossless,
    mp_lossy_shared: SharedMpLossy,
    mp_lossless_shared: SharedMpLossless,
    frames_shared: SharedFrames,
    lossless_frames_shared: SharedLosslessFrames,
}
conformance! { broadcast of records:
    lossless_records: LosslessRecords,
}
#[cfg(all(feature = "shm", target_os = "linux", not(any(miri, annulus_loom))))]
conformance! { broadcast of records:
    lossless_records_shared: SharedLosslessRecords,
}
#[cfg(all(feature = "shm", target_os = "linux", not(any(miri, annulus_loom))))]
conformance! { queues between processes:
    spsc_shared: SharedSpscQueue,
    mpsc_shared: SharedMpscQueue,
    records_shared: SharedRecordQueue,
    work_shared: SharedWork,
}
conformance! { patterns:
    matching: Matching,
    matching_lossless: MatchingLossless,
}

conformance! { task patterns:
    matching_in_tasks: MatchingInTasks,
    matching_lossless_in_tasks: MatchingLosslessInTasks,
}

conformance! { tasks:
    lossy_in_tasks: LossyInTasks,
    lossless_in_tasks: LosslessInTasks,
    mp_lossy_in_tasks: MpLossyInTasks,
    mp_lossless_in_tasks: MpLosslessInTasks,
    events_in_tasks: EventsInTasks,
    mp_events_in_tasks: MpEventsInTasks,
    group_in_tasks: GroupedInTasks,
    tracked_in_tasks: TrackedInTasks,
    behind_lossless_in_tasks: BehindLosslessInTasks,
}

conformance! { task queues:
    spsc_in_tasks: SpscInTasks,
    mpsc_in_tasks: MpscInTasks,
    spmc_in_tasks: SpmcInTasks,
    mpmc_queue_in_tasks: MpmcQueueInTasks,
    one_order_in_tasks: OneOrderInTasks,
}

conformance! { runtime:
    lossy_and_tasks: Lossy,
    lossless_and_tasks: Lossless,
    mp_lossy_and_tasks: MpLossy,
    mp_lossless_and_tasks: MpLossless,
    tap_and_tasks: Tap,
    events_and_tasks: Events,
    mp_events_and_tasks: MpEvents,
    group_and_tasks: Grouped,
    group_lossless_and_tasks: GroupedLossless,
    tracked_and_tasks: Tracked,
    behind_lossless_and_tasks: BehindLossless,
    behind_mp_events_and_tasks: BehindMpEvents,
}

#[cfg(all(feature = "shm", target_os = "linux", not(any(miri, annulus_loom))))]
conformance! { runtime:
    lossy_shared_and_tasks: SharedLossy,
    mp_lossy_shared_and_tasks: SharedMpLossy,
}
// (A lossless one has no thousand seats.)
#[cfg(all(feature = "shm", target_os = "linux", not(any(miri, annulus_loom))))]
conformance! { runtime queues:
    lossless_shared_and_tasks: SharedLossless,
    mp_lossless_shared_and_tasks: SharedMpLossless,
    spsc_shared_and_tasks: SharedSpscQueue,
    mpsc_shared_and_tasks: SharedMpscQueue,
    records_shared_and_tasks: SharedRecordQueue,
    work_shared_and_tasks: SharedWork,
    lossless_frames_shared_and_tasks: SharedLosslessFrames,
    lossless_records_shared_and_tasks: SharedLosslessRecords,
}

conformance! { runtime queues:
    matching_and_tasks: Matching,
    matching_lossless_and_tasks: MatchingLossless,
}

conformance! { runtime queues:
    spsc_and_tasks: SpscQueue,
    mpsc_and_tasks: MpscQueue,
    spmc_and_tasks: SpmcQueue,
    mpmc_queue_and_tasks: MpmcQueue,
    one_order_and_tasks: OneOrderQueue,
    records_and_tasks: RecordQueue,
}
