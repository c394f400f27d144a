//! What was measured, which is what `results.json` holds, and what follows from it: all that a report shows.

use std::cmp::Ordering;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::columns;
use crate::machine::Machine;
use crate::percentiles::Latency;
use crate::rounds::{Quartiles, Rounds};
use crate::row::{Group, Kind, Limits, Place, Placed, Row, Target};

#[derive(Debug, Serialize, Deserialize)]
pub struct Results {
    pub machine: Machine,
    pub contenders: Vec<Package>,
    /// Those that rows ran on, as "0 and 1".
    pub cores: String,
    /// How many rounds were asked for.
    pub rounds: usize,
    /// The part of their time that other programs, or other guests of the host, had meanwhile.
    pub others: f64,
    pub rows: Vec<RowResult>,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Package {
    pub name: String,
    pub version: String,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct RowResult {
    pub group: Group,
    pub name: String,
    pub about: String,
    pub capacity: usize,
    /// In one run of an entry; 0 where that took a given time.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub messages: u64,
    /// How long one run of an entry was, where that was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span_ms: Option<u64>,
    pub threads: usize,
    /// Whether that is more than the cores it had.
    #[serde(default, skip_serializing_if = "is_false")]
    pub oversubscribed: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placed: Option<Placed>,
    pub entries: Vec<EntryResult>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Target>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
    #[serde(with = "columns")]
    pub rounds: Rounds,
    /// Ours to each of the others.
    #[serde(skip)]
    pub ratios: Vec<Ratio>,
}

/// What is not written, since most rows have it.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_false(flag: &bool) -> bool {
    !flag
}

#[derive(Debug, Serialize, Deserialize)]
pub struct EntryResult {
    pub name: String,
    #[serde(default, skip_serializing_if = "Kind::is_rival")]
    pub kind: Kind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
    /// Nanoseconds a message, over the rounds that count; none where no round does.
    #[serde(skip)]
    pub ns: Option<Quartiles>,
    /// Processor time of all threads in nanoseconds a message, where a row looks at it.
    #[serde(skip)]
    pub cpu_ns: Option<Quartiles>,
    /// The share of the messages that were received, where a row has such a thing.
    #[serde(skip)]
    pub share: Option<Quartiles>,
    /// The part of its work that a neighbour on the reader's core loses, where a row has one.
    #[serde(skip)]
    pub neighbour_lost: Option<Quartiles>,
}

/// Our time divided by another's.
#[derive(Debug)]
pub struct Ratio {
    pub against: String,
    pub kind: Kind,
    pub ratio: Option<Quartiles>,
    /// Of the processor times.
    pub cpu: Option<Quartiles>,
    /// Of the latencies at 99 %.
    pub p99: Option<f64>,
    pub target: Option<Target>,
    /// Whether the median reaches the target; none where there is no target, or no round that counts.
    pub met: Option<bool>,
}

/// What a row's limits say of ours beside the best rival.
pub struct Limited<'a> {
    /// Of what: "time", "CPU", "p99".
    pub figure: &'static str,
    pub against: &'a str,
    /// None where no round counts.
    pub ratio: Option<f64>,
    pub at_most: f64,
}

/// How our time stands to the best rival's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is less by a tenth at least.
    Ahead,
    /// What such machines do not tell apart from one run to the next. (With a twentieth instead of a tenth,
    /// two runs of one program differed in five of 76 rows, four of them even or nearly so; and where a build
    /// happens to put a loop moves a time by as much.)
    Even,
    /// It is more by a tenth at least.
    Behind,
}

const ONE_OF_OURS: &str = "every row has an entry of ours";

impl Results {
    /// The raw ping-pong between the first two cores over the whole run, in nanoseconds a round trip.
    pub fn ping_pong_ns(&self) -> Option<Quartiles> {
        Quartiles::of(self.rows.iter().flat_map(|row| row.rounds.probes()))
    }
}

