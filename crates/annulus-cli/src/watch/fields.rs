//! [`Decoder`]: what is in the messages of a ring, by the schema that it has.

use annulus::Message;
use annulus::schema::{Fingerprint, Schema};
use annulus::shm::{AttachError, RingInfo, ShmKind};
use bytemuck::Pod;
use serde_json::Map;

use crate::bench::fields_of_loads;
use crate::demo::Quote;
use crate::lines::Piece;
use crate::text::counted;
use crate::values::decode;

/// What a field holds.
pub(crate) type Value = serde_json::Value;

/// What a message holds, by the names of its fields.
pub(crate) type Object = Map<String, Value>;

/// A message of this program, of which it knows more than its schema says.
pub(crate) trait Fields: Message + Pod {
    /// Whether such a message may carry the time when it was published.
    const IS_TIMED: bool = false;

    /// What people call such messages.
    fn name() -> String;

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

/// When the message was published that lies in these bytes.
pub(crate) type SentNs = fn(&[u8]) -> Option<u64>;

/// Such a type.
pub(crate) struct Known {
    fingerprint: Fingerprint,
    bytes: usize,
    name: String,
    fields: fn(&[u8]) -> Option<Object>,
    sent_ns: Option<SentNs>,
}

impl Known {
    pub(crate) fn of<T: Fields>() -> Self {
        let fields = |bytes: &[u8]| bytemuck::pod_read_unaligned::<T>(bytes).fields();
        let sent_ns = |bytes: &[u8]| bytemuck::pod_read_unaligned::<T>(bytes).sent_ns();
        Self {
            fingerprint: Fingerprint::of::<T>(),
            bytes: size_of::<T>(),
            name: T::name(),
            fields,
            sent_ns: T::IS_TIMED.then_some(sent_ns),
        }
    }
}

/// What is in the messages of a ring.
pub(crate) struct Decoder {
    schema: Schema,
    known: Option<Known>,
}

impl Decoder {
    /// `None` if the ring has no schema.
    ///
    /// # Errors
    ///
    /// What it has is no schema.
    pub(crate) fn of(info: &RingInfo) -> Result<Option<Self>, AttachError> {
        Ok(info.schema()?.map(|schema| Self { schema, known: known(info) }))
    }

    /// What messages are made of.
    pub(crate) fn schema(&self) -> &Schema {
        &self.schema
    }

    /// What a message holds; one without fields is called `value`. An error says where it has no value.
    pub(crate) fn decode(&self, bytes: &[u8]) -> Result<Object, String> {
        if let Some(object) = self.known.as_ref().and_then(|known| (known.fields)(bytes)) {
            return Ok(object);
        }
        Ok(match decode(&self.schema, bytes)? {
            Value::Object(object) => object,
            value => Map::from_iter([("value".into(), value)]),
        })
    }
}

/// What people call its messages: as this program does, or by their type.
pub(crate) fn name(info: &RingInfo) -> Option<String> {
    let own = known(info).map(|known| known.name);
    own.or_else(|| {
        let schema = info.schema().ok()??;
        Some(if schema.name.is_empty() { schema.to_string() } else { schema.name.into_owned() })
    })
}

/// What the messages of a ring are, and how long.
pub(crate) fn described(info: &RingInfo) -> String {
    let bytes = counted(info.payload_bytes() as u64, "byte");
    match info.schema() {
        Ok(Some(schema)) => format!("{schema}, of {bytes}"),
        Ok(None) => format!("of {bytes}, without a schema"),
        Err(error) => format!("of {bytes}: {error}"),
    }
}

/// How to learn when messages of this type were published, if they say so.
pub(crate) fn clock(info: &RingInfo) -> Option<SentNs> {
    // (Only messages of broadcast rings can be looked at.)
    let is_broadcast = matches!(info.kind(), ShmKind::Lossy | ShmKind::MpLossy | ShmKind::Lossless);
    known(info).filter(|_| is_broadcast)?.sent_ns
}

/// What is known of the messages of such a ring. (Another process may have written any size beside the
/// fingerprint of a type.)
fn known(info: &RingInfo) -> Option<Known> {
    let (fingerprint, bytes) = (info.fingerprint(), info.payload_bytes());
    let mut known = vec![Known::of::<Quote>(), Known::of::<Piece>()];
    known.extend(fields_of_loads());
    known.into_iter().find(|known| known.fingerprint == fingerprint && known.bytes == bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use annulus::broadcast::Builder;
    use annulus::shm::broadcast;

    fn ring_of<T: Message>() -> RingInfo {
        let (_publisher, _, invitation) = broadcast::lossy::<T>(Builder::new(4)).unwrap();
        invitation.info().unwrap()
    }

    fn told<T: Message + Pod>(message: T) -> String {
        let decoder = Decoder::of(&ring_of::<T>()).unwrap().unwrap();
        Value::from(decoder.decode(bytemuck::bytes_of(&message)).unwrap()).to_string()
    }

    #[test]
    fn a_message_has_an_object() {
        assert_eq!(told(0.5_f64), r#"{"value":0.5}"#);
        assert_eq!(told([-1_i16, 2, 3]), r#"{"value":[-1,2,3]}"#);
    }

    #[test]
    fn some_messages_carry_their_time() {
        assert!(clock(&ring_of::<Quote>()).is_some() && clock(&ring_of::<u64>()).is_none());
        assert!(fields_of_loads().iter().all(|known| known.sent_ns.is_some()));
    }

    #[test]
    fn a_message_is_called_as_its_type() {
        assert_eq!(name(&ring_of::<Quote>()).unwrap(), "quotes (`annulus demo`)");
        assert_eq!(name(&ring_of::<[u64; 3]>()).unwrap(), "[u64;3]");
    }
}
