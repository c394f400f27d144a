//! `annulus sub --json`, of rings that carry no lines.

use std::io::{self, BufWriter, Write};
use std::time::Duration;

use annulus::RecvTimeoutError;
use annulus::shm::blocks::MessageType;
use annulus::shm::{Invitation, RingInfo};

use super::super::arguments::{From, SubscribeArguments};
use super::super::printing::{SHOWN_EACH, STOP_INTERVAL, tell_count};
use super::ends::{Refused, source};
use super::schema_of;
use crate::outcome::{Failure, Outcome};
use crate::output::{ended, say};
use crate::stop::Stop;
use crate::text::{counted, grouped, quoted};
use crate::values::decode;

/// Prints each message as a line of JSON.
pub(in crate::lines) fn run(
    arguments: &SubscribeArguments,
    invitation: &Invitation,
    info: &RingInfo,
    from: From,
    stop: &Stop,
) -> Result<Outcome, Failure> {
    let name = quoted(&arguments.name);
    let schema = schema_of(&arguments.name, info)?;
    let of = MessageType::described(schema.clone(), info.payload_alignment());
    let mut source = source(invitation, &of, from).map_err(|refused| {
        Failure::new(match refused {
            Refused::Why(error) => format!("{name} can't be used: {error}"),
            Refused::Kind => format!("{name} is a {}, whose messages have no fields", info.kind()),
        })
    })?;
    stop.look();
    source.show();
    let mut output = BufWriter::new(io::stdout().lock());
    let mut message = vec![0; of.bytes()];
    let (mut printed, mut corrupt, mut lost) = (0_u64, 0_u64, source.lost());
    let (first_lost, mut is_over, mut left) = (lost, false, None);
    while arguments.count.is_none_or(|count| printed < count) {
        if stop.outcome().is_some() {
            // What had come until then.
            let waiting = left.map_or_else(|| source.waiting(), |left: usize| left - 1);
            left = Some(waiting);
            if waiting == 0 {
                break;
            }
        }
        let mut taken = source.take(&mut message, Duration::ZERO);
        if taken == Err(RecvTimeoutError::Timeout) {
            // What was printed is to be seen.
            if let Err(error) = output.flush() {
                return ended(&error);
            }
            source.show();
            taken = source.take(&mut message, STOP_INTERVAL);
        }
        match taken {
            Ok(()) => {}
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Closed) => {
                is_over = true;
                break;
            }
        }
        if source.lost() != lost {
            let more = counted(source.lost() - lost, "message");
            say(format_args!("lost {more} before message {}", grouped(printed)));
            lost = source.lost();
        }
        match decode(&schema, &message) {
            Ok(value) => {
                if let Err(error) = writeln!(output, "{value}") {
                    return ended(&error);
                }
                printed += 1;
            }
            Err(what) => {
                corrupt += 1;
                say(format_args!("corrupt, and left out, before message {}: {what}", grouped(printed)));
            }
        }
        if printed.is_multiple_of(SHOWN_EACH) {
            source.show();
        }
    }
    if let Err(error) = output.flush() {
        return ended(&error);
    }
    tell_count("message", printed, lost - first_lost + corrupt, stop.outcome().is_some());
    if let Some(outcome) = stop.outcome() {
        return Ok(outcome);
    }
    if is_over && source.is_orphan() {
        say(format_args!("the publisher of {name} has died"));
        return Ok(Outcome::Failed);
    }
    Ok(Outcome::Passed)
}
