//! [`AttachError`]: why a descriptor is no ring that this process can use.

use alloc::boxed::Box;
use core::error::Error;
use core::fmt;
use std::io;

use super::kind::ShmKind;
use crate::memory::MemoryError;
use crate::message::schema::{Schema, SchemaError};
use crate::os::error::Detail;

/// Why a descriptor is no ring that this process can use.
///
/// Where the two sides do not agree, it has the values of both: `found` is what is in the memory, `wanted` is
/// what this process asked for.
#[derive(Debug)]
#[non_exhaustive]
pub enum AttachError {
    /// It is no file in memory: a pipe, a socket, a file on a disk, or a file of huge pages.
    NotMemory,
    /// Its length is not sealed: another process could cut it off, and an access would end this process.
    NotSealed,
    /// Some of its pages are not there, so to map it could take more memory than its creator has given.
    Sparse,
    /// It is too short, or longer than can be mapped.
    Length {
        /// How many bytes there are.
        found: u64,
        /// How many bytes there must be.
        needed: u64,
    },
    /// It does not begin as a ring does.
    NoRing {
        /// Its first eight bytes.
        found: [u8; 8],
    },
    /// Its numbers are written in the order of bytes of another machine.
    Endianness,
    /// Its format has another version.
    Version {
        /// The version of the ring.
        found: u32,
        /// The version that this library has.
        wanted: u32,
    },
    /// It needs something that this library does not know.
    Unknown {
        /// The bits that are not known.
        bits: u32,
    },
    /// Its one consumer is there already.
    Occupied,
    /// All its places for producers are taken.
    NoPlace {
        /// How many it has.
        places: usize,
    },
    /// It is a queue that is closed: nothing can be sent any more.
    Closed,
    /// It is another kind of ring.
    Kind {
        /// The ring's.
        found: ShmKind,
        /// The one that was asked for.
        wanted: ShmKind,
    },
    /// Its messages have another size.
    PayloadSize {
        /// The ring's, in bytes.
        found: usize,
        /// The size of the type that was asked for.
        wanted: usize,
    },
    /// Its messages have another alignment.
    PayloadAlignment {
        /// The ring's, in bytes.
        found: usize,
        /// The alignment of the type that was asked for.
        wanted: usize,
    },
    /// Its messages are of another type: names, kinds or places of fields differ.
    Type {
        /// The ring's; `None` if it has none.
        found: Option<Box<Schema>>,
        /// That of the type that was asked for.
        wanted: Box<Schema>,
    },
    /// What it says of its messages is no schema.
    Schema(SchemaError),
    /// A field of its header can't be.
    Damaged {
        /// Which field.
        field: &'static str,
        /// What it says.
        value: u64,
    },
    /// The page where its processes sleep is that of another ring. The two descriptors did not come from one
    /// [`Invitation`](super::Invitation).
    Page {
        /// The number by which the page names its ring.
        found: u64,
        /// The number that the ring has.
        wanted: u64,
    },
    /// Its name leads to no page where its processes sleep: it was given by
    /// [`Directory::publish`](super::Directory::publish). Use
    /// [`Invitation::publish`](super::Invitation::publish).
    NoPage,
    /// An option that this process [requires](super::Invitation::with_memory) of the memory was refused.
    Memory(MemoryError),
    /// A call to the system failed.
    System(io::Error),
}

impl fmt::Display for AttachError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotMemory => f.write_str("the descriptor is no file in memory"),
            Self::NotSealed => f.write_str(
                "the memory is not sealed: another process could shrink it (seals SHRINK and GROW)",
            ),
            Self::Sparse => f.write_str("the memory has holes: not all of its pages are there"),
            Self::Occupied => f.write_str(
                "the queue has its one consumer already: wait until that process is gone, or make a queue of your own",
            ),
            Self::NoPlace { places } => write!(
                f,
                "all {places} places for producers are taken: wait until one leaves, or make the queue with more",
            ),
            Self::Closed => f.write_str("it is closed: nothing can be sent any more"),
            Self::Length { found, needed } => {
                write!(f, "the memory has {found} bytes, and the ring needs {needed}")
            }
            Self::NoRing { found } => write!(f, "the memory is no ring: it begins with {found:02x?}"),
            Self::Endianness => f.write_str("the ring has the order of bytes of another machine"),
            Self::Version { found, wanted } => {
                write!(f, "the ring's format has version {found}, and this library has version {wanted}")
            }
            Self::Unknown { bits } => {
                write!(f, "the ring needs what this library does not know: bits {bits:#x}")
            }
            Self::Kind { found, wanted } => write!(f, "the ring is a {found}, not a {wanted}"),
            Self::PayloadSize { found, wanted } => {
                write!(f, "the ring's messages have {found} bytes, and this type has {wanted}")
            }
            Self::PayloadAlignment { found, wanted } => {
                write!(f, "the ring's messages are aligned to {found} bytes, and this type to {wanted}")
            }
            Self::Type { found, wanted } => write_types(f, found.as_deref(), wanted),
            Self::Schema(error) => {
                write!(f, "what the ring says of its messages is no schema: {error}")
            }
            Self::Damaged { field, value } => {
                write!(f, "the ring's header is damaged: {field} can't be {value:#x}")
            }
            Self::Page { found, wanted } => write!(
                f,
                "the sleepers' page is that of the ring {found:016x}, and the ring is {wanted:016x}: take both from one invitation",
            ),
            Self::NoPage => f.write_str(
                "the name leads to a ring without its sleepers' page: give the ring its name by its invitation",
            ),
            Self::Memory(error) => error.fmt(f),
            Self::System(error) => write!(f, "the system says: {}", Detail(error)),
        }
    }
}

