//! [`describe`]: one ring in words.

use std::fmt::Write;

use annulus::shm::{Directory, RingObserver};

use super::listing::command;
use crate::outcome::Failure;
use crate::text::{counted, grouped, printable};

/// What the header of the ring says, how far it is, and who is there.
///
/// # Errors
///
/// There is no such ring, its process is dead, or it can't be understood.
pub(super) fn describe(directory: &Directory, name: &str) -> Result<String, Failure> {
    let failed = |error: &dyn std::error::Error| Failure::new(format!("{}: {error}", printable(name)));
    let named = directory.find(name).map_err(|error| Failure::new(error.to_string()))?;
    let observer = RingObserver::of(&named).map_err(|error| failed(&error))?;
    let (info, numbers) = (observer.info(), observer.numbers());
    let pid = named.process().pid();
    let process = match command(pid) {
        Some(command) => format!("{pid} ({command})"),
        None => pid.to_string(),
    };
    let bytes = |bytes: usize| counted(bytes as u64, "byte");
    let mut lines = vec![
        ("Ring", printable(name)),
        ("Kind", info.kind().to_string()),
        ("State", observer.state().to_string()),
        ("Process", process),
        ("Slots", format!("{} of {} each", grouped(info.capacity() as u64), bytes(info.slot_bytes()))),
        ("Message", format!("{}, aligned to {}", bytes(info.payload_bytes()), info.payload_alignment())),
        ("Type", format!("{} (its fingerprint)", info.fingerprint())),
    ];
    if let Some(numbers) = numbers {
        lines.push(("Published", grouped(numbers.published)));
        lines.push(("Waiting", numbers.pending.map_or("not known of such a ring".into(), grouped)));
        for reader in numbers.readers {
            let (position, lag) = (grouped(reader.position), grouped(reader.lag));
            lines.push((
                "Reader",
                format!("seat {}, {}, at {position}, {lag} behind", reader.seat, reader.state),
            ));
        }
    }
    let mut text = String::new();
    for (key, value) in lines {
        let _ = writeln!(text, "{:<11}{value}", format!("{key}:"));
    }
    Ok(text)
}
