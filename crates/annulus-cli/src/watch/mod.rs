//! `annulus watch`: the messages of a broadcast ring, as they come (Linux).
//!
//! It maps the ring read-only and copies messages from there: it takes no seat, and nobody waits for it.
//!
//! ```text
//! arguments   what the user asked for
//! follower    which message is next, and how many were missed
//! shown       a message in words, in hex, or as JSON
//! ```

mod arguments;
mod follower;
mod shown;

use std::io::{self, Write};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use annulus::shm::PeerState;

pub(crate) use arguments::Arguments;

use crate::count::Count;
use crate::messages::Decoder;
use crate::outcome::{Failure, Outcome};
use crate::output::{ended, say};
use crate::rings;
use crate::signals::first_signal;
use crate::text::quoted;
use follower::{Follower, Next};
use shown::Shown;

/// The time between two looks at a ring in which nothing is new.
const LOOK_INTERVAL: Duration = Duration::from_millis(1);

/// Prints messages until the ring ends, a signal comes, or there were enough.
///
/// # Errors
///
/// There is no such ring, or it is no broadcast ring.
pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let count = Arc::new(Count::watched());
    let unread = Arc::clone(&count);
    let stopped = first_signal(move || unread.tell_unread())?;
    count.are("message");
    let name = &arguments.name;
    let (_named, observer) = rings::observe(&rings::open(&arguments.directory)?, name)?;
    let info = observer.info();
    if !rings::has_messages(info.kind()) {
        let (name, what, verb) = (quoted(name), rings::is_a(info.kind()), rings::verb_for(info.kind()));
        return Err(Failure::new(format!("{name} {what}: only broadcast rings can be watched; {verb}")));
    }
    let decoder = if arguments.hex {
        None
    } else {
        Decoder::of(&info).unwrap_or_else(|error| {
            say(format_args!("{}: {error}", quoted(name)));
            None
        })
    };
    if decoder.is_none() && !arguments.hex && !arguments.json {
        say(format_args!("{} does not say what is in its messages: in hex", quoted(name)));
    }

    let published = || observer.numbers().map_or(0, |numbers| numbers.published);
    let mut follower = Follower::begin(published(), info.capacity() as u64, arguments.begins_with_oldest());
    let mut output = anstream::AutoStream::auto(io::stdout().lock());
    let (mut bytes, mut printed, mut all_missed) = (Vec::new(), 0, 0);
    let mut state = PeerState::Alive;
    while printed < arguments.count && stopped.get().is_none() {
        // (Before the count: what was published before the end is seen.)
        if state == PeerState::Alive {
            state = observer.state();
        }
        follower.look(published());
        while printed < arguments.count && stopped.get().is_none() {
            match follower.next(|number| observer.read(number, &mut bytes)) {
                Next::Nothing => break,
                Next::Missed => {}
                Next::Message { number, missed } => {
                    let fields = decoder.as_ref().map(|decoder| decoder.decode(&bytes));
                    let shown = Shown { number, missed, bytes: &bytes, fields };
                    let text = if arguments.json { shown.to_json() } else { shown.to_text() };
                    if let Err(error) = output.write_all(text.as_bytes()) {
                        return ended(&error);
                    }
                    (printed, all_missed) = (printed + 1, all_missed + missed);
                    count.set(printed, all_missed);
                }
            }
        }
        if let Err(error) = output.flush() {
            return ended(&error);
        }
        if state != PeerState::Alive && printed < arguments.count {
            say(format_args!("{} is {state}", quoted(name)));
            return Ok(if state == PeerState::Dead { Outcome::Failed } else { Outcome::Passed });
        }
        thread::sleep(LOOK_INTERVAL);
    }
    let Some(&outcome) = stopped.get() else { return Ok(Outcome::Passed) };
    count.tell();
    Ok(outcome)
}
