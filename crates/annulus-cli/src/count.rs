//! [`Count`]: how many lines or messages a subcommand has published or printed, which is said once.

use std::sync::{Once, OnceLock};

use crate::measure::Gauge;
use crate::output::say;
use crate::text::{counted, grouped};

/// Of the thread that counts, and of the thread that ends the process after a signal: the one that comes
/// first says it.
pub(crate) struct Count {
    /// What was done with them.
    verb: &'static str,
    thing: OnceLock<&'static str>,
    /// What became of the others, and whether it is said if there are none.
    others: (&'static str, bool),
    done: Gauge,
    lost: Gauge,
    told: Once,
}

impl Count {
    /// None yet. They are lines, until [`are`](Self::are) says otherwise.
    fn new(verb: &'static str, others: (&'static str, bool)) -> Self {
        let (done, lost) = (Gauge::default(), Gauge::default());
        Self { verb, thing: OnceLock::new(), others, done, lost, told: Once::new() }
    }

    /// Of a publisher.
    pub(crate) fn published() -> Self {
        Self::new("published", ("lost", false))
    }

    /// Of a subscriber.
    pub(crate) fn printed() -> Self {
        Self::new("printed", ("lost", false))
    }

    /// Of a look from outside, which misses messages.
    pub(crate) fn watched() -> Self {
        Self::new("printed", ("missed", true))
    }

    /// What is counted.
    pub(crate) fn are(&self, thing: &'static str) {
        let _ = self.thing.set(thing);
    }

    /// So many until now.
    pub(crate) fn set(&self, done: u64, lost: u64) {
        self.done.set(done);
        self.lost.set(lost);
    }

    /// How many were done.
    pub(crate) fn get(&self) -> u64 {
        self.done.get()
    }

    /// Says how many.
    pub(crate) fn tell(&self) {
        self.told.call_once(|| say(format_args!("{}", self.text("", ""))));
    }

    /// Says how many if some were lost, or if a signal has ended it.
    pub(crate) fn tell_if(&self, is_stopped: bool) {
        if is_stopped || self.lost.get() > 0 {
            self.tell();
        }
    }

    /// Says how many, where the process ends while it waits for a reader of its output: the last of them may
    /// not have come out.
    pub(crate) fn tell_unread(&self) {
        let why = "; nobody reads the output";
        self.told.call_once(|| say(format_args!("{}", self.text("at most ", why))));
    }

    fn text(&self, most: &str, why: &str) -> String {
        let thing = self.thing.get().copied().unwrap_or("line");
        let (others, is_always_said) = self.others;
        let lost = self.lost.get();
        let done = format!("{} {most}{}", self.verb, counted(self.done.get(), thing));
        if lost > 0 || is_always_said {
            format!("{done}, {others} {}{why}", grouped(lost))
        } else {
            done + why
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn count_is_in_words() {
        let count = Count::printed();
        assert_eq!(count.text("", ""), "printed 0 lines");
        count.are("record");
        count.set(1, 2_000);
        assert_eq!(count.text("", ""), "printed 1 record, lost 2,000");
        assert_eq!(count.text("at most ", "; why"), "printed at most 1 record, lost 2,000; why");
        assert_eq!(Count::watched().text("", ""), "printed 0 lines, missed 0");
        assert_eq!(Count::published().text("", ""), "published 0 lines");
    }
}
