//! [`Info`]: one ring, in words or as JSON.

use annulus::schema::{Field, Kind, Schema};
use annulus::shm::{AttachError, Directory, FrameUse, ShmKind};
use serde::Serialize;

use super::directory::observe;
use super::processes::{Processes, own_name};
use super::sample::{ELSEWHERE, Process, Reader, word_bytes};
use super::sampler;
use crate::messages::{Decoder, Newest, Object, clock, name as type_name, newest, newest_to_text};
use crate::outcome::Failure;
use crate::page::Page;
use crate::text::{counted, duration, grouped, printable};

/// It grows if a key of the JSON changes its meaning.
const SCHEMA: u64 = 1;

/// What the header of a ring says, how far it is, and which processes have it. Programs rely on the keys.
#[derive(Serialize)]
pub(super) struct Info {
    schema: u64,
    name: String,
    kind: String,
    state: String,
    /// `None` in another container.
    pid: Option<u32>,
    /// What the process calls itself.
    command: Option<String>,
    capacity: u64,
    slot_bytes: u64,
    payload_bytes: u64,
    payload_alignment: u64,
    fingerprint: String,
    /// What people call such messages.
    #[serde(rename = "type")]
    type_name: Option<String>,
    /// What they are made of: the schema that the ring has, as text.
    message: Option<String>,
    /// What is in the newest one.
    newest: Option<Object>,
    /// Its fields, a line each, and the newest message.
    #[serde(skip)]
    lines: Vec<(&'static str, String)>,
    published: Option<u64>,
    /// How many messages wait, if that is known.
    pending: Option<u64>,
    /// What these numbers count, in bytes, if these are no messages.
    #[serde(skip)]
    unit: Option<u64>,
    /// How long the publisher is silent at most, as it has promised.
    deadline_ns: Option<u64>,
    readers: Vec<ReaderInfo>,
    /// Of a ring of frames.
    frames: Option<FramesInfo>,
}

/// How the frames of a ring are used.
#[derive(Serialize)]
pub(crate) struct FramesInfo {
    count: u64,
    bytes: u64,
    /// For how many subscribers there is room.
    room: u64,
    /// How many each of them may hold.
    most_held: u64,
    /// How many each of them holds that is there.
    held: Vec<u64>,
}

impl FramesInfo {
    pub(crate) fn of(used: &FrameUse) -> Self {
        Self {
            count: used.frames as u64,
            bytes: used.frame_bytes as u64,
            room: used.room as u64,
            most_held: used.most_held as u64,
            held: used.held.iter().map(|&held| held as u64).collect(),
        }
    }

    /// How many there are, and of which size.
    pub(crate) fn size_to_text(&self) -> String {
        format!("{} of up to {} each", grouped(self.count), counted(self.bytes, "byte"))
    }

    /// How many are held.
    pub(crate) fn held_to_text(&self) -> String {
        let Self { room, most_held, held, .. } = self;
        let (here, sum) = (held.len() as u64, held.iter().sum::<u64>());
        format!("{} by {} ({room} at most, {most_held} each)", grouped(sum), counted(here, "subscriber"))
    }

    /// Whether a subscriber holds as many as it may, and so receives no more.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.held.contains(&self.most_held)
    }
}

/// A reader, as `annulus top --json` has it.
#[derive(Serialize)]
pub(crate) struct ReaderInfo {
    seat: Option<u64>,
    state: Option<String>,
    position: Option<u64>,
    lag: Option<u64>,
    behind_ns: Option<u64>,
    pid: Option<u32>,
    command: Option<String>,
}

impl ReaderInfo {
    pub(crate) fn of(reader: &Reader) -> Self {
        Self {
            seat: reader.seat.map(|seat| seat.number),
            state: reader.seat.map(|seat| seat.state.to_string()),
            position: reader.position(),
            lag: reader.lag(),
            behind_ns: reader.behind_ns,
            pid: reader.process.as_ref().and_then(|process| process.pid),
            command: reader.process.as_ref().and_then(|process| process.command.clone()),
        }
    }

    /// One line.
    fn to_text(&self) -> String {
        let mut parts = vec![self.seat.map_or_else(|| "no seat".into(), |seat| format!("seat {seat}"))];
        parts.extend(self.state.clone());
        match self.position.zip(self.lag) {
            Some((position, lag)) => {
                let since = self.behind_ns.filter(|&ns| ns > 0).map(|ns| format!(" ({})", duration(ns)));
                let behind = format!("{} behind{}", grouped(lag), since.unwrap_or_default());
                parts.extend([format!("at {}", grouped(position)), behind]);
            }
            None => parts.push("does not say where it is".into()),
        }
        if let Some(pid) = self.pid {
            let command = self.command.as_ref().map_or_else(String::new, |command| format!(" ({command})"));
            parts.push(format!("process {pid}{command}"));
        }
        parts.join(", ")
    }
}

/// So many words of a queue of records, whose records are not counted.
fn of_unit(count: u64, bytes: u64) -> String {
    format!("{} of {bytes} bytes each", counted(count, "word"))
}

/// What the questions and the answers of a service are.
fn exchange(schema: &Schema) -> Vec<(&'static str, String)> {
    let Kind::Struct(fields) = &*schema.kind else { return Vec::new() };
    let line = |name: &str, title| {
        let field = fields.iter().find(|field| field.name == name)?;
        let bytes = counted(field.kind.size() as u64, "byte");
        Some((title, printable(&format!("{}, of {bytes}", *field.kind))))
    };
    [line("question", "Question"), line("answer", "Answer")].into_iter().flatten().collect()
}

