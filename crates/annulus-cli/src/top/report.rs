//! The sample for programs, as JSON.

use serde::Serialize;

use super::history::History;
use super::waits::Waits;
use crate::measure::Latency;
use crate::messages::Object;
use crate::rings::bridges::BridgeRoute;
use crate::rings::sample::{Process, Ring, Sample};
use crate::rings::{FramesInfo, ReaderInfo};

/// It grows if a key of the JSON changes its meaning.
const SCHEMA: u64 = 1;

/// All of it. Programs rely on the keys.
#[derive(Serialize)]
struct Report<'a> {
    schema: u64,
    directory: &'a str,
    rings: Vec<RingReport<'a>>,
    /// What bridges say of the rings that they carry.
    routes: &'a [BridgeRoute],
}

#[derive(Serialize)]
struct RingReport<'a> {
    name: &'a str,
    state: String,
    overdue_ns: Option<u64>,
    pid: Option<u32>,
    command: Option<&'a str>,
    kind: Option<String>,
    capacity: Option<u64>,
    payload_bytes: Option<u64>,
    message: Option<&'a str>,
    newest: Option<&'a Object>,
    published: Option<u64>,
    published_per_second: Option<f64>,
    pending: Option<u64>,
    readers: Vec<ReaderInfo>,
    frames: Option<FramesInfo>,
    behind_ns: Option<Latency>,
    error: Option<&'a str>,
}

/// One object on one line.
pub(super) fn render(sample: &Sample, history: &History) -> String {
    let rings = sample.rings.iter().map(|ring| of_ring(ring, history)).collect();
    let report = Report { schema: SCHEMA, directory: &sample.directory, rings, routes: &sample.routes };
    serde_json::to_string(&report).expect("numbers, names and lists have a form in JSON") + "\n"
}

fn of_ring<'a>(ring: &'a Ring, history: &History) -> RingReport<'a> {
    RingReport {
        name: &ring.name,
        state: ring.state(),
        overdue_ns: ring.overdue.map(|silence| u64::try_from(silence.as_nanos()).unwrap_or(u64::MAX)),
        pid: ring.process.as_ref().and_then(|process| process.pid),
        command: command(ring.process.as_ref()),
        kind: ring.header.map(|header| header.kind.to_string()),
        capacity: ring.header.map(|header| header.capacity),
        payload_bytes: ring.header.map(|header| header.payload_bytes),
        message: ring.message.as_deref(),
        newest: ring.newest.as_ref().and_then(|newest| newest.as_ref().ok()),
        published: ring.numbers.map(|numbers| numbers.published),
        published_per_second: history.rate(ring),
        pending: ring.numbers.and_then(|numbers| numbers.pending),
        readers: ring.readers.iter().map(ReaderInfo::of).collect(),
        frames: ring.frames.as_ref().map(FramesInfo::of),
        behind_ns: history.waits(ring).and_then(Waits::percentiles),
        error: ring.trouble.as_deref(),
    }
}

fn command(process: Option<&Process>) -> Option<&str> {
    process?.command.as_deref()
}
