//! What a cache line takes between CPUs, as a map for people.

use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use super::cpu_list::show;
use super::distances::{Distances, Pair};
use crate::page::Page;
use crate::text::counted;

/// From near to far.
const SHADES: [char; 4] = ['░', '▒', '▓', '█'];

/// Between figures that are nearer than that to each other, no shade makes a difference.
const ALIKE: f64 = 1.25;

/// The map, its legend, and what is odd, in lines that are no wider than `room`.
pub(super) fn render(distances: &Distances, room: usize) -> String {
    let mut page = Page::new(room);
    if let Some(why) = &distances.not_measured {
        page.say(format!("Core to core: not measured: {why}."));
        return page.into_text();
    }
    page.say("Core to core: nanoseconds for a cache line to another CPU and one back (a round trip).");
    let rounds = counted(distances.rounds as u64, "round");
    let trips = counted(distances.round_trips, "round trip");
    page.say(format!("Each is the median of {rounds} of {trips}."));
    let scale = Scale::of(&distances.pairs);
    let columns = room.saturating_sub(ROW_WIDTH) / CELL_WIDTH;
    for cpus in distances.cpus.chunks(columns.max(1)) {
        page.gap();
        page.lines(&matrix(distances, cpus, &scale));
    }
    page.gap();
    page.lines(&scale.legend(room));
    for line in extremes(&distances.pairs).lines() {
        page.say(line);
    }
    if distances.of > distances.cpus.len() {
        let (cpus, all) = (show(&distances.cpus), counted(distances.of as u64, "CPU"));
        page.say(format!("These are CPUs {cpus} of {all}: --cores names others."));
    }
    let mut errors: Vec<_> = distances.pairs.iter().filter_map(|pair| pair.error.as_deref()).collect();
    errors.dedup();
    for error in errors {
        page.say(format!("Not measured: {error}"));
    }
    page.into_text()
}

/// How wide a line of the map begins, with the number of a CPU.
const ROW_WIDTH: usize = 5;

/// How wide each figure of it is, with a space before.
const CELL_WIDTH: usize = 7;

/// All CPUs from top to bottom, and these from left to right.
fn matrix(distances: &Distances, columns: &[usize], scale: &Scale) -> String {
    let mut text = format!("{:>5}", "CPU");
    for cpu in columns {
        let _ = write!(text, " {cpu:>6}");
    }
    text.push('\n');
    for row in &distances.cpus {
        let _ = write!(text, "{row:>5}");
        for column in columns {
            let is_it = |pair: &&Pair| pair.a == *row.min(column) && pair.b == *row.max(column);
            let cell = match distances.pairs.iter().find(is_it).map(|pair| pair.median_ns) {
                None => "–".into(),
                Some(None) => "?".into(),
                Some(Some(ns)) => format!("{}{ns:>5.0}", scale.shade(ns)),
            };
            let _ = write!(text, " {cell:>6}");
        }
        text.push('\n');
    }
    text
}

/// Which shade a figure has.
struct Scale {
    /// Figures below each belong to its shade; the last shade has no limit.
    limits: Vec<f64>,
}

impl Scale {
    fn of(pairs: &[Pair]) -> Self {
        let figures = || pairs.iter().filter_map(|pair| pair.median_ns);
        let (least, most) = (figures().fold(f64::MAX, f64::min), figures().fold(0.0, f64::max));
        let steps = SHADES.len() - 1;
        let limits = if most < least * ALIKE {
            Vec::new()
        } else {
            // Each of the four shades is the same factor further.
            let factor = (most / least).powf(1.0 / 4.0);
            std::iter::successors(Some(least * factor), |limit| Some(limit * factor)).take(steps).collect()
        };
        Self { limits }
    }

    fn shade(&self, ns: f64) -> char {
        SHADES[self.limits.iter().filter(|&&limit| ns >= limit).count()]
    }

    /// One line, if there is more than one shade and room for it.
    fn legend(&self, room: usize) -> String {
        let [first, .., last] = &self.limits[..] else {
            return String::new();
        };
        let between = self.limits.windows(2).zip(&SHADES[1..]);
        let mut parts = vec![format!("{} below {first:.0}", SHADES[0])];
        parts.extend(between.map(|(limits, shade)| format!("{shade} {:.0} to {:.0}", limits[0], limits[1])));
        parts.push(format!("{} from {last:.0} on", SHADES[self.limits.len()]));
        let line = parts.join("   ");
        if line.width() <= room { line + "\n" } else { parts.join("\n") + "\n" }
    }
}

