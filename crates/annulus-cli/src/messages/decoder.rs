//! [`Decoder`]: what is in the messages of a ring, by the schema that it has; and [`newest()`], the message
//! that was published last.

use annulus::schema::Schema;
use annulus::shm::{AttachError, RingInfo, RingObserver};
use serde_json::Value;

use super::known::{Known, Object, known};
use crate::text::{counted, printable};
use crate::values::decode;

/// No larger message is read only to be shown in a line.
const MOST_BYTES: usize = 1 << 16;

/// So much of it is shown.
const MOST_CHARS: usize = 400;

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
            value => Object::from_iter([("value".into(), value)]),
        })
    }
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

/// What is in the message that was published last, or why it is no message.
pub(crate) type Newest = Result<Object, String>;

/// Reads that message of a broadcast ring; `None` if nothing is published, it can't be read now, or it is
/// large.
pub(crate) fn newest(observer: &RingObserver, decoder: &Decoder) -> Option<Newest> {
    if decoder.schema().size() > MOST_BYTES {
        return None;
    }
    let mut bytes = Vec::new();
    let number = observer.numbers()?.published.checked_sub(1)?;
    observer.read(number, &mut bytes).then(|| decoder.decode(&bytes))
}

/// That message on one line, which ends with `…` where it would be long.
pub(crate) fn newest_to_text(newest: &Newest) -> String {
    shortened(match newest {
        Ok(fields) => fields_to_text(fields),
        Err(what) => format!("corrupt: {}", printable(what)),
    })
}

/// What messages are made of, on such a line.
pub(crate) fn message_to_text(schema: &str) -> String {
    shortened(printable(schema))
}

fn shortened(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(MOST_CHARS) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// The fields of a message on one line.
pub(crate) fn fields_to_text(fields: &Object) -> String {
    let each = fields.iter().map(|(name, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), |text| format!("{text:?}"));
        format!("{name}: {}", printable(&value))
    });
    each.collect::<Vec<_>>().join("  ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use annulus::Message;
    use annulus::Settings;
    use annulus::shm::broadcast;
    use bytemuck::Pod;

    fn told<T: Message + Pod>(message: T) -> String {
        let annulus::shm::Shared { handle: _publisher, invitation, .. } =
            broadcast::lossy::<T>(Settings::new(4)).unwrap();
        let decoder = Decoder::of(&invitation.info().unwrap()).unwrap().unwrap();
        Value::from(decoder.decode(bytemuck::bytes_of(&message)).unwrap()).to_string()
    }

    #[test]
    fn message_has_an_object() {
        assert_eq!(told(0.5_f64), r#"{"value":0.5}"#);
        assert_eq!(told([-1_i16, 2, 3]), r#"{"value":[-1,2,3]}"#);
    }

    #[test]
    fn line_is_not_long() {
        assert_eq!(message_to_text("ä"), "ä");
        assert_eq!(message_to_text(&"ä".repeat(400)), "ä".repeat(400));
        assert_eq!(message_to_text(&"ä".repeat(401)), "ä".repeat(400) + "…");
    }
}
