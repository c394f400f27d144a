//! What was measured, and what follows from it: all that a report shows, and all that `results.json` holds.

use std::cmp::Ordering;
use std::fs;
use std::path::Path;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::machine::Machine;
use crate::rounds::{Quartiles, Rounds, ours};
use crate::row::{Group, Kind, Limits, Place, Placed, Row, Sample, Target};

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
    /// The raw ping-pong between the first two over the whole run, in nanoseconds a round trip.
    pub ping_pong_ns: Option<Quartiles>,
    pub rows: Vec<RowResult>,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Package {
    pub name: String,
    pub version: String,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct RowResult {
    pub name: String,
    pub about: String,
    pub group: Group,
    pub capacity: usize,
    /// In one run of an entry; 0 where that took a given time.
    pub messages: u64,
    /// How long one run of an entry was, where that was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span_ms: Option<u64>,
    pub threads: usize,
    /// Whether that is more than the cores it had.
    pub oversubscribed: bool,
    pub place: Option<Place>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placed: Option<Placed>,
    /// The raw ping-pong around the runs of this row.
    pub ping_pong_ns: Option<Quartiles>,
    pub entries: Vec<EntryResult>,
    pub ratios: Vec<Ratio>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
    pub rounds: Rounds,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct EntryResult {
    pub name: String,
    pub kind: Kind,
    /// Nanoseconds a message, over the rounds that count; none where no round does.
    pub ns: Option<Quartiles>,
    /// Processor time of all threads in nanoseconds a message, where a row looks at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<Quartiles>,
    /// The share of the messages that were received, where a row has such a thing.
    pub share: Option<Quartiles>,
    /// The part of its work that a neighbour on the reader's core loses, where a row has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neighbour_lost: Option<Quartiles>,
    pub latency: Option<Latency>,
}

/// In nanoseconds. Each percentile is the median of those of the rounds: one round in which a thread lost its
/// core for milliseconds would otherwise be all that is seen of the slowest hundredth. Rounds of less than a
/// thousand messages are taken together: the slowest hundredth of one round would be a few messages.
#[derive(Debug, Serialize, Deserialize)]
pub struct Latency {
    pub p50: u64,
    pub p90: u64,
    pub p99: u64,
    pub p99_9: u64,
    /// Of those at 99 % of the rounds, one by one, also where rounds are taken together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_of_rounds: Option<Quartiles>,
    /// Of all rounds.
    pub max: u64,
    /// Percentiles, and the latency at each: enough of them to draw a curve.
    pub curve: Vec<(f64, u64)>,
}

/// Our time divided by another's.
#[derive(Debug, Serialize, Deserialize)]
pub struct Ratio {
    pub against: String,
    pub kind: Kind,
    pub ratio: Option<Quartiles>,
    /// Of the processor times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Quartiles>,
    /// Of the latencies at 99 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
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

impl RowResult {
    pub fn new(row: &Row, mut rounds: Rounds, cores: usize) -> Self {
        let ours = ours(row);
        let entries = row.entries.iter().enumerate().map(|(place, entry)| EntryResult {
            name: entry.name.to_owned(),
            kind: entry.kind,
            ns: rounds.ns(place),
            cpu_ns: rounds.cpu_ns(place),
            share: rounds.share(place),
            neighbour_lost: rounds.neighbour_lost(place),
            latency: Latency::of(rounds.samples(place)),
        });
        let entries: Vec<EntryResult> = entries.collect();
        let p99 = |place: usize| Some(entries[place].latency.as_ref()?.p99 as f64);
        let others = row.entries.iter().enumerate().filter(|(place, _)| *place != ours);
        let ratios = others.map(|(place, entry)| {
            let ratio = rounds.ratio(ours, place, |sample| Some(sample.ns));
            let cpu = rounds.ratio(ours, place, |sample| sample.cpu_ns);
            let p99 = p99(ours).zip(p99(place)).map(|(ours, other)| ours / other);
            let target = row.targets.iter().find(|target| target.against == entry.name).cloned();
            let met = target.as_ref().zip(ratio).map(|(target, ratio)| ratio.median <= target.at_most);
            Ratio { against: entry.name.to_owned(), kind: entry.kind, ratio, cpu, p99, target, met }
        });
        let ratios = ratios.collect();
        rounds.forget_latencies();
        Self {
            name: row.name.to_string(),
            about: row.about.to_string(),
            group: row.group,
            capacity: row.capacity,
            messages: row.messages,
            span_ms: (!row.span.is_zero()).then_some(row.span.as_millis() as u64),
            threads: row.threads,
            oversubscribed: row.oversubscribes(cores),
            place: row.place.clone(),
            placed: row.placed.clone(),
            ping_pong_ns: Quartiles::of(rounds.probes()),
            entries,
            ratios,
            limits: row.limits,
            rounds,
        }
    }

    pub fn ours(&self) -> &EntryResult {
        self.entries.iter().find(|entry| entry.kind == Kind::Ours).expect("every row has an entry of ours")
    }

    /// The ratio to the rival that took the least time beside us.
    pub fn best_rival(&self) -> Option<(&Ratio, Quartiles)> {
        let rivals = self.ratios.iter().filter(|ratio| ratio.kind == Kind::Rival);
        rivals
            .filter_map(|ratio| Some((ratio, ratio.ratio?)))
            .max_by(|(_, a), (_, b)| a.median.total_cmp(&b.median))
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

impl Latency {
    /// The columns of a table of latencies.
    pub const COLUMNS: [&str; 6] = ["p50", "p90", "p99", "p99.9", "p99.99", "max"];

    /// In the order of the columns.
    pub fn cells(&self) -> [u64; 6] {
        [self.p50, self.p90, self.p99, self.p99_9, self.p99_99(), self.max]
    }

    /// As the curve has it.
    fn p99_99(&self) -> u64 {
        self.curve.iter().find(|(percentile, _)| *percentile > 99.989).map_or(self.max, |&(_, ns)| ns)
    }

    fn of<'a>(samples: impl Iterator<Item = &'a Sample>) -> Option<Self> {
        let samples: Vec<&Sample> = samples.filter(|sample| !sample.latencies.is_empty()).collect();
        let max = samples.iter().flat_map(|sample| &sample.latencies).map(|&(ns, _)| ns).max()?;
        let mut rounds: Vec<Histogram<u64>> = samples.into_iter().map(histogram).collect();
        let p99_of_rounds = Quartiles::of(rounds.iter().map(|round| round.value_at_percentile(99.0) as f64));
        if rounds.iter().all(|round| round.len() < 1_000) {
            let all = rounds.into_iter().reduce(|all, round| all + round);
            rounds = all.into_iter().collect();
        }
        let at = |percentile: f64| {
            let rounds = rounds.iter().map(|round| round.value_at_percentile(percentile) as f64);
            Quartiles::of(rounds).expect("there is a round").median.round() as u64
        };
        // So many nines, in steps of a quarter of one.
        let percentiles = (0..=20).map(|quarters| 100.0 * (1.0 - 0.1_f64.powf(f64::from(quarters) / 4.0)));
        Some(Self {
            p50: at(50.0),
            p90: at(90.0),
            p99: at(99.0),
            p99_9: at(99.9),
            p99_of_rounds,
            max,
            curve: percentiles.map(|percentile| (percentile, at(percentile))).collect(),
        })
    }
}

fn histogram(sample: &Sample) -> Histogram<u64> {
    let mut histogram = Histogram::new(3).expect("three digits are few enough");
    for &(ns, count) in &sample.latencies {
        histogram.record_n(ns, count).expect("it grows as needed");
    }
    histogram
}

/// What a run wrote.
pub fn read(path: &Path) -> Result<Results, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

pub fn json(results: &Results) -> Result<String, String> {
    Ok(serde_json::to_string(results).map_err(|error| error.to_string())? + "\n")
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
    use crate::row::Entry;

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
            probes: if steady { vec![100.0, 101.0] } else { vec![100.0, 490.0] },
        };
        let rounds = [steady, steady, false, steady, false].map(round);
        RowResult::new(&row, Rounds(rounds.to_vec()), 1)
    }

    pub fn results(rows: Vec<RowResult>) -> Results {
        Results {
            machine: Machine::here(),
            contenders: vec![Package { name: "annulus".into(), version: "1.2.3".into() }],
            cores: "0 and 1".into(),
            rounds: 3,
            others: 0.004,
            ping_pong_ns: None,
            rows,
        }
    }

    #[test]
    fn verdicts_say_what_is_met_or_who_is_ahead() {
        assert_eq!(row(1.0, 2.0, true).verdict(), "met");
        assert_eq!(row(1.1, 2.0, true).verdict(), "not met");
        assert_eq!(row(1.0, 2.0, false).verdict(), "no steady round");
        let verdict = |ours, rival| {
            let mut row = row(ours, rival, true);
            row.ratios.iter_mut().for_each(|ratio| ratio.target = None);
            row.verdict()
        };
        assert_eq!([verdict(1.0, 2.0), verdict(2.0, 2.0), verdict(2.0, 1.0)], ["ahead", "even", "behind"]);
    }

    #[test]
    fn the_best_rival_is_the_one_that_took_the_least_time() {
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
    fn a_percentile_is_the_median_of_those_of_the_rounds() {
        let row = row(1.0, 2.0, true);
        let latency = row.ours().latency.as_ref().unwrap();
        assert_eq!((latency.p50, latency.p90, latency.max), (100, 900, 900));
        assert!(latency.curve.is_sorted() && latency.curve.len() > 2);
        let held_up =
            [100, 100, 5_000_000].map(|ns| Sample { latencies: vec![(ns, 900)], ..Sample::default() });
        let together = Latency::of(held_up.iter()).unwrap();
        assert_eq!((together.p50, together.p90), (100, 5_001_215));
        let each = together.p99_of_rounds.unwrap();
        assert_eq!((each.lower, each.median), (100.0, 100.0), "one by one");
        assert!(each.upper > 2e6, "{}", each.upper);
        let held_up =
            held_up.map(|sample| Sample { latencies: vec![(sample.latencies[0].0, 9_000)], ..sample });
        let latency = Latency::of(held_up.iter()).unwrap();
        assert_eq!((latency.p99, latency.max), (100, 5_000_000));
        assert!(
            row.rounds.0.iter().flat_map(|round| &round.samples).all(|sample| sample.latencies.is_empty())
        );
    }

    #[test]
    fn results_are_read_as_they_were_written() {
        let written = serde_json::to_string(&results(vec![row(1.0, 2.0, true)])).unwrap();
        let read: Results = serde_json::from_str(&written).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), written);
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