/// The nearest and the farthest pair, and the least steady one.
fn extremes(pairs: &[Pair]) -> String {
    let measured =
        || pairs.iter().filter_map(|pair| Some((pair, pair.median_ns?, pair.min_ns?, pair.max_ns?)));
    let by_median = |one: &(_, f64, f64, f64), other: &(_, f64, f64, f64)| one.1.total_cmp(&other.1);
    let spread = |(_, median, min, max): &(&Pair, f64, f64, f64)| (max - min) / median;
    let by_spread = |one: &_, other: &_| spread(one).total_cmp(&spread(other));
    let (Some(near), Some(far), Some(uneven)) =
        (measured().min_by(by_median), measured().max_by(by_median), measured().max_by(by_spread))
    else {
        return String::new();
    };
    let (pair, median, min, max) = uneven;
    let mut text = String::new();
    if pairs.len() > 1 {
        let _ = writeln!(
            text,
            "Nearest: CPUs {} and {}, {:.0} ns. Farthest: CPUs {} and {}, {:.0} ns.",
            near.0.a, near.0.b, near.1, far.0.a, far.0.b, far.1
        );
        let _ = write!(text, "Least steady: ");
    } else {
        let _ = write!(text, "Its rounds: ");
    }
    let _ =
        writeln!(text, "CPUs {} and {}, from {min:.0} to {max:.0} ns around {median:.0}.", pair.a, pair.b);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(a: usize, b: usize, ns: f64) -> Pair {
        Pair { a, b, median_ns: Some(ns), min_ns: Some(ns - 1.0), max_ns: Some(ns + 9.0), error: None }
    }

    fn distances(cpus: Vec<usize>, pairs: Vec<Pair>) -> Distances {
        Distances { of: cpus.len(), cpus, rounds: 9, round_trips: 10_000, not_measured: None, pairs }
    }

    #[test]
    fn near_and_far_have_their_shades() {
        let map = distances(vec![0, 1, 16], vec![pair(0, 1, 100.0), pair(0, 16, 200.0), pair(1, 16, 1600.0)]);
        let expected = "\
Core to core: nanoseconds for a cache line to another CPU and one back (a round trip).
Each is the median of 9 rounds of 10,000 round trips.

  CPU      0      1     16
    0      – ░  100 ▒  200
    1 ░  100      – █ 1600
   16 ▒  200 █ 1600      –

░ below 200   ▒ 200 to 400   ▓ 400 to 800   █ from 800 on
Nearest: CPUs 0 and 1, 100 ns. Farthest: CPUs 1 and 16, 1600 ns.
Least steady: CPUs 0 and 1, from 99 to 109 ns around 100.
";
        assert_eq!(render(&map, usize::MAX), expected);
    }

    #[test]
    fn columns_with_little_room_go_below_each_other() {
        let map = distances(vec![0, 1, 16], vec![pair(0, 1, 100.0), pair(0, 16, 200.0), pair(1, 16, 1600.0)]);
        let expected = "\
Core to core:
nanoseconds for a cache
line to another CPU and
one back (a round
trip).
Each is the median of 9
rounds of 10,000 round
trips.

  CPU      0      1
    0      – ░  100
    1 ░  100      –
   16 ▒  200 █ 1600

  CPU     16
    0 ▒  200
    1 █ 1600
   16      –

░ below 200
▒ 200 to 400
▓ 400 to 800
█ from 800 on
Nearest: CPUs 0 and 1,
100 ns. Farthest: CPUs
1 and 16, 1600 ns.
Least steady: CPUs 0
and 1, from 99 to 109
ns around 100.
";
        assert_eq!(render(&map, 23), expected);
    }

    #[test]
    fn one_pair_has_no_legend() {
        let shown = render(&distances(vec![0, 1], vec![pair(0, 1, 100.0)]), usize::MAX);
        assert!(
            shown.contains("    0      – ░  100\n    1 ░  100      –\n\nIts rounds: CPUs 0 and 1, "),
            "{shown}"
        );
    }

    #[test]
    fn pair_that_was_not_measured_says_why() {
        let failed = Pair { a: 0, b: 1, error: Some("no".into()), ..Pair::default() };
        let shown = render(&distances(vec![0, 1], vec![failed]), usize::MAX);
        assert!(shown.contains("    0      –      ?\n"), "{shown}");
        assert!(shown.ends_with("\nNot measured: no\n"), "{shown}");
        let none = Distances { not_measured: Some("one CPU".into()), ..distances(vec![], vec![]) };
        assert_eq!(render(&none, usize::MAX), "Core to core: not measured: one CPU.\n");
        let some = Distances { of: 64, ..distances(vec![0, 1], vec![pair(0, 1, 1.0)]) };
        assert!(
            render(&some, usize::MAX).ends_with("These are CPUs 0-1 of 64 CPUs: --cores names others.\n")
        );
    }
}
