//! The terminal, until the user quits: samples, keys, and what becomes of them.

use std::io;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    self, Clear, ClearType, EnterAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::layout::Rect;
use ratatui::{DefaultTerminal, Terminal, TerminalOptions, Viewport};

use super::arguments::Arguments;
use super::draw::{Scene, draw};
use super::history::History;
use super::rows::rows;
use super::view::{View, Wish};
use super::waits::LOOK_INTERVAL;
use crate::outcome::{Failure, Outcome};
use crate::rings::sample::Sample;
use crate::rings::sampler::Sampler;
use crate::signals::{StopOrGo, Stops, first_signal};

/// A signal is noticed after this at the latest.
const PATIENCE: Duration = Duration::from_millis(100);
/// The second look comes so soon, because only then there are rates.
const FIRST_INTERVAL: Duration = Duration::from_millis(250);

/// No more of a terminal is drawn than this: each of its cells takes memory, and a program may say that its
/// terminal has 65535 columns and lines.
const MOST_COLUMNS: u16 = 1_000;
const MOST_LINES: u16 = 500;

/// Shows the rings in the terminal.
pub(super) fn run(sampler: Sampler, first: Sample, arguments: &Arguments) -> Result<Outcome, Failure> {
    let stopped = first_signal(restore)?;
    let stops = Stops::watch()?;
    // (Before the terminal is changed, which may fail half-way. A panic restores it by ratatui's hook.)
    let restored = Restored;
    let ended = area()
        .and_then(|area| ratatui::try_init_with_options(within(area)))
        .and_then(|terminal| execute!(io::stdout(), EnterAlternateScreen).map(|()| terminal))
        .and_then(|mut terminal| show(&mut terminal, sampler, first, arguments, &stopped, stops));
    drop(restored);
    ended.map_err(|error| Failure::new(format!("the terminal can't be used: {error}")))
}

/// The terminal is as it was when this is dropped.
struct Restored;

impl Drop for Restored {
    fn drop(&mut self) {
        restore();
    }
}

/// Gives the terminal back as it was, also where the thread that draws hangs.
fn restore() {
    // Where it is gone, there is nobody to tell.
    let _ = ratatui::try_restore();
    let _ = execute!(io::stdout(), Show);
}

/// What is drawn of the terminal.
fn area() -> io::Result<Rect> {
    let (columns, lines) = terminal::size()?;
    Ok(Rect::new(0, 0, columns.min(MOST_COLUMNS), lines.min(MOST_LINES)))
}

fn within(area: Rect) -> TerminalOptions {
    TerminalOptions { viewport: Viewport::Fixed(area) }
}

/// The terminal, which others have had meanwhile.
fn take_again(terminal: &mut DefaultTerminal) -> io::Result<()> {
    // (What was changed counts as changed until it is taken back.)
    disable_raw_mode()?;
    enable_raw_mode()?;
    execute!(io::stdout(), EnterAlternateScreen, Clear(ClearType::All))?;
    // It knows of nothing on the screen.
    *terminal = Terminal::with_options(CrosstermBackend::new(io::stdout()), within(area()?))?;
    Ok(())
}

fn show(
    terminal: &mut DefaultTerminal,
    mut sampler: Sampler,
    first: Sample,
    arguments: &Arguments,
    stopped: &OnceLock<Outcome>,
    mut stops: Stops,
) -> io::Result<Outcome> {
    let interval = arguments.interval;
    let mut view = View::of(arguments.name.clone());
    let mut history = History::default();
    let mut sample = first;
    history.add(&sample);
    let mut due = Instant::now() + interval.min(FIRST_INTERVAL);
    let mut is_new = true;
    loop {
        if let Some(&outcome) = stopped.get() {
            return Ok(outcome);
        }
        if let Some(come) = stops.come() {
            if come == StopOrGo::Stop {
                terminal.show_cursor()?;
                ratatui::try_restore()?;
                stops.stop();
            }
            take_again(terminal)?;
            is_new = true;
        }
        if is_new {
            let area = area()?;
            if terminal.get_frame().area() != area {
                terminal.resize(area)?;
            }
            let scene = Scene { sample: &sample, history: &history, view: &view, interval };
            terminal.draw(|frame| draw(frame, &scene))?;
        }
        let left = due.saturating_duration_since(Instant::now());
        let patience = if view.page().is_some() { LOOK_INTERVAL } else { PATIENCE };
        is_new = left.is_zero();
        if is_new {
            sample = sampler.sample();
            history.add(&sample);
            due = Instant::now() + interval;
        } else if !event::poll(left.min(patience))? {
            if let Some(name) = view.page() {
                history.add_waits(name, sampler.behind_ns(name));
            }
        } else {
            is_new = true;
            match event::read()? {
                Event::Key(key) if key.kind != KeyEventKind::Release => {
                    let rows = rows(&sample, &history, &view);
                    let names: Vec<_> = rows.iter().map(|row| row.ring.name.clone()).collect();
                    match view.press(key, &names) {
                        Wish::Show => {}
                        Wish::Quit => return Ok(Outcome::Passed),
                        Wish::Interrupt => return Ok(Outcome::Interrupted),
                        Wish::Stop => Stops::ask_all(),
                    }
                }
                // A new size: it is drawn anew.
                _ => {}
            }
        }
    }
}
