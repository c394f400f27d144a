//! What a run came to: what each subscriber received, and what was published; also as JSON.

use serde::{Deserialize, Serialize};

use crate::measure::{Fault, Latency};

/// It grows if a key of the JSON changes its meaning.
const SCHEMA: u64 = 1;

/// What came to one subscriber. A process sends it to the one that publishes.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Receipt {
    /// The parts of which a message came or was lost, in order.
    pub(super) parts: Vec<PartReceipt>,
    /// In words; empty if all is well.
    pub(super) faults: Vec<String>,
}

/// What came of one part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PartReceipt {
    /// The number of the part's first message.
    pub(super) start: u64,
    pub(super) received: u64,
    pub(super) lost: u64,
    /// From the first message received to the last.
    pub(super) elapsed_ns: u64,
    /// Of a part whose messages have times.
    pub(super) latency_ns: Option<Latency>,
}

impl Receipt {
    /// What came of the part that begins with message `start`: nothing, if it is not there.
    pub(super) fn part(&self, start: u64) -> PartReceipt {
        let nothing = PartReceipt { start, received: 0, lost: 0, elapsed_ns: 0, latency_ns: None };
        self.parts.iter().find(|part| part.start == start).cloned().unwrap_or(nothing)
    }
}

impl PartReceipt {
    /// How many messages came in a second; 0 where no time has passed.
    #[expect(clippy::cast_precision_loss, reason = "a rate; it is as exact as the time")]
    pub(super) fn messages_per_s(&self) -> f64 {
        // The first message begins the time.
        if self.elapsed_ns == 0 {
            0.0
        } else {
            self.received.saturating_sub(1) as f64 / self.elapsed_ns as f64 * 1e9
        }
    }
}

/// A run that has ended, or one side of it.
pub(super) struct Report {
    pub(super) name: String,
    /// Bytes of a message.
    pub(super) size: usize,
    pub(super) capacity: usize,
    /// Whether the publisher waits for the slowest subscriber.
    pub(super) lossless: bool,
    pub(super) parts: Vec<Part>,
    /// What subscribers found wrong.
    pub(super) faults: Vec<String>,
    /// A signal ended it.
    pub(super) is_stopped: bool,
}

/// A part of a run.
pub(super) struct Part {
    /// Messages a second; `None` at full speed, and if only the publisher knows.
    pub(super) rate: Option<f64>,
    /// Its messages have the time of their publication: it is not one at full speed.
    pub(super) is_timed: bool,
    /// `None` if another process published.
    pub(super) sent: Option<Sent>,
    pub(super) subscribers: Vec<PartReceipt>,
}

/// What was published in a part.
#[derive(Clone, Copy)]
pub(super) struct Sent {
    /// The number of the first message.
    pub(super) start: u64,
    pub(super) published: u64,
    pub(super) elapsed_ns: u64,
}

impl Sent {
    /// How long it took, in seconds.
    #[expect(clippy::cast_precision_loss, reason = "exact to a nanosecond for 100 days")]
    pub(super) fn elapsed_s(&self) -> f64 {
        self.elapsed_ns as f64 / 1e9
    }

    /// How many messages were published in a second; 0 where no time has passed.
    #[expect(clippy::cast_precision_loss, reason = "a rate; it is as exact as the time")]
    pub(super) fn messages_per_s(&self) -> f64 {
        if self.elapsed_ns == 0 { 0.0 } else { self.published as f64 / self.elapsed_s() }
    }
}

impl Report {
    /// One without parts.
    pub(super) fn new(name: &str, size: usize, capacity: usize) -> Self {
        Self {
            name: name.into(),
            size,
            capacity,
            lossless: false,
            parts: Vec::new(),
            faults: Vec::new(),
            is_stopped: false,
        }
    }

    /// All that is wrong.
    pub(super) fn faults(&self) -> Vec<String> {
        let mut faults = self.faults.clone();
        for part in &self.parts {
            let Some(Sent { published, .. }) = part.sent else { continue };
            for (number, &PartReceipt { received, lost, .. }) in (1..).zip(&part.subscribers) {
                if received.checked_add(lost) != Some(published) {
                    let fault = Fault::Count { received, lost, published };
                    faults.push(format!("subscriber {number}: {fault}"));
                }
            }
        }
        faults
    }

