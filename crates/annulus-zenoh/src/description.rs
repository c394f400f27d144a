//! [`Description`]: what a bridge says of a ring that it sends, as JSON, and what is believed of it.

use annulus::schema::Schema;
use annulus::shm::blocks::MessageType;
use annulus::shm::{AttachError, RingInfo, ShmKind};
use serde::{Deserialize, Serialize};

/// The version of what bridges say to each other.
const VERSION: u32 = 1;

/// The largest message, in bytes.
const LARGEST_MESSAGE: usize = 4096;

/// The longest text that is looked at, in bytes.
const LONGEST: usize = 64 * 1024;

/// What a ring is, for the far side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Description {
    pub(crate) version: u32,
    /// Which ring of that name it is: 16 hexadecimal digits.
    pub(crate) epoch: String,
    /// `lossy`, `lossless`, or `mp_lossy`.
    pub(crate) kind: String,
    /// Slots.
    pub(crate) capacity: u64,
    /// Of a message.
    pub(crate) bytes: u64,
    pub(crate) alignment: u64,
    /// What messages are made of, if the ring says it.
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
}

/// Why a ring does not come in.
pub(crate) type Refused = String;

impl Description {
    /// Of the ring that has this header.
    pub(crate) fn of(info: &RingInfo) -> Result<Self, Refused> {
        let kind = match info.kind() {
            ShmKind::Lossy => "lossy",
            ShmKind::MpLossy => "mp_lossy",
            ShmKind::Lossless => "lossless",
            other => {
                return Err(format!("it is a {other}; only broadcast rings of messages leave a machine"));
            }
        };
        can_be_carried(info.payload_bytes())?;
        let schema = info.schema().map_err(|error: AttachError| error.to_string())?;
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
        if described.version != VERSION {
            let version = described.version;
            return Err(format!("its bridge speaks version {version}, and this one {VERSION}"));
        }
        Ok(described)
    }

    pub(crate) fn epoch(&self) -> Option<u64> {
        u64::from_str_radix(&self.epoch, 16).ok()
    }

    /// What the far ring is to be: its messages, and its capacity.
    pub(crate) fn ring(&self, most_bytes: u64) -> Result<(MessageType, usize), Refused> {
        let bytes = usize::try_from(self.bytes).unwrap_or(usize::MAX);
        let alignment = usize::try_from(self.alignment).unwrap_or(usize::MAX);
        can_be_carried(bytes)?;
        let needed = self.capacity.saturating_mul(2 * self.bytes.max(32));
        if needed > most_bytes {
            return Err(format!(
                "{} messages of {bytes} bytes may take {needed} bytes; {most_bytes} at most are given",
                self.capacity
            ));
        }
        let of = match &self.schema {
            None => MessageType::of_bytes(bytes, alignment),
            Some(text) => {
                let schema: Schema = text.parse().map_err(|error| format!("its schema is none: {error}"))?;
                if schema.size() != bytes {
                    let size = schema.size();
                    return Err(format!("its messages have {bytes} bytes, and by their schema {size}"));
                }
                let fingerprint = format!("{:016x}", schema.fingerprint().to_u64());
                if fingerprint != self.fingerprint {
                    let said = &self.fingerprint;
                    return Err(format!("its fingerprint is {said:?}, and that of its schema {fingerprint}"));
                }
                MessageType::described(schema, alignment)
            }
        };
        if !of.can_be() {
            return Err(format!("there are no messages of {bytes} bytes with an alignment of {alignment}"));
        }
        Ok((of, self.capacity as usize))
    }
}

/// Whether there are rings for messages of so many bytes.
fn can_be_carried(bytes: usize) -> Result<(), Refused> {
    if bytes == 0 || bytes > LARGEST_MESSAGE {
        return Err(format!("its messages have {bytes} bytes; 1 to {LARGEST_MESSAGE} can be carried"));
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
        }
    }

    #[test]
    fn json_and_back() {
        let good = good();
        assert_eq!(Description::of_json(good.to_json().as_bytes()), Ok(good.clone()));
        assert_eq!(good.epoch(), Some(255));
        let (of, capacity) = good.ring(1 << 20).unwrap();
        assert_eq!((of.bytes(), capacity), (16, 1024));
    }

    /// What a hostile bridge may say.
    #[test]
    fn what_can_not_be_is_refused() {
        let refused = |change: fn(&mut Description), word: &str| {
            let mut described = good();
            change(&mut described);
            let text = described.to_json();
            let error = Description::of_json(text.as_bytes()).and_then(|it| it.ring(1 << 20)).unwrap_err();
            assert!(error.contains(word), "{error}");
        };
        refused(|it| it.version = 2, "version 2");
        refused(|it| it.bytes = 0, "0 bytes");
        refused(|it| it.bytes = u64::MAX, "bytes");
        refused(|it| it.bytes = 24, "by their schema 16");
        refused(|it| it.capacity = u64::MAX, "at most are given");
        refused(|it| it.alignment = 3, "alignment of 3");
        refused(|it| it.alignment = u64::MAX, "alignment");
        refused(|it| it.schema = Some("{".into()), "its schema is none");
        refused(|it| it.fingerprint = "0".into(), "fingerprint");
        let long = vec![b' '; LONGEST + 1];
        for text in [&b"{}"[..], b"", b"[1]", b"\xff", &long] {
            assert!(Description::of_json(text).is_err());
        }
    }
}
