//! `api`: the public API as a list, one line for each item, from rustdoc's JSON. `ci/api` runs it.
//!
//! ```text
//! listing    which items there are, and a line for each
//! text       types, bounds and signatures as text
//! ```
//!
//! `api JSON LIST` compares, and `api --renew JSON LIST` writes. The format of the JSON is the compiler's,
//! and changes with it. So it is read without a schema, and what is not understood is named: the exit code
//! is 77.

mod listing;
mod text;

use std::collections::BTreeMap;
use std::fs;
use std::process::ExitCode;

use serde_json::Value;

use listing::Listing;

/// The exit code of a check that could not run.
const SKIPPED: u8 = 77;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (renews, json, list) = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [json, list] => (false, json, list),
        ["--renew", json, list] => (true, json, list),
        _ => {
            eprintln!("usage: api [--renew] JSON LIST");
            return ExitCode::from(2);
        }
    };
    let documented: Value = match fs::read(json).map(|bytes| serde_json::from_slice(&bytes)) {
        Ok(Ok(documented)) => documented,
        Ok(Err(error)) => return unreadable(&Value::Null, &[error.to_string()]),
        Err(error) => return failed(&format!("{json}: {error}")),
    };
    let listing = Listing::of(&documented);
    if !listing.unread.is_empty() {
        return unreadable(&documented["format_version"], &listing.unread);
    }
    println!("{listing}");
    let now = listing.lines.join("\n") + "\n";
    if renews {
        return match fs::write(list, now) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => failed(&format!("{list}: {error}")),
        };
    }
    let before = fs::read_to_string(list).unwrap_or_default();
    let changes = changes(&before, &now);
    for change in &changes {
        println!("{change}");
    }
    if changes.is_empty() {
        return ExitCode::SUCCESS;
    }
    failed(&format!(
        "the public API is not that of {list}: {} lines differ. If that is meant, `ANNULUS_RENEW_API=1 ci/api` writes it",
        changes.len()
    ))
}

fn failed(why: &str) -> ExitCode {
    eprintln!("error: {why}");
    ExitCode::FAILURE
}

fn unreadable(version: &Value, unread: &[String]) -> ExitCode {
    eprintln!("rustdoc's JSON has format {version}, of which verify/tools/src/api does not read:");
    for what in unread {
        eprintln!("  {what}");
    }
    ExitCode::from(SKIPPED)
}

/// The lines that only one of the two has, in the order of the list: `-` before, `+` now.
fn changes(before: &str, now: &str) -> Vec<String> {
    let mut counts = BTreeMap::<&str, i32>::new();
    before.lines().for_each(|line| *counts.entry(line).or_default() -= 1);
    now.lines().for_each(|line| *counts.entry(line).or_default() += 1);
    let changed = counts.into_iter().filter(|(_, count)| *count != 0);
    changed.map(|(line, count)| format!("{} {line}", if count < 0 { '-' } else { '+' })).collect()
}
