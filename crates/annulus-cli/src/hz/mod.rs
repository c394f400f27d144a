//! `annulus hz`: how often messages come, and how evenly (Linux).
//!
//! It maps the ring read-only and looks again and again at how many messages were published. So it works for
//! rings of any type, and disturbs nobody.
//!
//! ```text
//! arguments   what the user asked for
//! cadence     what the looks come to: the gaps between messages
//! report      that, for people and as JSON
//! ```

mod arguments;
mod cadence;
mod report;

use std::thread;
use std::time::Duration;

use annulus::shm::{PeerState, ShmKind};

pub(crate) use arguments::Arguments;

use crate::measure::now_ns;
use crate::messages::{Decoder, newest};
use crate::outcome::{Failure, Outcome};
use crate::signals::first_signal;
use crate::text::quoted;
use crate::{output, rings};
use cadence::Cadence;
use report::Report;

/// The time between two looks. No message is missed by it: the ring itself has their number.
const LOOK_INTERVAL: Duration = Duration::from_millis(1);

/// Where it does not sleep, it asks after so many looks whether the publisher is there, which takes system
/// calls.
const ASKED_EACH: u64 = 1_024;

/// Looks for some seconds, or until the ring ends, and prints what came of it.
///
/// # Errors
///
/// There is no such ring, or its messages can't be counted.
pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let stopped = first_signal(|| {})?;
    let name = &arguments.name;
    let (_named, observer) = rings::observe(&rings::open(&arguments.directory)?, name)?;
    let kind = observer.info().kind();
    let count = || observer.numbers().map(|numbers| numbers.published);
    let (Some(published), false) = (count(), kind == ShmKind::Bytes) else {
        let (name, what) = (quoted(name), rings::is_a(kind));
        let things = if kind == ShmKind::Watch { "changes" } else { "messages" };
        return Err(Failure::new(format!("{name} {what}, whose {things} can't be counted from outside")));
    };

    let begun_ns = now_ns();
    let end_ns = begun_ns.saturating_add(u64::try_from(arguments.seconds.as_nanos()).unwrap_or(u64::MAX));
    let mut cadence = Cadence::new(published);
    let (mut now, mut state) = (begun_ns, PeerState::Alive);
    while now < end_ns && stopped.get().is_none() && cadence.messages() < arguments.count {
        if !arguments.spin || cadence.looks().is_multiple_of(ASKED_EACH) {
            state = observer.state();
        }
        let published = count().unwrap_or_default();
        now = now_ns();
        cadence.see(now, published);
        // (What was published before the end was seen is counted.)
        if state != PeerState::Alive {
            break;
        }
        if arguments.spin {
            thread::yield_now();
        } else {
            thread::sleep(LOOK_INTERVAL.min(Duration::from_nanos(end_ns.saturating_sub(now))));
        }
    }
    let mut report = Report::new(name, &cadence, now - begun_ns, state);
    report.sleeps = !arguments.spin;
    if let Ok(Some(decoder)) = Decoder::of(&observer.info()) {
        report.add_messages(decoder.schema(), newest(&observer, &decoder));
    }
    output::print(&if arguments.json { report.to_json() } else { report.to_text(output::room()) })?;
    Ok(stopped.get().copied().unwrap_or(Outcome::Passed))
}
