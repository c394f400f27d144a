//! [`MessageType`]: what the messages of a ring between processes are. [`Payload`]: what its header says.
// Decision 0150: a ring has the schema of its messages.

use alloc::borrow::Cow;
use alloc::string::String;

use super::error::ShareError;
use crate::message::Message;
use crate::message::schema::{Fingerprint, Schema};

/// Memory begins at a page, so no message can be aligned to more.
const LARGEST_ALIGNMENT: usize = 4096;

/// What the messages of a ring are: their size, their alignment, and if somebody has said it, their schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageType {
    bytes: usize,
    alignment: usize,
    schema: Option<Cow<'static, Schema>>,
}

impl MessageType {
    /// A type, as it lies in a ring.
    pub(super) fn of<T: Message>() -> Self {
        let (bytes, alignment) = (size_of::<T::Wire>(), align_of::<T::Wire>());
        Self { bytes, alignment, schema: Some(Cow::Borrowed(T::SCHEMA)) }
    }

    /// Messages of which only the size and the alignment are known. A ring of these has no schema. A process
    /// that joins takes any ring with messages of that size.
    #[must_use]
    pub fn of_bytes(bytes: usize, alignment: usize) -> Self {
        Self { bytes, alignment, schema: None }
    }

    /// Messages of that size, whatever the schema describes.
    pub(super) fn with_schema(bytes: usize, alignment: usize, schema: Option<Schema>) -> Self {
        Self { bytes, alignment, schema: schema.map(Cow::Owned) }
    }

    /// Messages of that schema and alignment.
    #[must_use]
    pub fn described(schema: Schema, alignment: usize) -> Self {
        Self { bytes: schema.size(), alignment, schema: Some(Cow::Owned(schema)) }
    }

    /// How many bytes a message has.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn alignment(&self) -> usize {
        self.alignment
    }

    /// Their schema, if somebody has said it.
    #[must_use]
    pub fn schema(&self) -> Option<&Schema> {
        self.schema.as_deref()
    }

    /// Whether there can be such messages: their size is above 0 and a multiple of the alignment, which is a
    /// power of two, and at most the size of a page.
    #[must_use]
    pub fn can_be(&self) -> bool {
        self.bytes > 0 && self.payload(Fingerprint::NONE, 0).fault().is_none()
    }

    /// What the header of a ring says of it, and the schema that lies behind; empty if there is none.
    pub(super) fn written(&self) -> Result<(Payload, String), ShareError> {
        let text = self.schema().map(Schema::short_text).unwrap_or_default();
        if text.len() > Schema::LONGEST {
            return Err(ShareError::Schema { bytes: text.len(), most: Schema::LONGEST });
        }
        let fingerprint = self.schema().map_or(Fingerprint::NONE, Schema::fingerprint);
        Ok((self.payload(fingerprint, text.len()), text))
    }

    fn payload(&self, fingerprint: Fingerprint, schema_bytes: usize) -> Payload {
        Payload { bytes: self.bytes, alignment: self.alignment, fingerprint, schema_bytes }
    }
}

/// What the header says of a ring's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Payload {
    /// In bytes.
    pub(crate) bytes: usize,
    /// In bytes: a power of two.
    pub(crate) alignment: usize,
    /// The fingerprint of their schema, if there is one.
    pub(crate) fingerprint: Fingerprint,
    /// How long its text is.
    pub(crate) schema_bytes: usize,
}

impl Payload {
    /// What can't be, and its value.
    pub(super) fn fault(&self) -> Option<(&'static str, u64)> {
        let Self { bytes, alignment, .. } = *self;
        if !alignment.is_power_of_two() || alignment > LARGEST_ALIGNMENT {
            return Some(("the payload's alignment", alignment as u64));
        }
        if (self.schema_bytes == 0) != (self.fingerprint == Fingerprint::NONE) {
            return Some(("the fingerprint", self.fingerprint.to_u64()));
        }
        if self.schema_bytes > Schema::LONGEST {
            return Some(("the schema's length", self.schema_bytes as u64));
        }
        (bytes % alignment != 0).then_some(("the payload's size", bytes as u64))
    }

    /// From one slot of a queue to the next, in bytes. The header knows no slot of 0.
    pub(crate) fn slot_bytes(&self) -> usize {
        self.bytes.max(1)
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use crate::message::schema::Kind;
    use std::format;
    use std::string::ToString;
    use std::vec::Vec;

    /// A struct with so many fields, twice: a text can't have as many as a type.
    fn twice(fields: usize, of: &str) -> Schema {
        let fields: Vec<_> = (0..fields).map(|number| format!("field{number}:{of}")).collect();
        let part: Schema = format!("{{{}}}", fields.join(",")).parse().unwrap();
        let mut whole: Schema = "{a:u8,b:u8}".parse().unwrap();
        let Kind::Struct(pair) = &*whole.kind else { panic!("{whole}") };
        let mut pair = pair.to_vec();
        pair[1].offset = part.size();
        for field in &mut pair {
            field.kind = part.kind.clone();
        }
        whole.kind = Kind::Struct(pair.into()).into();
        whole
    }

    #[test]
    fn schema_that_is_too_long_is_refused() {
        let schema = twice(4_000, "u8");
        let long = schema.to_string().len();
        let refused = MessageType::described(schema, 1).written().unwrap_err();
        assert!(matches!(refused, ShareError::Schema { bytes, most: 65_536 } if bytes == long), "{refused}");
        let said = format!("has {long} bytes as text, and a ring holds 65536: take fewer fields");
        assert!(refused.to_string().contains(&said), "{refused}");
    }

    /// Comments are left out where there is no room for them.
    #[test]
    fn schema_with_long_comments_is_written_without() {
        let schema = twice(800, "u8(ns)\"what it is, in many words that nobody needs for a message\"");
        assert!(schema.to_string().len() > Schema::LONGEST);
        let (payload, text) = MessageType::described(schema.clone(), 1).written().unwrap();
        assert_eq!((payload.schema_bytes, text.contains("words")), (text.len(), false));
        let read: Schema = text.parse().unwrap();
        assert_eq!(read.fingerprint(), schema.fingerprint());
        assert!(read.differences(&schema).is_empty());
    }
}