impl RowResult {
    pub fn new(row: &Row, mut rounds: Rounds, cores: usize) -> Self {
        let entries = row.entries.iter().enumerate().map(|(place, entry)| EntryResult {
            name: entry.name.to_owned(),
            kind: entry.kind,
            latency: Latency::of(rounds.samples(place)),
            ns: None,
            cpu_ns: None,
            share: None,
            neighbour_lost: None,
        });
        let entries = entries.collect();
        rounds.forget_latencies();
        let mut new = Self {
            group: row.group,
            name: row.name.to_string(),
            about: row.about.to_string(),
            capacity: row.capacity,
            messages: row.messages,
            span_ms: (!row.span.is_zero()).then_some(row.span.as_millis() as u64),
            threads: row.threads,
            oversubscribed: row.oversubscribes(cores),
            place: row.place.clone(),
            placed: row.placed.clone(),
            entries,
            targets: row.targets.clone(),
            limits: row.limits,
            rounds,
            ratios: vec![],
        };
        new.conclude();
        new
    }

    /// Makes what follows from the rounds.
    fn conclude(&mut self) {
        let Self { entries, rounds, targets, .. } = self;
        for (place, entry) in entries.iter_mut().enumerate() {
            entry.ns = rounds.ns(place);
            entry.cpu_ns = rounds.cpu_ns(place);
            entry.share = rounds.share(place);
            entry.neighbour_lost = rounds.neighbour_lost(place);
        }
        let ours = entries.iter().position(|entry| entry.kind == Kind::Ours).expect(ONE_OF_OURS);
        let p99 = |place: usize| Some(entries[place].latency.as_ref()?.p99() as f64);
        let others = entries.iter().enumerate().filter(|(place, _)| *place != ours);
        let ratios = others.map(|(place, entry)| {
            let ratio = rounds.ratio(ours, place, |sample| Some(sample.ns));
            let cpu = rounds.ratio(ours, place, |sample| sample.cpu_ns);
            let p99 = p99(ours).zip(p99(place)).map(|(ours, other)| ours / other);
            let target = targets.iter().find(|target| target.against == entry.name).cloned();
            let met = target.as_ref().zip(ratio).map(|(target, ratio)| ratio.median <= target.at_most);
            Ratio { against: entry.name.clone(), kind: entry.kind, ratio, cpu, p99, target, met }
        });
        self.ratios = ratios.collect();
    }

    /// The raw ping-pong around the runs of this row.
    pub fn ping_pong_ns(&self) -> Option<Quartiles> {
        Quartiles::of(self.rounds.probes())
    }

    pub fn ours(&self) -> &EntryResult {
        self.entries.iter().find(|entry| entry.kind == Kind::Ours).expect(ONE_OF_OURS)
    }

    /// The ratio to the rival that took the least time beside us.
    pub fn best_rival(&self) -> Option<(&Ratio, Quartiles)> {
        let rivals = self.ratios.iter().filter(|ratio| ratio.kind == Kind::Rival);
        rivals
            .filter_map(|ratio| Some((ratio, ratio.ratio?)))
            .max_by(|(_, a), (_, b)| a.median.total_cmp(&b.median))
    }

    /// Ours to the best rival's, in what the row is about: the latency at 99 % where that is limited, or the
    /// time.
    pub fn beside_the_best(&self) -> Option<(f64, &str)> {
        match self.limited().first() {
            Some(&Limited { ratio: Some(ratio), against, .. }) => Some((ratio, against)),
            _ => self.best_rival().map(|(rival, times)| (times.median, rival.against.as_str())),
        }
    }

    /// Ours, and the rival that took the least time beside us.
    pub fn beside_the_best_rival(&self) -> Option<(&EntryResult, &EntryResult)> {
        let (best, _) = self.best_rival()?;
        Some((self.ours(), self.entries.iter().find(|entry| entry.name == best.against)?))
    }

