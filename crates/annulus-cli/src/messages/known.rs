//! What this program knows of its own messages, beyond what their schema says.

use annulus::Message;
use annulus::schema::Fingerprint;
use annulus::shm::{RingInfo, ShmKind};
use bytemuck::Pod;
use serde_json::{Map, Value};

use super::load::{Load, SIZES, with_words_of};
use super::piece::Piece;
use super::quote::Quote;

/// What a message holds, by the names of its fields.
pub(crate) type Object = Map<String, Value>;

/// When the message was published that lies in these bytes.
pub(crate) type SentNs = fn(&[u8]) -> Option<u64>;

/// A message of this program.
trait Own: Message + Pod {
    /// Whether such a message may carry the time when it was published.
    const IS_TIMED: bool = false;

    /// What people call such messages.
    const NAME: &'static str;

    /// What it holds, if the schema does not say so.
    fn fields(&self) -> Option<Object> {
        None
    }

    /// That time, by the clock that all processes share ([`now_ns`](crate::measure::now_ns())), if it is
    /// whole and has one.
    fn sent_ns(&self) -> Option<u64> {
        None
    }
}

impl Own for Quote {
    const IS_TIMED: bool = true;
    const NAME: &'static str = "quotes (`annulus demo`)";

    fn sent_ns(&self) -> Option<u64> {
        self.is_intact().then_some(self.sent_ns)
    }
}

impl Own for Piece {
    const NAME: &'static str = "pieces of lines (`annulus pub`)";

    fn fields(&self) -> Option<Object> {
        let fields =
            [("line", self.line.into()), ("part", self.part().into()), ("text", Value::from(self.text()))];
        Some(fields.map(|(name, value)| (name.into(), value)).into_iter().collect())
    }
}

impl<const WORDS: usize> Own for Load<WORDS>
where
    Self: Pod,
{
    const IS_TIMED: bool = true;
    const NAME: &'static str = "loads (`annulus bench`)";

    fn sent_ns(&self) -> Option<u64> {
        self.checked().filter(|(.., mark)| mark.is_timed).map(|(_, sent_ns, _)| sent_ns)
    }

    fn fields(&self) -> Option<Object> {
        let Some((number, sent_ns, mark)) = self.checked() else {
            return Some(Object::from_iter([("corrupt".into(), true.into())]));
        };
        let fields: [(_, Value); 5] = [
            ("number", number.into()),
            ("sent_ns", sent_ns.into()),
            ("start", mark.start.into()),
            ("is_last", mark.is_last.into()),
            ("is_timed", mark.is_timed.into()),
        ];
        Some(fields.map(|(name, value)| (name.into(), value)).into_iter().collect())
    }
}

/// A type of such messages.
pub(super) struct Known {
    fingerprint: Fingerprint,
    bytes: usize,
    name: &'static str,
    pub(super) fields: fn(&[u8]) -> Option<Object>,
    sent_ns: Option<SentNs>,
}

impl Known {
    fn of<T: Own>() -> Self {
        let fields = |bytes: &[u8]| bytemuck::pod_read_unaligned::<T>(bytes).fields();
        let sent_ns = |bytes: &[u8]| bytemuck::pod_read_unaligned::<T>(bytes).sent_ns();
        Self {
            fingerprint: Fingerprint::of::<T>(),
            bytes: size_of::<T>(),
            name: T::NAME,
            fields,
            sent_ns: T::IS_TIMED.then_some(sent_ns),
        }
    }
}

/// Loads of all sizes.
fn loads() -> impl Iterator<Item = Known> {
    fn load<const WORDS: usize>() -> Known {
        Known::of::<Load<WORDS>>()
    }
    SIZES.into_iter().filter_map(|bytes| with_words_of!(bytes, load()))
}

/// What is known of the messages of such a ring. (Another process may have written any size with the
/// fingerprint of a type.)
pub(super) fn known(info: &RingInfo) -> Option<Known> {
    let (fingerprint, bytes) = (info.fingerprint(), info.payload_bytes());
    let mut known = [Known::of::<Quote>(), Known::of::<Piece>()].into_iter().chain(loads());
    known.find(|known| known.fingerprint == fingerprint && known.bytes == bytes)
}

/// What people call its messages: as this program does, or by their type.
pub(crate) fn name(info: &RingInfo) -> Option<String> {
    let own = known(info).map(|known| known.name.into());
    own.or_else(|| {
        let schema = info.schema().ok()??;
        Some(if schema.name.is_empty() { schema.to_string() } else { schema.name.into_owned() })
    })
}

/// How to learn when messages of this type were published, if they say so.
pub(crate) fn clock(info: &RingInfo) -> Option<SentNs> {
    // (Only messages of broadcast rings can be looked at.)
    let is_lossless = matches!(info.kind(), ShmKind::Lossless | ShmKind::MpLossless);
    let is_broadcast = is_lossless || matches!(info.kind(), ShmKind::Lossy | ShmKind::MpLossy);
    known(info).filter(|_| is_broadcast)?.sent_ns
}

#[cfg(test)]
mod tests {
    use super::*;
    use annulus::Settings;
    use annulus::shm::broadcast;

    fn ring_of<T: Message>() -> RingInfo {
        let annulus::shm::Shared { handle: _publisher, invitation, .. } =
            broadcast::lossy::<T>(Settings::new(4)).unwrap();
        invitation.info().unwrap()
    }

    #[test]
    fn messages_of_some_types_carry_their_time() {
        assert!(clock(&ring_of::<Quote>()).is_some() && clock(&ring_of::<u64>()).is_none());
        assert!(clock(&ring_of::<Piece>()).is_none() && loads().all(|known| known.sent_ns.is_some()));
    }

    #[test]
    fn message_is_called_as_its_type() {
        assert_eq!(name(&ring_of::<Quote>()).unwrap(), "quotes (`annulus demo`)");
        assert_eq!(name(&ring_of::<[u64; 3]>()).unwrap(), "[u64;3]");
    }
}
