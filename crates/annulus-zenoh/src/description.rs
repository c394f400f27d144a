//! [`Description`]: what a bridge says of a ring that it sends, as JSON, and what is believed of it.

use annulus::schema::Schema;
use annulus::shm::blocks::MessageType;
use annulus::shm::frames::AcceptedFrames;
use annulus::shm::{RingInfo, ShmKind};
use serde::{Deserialize, Serialize};
use zenoh::bytes::Encoding;

/// The version of what bridges say to each other of rings of messages.
const VERSION: u32 = 1;

/// And of frames, newest values and services, which a bridge of the first version would take for such rings.
const VERSION_OF_OTHERS: u32 = 2;

/// The largest message, in bytes. (A frame may be larger.)
const LARGEST_MESSAGE: usize = 4096;

/// So many clients of a service that comes in there may be.
pub(crate) const CLIENTS: usize = 64;

/// The longest text that is looked at, in bytes.
const LONGEST: usize = 64 * 1024;

/// What a ring is, for the far side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Description {
    pub(crate) version: u32,
    /// Which ring of that name it is: 16 hexadecimal digits.
    pub(crate) epoch: String,
    /// `lossy`, `lossless`, `mp_lossy`, `frames`, `watch`, or `service`.
    pub(crate) kind: String,
    /// Slots. Of newest values: cells. Of a service: how many questions a client may have open.
    pub(crate) capacity: u64,
    /// Of a message, a value or a question; of a frame, at most.
    pub(crate) bytes: u64,
    pub(crate) alignment: u64,
    /// What messages are made of, or questions, or what is in frames; if the ring says it.
    pub(crate) schema: Option<String>,
    /// Of that schema: 16 hexadecimal digits.
    pub(crate) fingerprint: String,
    /// The number of the message that comes next.
    pub(crate) next: u64,
    /// The number of the first message that the bridge that asks will get.
    pub(crate) begin: u64,
    /// Whether messages that are lost on the way can be asked for.
    pub(crate) reliable: bool,
    /// Whether none will come.
    pub(crate) ended: bool,
    /// Of frames: for how many subscribers there is room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) subscribers: Option<u64>,
    /// Of frames: how many each of them may hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) held: Option<u64>,
    /// Of a service: what answers are made of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<String>,
}

/// What is to be made on the far side.
pub(crate) enum Shape {
    /// A ring of so many messages.
    Messages(MessageType, usize),
    Frames(Frames),
    /// A table of so many cells.
    Values(MessageType, usize),
    /// A service for these questions and answers, of which each client may have so many open.
    Service([MessageType; 2], usize),
}

/// A ring of frames.
#[derive(Clone)]
pub(crate) struct Frames {
    pub(crate) capacity: usize,
    /// Of a frame, at most.
    pub(crate) bytes: usize,
    pub(crate) alignment: usize,
    pub(crate) subscribers: usize,
    pub(crate) held: usize,
    /// What is in them, if anybody has said it.
    pub(crate) content: Option<MessageType>,
}

/// Why a ring does not come in.
pub(crate) type Refused = String;

impl Description {
    /// Of the ring of messages that has this header.
    pub(crate) fn of(info: &RingInfo) -> Result<Self, Refused> {
        let kind = match info.kind() {
            ShmKind::Lossy => "lossy",
            ShmKind::MpLossy => "mp_lossy",
            ShmKind::Lossless => "lossless",
            other => return Err(stays(other)),
        };
        can_be_carried("messages have", info.payload_bytes())?;
        Self::new(info, kind)
    }

    /// Of a ring of frames.
    pub(crate) fn of_frames(info: &RingInfo, ring: &AcceptedFrames) -> Result<Self, Refused> {
        let number = |number: usize| number as u64;
        Ok(Self {
            version: VERSION_OF_OTHERS,
            bytes: number(ring.frame_bytes()),
            alignment: number(ring.frame_alignment()),
            subscribers: Some(number(ring.most_subscribers())),
            held: Some(number(ring.most_held())),
            ..Self::new(info, "frames")?
        })
    }