    /// What the limits say, where there are some.
    pub fn limited(&self) -> Vec<Limited<'_>> {
        let Some(Limits { time, cpu, p99 }) = self.limits else {
            return vec![];
        };
        let fastest = self.best_rival().map(|(rival, _)| rival);
        let rivals = self.ratios.iter().filter(|ratio| ratio.kind == Kind::Rival && ratio.p99.is_some());
        let smoothest = rivals.max_by(|a, b| a.p99.partial_cmp(&b.p99).unwrap_or(Ordering::Equal));
        let figures = [
            ("time", time, fastest, fastest.and_then(|rival| Some(rival.ratio?.median))),
            ("CPU", cpu, fastest, fastest.and_then(|rival| Some(rival.cpu?.median))),
            ("p99", p99, smoothest, smoothest.and_then(|rival| rival.p99)),
        ];
        let limited = figures.into_iter().filter_map(|(figure, at_most, rival, ratio)| {
            let against = rival.map_or("the best rival", |rival| &rival.against);
            Some(Limited { figure, against, ratio, at_most: at_most? })
        });
        limited.collect()
    }

    pub fn floor(&self) -> Option<(&Ratio, Quartiles)> {
        let floor = self.ratios.iter().find(|ratio| ratio.kind == Kind::Floor)?;
        Some((floor, floor.ratio?))
    }

    pub fn standing(&self) -> Option<Standing> {
        self.best_rival().map(|(_, ratio)| Standing::of(ratio))
    }

    /// Which targets and limits are met; none where no round counts.
    pub fn met(&self) -> Vec<Option<bool>> {
        let targets = self.ratios.iter().filter(|ratio| ratio.target.is_some()).map(|ratio| ratio.met);
        targets.chain(self.limited().iter().map(Limited::met)).collect()
    }

    /// What of this row should be the same in every run: which targets are met; where there are none, how we
    /// stand to the best rival.
    pub fn verdict(&self) -> String {
        let met: Vec<&str> = self
            .met()
            .into_iter()
            .map(|met| match met {
                Some(true) => "met",
                Some(false) => "not met",
                None => "no steady round",
            })
            .collect();
        if !met.is_empty() {
            return met.join(", ");
        }
        let standing = self.standing().map(|standing| format!("{standing:?}").to_lowercase());
        standing.unwrap_or_else(|| "nothing to compare".to_owned())
    }
}

impl Limited<'_> {
    /// None where no round counts.
    pub fn met(&self) -> Option<bool> {
        self.ratio.map(|ratio| ratio <= self.at_most)
    }
}

impl Standing {
    pub fn of(ratio: Quartiles) -> Self {
        match ratio.median {
            ..=0.9 => Self::Ahead,
            1.1.. => Self::Behind,
            _ => Self::Even,
        }
    }
}

/// What a run wrote.
pub fn read(path: &Path) -> Result<Results, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    parse(&text).map_err(|error| format!("{}: {error}", path.display()))
}

fn parse(text: &str) -> serde_json::Result<Results> {
    let mut results: Results = serde_json::from_str(text)?;
    results.rows.iter_mut().for_each(RowResult::conclude);
    Ok(results)
}

