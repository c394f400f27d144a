//! The publisher's side.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use annulus::broadcast::{Lossless, Lossy, Publisher};
use annulus::{Settings, Shutdown};

use super::arguments::Arguments;
use super::children::Children;
use super::report::{Part, Report, Sent};
use crate::measure::{Gauge, Schedule, now_ns, per_second, show_progress};
use crate::messages::load::{Load, Mark, with_words_of};
use crate::outcome::{Failure, Outcome};
use crate::rings::{self, Ring};
use crate::signals::Signals;
use crate::text::grouped;

/// Messages a second where latency is measured, if nothing else is asked for. The ring is nearly empty at
/// each of them, also where there are more processes than CPUs.
const CALM_PER_S: f64 = 10_000.0;

/// Between two parts, so that the second one begins with an empty ring.
const PAUSE: Duration = Duration::from_millis(100);

/// If the publisher falls further behind than this, the part ends with fewer messages.
const LATE_MAX: Duration = Duration::from_millis(100);

/// At full speed, the clock is read with each so many messages.
const CLOCK_EVERY: u64 = 256;

/// Makes the ring, starts the subscribers unless there are to be none, and publishes.
pub(super) fn run(arguments: &Arguments) -> Result<(Option<Report>, Option<Outcome>), Failure> {
    with_words_of!(arguments.size, run_on(arguments)).expect("it was checked when it was parsed")
}

fn run_on<const WORDS: usize>(arguments: &Arguments) -> Result<(Option<Report>, Option<Outcome>), Failure> {
    if arguments.lossless { run_in::<Lossless, WORDS>(arguments) } else { run_in::<Lossy, WORDS>(arguments) }
}

fn run_in<M: Ring, const WORDS: usize>(
    arguments: &Arguments,
) -> Result<(Option<Report>, Option<Outcome>), Failure> {
    // (From here on, so that none ends the process between the name and what takes it back.)
    let signals = Signals::watch()?;
    let directory = rings::open_or_make(&arguments.directory)?;
    let capacity = arguments.capacity();
    let (mut publisher, invitation) =
        M::make::<Load<WORDS>>(Settings::new(capacity)).map_err(|error| rings::not_made(capacity, &error))?;
    let name =
        invitation.publish(&directory, &arguments.name).map_err(|error| Failure::new(error.to_string()))?;

    let name = Arc::new(Mutex::new(Some(name)));
    let (shutdown, stopped) = (Shutdown::new(), Arc::new(OnceLock::new()));
    let take_back = {
        let name = Arc::clone(&name);
        move || drop(name.lock().unwrap_or_else(PoisonError::into_inner).take())
    };
    let on_signal = {
        let (shutdown, stopped, take_back) = (shutdown.clone(), Arc::clone(&stopped), take_back.clone());
        move |outcome| {
            let _ = stopped.set(outcome);
            shutdown.trigger();
            take_back();
        }
    };
    // The name goes back with an error as well.
    let published = signals.then(on_signal, || {}).and_then(|()| {
        let count = if arguments.publish { 0 } else { arguments.subscribers };
        let children = Children::start(arguments, count)?;
        let sent = publish_all(arguments, &mut publisher, &shutdown)?;
        publisher.close();
        Ok((sent, children.receipts()?))
    });
    take_back();
    let (sent, receipts) = published?;

    let mut report = Report::new(&arguments.name, arguments.size, capacity);
    report.lossless = M::LOSSLESS;
    report.is_stopped = stopped.get().is_some();
    for (number, receipt) in (1..).zip(&receipts) {
        report.faults.extend(receipt.faults.iter().map(|fault| format!("subscriber {number}: {fault}")));
    }
    for (rate, sent) in sent {
        let subscribers = receipts.iter().map(|receipt| receipt.part(sent.start)).collect();
        report.parts.push(Part { rate, is_timed: rate.is_some(), sent: Some(sent), subscribers });
    }
    Ok((Some(report), stopped.get().copied()))
}

