//! What is drawn, in terminals of several sizes.

use annulus::shm::PeerState;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Cell;
use ratatui::style::{Color, Modifier};

use super::*;
use crate::rings::sample::tests::{dead, lossy, ring, sample, timed};
use crate::top::routes::tests::three;
use crate::top::view::Sort;

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
fn routes_of_bridges_are_below_the_rings() {
    let (mut sample, history) = scene();
    sample.routes = three();
    let lines = shown(&sample, &history, &View::default(), 80, 12).join("\n");
    let expected = "\
annulus top  /run/user/7/annulus                      4 rings, 1 dead  every 1 s
NAME▼        KIND     STATE   RATE/S CURVE          DEPTH LAGS    PROCESS
closed       lossy    closed       – ▁▁▁▁▁▁▁▁     –/65.5k ?       100 feed --to…
orders       lossless alive    20.0k ████████ 1.00k/1.02k 1.00k 0 100 feed --to…
strategies-… –        dead         –                    – –       101 –
ticks        lossy    alive    39.0k ▆▆▇▇▇███     –/65.5k ?       100 feed --to…

BRIDGED  WAY        STATE    RATE/S  LAGGED  AGAIN  KEPT     TRIP  BRIDGE
closed   ← feed-1   refused       –       0      –     –        –  bridge@here
orders   → network  open      1.23k       0  1,005    17        –  bridge@here
ticks    ← feed-1   down          –       3      –     –  1.20 ms  bridge@here
q quit  ↑↓ Enter page  / filter  sort: n k s r d l p (again: reverse)";
    assert_eq!(lines, expected, "\n{lines}\n");
    // Where not all have room, those to be looked at come first.
    sample.routes.rotate_left(1);
    sample.routes.extend(three());
    let lines = shown(&sample, &history, &View::default(), 80, 12);
    let names: Vec<_> = lines[7..11].iter().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(names, ["BRIDGED", "ticks", "closed", "…"], "{lines:?}");
    assert_eq!(lines[10], "… and 4 more");
    let page = shown(&sample, &history, &chosen("closed", true), 80, 20).join("\n");
    assert!(page.contains("bridge     ← feed-1: not carried: the name is taken"), "{page}");
}

#[test]
fn screen_of_one_hundred_and_sixty_columns() {
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
fn page_of_a_lossless_ring() {
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

SEAT  STATE  POSITION    LAG  PROCESS
   0  alive   400,024  1,000  200 reader-0 of orders
   1  alive   401,024      0  201 reader-1 of orders

q quit  Esc all rings  ↑↓ other rings",
    );
}

#[test]
fn page_of_a_lossy_ring() {
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

SEAT  STATE  POSITION  LAG  PROCESS
   –                ?    ?  300 annulus sub

q quit  Esc all rings  ↑↓ other rings",
    );
}

#[test]
fn ring_of_a_dead_process_has_a_page() {
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
fn screen_without_a_ring_says_so() {
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
fn screen_of_any_size_will_do() {
    let (some, history) = scene();
    let typed = View { filter: "値段".into(), is_typing: true, ..View::default() };
    let views =
        [View::default(), chosen("orders", true), chosen("ticks", false), chosen("gone", true), typed];
    for (width, height) in (0..40).step_by(3).flat_map(|width| (0..16).map(move |height| (width, height))) {
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
fn chosen_ring_is_seen() {
    let rings = (0..50).map(|number| ring(&format!("ring-{number:02}"), 0, &[])).collect();
    let many = sample(rings);
    let history = History::default();
    for (name, first) in
        [("ring-00", "ring-00"), ("ring-06", "ring-00"), ("ring-07", "ring-01"), ("ring-49", "ring-43")]
    {
        let lines = shown(&many, &history, &chosen(name, false), 80, 10);
        assert!(lines[2].starts_with(first) && lines.iter().any(|line| line.starts_with(name)), "{lines:?}");
    }
}

/// Colours are few: for the dead, and for what is full.
#[test]
fn colours_are_for_what_needs_a_look() {
    let (sample, history) = scene();
    let mut terminal = Terminal::new(TestBackend::new(80, 8)).unwrap();
    let view = chosen("ticks", false);
    let scene = Scene { sample: &sample, history: &history, view: &view, interval: Duration::from_secs(1) };
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
    assert_eq!(of(3, "1.00k/"), (Color::Magenta, false), "it is full");
    assert_eq!(of(4, "dead"), (Color::Red, false));
    assert_eq!(of(5, "ticks"), (Color::Reset, true), "it is chosen");
    assert_eq!(of(5, "█"), (Color::Reset, true));
}

/// A ring whose messages carry their time has a picture of how far its readers are behind, where there is
/// room.
#[test]
fn page_of_a_ring_with_times() {
    let mut history = History::default();
    let mut now = sample(vec![]);
    for step in 0..=60u64 {
        let published = (10_000 + 4_000 * (step % 7)) * step + 1024;
        let readers = [(0, 0), (step, step * step * 300), (900, 40_000_000)];
        now = Sample {
            at: now.at + Duration::from_secs(1),
            ..sample(vec![timed("market-quotes", published, &readers)])
        };
        history.add(&now);
    }
    now.rings[0].readers[2].seat.as_mut().unwrap().state = PeerState::Dead;
    let view = chosen("market-quotes", true);
    let of = |width, height| shown(&now, &history, &view, width, height).join("\n");
    let expected = "\
annulus top  /run/user/7/annulus                               1 ring  every 1 s
market-quotes, a lossless broadcast ring, alive
process    100 feed --to market-quotes
ring       1,024 slots of 64 bytes, for messages of 56 bytes
published  1,561,024 messages
rate       262k a second, 262k at most
waiting    900 of 1,024
behind     p50 279 µs, p99 41.9 ms, max 41.9 ms (0 in 62 of 183 looks)
                             ▁▂▄▅ ▃▅▆█                                █
                 ▂▃ ▁▂▄▅▇█ ▆▇████ ████                                █
    ▁   ▂▃▄▆ ▄▅▇███ ██████ ██████ ████                                █
▃▄▆▇█ ▇█████ ██████ ██████ ██████ ████                         ▁      █
█████ ██████ ██████ ██████ ██████ ████                  ▁▁▁▃▃▅▇█▁     █
█████ ██████ ██████ ██████ ██████ ████  behind: 100 ns  10 µs   1 ms    100 ms

SEAT  STATE   POSITION  LAG   BEHIND  PROCESS
   0  alive  1,561,024    0     0 ns  200 reader-0 of market-quotes
   1  alive  1,560,964   60  1.08 ms  201 reader-1 of market-quotes
   2  dead   1,560,124  900  40.0 ms  202 reader-2 of market-quotes

q quit  Esc all rings  ↑↓ other rings";
    let lines = of(80, expected.lines().count() as u16);
    assert_eq!(lines, expected, "\n{lines}\n");
    assert!(
        of(160, 24).contains("100 ns") && !of(60, 24).contains("100 ns") && !of(80, 14).contains("100 ns")
    );
}
