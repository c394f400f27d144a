//! Everything that was found; also as JSON.

use std::fmt;

use serde::Serialize;

use super::distances::Distances;
use super::finding::Finding;
use super::machine::Machine;
use crate::text::printable;

/// It grows if a key of the JSON changes its meaning.
const SCHEMA: u64 = 1;

/// What was found. Programs rely on the keys.
#[derive(Serialize)]
pub(super) struct Report {
    /// What was looked at.
    pub(super) system: System,
    /// One for each check.
    pub(super) findings: Vec<Finding>,
    /// None if nobody asked for it.
    pub(super) core_to_core: Option<Distances>,
}

/// The machine in a few words.
#[derive(Serialize)]
pub(super) struct System {
    pub(super) os: &'static str,
    pub(super) arch: &'static str,
    /// None where the system does not say.
    pub(super) processor: Option<String>,
}

impl System {
    /// Of this machine.
    pub(super) fn of(machine: &Machine) -> Self {
        let name = machine.cpu_info().ok().and_then(|info| info.field("model name"));
        let processor = name.filter(|name| !name.is_empty()).map(printable);
        Self { os: std::env::consts::OS, arch: std::env::consts::ARCH, processor }
    }
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(processor) = &self.processor {
            write!(f, "{processor}, ")?;
        }
        write!(f, "{}, {}", self.os, self.arch)
    }
}

impl Report {
    /// The report for programs: one object on one line.
    pub(super) fn to_json(&self) -> String {
        #[derive(Serialize)]
        struct Object<'a> {
            schema: u64,
            #[serde(flatten)]
            report: &'a Report,
        }
        let object = Object { schema: SCHEMA, report: self };
        serde_json::to_string(&object).expect("numbers, names and lists have a form in JSON") + "\n"
    }
}
