//! The table where nobody watches: a line for each ring, and one for each of its readers.

use annulus::shm::PeerState;

use super::figures::rate;
use super::history::History;
use super::routes;
use super::rows::{NONE, UNKNOWN};
use crate::page::Page;
use crate::rings::bridges::BridgeRoute;
use crate::rings::sample::{Process, Reader, Ring, Sample, short};
use crate::table::{Cell, Column, Table};
use crate::text::{BAD, FAIR, counted, grouped, printable};

const COLUMNS: [Column; 9] = [
    Column::text("NAME"),
    Column::text("STATE"),
    Column::text("KIND").spared(3),
    Column::number("RATE/S"),
    Column::number("PENDING").spared(1),
    Column::number("SLOTS").spared(5),
    Column::number("LAG"),
    Column::number("PID").spared(4),
    Column::text("COMMAND").spared(2),
];

/// Lines of text, which are no wider than `room`.
pub(super) fn render(sample: &Sample, history: &History, room: usize) -> String {
    let directory = printable(&sample.directory);
    let mut page = Page::new(room);
    if sample.rings.is_empty() {
        page.say(format!("There is no ring in {directory}."));
        return page.into_text();
    }
    let mut table = Table::plain(&COLUMNS);
    for ring in &sample.rings {
        table.row(of_ring(ring, history));
        for reader in &ring.readers {
            table.row(of_reader(reader));
        }
    }
    page.table(&table);
    of_bridges(&mut page, &sample.routes);
    for ring in &sample.rings {
        if let Some(trouble) = &ring.trouble {
            page.say(format!("{}: {}", printable(&ring.name), printable(trouble)));
        }
    }
    let rings = counted(sample.rings.len() as u64, "ring");
    page.say(format!("{rings} in {directory}, {} dead", sample.dead()));
    page.into_text()
}

/// What bridges carry, and why not.
fn of_bridges(page: &mut Page, routes: &[BridgeRoute]) {
    if routes.is_empty() {
        return;
    }
    page.gap();
    let columns = routes::TITLES.map(|(title, is_number)| match title {
        "BRIDGE" => Column::text(title).spared(2),
        "AGAIN" | "KEPT" => Column::number(title).spared(1),
        _ if is_number => Column::number(title),
        _ => Column::text(title),
    });
    let mut table = Table::plain(&columns);
    for route in routes {
        let style = |text: String| {
            let is_marked = routes::is_in_trouble(route) && text == route.state.text();
            if is_marked { Cell::styled(text, FAIR) } else { text.into() }
        };
        table.row(routes::cells(route).map(style));
    }
    page.table(&table);
    for route in routes.iter().filter(|route| !route.refused.is_empty()) {
        page.say(format!("{} {}", printable(&route.name), routes::words(route)));
    }
    page.gap();
}

/// The dead are seen at once.
fn shown(state: PeerState) -> Cell {
    let text = state.to_string();
    if state == PeerState::Dead { Cell::styled(text, BAD) } else { text.into() }
}

fn state(ring: &Ring) -> Cell {
    if ring.overdue.is_some() { Cell::styled(ring.state(), FAIR) } else { shown(ring.state) }
}

fn of_ring(ring: &Ring, history: &History) -> [Cell; 9] {
    let (header, numbers) = (ring.header, ring.numbers);
    let newest = history.rate(ring).filter(|_| ring.state == PeerState::Alive);
    let [pid, command] = of_process(ring.process.as_ref());
    let pending = numbers.and_then(|numbers| numbers.pending).map(grouped);
    [
        printable(&ring.name).into(),
        state(ring),
        header.map_or(NONE, |header| short(header.kind)).into(),
        or_none(newest.map(|newest| rate(newest, ring.word_bytes()))).into(),
        or_none(pending).into(),
        or_none(header.map(|header| grouped(header.capacity))).into(),
        "".into(),
        pid.into(),
        command.into(),
    ]
}

fn of_reader(reader: &Reader) -> [Cell; 9] {
    let [pid, command] = of_process(reader.process.as_ref());
    let (name, state) = match reader.seat {
        Some(seat) => (format!("  seat {}", seat.number), shown(seat.state)),
        None => ("  no seat".into(), "".into()),
    };
    let lag = reader.lag().map_or(UNKNOWN.into(), grouped);
    let none = || "".into();
    [name.into(), state, none(), none(), none(), none(), lag.into(), pid.into(), command.into()]
}

fn of_process(process: Option<&Process>) -> [String; 2] {
    let pid = process.and_then(|process| process.pid);
    [or_none(pid.map(|pid| pid.to_string())), or_none(process.and_then(Process::command_to_text))]
}

fn or_none(text: Option<String>) -> String {
    text.unwrap_or_else(|| NONE.into())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::routes::tests::three;
    use super::*;
    use crate::rings::sample::tests::{dead, lossy, ring, sample};
    use crate::text::plain;

    #[test]
    fn rings_and_readers_have_lines_of_their_own() {
        let before = sample(vec![ring("orders", 1_000_000, &[0, 0])]);
        let mut history = History::default();
        history.add(&before);
        let mut damaged = dead("gone");
        damaged.trouble = Some("it is damaged".into());
        let mut rings = vec![damaged, ring("orders", 2_234_567, &[900, 0]), lossy("quotes", 7)];
        rings[1].readers[0].process = None;
        rings[1].readers[0].seat.as_mut().unwrap().state = PeerState::Dead;
        let mut now = Sample { at: before.at + Duration::from_secs(1), ..sample(rings) };
        history.add(&now);
        assert_eq!(
            plain(&render(&now, &history, usize::MAX)),
            "\
NAME       STATE  KIND      RATE/S  PENDING   SLOTS  LAG  PID  COMMAND
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
        now.routes = three();
        let text = plain(&render(&now, &history, usize::MAX));
        let bridges = text.split_once("\n\n").unwrap().1.split_once("\n\n").unwrap().0;
        assert_eq!(
            bridges,
            "\
BRIDGED  WAY        STATE    RATE/S  LAGGED  AGAIN  KEPT     TRIP  BRIDGE
closed   ← feed-1   refused       –       0      –     –        –  bridge@here
orders   → network  open      1.23k       0  1,005    17        –  bridge@here
ticks    ← feed-1   down          –       3      –     –  1.20 ms  bridge@here
closed ← feed-1: not carried: the name is taken",
            "{text}"
        );
        assert_eq!(render(&sample(vec![]), &history, 80), "There is no ring in /run/user/7/annulus.\n");
    }
}