/// A line for each row.
pub fn json(results: &Results) -> Result<String, String> {
    let text = serde_json::to_string(results).map_err(|error| error.to_string())?;
    Ok(text.replace(r#"{"group":"#, "\n{\"group\":") + "\n")
}

/// In how many rows several runs come to the same verdict, and in which they do not.
pub fn agreement(runs: &[Results]) -> Result<(usize, Vec<String>), String> {
    let [first, others @ ..] = runs else {
        return Err("no runs to compare".to_owned());
    };
    let mut differ = vec![];
    for row in &first.rows {
        let same =
            |run: &Results| run.rows.iter().find(|other| other.name == row.name).map(RowResult::verdict);
        let verdicts: Vec<String> = others.iter().map(same).collect::<Option<_>>().ok_or_else(|| {
            format!("not every run has the row {:?}: they are to be of the same program", row.name)
        })?;
        if verdicts.iter().any(|verdict| *verdict != row.verdict()) {
            differ.push(format!("{}: {} / {}", row.name, row.verdict(), verdicts.join(" / ")));
        }
    }
    Ok((first.rows.len(), differ))
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::rounds::Round;
    use crate::row::{Entry, Sample};

    /// Of three rounds, two of them run again because the cores moved.
    pub fn row(ours: f64, rival: f64, steady: bool) -> RowResult {
        let mut row = Row::new("a row", "about", 4, 5);
        row.threads = 2;
        row.entries = vec![
            Entry { name: "annulus", kind: Kind::Ours, run: |_| unreachable!() },
            Entry { name: "a rival", kind: Kind::Rival, run: |_| unreachable!() },
            Entry { name: "less", kind: Kind::Floor, run: |_| unreachable!() },
        ];
        row.targets = vec![Target { against: "a rival".into(), at_most: 0.5, aim: Some(0.25) }];
        let sample = |ns, share| Sample {
            ns,
            share,
            latencies: vec![(100, 3_000), (900, 1_000)],
            ..Sample::default()
        };
        let samples = [sample(ours, Some(0.993)), sample(rival, None), sample(0.8, None)];
        let round = |steady: bool| Round {
            samples: samples.to_vec(),
            probes: Some([100.0, 100.0, if steady { 101.0 } else { 490.0 }]),
        };
        let rounds = [steady, steady, false, steady, false].map(round);
        RowResult::new(&row, Rounds(rounds.to_vec()), 1)
    }

    impl RowResult {
        pub fn forget_targets(&mut self) {
            self.targets.clear();
            self.conclude();
        }
    }

    pub fn results(rows: Vec<RowResult>) -> Results {
        Results {
            machine: Machine::here(),
            contenders: vec![Package { name: "annulus".into(), version: "1.2.3".into() }],
            cores: "0 and 1".into(),
            rounds: 3,
            others: 0.004,
            rows,
        }
    }

    #[test]
    fn verdicts_say_what_is_met_or_which_rival_is_ahead() {
        assert_eq!(row(1.0, 2.0, true).verdict(), "met");
        assert_eq!(row(1.1, 2.0, true).verdict(), "not met");
        assert_eq!(row(1.0, 2.0, false).verdict(), "no steady round");
        let verdict = |ours, rival| {
            let mut row = row(ours, rival, true);
            row.forget_targets();
            row.verdict()
        };
        assert_eq!([verdict(1.0, 2.0), verdict(2.0, 2.0), verdict(2.0, 1.0)], ["ahead", "even", "behind"]);
    }

    #[test]
    fn best_rival_is_the_one_that_took_the_least_time() {
        let mut row = row(1.0, 2.0, true);
        let worse = Quartiles { lower: 0.3, median: 0.3, upper: 0.3 };
        row.ratios.push(Ratio {
            against: "slow".into(),
            kind: Kind::Rival,
            ratio: Some(worse),
            cpu: None,
            p99: None,
            target: None,
            met: None,
        });
        assert_eq!(row.best_rival().unwrap().0.against, "a rival");
        assert_eq!(row.floor().unwrap().0.against, "less");
        assert!(row.oversubscribed);
    }

    #[test]
    fn file_has_a_line_for_each_row_and_makes_the_same_report() {
        let written = results(vec![row(1.0, 2.0, true), row(1.1, 2.0, false)]);
        let text = json(&written).unwrap();
        assert_eq!(text.lines().count(), 3, "{text}");
        let again = parse(&text).unwrap();
        assert_eq!(json(&again).unwrap(), text);
        assert_eq!(format!("{:?}", again.rows), format!("{:?}", written.rows));
    }

    #[test]
    fn runs_agree_where_their_verdicts_do() {
        let run = |ours| results(vec![row(ours, 2.0, true)]);
        assert_eq!(agreement(&[run(1.0), run(0.9), run(0.8)]), Ok((1, vec![])));
        let differ = vec!["a row: met / met / not met".to_owned()];
        assert_eq!(agreement(&[run(1.0), run(0.9), run(1.1)]), Ok((1, differ)));
        let mut without = run(1.0);
        without.rows[0].name = "another".into();
        assert!(agreement(&[run(1.0), without]).unwrap_err().contains("\"a row\""));
        assert!(agreement(&[]).is_err());
    }
}
