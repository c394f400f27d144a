//! [`Silence`]: for how long a publisher has said nothing.

use core::time::Duration;
use std::time::Instant;

/// For how long a publisher has said nothing, as one receiving end sees it. It knows no ring: the end says
/// when it has received something, and when there was nothing.
///
/// ```
/// use annulus::shm::dynamic::Silence;
/// use std::time::Duration;
///
/// let mut silence = Silence::after(Some(Duration::ZERO));
/// assert_eq!(silence.look(), None); // the first look at it
/// assert!(silence.look().is_some());
/// silence.is_over();
/// assert_eq!(silence.look(), None);
/// ```
// Decision 0174: since a look that found nothing.
#[derive(Clone, Debug)]
pub struct Silence {
    /// After so long it is overdue.
    limit: Option<Duration>,
    /// Since when there has been nothing to receive, as far as it was looked at.
    since: Option<Instant>,
    /// Whether it was told already that the publisher is overdue.
    is_told: bool,
}

impl Silence {
    /// A publisher is overdue after so long a silence. `None`: it never is.
    #[must_use]
    pub fn after(limit: Option<Duration>) -> Self {
        Self { limit, since: None, is_told: false }
    }

    /// After how long a silence a publisher is overdue.
    #[must_use]
    pub fn limit(&self) -> Option<Duration> {
        self.limit
    }

    /// Something was received.
    pub fn is_over(&mut self) {
        (self.since, self.is_told) = (None, false);
    }

    /// Nothing is there: when the publisher is overdue, if that is still to be told.
    pub fn begin(&mut self) -> Option<Instant> {
        let limit = self.limit.filter(|_| !self.is_told)?;
        self.since.get_or_insert_with(Instant::now).checked_add(limit)
    }

    /// Nothing is there: for how long, if the publisher is overdue, and that was not [told](Self::tell).
    pub fn look(&mut self) -> Option<Duration> {
        let is_first_look = self.since.is_none();
        let end = self.begin()?;
        if is_first_look || Instant::now() < end {
            return None;
        }
        self.since.map(|since| since.elapsed())
    }

    /// It is told once, until something is received.
    pub fn tell(&mut self) {
        self.is_told = true;
    }
}
