//! [`draw()`]: what the user sees, in a terminal's cells.

use std::time::Duration;

use annulus::shm::PeerState;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Sparkline, Wrap};

use super::columns::{Column, columns, fit, width};
use super::figures::{curve, rate};
use super::history::History;
use super::rows::{NONE, Row, UNKNOWN, is_full, line, rows};
use super::view::{Sort, View};
use crate::rings::sample::{Ring, Sample};
use crate::text::{counted, grouped, printable};

/// What there is to see.
pub(super) struct Scene<'a> {
    pub(super) sample: &'a Sample,
    pub(super) history: &'a History,
    pub(super) view: &'a View,
    pub(super) interval: Duration,
}

/// The curve of a ring's page has so many lines at most.
const CURVE_LINES: u16 = 6;
/// Where there are fewer lines, all are for rings.
const LINES_MIN: u16 = 5;

/// Draws all of it.
pub(super) fn draw(frame: &mut Frame<'_>, scene: &Scene<'_>) {
    let rows = rows(scene.sample, scene.history, scene.view);
    let area = frame.area();
    let edge = u16::from(area.height >= LINES_MIN);
    let areas = Layout::vertical([Constraint::Length(edge), Constraint::Fill(1), Constraint::Length(edge)]);
    let [head, body, foot] = areas.areas(area);
    frame.render_widget(title(scene, head.width.into()), head);
    let chosen =
        scene.view.chosen.as_ref().and_then(|name| rows.iter().position(|row| row.ring.name == *name));
    let on_page = chosen.filter(|_| scene.view.is_page);
    match on_page {
        Some(index) => page(frame, body, scene, &rows[index]),
        None if rows.is_empty() => nothing(frame, body, scene),
        None => table(frame, body, &rows, chosen, scene.view),
    }
    frame.render_widget(help(scene.view, on_page.is_some(), foot.width.into()), foot);
}

/// Where it is, and how much there is of it.
fn title(scene: &Scene<'_>, room: usize) -> Line<'static> {
    let Scene { sample, interval, .. } = scene;
    let dead = if sample.dead() > 0 { format!(", {} dead", sample.dead()) } else { String::new() };
    let count = counted(sample.rings.len() as u64, "ring") + &dead;
    let every = format!("every {} s", interval.as_secs_f64());
    let left = format!("annulus top  {}", printable(&sample.directory));
    let right = format!("{count}  {every}");
    let space = room.saturating_sub(width(&right) + 2);
    let mut line = Line::from(fit(&left, space.min(room), false)).bold();
    line.push_span(Span::raw("  ").not_bold());
    line.push_span(Span::raw(right).not_bold());
    line
}

/// The keys, or the filter.
fn help(view: &View, is_page: bool, room: usize) -> Line<'static> {
    let texts: &[&str] = match view {
        View { is_typing: true, .. } => return Line::from(format!("/{}█", printable(&view.filter))),
        _ if is_page => &["q quit  Esc all rings  ↑↓ other rings", "q Esc ↑↓"],
        View { filter, .. } if !filter.is_empty() => {
            return Line::from(format!("only with “{}”: Esc shows all", printable(filter)));
        }
        _ => &[
            "q quit  ↑↓ choose  Enter its page  / filter  sort by n name  k kind  s state  r rate  d depth  l lag  p process",
            "q quit  ↑↓ Enter page  / filter  sort: n k s r d l p (again: reverse)",
            "q quit  Enter page  / filter  sort: nksrdlp",
            "q quit",
        ],
    };
    let text = texts.iter().find(|text| width(text) <= room).unwrap_or(&"q");
    Line::from(*text).dim()
}

/// There is no ring to be shown.
fn nothing(frame: &mut Frame<'_>, area: Rect, scene: &Scene<'_>) {
    let Scene { sample, view, .. } = scene;
    let directory = printable(&sample.directory);
    let text = match &sample.trouble {
        Some(trouble) => Line::from(printable(trouble)).fg(Color::Red),
        None if sample.rings.is_empty() => Line::from(format!("There is no ring in {directory}.")),
        None => Line::from(format!("No ring has “{}” in it.", printable(&view.filter))),
    };
    let lines = if area.height > 2 { vec![Line::default(), text] } else { vec![text] };
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: true }), area);
}