/// Publishes each part, with its rate, in order.
fn publish_all<M: Ring, const WORDS: usize>(
    arguments: &Arguments,
    publisher: &mut Publisher<Load<WORDS>, M>,
    shutdown: &Shutdown,
) -> Result<Vec<(Option<f64>, Sent)>, Failure> {
    let rates = if arguments.rate.is_some() { vec![arguments.rate] } else { vec![None, Some(CALM_PER_S)] };
    let gauge = &Gauge::default();
    let total = arguments.seconds.saturating_mul(u32::try_from(rates.len()).unwrap_or(u32::MAX));
    thread::scope(|scope| {
        let (begun, mut before) = (Instant::now(), 0);
        let running = show_progress(scope, milliseconds(total), move |interval| {
            let count = gauge.get();
            let message = progress(count, count - before, interval);
            before = count;
            (milliseconds(begun.elapsed().min(total)), message)
        });
        let mut parts = Vec::new();
        for rate in rates {
            if shutdown.is_shutdown() {
                break;
            }
            if !parts.is_empty() {
                thread::sleep(PAUSE);
            }
            let sent = match rate {
                None => flood(publisher, arguments.seconds, shutdown, gauge),
                Some(rate) => publish_at(rate, publisher, arguments.seconds, shutdown, gauge),
            };
            parts.push((rate, sent));
        }
        drop(running);
        Ok(parts)
    })
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// What stands next to the progress bar, of `recent` messages in the last `interval`.
#[expect(clippy::cast_precision_loss, reason = "a rate for people")]
fn progress(count: u64, recent: u64, interval: Duration) -> String {
    let rate = per_second(recent as f64 / interval.as_secs_f64());
    format!("{} messages  {rate} messages/s", grouped(count))
}

/// Publishes as fast as it can, for so long.
fn flood<M: Ring, const WORDS: usize>(
    publisher: &mut Publisher<Load<WORDS>, M>,
    duration: Duration,
    shutdown: &Shutdown,
    gauge: &Gauge,
) -> Sent {
    let start = publisher.published();
    let mark = Mark { start, is_last: false, is_timed: false };
    let (begun_ns, mut number) = (now_ns(), start);
    let until_ns = begun_ns.saturating_add(nanoseconds(duration));
    let mut is_open = true;
    while is_open && now_ns() < until_ns && !shutdown.is_shutdown() {
        for _ in 0..CLOCK_EVERY {
            is_open &= M::publish(publisher, Load::new(number, 0, mark));
            number += 1;
        }
        gauge.set(number);
    }
    M::publish(publisher, Load::new(number, 0, Mark { is_last: true, ..mark }));
    Sent { start, published: publisher.published() - start, elapsed_ns: now_ns() - begun_ns }
}

/// Publishes `rate` messages a second, for so long, each with the time of its publication.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive; it saturates")]
fn publish_at<M: Ring, const WORDS: usize>(
    rate: f64,
    publisher: &mut Publisher<Load<WORDS>, M>,
    duration: Duration,
    shutdown: &Shutdown,
    gauge: &Gauge,
) -> Sent {
    let start = publisher.published();
    let mark = Mark { start, is_last: false, is_timed: true };
    let schedule = Schedule::new(rate);
    let begun_ns = now_ns();
    let until_ns = begun_ns.saturating_add(nanoseconds(duration + LATE_MAX));
    // One at least.
    let count = ((rate * duration.as_secs_f64()) as u64).max(1);
    for index in 0..count {
        schedule.wait(index, begun_ns, now_ns, shutdown);
        let now_ns = now_ns();
        if shutdown.is_shutdown() || index > 0 && now_ns >= until_ns {
            break;
        }
        if !M::publish(publisher, Load::new(start + index, now_ns, mark)) {
            break;
        }
        gauge.set(start + index + 1);
    }
    // The last message has its time on the schedule as well.
    Schedule::new(1.0 / duration.as_secs_f64()).wait(1, begun_ns, now_ns, shutdown);
    Sent { start, published: publisher.published() - start, elapsed_ns: now_ns() - begun_ns }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
