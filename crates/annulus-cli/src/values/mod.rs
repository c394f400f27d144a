//! Messages of any ring as JSON, by the schema that the ring has.
//!
//! | in a schema | in JSON |
//! | --- | --- |
//! | integers | a number; one that 64 bits don't hold: a string |
//! | `f32`, `f64` | a number; `"NaN"`, `"inf"`, `"-inf"` |
//! | `bool` | `true`, `false` |
//! | `char`, `text` | a string |
//! | arrays | a list; an empty one if the parts have no bytes |
//! | structs | an object, without the gaps |
//! | enums | the name of the variant; if it has fields, an object of that name and the fields |
//! | options | the value, or `null` |
//!
//! ```text
//! decode   bytes of a ring to JSON
//! encode   JSON to bytes for a ring
//! ```

mod decode;
mod encode;

pub(crate) use decode::decode;
pub(crate) use encode::encode;

/// How long the list of an array is. (Another process may say any length where it costs no bytes.)
fn counted(length: usize, part_bytes: usize) -> usize {
    if part_bytes == 0 { 0 } else { length }
}