    /// Of newest values in so many cells.
    pub(crate) fn of_values(info: &RingInfo, cells: usize) -> Result<Self, Refused> {
        can_be_carried("values have", info.payload_bytes())?;
        let new = Self::new(info, "watch")?;
        Ok(Self { version: VERSION_OF_OTHERS, capacity: cells as u64, ..new })
    }

    /// Of a service with these questions and answers.
    pub(crate) fn of_service(
        info: &RingInfo,
        [question, answer]: [&MessageType; 2],
        open: usize,
    ) -> Result<Self, Refused> {
        can_be_carried("questions have", question.bytes())?;
        can_be_carried("answers have", answer.bytes())?;
        let text = |of: &MessageType| of.schema().map(ToString::to_string);
        let fingerprint = question.schema().map_or(0, |schema| schema.fingerprint().to_u64());
        Ok(Self {
            version: VERSION_OF_OTHERS,
            capacity: open as u64,
            bytes: question.bytes() as u64,
            alignment: 1,
            schema: text(question),
            fingerprint: format!("{fingerprint:016x}"),
            answer: text(answer),
            ..Self::new(info, "service")?
        })
    }

    /// What the header says.
    fn new(info: &RingInfo, kind: &str) -> Result<Self, Refused> {
        let schema = info.schema().map_err(|error| error.to_string())?;
        Ok(Self {
            version: VERSION,
            epoch: format!("{:016x}", info.identity()),
            kind: kind.into(),
            capacity: info.capacity() as u64,
            bytes: info.payload_bytes() as u64,
            alignment: info.payload_alignment() as u64,
            schema: schema.map(|schema| schema.to_string()),
            fingerprint: format!("{:016x}", info.fingerprint().to_u64()),
            next: info.start(),
            begin: info.start(),
            reliable: false,
            ended: false,
            subscribers: None,
            held: None,
            answer: None,
        })
    }

    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).expect("numbers and texts")
    }

    /// What another bridge says.
    pub(crate) fn of_json(text: &[u8]) -> Result<Self, Refused> {
        if text.len() > LONGEST {
            return Err(format!("its description has {} bytes; {LONGEST} at most are read", text.len()));
        }
        let described: Self =
            serde_json::from_slice(text).map_err(|error| format!("its description is none: {error}"))?;
        let version = described.version;
        if !(VERSION..=VERSION_OF_OTHERS).contains(&version) {
            return Err(format!("its bridge speaks version {version}, and this one {VERSION_OF_OTHERS}"));
        }
        Ok(described)
    }

    /// Of samples with such messages.
    pub(crate) fn encoding(&self) -> Encoding {
        Encoding::APPLICATION_OCTET_STREAM.with_schema(format!("annulus={}", self.fingerprint))
    }

    pub(crate) fn epoch(&self) -> Option<u64> {
        u64::from_str_radix(&self.epoch, 16).ok()
    }

    /// What is to be made on the far side, of so many bytes at most.
    pub(crate) fn shape(&self, most_bytes: u64) -> Result<Shape, Refused> {
        let capacity = usize::try_from(self.capacity).unwrap_or(usize::MAX);
        match self.kind.as_str() {
            "lossy" | "mp_lossy" | "lossless" => {
                let of = self.messages("messages have")?;
                self.fits(self.capacity, self.bytes.max(32), 2, most_bytes)?;
                Ok(Shape::Messages(of, capacity))
            }
            "frames" => self.frames(most_bytes),
            "watch" => {
                let of = self.messages("values have")?;
                // Four slots, a key, and what the bridge knows of it.
                self.fits(self.capacity, self.bytes.max(32) + 64, 4, most_bytes)?;
                Ok(Shape::Values(of, capacity))
            }
            "service" => {
                let question = self.messages("questions have")?;
                let text = self.answer.as_deref().ok_or("it does not say what its answers are")?;
                let schema: Schema = text.parse().map_err(|error| format!("its schema is none: {error}"))?;
                can_be_carried("answers have", schema.size())?;
                let each = self.bytes.saturating_add(schema.size() as u64 + 64);
                self.fits(self.capacity.saturating_mul(CLIENTS as u64), each, 2, most_bytes)?;
                Ok(Shape::Service([question, MessageType::described(schema, 1)], capacity))
            }
            other => Err(format!("it is a {other:?}, which this bridge does not know")),
        }
    }

    fn frames(&self, most_bytes: u64) -> Result<Shape, Refused> {
        let number = |number: Option<u64>, what: &str| {
            let number = number.and_then(|number| usize::try_from(number).ok());
            number.filter(|number| *number <= 1024).ok_or(format!("it does not say {what}"))
        };
        let subscribers = number(self.subscribers, "for how many subscribers it is")?;
        let held = number(self.held, "how many frames a subscriber may hold")?;
        let frames = self.capacity.saturating_add((subscribers * held) as u64 + 1);
        let stride = self.bytes.saturating_add(self.alignment);
        self.fits(frames, stride.saturating_add(128), 1, most_bytes)?;
        let content = self.schema.as_ref().map(|_| self.described(None, 1)).transpose()?;
        let [capacity, bytes, alignment] =
            [self.capacity, self.bytes, self.alignment].map(|it| usize::try_from(it).unwrap_or(usize::MAX));
        Ok(Shape::Frames(Frames { capacity, bytes, alignment, subscribers, held, content }))
    }

    /// Whether so many parts of so many bytes, `times` each, may come in.
    fn fits(&self, count: u64, bytes: u64, times: u64, most_bytes: u64) -> Result<(), Refused> {
        let needed = count.saturating_mul(bytes.saturating_mul(times));
        if needed > most_bytes {
            return Err(format!(
                "{} messages of {} bytes may take {needed} bytes; {most_bytes} at most are given",
                self.capacity, self.bytes
            ));
        }
        Ok(())
    }

    /// What its messages are; `whose` says what these are called.
    fn messages(&self, whose: &str) -> Result<MessageType, Refused> {
        let bytes = usize::try_from(self.bytes).unwrap_or(usize::MAX);
        let alignment = usize::try_from(self.alignment).unwrap_or(usize::MAX);
        can_be_carried(whose, bytes)?;
        let of = match &self.schema {
            None => MessageType::of_bytes(bytes, alignment),
            Some(_) => self.described(Some(bytes), alignment)?,
        };
        if !of.can_be() {
            return Err(format!("there are no messages of {bytes} bytes with an alignment of {alignment}"));
        }
        Ok(of)
    }

    /// What its schema says, which is there, and is for so many bytes.
    fn described(&self, bytes: Option<usize>, alignment: usize) -> Result<MessageType, Refused> {
        let text = self.schema.as_deref().unwrap_or_default();
        let schema: Schema = text.parse().map_err(|error| format!("its schema is none: {error}"))?;
        let size = schema.size();
        if let Some(bytes) = bytes.filter(|bytes| *bytes != size) {
            return Err(format!("its messages have {bytes} bytes, and by their schema {size}"));
        }
        let fingerprint = format!("{:016x}", schema.fingerprint().to_u64());
        if fingerprint != self.fingerprint {
            let said = &self.fingerprint;
            return Err(format!("its fingerprint is {said:?}, and that of its schema {fingerprint}"));
        }
        Ok(MessageType::described(schema, alignment))
    }
}