/// All rings.
fn table(frame: &mut Frame<'_>, area: Rect, rows: &[Row<'_>], chosen: Option<usize>, view: &View) {
    let (columns, gap) = columns(rows, area.width.into());
    let room = usize::from(area.height).saturating_sub(1);
    // The chosen one is seen.
    let first = chosen.map_or(0, |index| (index + 1).saturating_sub(room));
    let mut lines = vec![header(&columns, gap, view)];
    for (index, row) in rows.iter().enumerate().skip(first).take(room) {
        let mut line = Line::default();
        for &(column, width) in &columns {
            line.push_span(cell(row, column, width));
            line.push_span(Span::raw(" ".repeat(gap)));
        }
        lines.push(if chosen == Some(index) { line.add_modifier(Modifier::REVERSED) } else { line });
    }
    frame.render_widget(Paragraph::new(lines), area);
}

/// The titles. That of the order has an arrow.
fn header(columns: &[(Column, usize)], gap: usize, view: &View) -> Line<'static> {
    let by = match view.sort {
        Sort::Name => Column::Name,
        Sort::Kind => Column::Kind,
        Sort::State => Column::State,
        Sort::Rate => Column::Rate,
        Sort::Depth => Column::Depth,
        Sort::Lag => Column::Lags,
        Sort::Process => Column::Process,
    };
    let arrow = if view.is_reversed { "▲" } else { "▼" };
    let title = |&(column, room): &(Column, usize)| {
        // (Rates have no room for both.)
        let title = column.title().trim_end_matches("/S").to_owned();
        let title = if column == by { title + arrow } else { column.title().into() };
        fit(&title, room, column.is_right()) + &" ".repeat(gap)
    };
    Line::from(columns.iter().map(title).collect::<String>())
        .add_modifier(Modifier::BOLD | Modifier::UNDERLINED)
}

