//! [`Listing`]: all rings of a directory at one moment, as a table or as JSON.

use annulus::shm::PeerState;
use serde::Serialize;

use super::processes::own_name;
use super::sample::{ELSEWHERE, Ring, Sample};
use crate::page::Page;
use crate::table::{Cell, Column, Table};
use crate::text::{BAD, counted, grouped, printable};

/// It grows if a key of the JSON changes its meaning.
const SCHEMA: u64 = 1;

/// What is in a directory. Programs rely on the keys.
#[derive(Serialize)]
pub(super) struct Listing {
    schema: u64,
    directory: String,
    rings: Vec<Row>,
}

/// A name, and the ring that has it.
#[derive(Serialize)]
struct Row {
    name: String,
    state: String,
    /// `None` also in another container.
    pid: Option<u32>,
    /// What the process calls itself.
    command: Option<String>,
    #[serde(skip)]
    is_elsewhere: bool,
    kind: Option<String>,
    capacity: Option<u64>,
    payload_bytes: Option<u64>,
    fingerprint: Option<String>,
    published: Option<u64>,
    /// How many messages wait, if that is known.
    pending: Option<u64>,
    /// How many receive, or have at least the memory. The dead do not count.
    readers: Option<usize>,
    dead_readers: Option<usize>,
    /// Why its header is not known.
    error: Option<String>,
}

impl Listing {
    pub(super) fn of(sample: Sample) -> Self {
        let rings = sample.rings.into_iter().map(Row::of).collect();
        Self { schema: SCHEMA, directory: sample.directory, rings }
    }

    /// One object on one line.
    pub(super) fn to_json(&self) -> String {
        serde_json::to_string(self).expect("numbers, names and lists have a form in JSON") + "\n"
    }

    /// For people, in lines that are no wider than `room`.
    pub(super) fn to_text(&self, room: usize) -> String {
        let mut page = Page::new(room);
        if self.rings.is_empty() {
            page.say(format!("There is no ring in {}.", printable(&self.directory)));
            return page.into_text();
        }
        let mut table = Table::plain(&[
            Column::text("NAME"),
            Column::text("STATE"),
            Column::number("PID").spared(3),
            Column::text("COMMAND").spared(2),
            Column::text("KIND").spared(1),
            Column::number("SLOTS").spared(4),
            Column::number("DEPTH"),
            Column::number("BYTES").spared(5),
            Column::number("READERS"),
            Column::number("DEAD"),
        ]);
        for row in &self.rings {
            table.row(row.cells());
        }
        page.table(&table);
        for row in &self.rings {
            if let Some(error) = &row.error {
                page.say(format!("{}: {}", printable(&row.name), printable(error)));
            }
        }
        let of = |state: &str| self.rings.iter().filter(|ring| ring.state == state).count() as u64;
        let (all, dead) = (self.rings.len() as u64, of("dead"));
        page.say(format!("{} in {}, {dead} dead", counted(all, "ring"), printable(&self.directory)));
        page.into_text()
    }
}

impl Row {
    fn of(ring: Ring) -> Self {
        let (header, numbers) = (ring.header, ring.numbers);
        let dead = ring.readers.iter().filter(|reader| reader.is_dead()).count();
        let pid = ring.process.as_ref().and_then(|process| process.pid);
        Self {
            command: pid.filter(|_| ring.state == PeerState::Alive).and_then(own_name),
            state: ring.state.to_string(),
            is_elsewhere: ring.process.is_some() && pid.is_none(),
            pid,
            kind: header.map(|header| header.kind.to_string()),
            capacity: header.map(|header| header.capacity),
            payload_bytes: header.map(|header| header.payload_bytes),
            fingerprint: ring.fingerprint.map(|fingerprint| fingerprint.to_string()),
            published: numbers.map(|numbers| numbers.published),
            pending: numbers.and_then(|numbers| numbers.pending),
            readers: header.map(|_| ring.readers.len() - dead),
            dead_readers: header.map(|_| dead),
            error: ring.trouble,
            name: ring.name,
        }
    }

    fn cells(&self) -> [Cell; 10] {
        let unknown = || String::from("–");
        let number = |number: Option<u64>| number.map_or_else(unknown, grouped).into();
        let count = |count: Option<usize>| number(count.map(|count| count as u64));
        [
            printable(&self.name).into(),
            if self.state == "dead" { Cell::styled("dead", BAD) } else { self.state.as_str().into() },
            self.pid.map_or_else(unknown, |pid| pid.to_string()).into(),
            match &self.command {
                Some(command) => command.as_str().into(),
                None if self.is_elsewhere => ELSEWHERE.into(),
                None => unknown().into(),
            },
            self.kind.clone().unwrap_or_else(unknown).into(),
            number(self.capacity),
            number(self.pending),
            number(self.payload_bytes),
            count(self.readers),
            match self.dead_readers {
                Some(dead @ 1..) => Cell::styled(dead.to_string(), BAD),
                other => count(other),
            },
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rings::sample::tests::{dead, lossy, ring, sample};
    use crate::text::plain;

    #[test]
    fn ring_is_a_line() {
        let mut orders = ring("orders", 5_000, &[900, 0]);
        orders.process = None;
        orders.readers[0].seat.as_mut().unwrap().state = PeerState::Dead;
        let mut quotes = lossy("quotes", 7);
        quotes.process = None;
        let mut gone = dead("gone");
        gone.trouble = Some("it is damaged".into());
        let listing = Listing::of(sample(vec![gone, orders, quotes]));
        let expected = "\
NAME    STATE  PID  COMMAND  KIND                      SLOTS  DEPTH  BYTES  READERS  DEAD
gone    dead   101  –        –                             –      –      –        –     –
orders  alive    –  –        lossless broadcast ring   1,024    900     56        1     1
quotes  alive    –  –        lossy broadcast ring     65,536      –     56        1     0
gone: it is damaged
3 rings in /run/user/7/annulus, 1 dead
";
        assert_eq!(plain(&listing.to_text(usize::MAX)), expected);
        let narrow = plain(&listing.to_text(60));
        assert!(
            narrow.starts_with("NAME    STATE  KIND                     DEPTH  READERS  DEAD\n"),
            "{narrow}"
        );
        let json: serde_json::Value = serde_json::from_str(&listing.to_json()).unwrap();
        let orders = &json["rings"][1];
        assert_eq!([&orders["pending"], &orders["readers"], &orders["dead_readers"]], [900, 1, 1]);
        assert!(json["rings"][2]["pending"].is_null() && json["rings"][0]["readers"].is_null());
    }
}