    /// The report for programs: one object on one line.
    pub(super) fn to_json(&self) -> String {
        let parts = self.parts.iter().map(|part| PartObject {
            rate: part.rate,
            published: part.sent.map(|sent| sent.published),
            elapsed_s: part.sent.map(|sent| sent.elapsed_s()),
            messages_per_s: part.sent.map(|sent| sent.messages_per_s()),
            subscribers: part.subscribers.iter().map(SubscriberObject::of).collect(),
        });
        let object = Object {
            schema: SCHEMA,
            name: &self.name,
            size: self.size,
            capacity: self.capacity,
            lossless: self.lossless,
            ok: self.faults().is_empty(),
            parts: parts.collect(),
        };
        serde_json::to_string(&object).expect("numbers, names and lists have a form in JSON") + "\n"
    }
}

/// The shape of [`Report::to_json`]. Programs rely on its keys.
#[derive(Serialize)]
struct Object<'a> {
    schema: u64,
    name: &'a str,
    size: usize,
    capacity: usize,
    lossless: bool,
    ok: bool,
    parts: Vec<PartObject>,
}

/// A part in [`Object`].
#[derive(Serialize)]
struct PartObject {
    rate: Option<f64>,
    published: Option<u64>,
    elapsed_s: Option<f64>,
    messages_per_s: Option<f64>,
    subscribers: Vec<SubscriberObject>,
}

/// A subscriber in [`PartObject`].
#[derive(Serialize)]
struct SubscriberObject {
    received: u64,
    lost: u64,
    messages_per_s: f64,
    latency_ns: Option<Latency>,
}

impl SubscriberObject {
    fn of(receipt: &PartReceipt) -> Self {
        Self {
            received: receipt.received,
            lost: receipt.lost,
            messages_per_s: receipt.messages_per_s(),
            latency_ns: receipt.latency_ns,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A report of a part at full speed, of which half was lost, and of one at 5,000 messages a second.
    pub(in crate::bench) fn report() -> Report {
        let latency = Latency { p50: 900, p90: 1_000, p99: 1_500, p99_9: 20_000, max: 2_000_000 };
        let receipt = |start, received, lost, latency_ns| PartReceipt {
            start,
            received,
            lost,
            elapsed_ns: 1_000_000_000,
            latency_ns,
        };
        let sent = |start, published| Some(Sent { start, published, elapsed_ns: 2_000_000_000 });
        let mut report = Report::new("load", 56, 1_024);
        report.parts = vec![
            Part {
                rate: None,
                is_timed: false,
                sent: sent(0, 2_000_002),
                subscribers: vec![receipt(0, 1_000_001, 1_000_001, None)],
            },
            Part {
                rate: Some(5_000.0),
                is_timed: true,
                sent: sent(2_000_002, 10_000),
                subscribers: vec![receipt(2_000_002, 10_000, 0, Some(latency))],
            },
        ];
        report
    }

    #[test]
    fn json_is_one_line_with_these_keys() {
        let expected = concat!(
            r#"{"schema":1,"name":"load","size":56,"capacity":1024,"lossless":false,"ok":true,"parts":["#,
            r#"{"rate":null,"published":2000002,"elapsed_s":2.0,"messages_per_s":1000001.0,"subscribers":["#,
            r#"{"received":1000001,"lost":1000001,"messages_per_s":1000000.0,"latency_ns":null}]},"#,
            r#"{"rate":5000.0,"published":10000,"elapsed_s":2.0,"messages_per_s":5000.0,"subscribers":["#,
            r#"{"received":10000,"lost":0,"messages_per_s":9999.0,"latency_ns":"#,
            r#"{"p50":900,"p90":1000,"p99":1500,"p99_9":20000,"max":2000000}}]}]}"#,
            "\n"
        );
        assert_eq!(report().to_json(), expected);
    }

    #[test]
    fn parts_are_accounted_for_one_by_one() {
        assert_eq!(report().faults(), [""; 0]);
        let mut report = report();
        // As many in all, but not in each part.
        report.parts[0].subscribers[0].lost += 1;
        report.parts[1].subscribers[0].received -= 1;
        assert_eq!(
            report.faults(),
            [
                "subscriber 1: received 1,000,001 + lost 1,000,002 is not the 2,000,002 that were published",
                "subscriber 1: received 9,999 + lost 0 is not the 10,000 that were published",
            ]
        );
        assert!(report.to_json().contains(r#""ok":false"#));
    }
}