/// One thing about one ring.
fn cell(row: &Row<'_>, column: Column, width: usize) -> Span<'static> {
    if column == Column::Curve {
        return Span::raw(curve(&row.rates, width)).fg(Color::Cyan);
    }
    let text = fit(&column.text(row), width, column.is_right());
    let style = match column {
        Column::State => of_state(row.ring.state),
        Column::Depth if is_full(row.ring) => Color::Yellow.into(),
        Column::Lags if row.ring.has_dead_reader() => Color::Red.into(),
        _ => Style::new(),
    };
    Span::styled(text, style)
}

fn of_state(state: PeerState) -> Style {
    match state {
        PeerState::Dead => Color::Red.into(),
        PeerState::Closed => Style::new().add_modifier(Modifier::DIM),
        PeerState::Alive => Style::new(),
    }
}

/// One ring.
fn page(frame: &mut Frame<'_>, area: Rect, scene: &Scene<'_>, row: &Row<'_>) {
    let rates = scene.history.rates(row.ring);
    let rates = &rates[rates.len().saturating_sub(area.width.into())..];
    let facts = facts(row, rates);
    let readers = readers(row.ring);
    let (above, below) = (facts.len() as u16, readers.len() as u16);
    // The readers matter more than the height of the curve.
    let left = area.height.saturating_sub(above + below + 1);
    let curve = if rates.is_empty() { 0 } else { left.min(CURVE_LINES) };
    let areas = Layout::vertical([
        Constraint::Length(above),
        Constraint::Length(curve),
        Constraint::Length(u16::from(curve > 0)),
        Constraint::Fill(1),
    ]);
    let [facts_area, curve_area, _, readers_area] = areas.areas(area);
    frame.render_widget(Paragraph::new(facts), facts_area);
    // The newest is at the right end. (In thousandths, for rings of one message in some seconds.)
    let missing = usize::from(area.width).saturating_sub(rates.len());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a picture")]
    let bars = std::iter::repeat_n(0, missing).chain(rates.iter().map(|rate| (rate * 1000.0) as u64));
    frame.render_widget(Sparkline::default().data(bars.collect::<Vec<_>>()).fg(Color::Cyan), curve_area);
    frame.render_widget(Paragraph::new(readers), readers_area);
}

/// What is known of a ring, a line each.
fn facts(row: &Row<'_>, rates: &[f64]) -> Vec<Line<'static>> {
    let ring = row.ring;
    let fact =
        |name: &str, text: String| Line::from(vec![Span::raw(fit(name, 11, false)).dim(), Span::raw(text)]);
    let kind = ring.header.map_or(String::new(), |header| format!(", a {}", header.kind));
    let mut lines = vec![
        Line::from(vec![
            Span::raw(row.name.clone()).bold(),
            Span::raw(kind),
            Span::raw(", "),
            Span::styled(ring.state.to_string(), of_state(ring.state)),
        ]),
        fact("process", row.process.clone()),
    ];
    if let Some(trouble) = &ring.trouble {
        lines.push(Line::from(printable(trouble)).fg(Color::Red));
    }
    let Some(header) = ring.header else { return lines };
    let what = match ring.word_bytes() {
        Some(bytes) => format!("words of {}", counted(bytes, "byte")),
        None => format!("messages of {}", counted(header.payload_bytes, "byte")),
    };
    let slots = format!("{} of {}", counted(header.capacity, "slot"), counted(header.slot_bytes, "byte"));
    lines.push(fact("ring", format!("{slots}, for {what}")));
    let Some(numbers) = ring.numbers else {
        lines.push(Line::from("Its numbers are not known to this program."));
        return lines;
    };
    let thing = if ring.word_bytes().is_some() { "word" } else { "message" };
    lines.push(fact("published", counted(numbers.published, thing)));
    let most = rates.iter().copied().fold(0.0, f64::max);
    let peak = if rates.is_empty() {
        String::new()
    } else {
        format!(" a second, {} at most", rate(most, ring.word_bytes()))
    };
    lines.push(fact("rate", row.rate.clone() + &peak));
    let waiting = match numbers.pending {
        Some(pending) => format!("{} of {}", grouped(pending), grouped(header.capacity)),
        None if ring.tells_lag() => "nobody has a seat, so nothing waits".into(),
        None => "nobody is waited for".into(),
    };
    let waiting = fact("waiting", waiting);
    lines.push(if is_full(ring) { waiting.fg(Color::Yellow) } else { waiting });
    lines
}

/// The readers of a ring, a line each.
fn readers(ring: &Ring) -> Vec<Line<'static>> {
    if ring.readers.is_empty() {
        return match ring.header {
            Some(_) => vec![Line::from("No other process has it.")],
            None => Vec::new(),
        };
    }
    let row = |[seat, state, position, lag, process]: [&str; 5]| {
        [
            fit(seat, 5, true),
            fit(state, 6, false),
            fit(position, 18, true),
            fit(lag, 14, true),
            process.into(),
        ]
        .join("  ")
    };
    let titles = row(["SEAT", "STATE", "POSITION", "LAG", "PROCESS"]);
    let mut lines = vec![Line::from(titles).add_modifier(Modifier::BOLD | Modifier::UNDERLINED)];
    for reader in &ring.readers {
        let process = reader.process.as_ref().map_or(NONE.into(), line);
        let [position, lag] =
            [reader.position(), reader.lag()].map(|number| number.map_or(UNKNOWN.into(), grouped));
        lines.push(match reader.seat {
            Some(seat) => {
                let (number, state) = (seat.number.to_string(), seat.state.to_string());
                let text = row([&number, &state, &position, &lag, &process]);
                Line::styled(text, of_state(seat.state))
            }
            None => Line::from(row([NONE, "", &position, &lag, &process])),
        });
    }
    lines
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::buffer::Cell;

    use super::*;
    use crate::rings::sample::tests::{dead, lossy, ring, sample};

    /// What a terminal shows: its lines, without spaces at their ends.
    fn shown(sample: &Sample, history: &History, view: &View, width: u16, height: u16) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        let scene = Scene { sample, history, view, interval: Duration::from_secs(1) };
        terminal.draw(|frame| draw(frame, &scene)).unwrap();
        let buffer = terminal.backend().buffer();
        let cells: Vec<_> = buffer.content().iter().map(Cell::symbol).collect();
        cells.chunks(width.max(1).into()).map(|line| line.concat().trim_end().to_owned()).collect()
    }

    /// Five rings that have run for a while.
    fn scene() -> (Sample, History) {
        let mut history = History::default();
        let mut now = sample(vec![]);
        for step in 0..=20u64 {
            let lag = (step * 50).min(1000);
            let mut closed = lossy("closed", 77);
            closed.state = PeerState::Closed;
            let rings = vec![
                closed,
                ring("orders", 20_000 * step + 1024, &[lag, 0]),
                dead("strategies-of-yesterday"),
                lossy("ticks", 1_000 * step * step),
            ];
            now = Sample { at: now.at + Duration::from_secs(1), ..sample(rings) };
            history.add(&now);
        }
        (now, history)
    }

    /// A ring of that name is chosen, and perhaps its page.
    fn chosen(name: &str, is_page: bool) -> View {
        View { chosen: Some(name.into()), is_page, ..View::default() }
    }

    #[track_caller]
    fn assert_shown(view: &View, width: u16, expected: &str) {
        let (sample, history) = scene();
        let height = expected.lines().count() as u16;
        let lines = shown(&sample, &history, view, width, height).join("\n");
        assert_eq!(lines, expected, "\n{lines}\n");
    }

    #[test]
    fn eighty_columns() {
        assert_shown(
            &View::default(),
            80,
            "\
annulus top  /run/user/7/annulus                      4 rings, 1 dead  every 1 s
NAME▼        KIND     STATE   RATE/S CURVE          DEPTH LAGS    PROCESS
closed       lossy    closed       – ▁▁▁▁▁▁▁▁     –/65.5k ?       100 feed --to…
orders       lossless alive    20.0k ████████ 1.00k/1.02k 1.00k 0 100 feed --to…
strategies-… –        dead         –                    – –       101 –
ticks        lossy    alive    39.0k ▆▆▇▇▇███     –/65.5k ?       100 feed --to…

q quit  ↑↓ Enter page  / filter  sort: n k s r d l p (again: reverse)",
        );
    }

    #[test]
    fn one_hundred_and_sixty_columns() {
        let view = View { sort: Sort::Rate, ..View::default() };
        assert_shown(&view, 160, "\
annulus top  /run/user/7/annulus                                                                                                      4 rings, 1 dead  every 1 s
NAME                     KIND      STATE     RATE▼  CURVE                                                          DEPTH  LAGS     READERS  PROCESS
ticks                    lossy     alive     39.0k                                     ▂▂▂▃▃▃▄▄▅▅▅▆▆▆▇▇▇███      –/65.5k  ?              1  100 feed --to ticks
orders                   lossless  alive     20.0k                                     ████████████████████  1.00k/1.02k  1.00k 0        2  100 feed --to orders
closed                   lossy     closed        –                                     ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁      –/65.5k  ?              1  100 feed --to closed
strategies-of-yesterday  –         dead          –                                                                     –  –              –  101 –

q quit  ↑↓ choose  Enter its page  / filter  sort by n name  k kind  s state  r rate  d depth  l lag  p process");
    }

    #[test]
    fn the_page_of_a_lossless_ring() {
        assert_shown(
            &chosen("orders", true),
            80,
            "\
annulus top  /run/user/7/annulus                      4 rings, 1 dead  every 1 s
orders, a lossless broadcast ring, alive
process    100 feed --to orders
ring       1,024 slots of 64 bytes, for messages of 56 bytes
published  401,024 messages
rate       20.0k a second, 20.0k at most
waiting    1,000 of 1,024
                                                            ████████████████████
                                                            ████████████████████
                                                            ████████████████████
                                                            ████████████████████
                                                            ████████████████████
                                                            ████████████████████

 SEAT  STATE             POSITION             LAG  PROCESS
    0  alive              400,024           1,000  200 reader-0 of orders
    1  alive              401,024               0  201 reader-1 of orders

q quit  Esc all rings  ↑↓ other rings",
        );
    }

    #[test]
    fn the_page_of_a_lossy_ring() {
        assert_shown(
            &chosen("ticks", true),
            80,
            "\
annulus top  /run/user/7/annulus                      4 rings, 1 dead  every 1 s
ticks, a lossy broadcast ring, alive
process    100 feed --to ticks
ring       65,536 slots of 64 bytes, for messages of 56 bytes
published  400,000 messages
rate       39.0k a second, 39.0k at most
waiting    nobody is waited for
                                                                             ▃▅█
                                                                         ▁▃▆████
                                                                      ▁▄▆███████
                                                                   ▂▄▇██████████
                                                                ▃▅██████████████
                                                            ▁▃▆█████████████████

 SEAT  STATE             POSITION             LAG  PROCESS
    –                           ?               ?  300 annulus sub

q quit  Esc all rings  ↑↓ other rings",
        );
    }

    #[test]
    fn what_a_dead_process_left_has_a_page() {
        assert_shown(
            &chosen("strategies-of-yesterday", true),
            80,
            "\
annulus top  /run/user/7/annulus                      4 rings, 1 dead  every 1 s
strategies-of-yesterday, dead
process    101 –

q quit  Esc all rings  ↑↓ other rings",
        );
    }

    #[test]
    fn where_there_is_no_ring_it_says_so() {
        let history = History::default();
        let empty = sample(vec![]);
        let lines = shown(&empty, &history, &View::default(), 60, 6);
        assert_eq!(lines[2], "There is no ring in /run/user/7/annulus.");
        let typed = View { filter: "nobody".into(), is_typing: true, ..View::default() };
        let (some, history) = scene();
        let lines = shown(&some, &history, &typed, 60, 6);
        assert_eq!((lines[2].as_str(), lines[5].as_str()), ("No ring has “nobody” in it.", "/nobody█"));
        let kept = View { is_typing: false, filter: "orders".into(), ..View::default() };
        let lines = shown(&some, &history, &kept, 60, 6);
        assert!(lines[2].starts_with("orders") && lines[3].is_empty(), "{lines:?}");
        assert_eq!(lines[5], "only with “orders”: Esc shows all");
        let failed = Sample { trouble: Some("no permission".into()), ..sample(vec![]) };
        let lines = shown(&failed, &history, &View::default(), 60, 6);
        assert_eq!(lines[2], "no permission");
    }

    /// The page of a ring that is gone is the table.
    #[test]
    fn any_size_will_do() {
        let (some, history) = scene();
        let typed = View { filter: "値段".into(), is_typing: true, ..View::default() };
        let views =
            [View::default(), chosen("orders", true), chosen("ticks", false), chosen("gone", true), typed];
        for (width, height) in (0..40).step_by(3).flat_map(|width| (0..16).map(move |height| (width, height)))
        {
            for view in &views {
                shown(&some, &history, view, width, height);
                shown(&sample(vec![]), &history, view, width, height);
            }
        }
        let tiny = shown(&some, &history, &View::default(), 20, 3);
        assert_eq!(tiny, ["NAME▼         RATE/S", "closed             –", "orders         20.0k"]);
        let page = shown(&some, &history, &chosen("gone", true), 80, 8);
        assert!(page[1].starts_with("NAME▼") && page[7].starts_with("q quit  ↑↓ Enter"), "{page:?}");
    }

    #[test]
    fn the_chosen_ring_is_seen() {
        let rings = (0..50).map(|number| ring(&format!("ring-{number:02}"), 0, &[])).collect();
        let many = sample(rings);
        let history = History::default();
        for (name, first) in
            [("ring-00", "ring-00"), ("ring-06", "ring-00"), ("ring-07", "ring-01"), ("ring-49", "ring-43")]
        {
            let lines = shown(&many, &history, &chosen(name, false), 80, 10);
            assert!(
                lines[2].starts_with(first) && lines.iter().any(|line| line.starts_with(name)),
                "{lines:?}"
            );
        }
    }

    /// Colours are few: for the dead, for what is full, and for curves.
    #[test]
    fn colours_are_for_what_needs_a_look() {
        let (sample, history) = scene();
        let mut terminal = Terminal::new(TestBackend::new(80, 8)).unwrap();
        let view = chosen("ticks", false);
        let scene =
            Scene { sample: &sample, history: &history, view: &view, interval: Duration::from_secs(1) };
        terminal.draw(|frame| draw(frame, &scene)).unwrap();
        let buffer = terminal.backend().buffer();
        let of = |line: u16, word: &str| {
            let cells: Vec<_> = (0..80).map(|column| &buffer[(column, line)]).collect();
            let text: String = cells.iter().map(|cell| cell.symbol()).collect();
            let at = text.find(word).map(|byte| text[..byte].chars().count());
            let cell = cells[at.unwrap_or_else(|| panic!("no {word} in {text}"))];
            (cell.fg, cell.modifier.contains(Modifier::REVERSED))
        };
        assert_eq!(of(2, "closed"), (Color::Reset, false));
        assert_eq!(of(3, "alive"), (Color::Reset, false));
        assert_eq!(of(3, "1.00k/"), (Color::Yellow, false), "it is full");
        assert_eq!(of(4, "dead"), (Color::Red, false));
        assert_eq!(of(5, "ticks"), (Color::Reset, true), "it is chosen");
        assert_eq!(of(5, "█"), (Color::Cyan, true));
    }
}