/// What its messages are made of, and the newest one.
fn lines(
    decoder: &Result<Option<Decoder>, AttachError>,
    newest: Option<&Newest>,
    is_service: bool,
) -> Vec<(&'static str, String)> {
    let schema = match decoder {
        Err(error) => return vec![("Schema", printable(&error.to_string()))],
        Ok(None) => return Vec::new(),
        Ok(Some(decoder)) => decoder.schema(),
    };
    let mut lines = Vec::new();
    if is_service {
        lines.extend(exchange(schema));
    } else if let Kind::Struct(fields) = &*schema.kind {
        for field in fields.iter().filter(|field| !field.is_padding()) {
            let Field { name, offset, kind, unit, comment, .. } = field;
            let unit = if unit.is_empty() { String::new() } else { format!(", in {unit}") };
            let comment = if comment.is_empty() { String::new() } else { format!(": {comment}") };
            lines.push(("Field", printable(&format!("{name}, {} at {offset}{unit}{comment}", **kind))));
        }
    }
    lines.extend(newest.map(|newest| ("Newest", newest_to_text(newest))));
    lines
}

impl Info {
    /// Of the ring that has this name.
    ///
    /// # Errors
    ///
    /// There is no such ring, its process is dead, or it can't be understood.
    pub(super) fn of(directory: &Directory, name: &str) -> Result<Self, Failure> {
        let (named, observer) = observe(directory, name)?;
        let (info, numbers, pid) = (observer.info(), observer.numbers(), named.pid_here());
        let publisher = Process::of(pid);
        let readers =
            sampler::readers(&observer, numbers.as_ref(), Some(&publisher), &Processes::now(), clock(&info));
        let decoder = Decoder::of(&info);
        let newest = decoder.as_ref().ok().and_then(|decoder| newest(&observer, decoder.as_ref()?));
        let lines = lines(&decoder, newest.as_ref(), info.kind() == ShmKind::Service);
        let decoder = decoder.ok().flatten();
        Ok(Self {
            schema: SCHEMA,
            name: name.into(),
            kind: info.kind().to_string(),
            state: observer.state().to_string(),
            pid,
            command: pid.and_then(own_name),
            capacity: info.capacity() as u64,
            slot_bytes: info.slot_bytes() as u64,
            payload_bytes: info.payload_bytes() as u64,
            payload_alignment: info.payload_alignment() as u64,
            fingerprint: info.fingerprint().to_string(),
            type_name: type_name(&info),
            message: decoder.map(|decoder| decoder.schema().to_string()),
            newest: newest.and_then(Result::ok),
            lines,
            published: numbers.as_ref().map(|numbers| numbers.published),
            pending: numbers.and_then(|numbers| numbers.pending),
            unit: word_bytes(info.kind()),
            deadline_ns: info
                .deadline()
                .map(|deadline| u64::try_from(deadline.as_nanos()).unwrap_or(u64::MAX)),
            readers: readers.iter().map(ReaderInfo::of).collect(),
            frames: observer.frames().as_ref().map(FramesInfo::of),
        })
    }

    /// One object on one line.
    pub(super) fn to_json(&self) -> String {
        serde_json::to_string(self).expect("numbers, names and lists have a form in JSON") + "\n"
    }

    fn type_to_text(&self) -> String {
        let fingerprint = &self.fingerprint;
        match &self.type_name {
            Some(name) => format!("{name}, fingerprint {fingerprint}"),
            None => "not known".into(),
        }
    }

    /// In words, in lines that are no wider than `room`.
    pub(super) fn to_text(&self, room: usize) -> String {
        let process = match (self.pid, &self.command) {
            (Some(pid), Some(command)) => format!("{pid} ({command})"),
            (Some(pid), None) => pid.to_string(),
            (None, _) => ELSEWHERE.into(),
        };
        let bytes = |bytes: u64| counted(bytes, "byte");
        let mut lines = vec![
            ("Ring", printable(&self.name)),
            ("Kind", self.kind.clone()),
            ("State", self.state.clone()),
            ("Process", process),
            ("Slots", format!("{} of {} each", grouped(self.capacity), bytes(self.slot_bytes))),
            ("Message", format!("{}, aligned to {}", bytes(self.payload_bytes), self.payload_alignment)),
            ("Type", self.type_to_text()),
        ];
        lines.extend(self.lines.iter().cloned());
        if let Some(published) = self.published {
            let counted = |count| self.unit.map_or_else(|| grouped(count), |unit| of_unit(count, unit));
            lines.push(("Published", counted(published)));
            lines.push(("Waiting", self.pending.map_or("not known of such a ring".into(), counted)));
        }
        lines.extend(
            self.deadline_ns.map(|ns| ("Deadline", format!("{} between two messages", duration(ns)))),
        );
        lines.extend(
            self.frames
                .iter()
                .flat_map(|frames| [("Frames", frames.size_to_text()), ("Held", frames.held_to_text())]),
        );
        lines.extend(self.readers.iter().map(|reader| ("Reader", reader.to_text())));
        let mut page = Page::new(room);
        for (key, value) in lines {
            page.say_within(format!("{:<11}{value}", format!("{key}:")));
        }
        page.into_text()
    }
}
