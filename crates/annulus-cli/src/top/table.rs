//! The table where nobody watches: a line for each ring, and one for each of its readers.

use std::fmt::Write;

use annulus::shm::PeerState;
use comfy_table::{CellAlignment, Table, presets};

use super::figures::rate;
use super::history::History;
use super::rows::{NONE, UNKNOWN};
use super::sample::{Process, Reader, Ring, Sample, short};
use crate::text::{counted, grouped, printable};

const TITLES: [&str; 9] = ["NAME", "STATE", "KIND", "RATE/S", "PENDING", "SLOTS", "LAG", "PID", "COMMAND"];

/// Which of them are numbers.
const NUMBERS: std::ops::RangeInclusive<usize> = 3..=7;

/// Lines of text.
pub(super) fn render(sample: &Sample, history: &History) -> String {
    let directory = printable(&sample.directory);
    if sample.rings.is_empty() {
        return format!("There is no ring in {directory}.\n");
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(TITLES);
    for column in NUMBERS {
        table.column_mut(column).expect("there are nine").set_cell_alignment(CellAlignment::Right);
    }
    for ring in &sample.rings {
        table.add_row(of_ring(ring, history));
        for reader in &ring.readers {
            table.add_row(of_reader(reader));
        }
    }
    let mut text = String::new();
    for line in table.lines() {
        text += line.trim_end();
        text.push('\n');
    }
    for ring in &sample.rings {
        if let Some(trouble) = &ring.trouble {
            let _ = writeln!(text, "{}: {}", printable(&ring.name), printable(trouble));
        }
    }
    let _ = writeln!(
        text,
        "{} in {directory}, {} dead",
        counted(sample.rings.len() as u64, "ring"),
        sample.dead()
    );
    text
}

fn of_ring(ring: &Ring, history: &History) -> [String; 9] {
    let (header, numbers) = (ring.header, ring.numbers);
    let newest = history.rate(ring).filter(|_| ring.state == PeerState::Alive);
    let [pid, command] = of_process(ring.process.as_ref());
    let pending = numbers.and_then(|numbers| numbers.pending).map(grouped);
    [
        printable(&ring.name),
        ring.state.to_string(),
        header.map_or(NONE, |header| short(header.kind)).into(),
        or_none(newest.map(|newest| rate(newest, ring.word_bytes()))),
        or_none(pending),
        or_none(header.map(|header| grouped(header.capacity))),
        String::new(),
        pid,
        command,
    ]
}

fn of_reader(reader: &Reader) -> [String; 9] {
    let [pid, command] = of_process(reader.process.as_ref());
    let (name, state) = match reader.seat {
        Some(seat) => (format!("  seat {}", seat.number), seat.state.to_string()),
        None => ("  no seat".into(), String::new()),
    };
    let lag = reader.lag().map_or(UNKNOWN.into(), grouped);
    let none = String::new;
    [name, state, none(), none(), none(), none(), lag, pid, command]
}

fn of_process(process: Option<&Process>) -> [String; 2] {
    let command = process.and_then(|process| process.command.clone());
    [or_none(process.map(|process| process.pid.to_string())), or_none(command)]
}

fn or_none(text: Option<String>) -> String {
    text.unwrap_or_else(|| NONE.into())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::sample::tests::{dead, lossy, ring, sample};
    use super::*;

    #[test]
    fn each_ring_and_each_reader_has_a_line() {
        let before = sample(vec![ring("orders", 1_000_000, &[0, 0])]);
        let mut history = History::default();
        history.add(&before);
        let mut damaged = dead("gone");
        damaged.trouble = Some("it is damaged".into());
        let mut rings = vec![damaged, ring("orders", 2_234_567, &[900, 0]), lossy("quotes", 7)];
        rings[1].readers[0].process = None;
        rings[1].readers[0].seat.as_mut().unwrap().state = PeerState::Dead;
        let now = Sample { at: before.at + Duration::from_secs(1), ..sample(rings) };
        history.add(&now);
        assert_eq!(
            render(&now, &history),
            "\
\x20NAME       STATE  KIND      RATE/S  PENDING   SLOTS  LAG  PID  COMMAND
 gone       dead   –              –        –       –       101  –
 orders     alive  lossless   1.23M      900   1,024       100  feed --to orders
   seat 0   dead                                      900    –  –
   seat 1   alive                                       0  201  reader-1 of orders
 quotes     alive  lossy          –        –  65,536       100  feed --to quotes
   no seat                                              ?  300  annulus sub
gone: it is damaged
3 rings in /run/user/7/annulus, 1 dead
"
        );
        assert_eq!(render(&sample(vec![]), &history), "There is no ring in /run/user/7/annulus.\n");
    }
}
