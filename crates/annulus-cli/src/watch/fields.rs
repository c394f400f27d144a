//! [`Fields`]: what is in a message, and the types of which this program knows it.
//!
//! A ring says what its messages are by a fingerprint of their type.

use annulus::Message;
use annulus::schema::Fingerprint;
use annulus::shm::{RingInfo, ShmKind};
use bytemuck::Pod;

use crate::bench::fields_of_loads;
use crate::demo::Quote;
use crate::lines::Piece;
use crate::text::counted;

/// What a field holds.
pub(crate) type Value = serde_json::Value;

/// A message whose fields are known.
pub(crate) trait Fields: Message + Pod {
    /// Whether such a message may carry the time when it was published.
    const IS_TIMED: bool = false;

    /// What people call such messages.
    fn name() -> String {
        std::any::type_name::<Self>().into()
    }

    /// Their names, in order, and what they hold.
    fn fields(&self) -> Vec<(String, Value)>;

    /// That time, by the clock that all processes share ([`now_ns`](crate::measure::now_ns())), if it is
    /// whole and has one.
    fn sent_ns(&self) -> Option<u64> {
        None
    }
}

/// The fields of a message that lies in these bytes.
pub(crate) type Decode = fn(&[u8]) -> Vec<(String, Value)>;

/// When the message was published that lies in these bytes.
pub(crate) type SentNs = fn(&[u8]) -> Option<u64>;

/// A type, and how it is decoded.
pub(crate) struct Known {
    fingerprint: Fingerprint,
    bytes: usize,
    name: String,
    decode: Decode,
    sent_ns: Option<SentNs>,
}

impl Known {
    pub(crate) fn of<T: Fields>() -> Self {
        let decode = |bytes: &[u8]| bytemuck::pod_read_unaligned::<T>(bytes).fields();
        let sent_ns = |bytes: &[u8]| bytemuck::pod_read_unaligned::<T>(bytes).sent_ns();
        Self {
            fingerprint: Fingerprint::of::<T>(),
            bytes: size_of::<T>(),
            name: T::name(),
            decode,
            sent_ns: T::IS_TIMED.then_some(sent_ns),
        }
    }
}

/// The name of their type, if it is known.
pub(crate) fn name(info: &RingInfo) -> Option<String> {
    known(info).map(|known| known.name)
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

/// How messages of this type are decoded, if it is known.
pub(super) fn decoder(info: &RingInfo) -> Option<Decode> {
    known(info).map(|known| known.decode)
}

/// How to learn when messages of this type were published, if they say so.
pub(crate) fn clock(info: &RingInfo) -> Option<SentNs> {
    // (Only messages of broadcast rings can be looked at.)
    let is_broadcast = matches!(info.kind(), ShmKind::Lossy | ShmKind::Lossless);
    known(info).filter(|_| is_broadcast)?.sent_ns
}

/// What is known of the messages of such a ring. (Another process may have written any size beside the
/// fingerprint of a type.)
fn known(info: &RingInfo) -> Option<Known> {
    let (fingerprint, bytes) = (info.fingerprint(), info.payload_bytes());
    find(fingerprint).filter(|known| known.bytes == bytes)
}

fn find(fingerprint: Fingerprint) -> Option<Known> {
    let mut known = vec![Known::of::<Quote>(), Known::of::<Piece>()];
    known.extend(fields_of_loads());
    add_numbers(&mut known);
    known.into_iter().find(|known| known.fingerprint == fingerprint)
}

/// Says what is in a number, and in arrays of it.
macro_rules! numbers {
    ($($number:ty),*; $lengths:tt) => {
        $(
            impl Fields for $number {
                fn fields(&self) -> Vec<(String, Value)> {
                    vec![("value".into(), Value::from(*self))]
                }
            }

            impl<const LENGTH: usize> Fields for [$number; LENGTH]
            where
                Self: Pod,
            {
                fn fields(&self) -> Vec<(String, Value)> {
                    let values = self.iter().enumerate();
                    values.map(|(index, value)| (index.to_string(), Value::from(*value))).collect()
                }
            }
        )*

        /// All numbers, and arrays of up to 16 of them.
        fn add_numbers(known: &mut Vec<Known>) {
            $(
                known.push(Known::of::<$number>());
                numbers!(@arrays known, $number, $lengths);
            )*
        }
    };
    (@arrays $known:ident, $number:ty, [$($length:literal),*]) => {
        $($known.push(Known::of::<[$number; $length]>());)*
    };
}

numbers! {
    u8, u16, u32, u64, i8, i16, i32, i64, f32, f64;
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_known() {
        let decode = find(Fingerprint::of::<[i16; 3]>()).unwrap().decode;
        let expected = [("0", -1), ("1", 2), ("2", 3)].map(|(name, value)| (name.into(), Value::from(value)));
        assert_eq!(decode(bytemuck::bytes_of(&[-1_i16, 2, 3])), expected);
        let decode = find(Fingerprint::of::<f64>()).unwrap().decode;
        assert_eq!(decode(&0.5_f64.to_ne_bytes()), [("value".into(), Value::from(0.5))]);
        assert!(find(Fingerprint::of::<[u64; 17]>()).is_none());
    }

    #[test]
    fn some_messages_carry_their_time() {
        let timed = |fingerprint| find(fingerprint).unwrap().sent_ns.is_some();
        assert!(timed(Fingerprint::of::<Quote>()) && !timed(Fingerprint::of::<u64>()));
        assert!(fields_of_loads().iter().all(|known| known.sent_ns.is_some()));
    }
}