/// So many differences are told; the rest is counted.
const MOST_DIFFERENCES: usize = 8;

fn write_types(f: &mut fmt::Formatter<'_>, found: Option<&Schema>, wanted: &Schema) -> fmt::Result {
    let Some(found) = found else {
        return write!(
            f,
            "the ring has no schema, only messages of a size, and this process wants `{wanted}`"
        );
    };
    f.write_str("the ring's messages are of another type (the ring / this process): ")?;
    let differences = found.differences(wanted);
    for (index, difference) in differences.iter().take(MOST_DIFFERENCES).enumerate() {
        write!(f, "{}{difference}", if index > 0 { "; " } else { "" })?;
    }
    match differences.len().saturating_sub(MOST_DIFFERENCES) {
        0 => Ok(()),
        more => write!(f, "; and {more} more"),
    }
}

impl Error for AttachError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Memory(error) => Some(error),
            Self::System(error) => Some(error),
            Self::Schema(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use alloc::vec::Vec;

    #[test]
    fn each_error_says_what_was_found() {
        let schema = |text: &str| Box::new(text.parse::<Schema>().unwrap());
        let many: Vec<_> = (0..20).map(|number| std::format!("f{number}:u8")).collect();
        let many = std::format!("{{{}}}", many.join(","));
        for (error, words) in [
            (AttachError::NotMemory, ["no file in memory", ""]),
            (AttachError::NotSealed, ["SHRINK", "GROW"]),
            (AttachError::Sparse, ["holes", ""]),
            (AttachError::Occupied, ["one consumer", ""]),
            (AttachError::NoPlace { places: 77 }, ["all 77 places", "leaves"]),
            (AttachError::Closed, ["closed", ""]),
            (AttachError::Length { found: 77, needed: 88 }, ["77", "88"]),
            (AttachError::NoRing { found: *b"\x7fELF\0\0\0\0" }, ["7f, 45", "no ring"]),
            (AttachError::Endianness, ["order of bytes", ""]),
            (AttachError::Version { found: 7, wanted: 1 }, ["version 7", "version 1"]),
            (AttachError::Unknown { bits: 0x10 }, ["0x10", ""]),
            (
                AttachError::Kind { found: ShmKind::Mpsc, wanted: ShmKind::Bytes },
                ["several producers", "of records"],
            ),
            (
                AttachError::Kind { found: ShmKind::Lossless, wanted: ShmKind::BroadcastBytes },
                ["lossless", "broadcast ring of"],
            ),
            (AttachError::PayloadSize { found: 77, wanted: 88 }, ["77", "88"]),
            (AttachError::PayloadAlignment { found: 77, wanted: 88 }, ["77", "88"]),
            (
                AttachError::Type {
                    found: Some(schema("quote{bid:f64,ask:f64}")),
                    wanted: schema("quote{bid:f64,ask:f32}"),
                },
                ["ask: f64 at 8 / ask: f32 at 8", "the size: 16 / the size: 12"],
            ),
            (
                AttachError::Type { found: Some(schema("u64")), wanted: schema(&many) },
                ["f0: u8 at 0", "and 14 more"],
            ),
            (AttachError::Type { found: None, wanted: schema("u64") }, ["has no schema", "wants `u64`"]),
            (AttachError::Schema("u".parse::<Schema>().unwrap_err()), ["is no schema", "at byte 0"]),
            (AttachError::Damaged { field: "the capacity", value: 0xAB }, ["the capacity", "0xab"]),
            (AttachError::Page { found: 0xAB, wanted: 0xCD }, ["00000000000000ab", "00000000000000cd"]),
            (AttachError::NoPage, ["without its sleepers' page", "by its invitation"]),
            (AttachError::System(io::ErrorKind::PermissionDenied.into()), ["the system says", "permission"]),
        ] {
            let text = error.to_string();
            assert!(words.iter().all(|words| text.contains(words)), "{error:?}: {text}");
            assert_eq!(
                error.source().is_some(),
                matches!(error, AttachError::System(_) | AttachError::Schema(_))
            );
        }
    }
}
