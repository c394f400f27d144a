//! [`Fields`]: what is in a message, and the types of which this program knows it.
//!
//! A ring says what its messages are by a fingerprint of their type.

use annulus::shm::Fingerprint;
use bytemuck::Pod;

use crate::bench::fields_of_loads;
use crate::demo::Quote;
use crate::lines::Piece;

/// What a field holds.
pub(crate) type Value = serde_json::Value;

/// A message whose fields are known.
pub(crate) trait Fields: Pod {
    /// Their names, in order, and what they hold.
    fn fields(&self) -> Vec<(String, Value)>;
}

/// The fields of a message that lies in these bytes.
pub(crate) type Decode = fn(&[u8]) -> Vec<(String, Value)>;

/// A type, and how it is decoded.
pub(crate) struct Known {
    fingerprint: Fingerprint,
    decode: Decode,
}

impl Known {
    pub(crate) fn of<T: Fields>() -> Self {
        let decode = |bytes: &[u8]| bytemuck::pod_read_unaligned::<T>(bytes).fields();
        Self { fingerprint: Fingerprint::of::<T>(), decode }
    }
}

/// How messages of this type are decoded, if it is known.
pub(super) fn decoder(fingerprint: Fingerprint) -> Option<Decode> {
    let mut known = vec![Known::of::<Quote>(), Known::of::<Piece>()];
    known.extend(fields_of_loads());
    add_numbers(&mut known);
    known.into_iter().find(|known| known.fingerprint == fingerprint).map(|known| known.decode)
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
        let decode = decoder(Fingerprint::of::<[i16; 3]>()).unwrap();
        let expected = [("0", -1), ("1", 2), ("2", 3)].map(|(name, value)| (name.into(), Value::from(value)));
        assert_eq!(decode(bytemuck::bytes_of(&[-1_i16, 2, 3])), expected);
        let decode = decoder(Fingerprint::of::<f64>()).unwrap();
        assert_eq!(decode(&0.5_f64.to_ne_bytes()), [("value".into(), Value::from(0.5))]);
        assert!(decoder(Fingerprint::of::<[u64; 17]>()).is_none());
        assert!(decoder(Fingerprint::named::<u64>("another")).is_none());
    }
}