/// Why a ring of this kind does not leave its machine.
fn stays(kind: ShmKind) -> Refused {
    let why = match kind {
        ShmKind::Spsc | ShmKind::Mpsc | ShmKind::Mpmc | ShmKind::Bytes => {
            "each of its messages has one consumer, which is on this machine"
        }
        ShmKind::LosslessFrames | ShmKind::MpLossless => {
            "its publishers wait for the subscribers of this machine, and would have to for others"
        }
        ShmKind::BroadcastBytes => "records of any length are not carried",
        _ => "this bridge does not know how to carry it",
    };
    format!("it is a {kind}: {why}")
}

/// Whether there are rings for messages of so many bytes; `whose` says what has them.
fn can_be_carried(whose: &str, bytes: usize) -> Result<(), Refused> {
    if bytes == 0 || bytes > LARGEST_MESSAGE {
        return Err(format!("its {whose} {bytes} bytes; 1 to {LARGEST_MESSAGE} can be carried"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> Description {
        let schema: Schema = "quote{bid:f64,ask:f64}".parse().unwrap();
        Description {
            version: 1,
            epoch: "00000000000000ff".into(),
            kind: "lossy".into(),
            capacity: 1024,
            bytes: 16,
            alignment: 8,
            schema: Some(schema.to_string()),
            fingerprint: format!("{:016x}", schema.fingerprint().to_u64()),
            next: 7,
            begin: 7,
            reliable: false,
            ended: false,
            subscribers: None,
            held: None,
            answer: None,
        }
    }

    #[test]
    fn json_and_back() {
        let good = good();
        assert_eq!(Description::of_json(good.to_json().as_bytes()), Ok(good.clone()));
        assert_eq!(good.epoch(), Some(255));
        let Ok(Shape::Messages(of, capacity)) = good.shape(1 << 20) else { panic!("a ring of messages") };
        assert_eq!((of.bytes(), capacity), (16, 1024));
    }

    /// What a hostile bridge may say.
    #[test]
    fn description_that_can_not_be_is_refused() {
        let refused = |change: fn(&mut Description), word: &str| {
            let mut described = good();
            change(&mut described);
            let text = described.to_json();
            let error =
                Description::of_json(text.as_bytes()).and_then(|it| it.shape(1 << 20).map(drop)).unwrap_err();
            assert!(error.contains(word), "{error}");
        };
        refused(|it| it.version = 3, "version 3");
        refused(|it| it.kind = "spmc".into(), "it is a \"spmc\"");
        refused(|it| it.bytes = 0, "0 bytes");
        refused(|it| it.bytes = u64::MAX, "bytes");
        refused(|it| it.bytes = 24, "by their schema 16");
        refused(|it| it.capacity = u64::MAX, "at most are given");
        refused(|it| it.alignment = 3, "alignment of 3");
        refused(|it| it.alignment = u64::MAX, "alignment");
        refused(|it| it.schema = Some("{".into()), "its schema is none");
        refused(|it| it.fingerprint = "0".into(), "fingerprint");
        refused(|it| (it.kind, it.capacity) = ("watch".into(), 1 << 20), "at most are given");
        refused(|it| (it.kind, it.bytes) = ("watch".into(), 8192), "values have 8192 bytes");
        refused(|it| it.kind = "frames".into(), "for how many subscribers");
        let frames = |it: &mut Description| {
            (it.kind, it.capacity, it.bytes, it.alignment) = ("frames".into(), 4, 1000, 64);
            (it.subscribers, it.held) = (Some(8), Some(2));
        };
        let mut described = good();
        frames(&mut described);
        assert!(matches!(described.shape(1 << 20), Ok(Shape::Frames(Frames { bytes: 1000, .. }))));
        (described.subscribers, described.held) = (Some(1024), Some(512));
        assert!(described.shape(1 << 20).is_err_and(|why| why.contains("at most are given")));
        (described.held, described.subscribers) = (Some(u64::MAX), Some(1));
        assert!(described.shape(1 << 20).is_err_and(|why| why.contains("how many frames")));
        refused(|it| it.kind = "service".into(), "does not say what its answers are");
        let service = |answer: &str| {
            let (kind, answer) = ("service".into(), Some(answer.into()));
            Description { kind, answer, alignment: 1, capacity: 4, ..good() }.shape(1 << 20)
        };
        assert!(matches!(service("f64"), Ok(Shape::Service(_, 4))));
        assert!(service("{").is_err_and(|why| why.contains("schema")));
        assert!(service("[f64;1000]").is_err_and(|why| why.contains("answers have 8000 bytes")));
        let long = vec![b' '; LONGEST + 1];
        for text in [&b"{}"[..], b"", b"[1]", b"\xff", &long] {
            assert!(Description::of_json(text).is_err());
        }
    }
}
