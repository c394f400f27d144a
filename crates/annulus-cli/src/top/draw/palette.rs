//! What has a colour: little, and of the terminal's own sixteen. All of it can be read on light and on dark.
//!
//! Yellow and cyan can't be read on white, nor blue on black. So what is to be looked at is magenta, as in
//! the other reports, and a curve has the colour of the text.

use annulus::shm::PeerState;
use ratatui::style::{Color, Modifier, Style};

use crate::rings::sample::Ring;
use crate::top::facts::Tone;

/// Something is wrong.
pub(super) const BAD: Style = Style::new().fg(Color::Red).add_modifier(Modifier::BOLD);
/// Something is to be looked at.
pub(super) const FAIR: Style = Style::new().fg(Color::Magenta).add_modifier(Modifier::BOLD);
/// Titles of columns.
pub(super) const TITLES: Style = Style::new().add_modifier(Modifier::BOLD.union(Modifier::UNDERLINED));

pub(super) fn of_ring(ring: &Ring) -> Style {
    if ring.overdue.is_some() { FAIR } else { of_state(ring.state) }
}

pub(super) fn of_state(state: PeerState) -> Style {
    match state {
        PeerState::Dead => BAD,
        PeerState::Closed => Style::new().add_modifier(Modifier::DIM),
        _ => Style::new(),
    }
}

pub(super) fn of_tone(tone: Tone) -> Style {
    match tone {
        Tone::Plain => Style::new(),
        Tone::Fair => FAIR,
        Tone::Bad => BAD,
    }
}
