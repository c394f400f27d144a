//! The errors of rings between processes: [`AttachError`], why a descriptor is no ring that this process can
//! use; [`ShareError`], why a ring could not be made; [`NameError`], [`DirectoryError`] and [`BadName`], why
//! processes do not meet by a name; [`FindError`], why a ring can't have a name, or can't be had by its name.

use alloc::boxed::Box;
use core::error::Error;
use core::fmt;
use std::io;
use std::path::PathBuf;
use std::string::String;
use std::time::Duration;

use super::kind::ShmKind;
use super::process::ProcessId;
use crate::error::CapacityError;
use crate::memory::{MemoryError, NoMemory};
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
        /// The schema of the type that was asked for.
        wanted: Box<Schema>,
    },
    /// The schema in the ring is no schema.
    Schema(SchemaError),
    /// A field of its header can't be.
    Damaged {
        /// Which field.
        field: &'static str,
        /// The field's value.
        value: u64,
    },
    /// The page where its processes sleep belongs to another ring. The two descriptors did not come from one
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
                "the sleepers' page belongs to the ring {found:016x}, and the ring is {wanted:016x}: take both from one invitation",
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

impl Error for AttachError {}

/// Why a ring between processes could not be made.
#[derive(Debug)]
#[non_exhaustive]
pub enum ShareError {
    /// There is no such ring: see [`CapacityError`].
    Capacity(CapacityError),
    /// An option that the builder requires of its [`Memory`](crate::memory::Memory) was refused.
    Memory(MemoryError),
    /// A lossless ring can't have so many seats.
    Seats {
        /// How many were asked for.
        seats: usize,
        /// How many there can be. There must be one at least.
        most: usize,
    },
    /// A queue can't have places for so many producers, nor a ring for so many publishers.
    Producers {
        /// How many were asked for.
        producers: usize,
        /// How many there can be. There must be one at least.
        most: usize,
    },
    /// There can be no such ring of [frames](super::frames).
    Frames {
        /// What there can't be so many of.
        what: &'static str,
        /// How many were asked for.
        found: usize,
        /// How many there must be at least.
        least: usize,
        /// How many there can be.
        most: usize,
    },
    /// There can't be so many [cells](super::watch).
    Cells {
        /// How many were asked for.
        cells: usize,
        /// How many there can be. There must be one at least.
        most: usize,
    },
    /// There can be no such [deadline](crate::Settings::deadline).
    Deadline {
        /// What was asked for.
        deadline: Duration,
    },
    /// The schema of the messages is longer than a ring can hold, even without units and comments.
    Schema {
        /// How many bytes its text has.
        bytes: usize,
        /// How many there can be.
        most: usize,
    },
    /// The system refuses it: it has no memory left, or this process may not open more files, or there is no
    /// `/proc`. The error says at which step, and what to change.
    System(io::Error),
}

impl From<CapacityError> for ShareError {
    fn from(error: CapacityError) -> Self {
        Self::Capacity(error)
    }
}

impl From<NoMemory> for ShareError {
    fn from(error: NoMemory) -> Self {
        match error {
            NoMemory::Refused(error) => Self::Memory(error),
            NoMemory::System(error) => Self::System(error),
        }
    }
}

impl From<io::Error> for ShareError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

impl fmt::Display for ShareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Capacity(error) => error.fmt(f),
            Self::Memory(error) => error.fmt(f),
            Self::Seats { seats, most } => {
                write!(f, "a lossless ring can't have {seats} seats: take 1 to {most}")
            }
            Self::Producers { producers, most } => {
                write!(f, "there can't be places for {producers} producers: take 1 to {most}")
            }
            Self::Frames { what, found, least, most } => {
                write!(f, "a ring of frames can't have {found} {what}: take {least} to {most}")
            }
            Self::Cells { cells, most } => write!(f, "there can't be {cells} cells: take 1 to {most}"),
            Self::Deadline { deadline } => {
                write!(f, "nothing can be promised in {deadline:?}: take a deadline of 1 ns to 584 years")
            }
            Self::Schema { bytes, most } => write!(
                f,
                "the schema of the messages has {bytes} bytes as text, and a ring holds {most}: take fewer fields, or shorter names",
            ),
            Self::System(error) => {
                write!(f, "the system refuses a ring between processes: {}", Detail(error))
            }
        }
    }
}

impl Error for ShareError {}

/// Why there can be no ring of some name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BadName {
    /// It is empty.
    Empty,
    /// It has more bytes than [`LONGEST`](Self::LONGEST).
    TooLong,
    /// It begins with a dot, as `..` does.
    LeadingDot,
    /// It has a character that no name has: `/`, or a control character, such as NUL.
    Character(char),
}

impl BadName {
    /// The length of the longest name, in bytes.
    pub const LONGEST: usize = 200;
}

impl fmt::Display for BadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it is empty"),
            Self::TooLong => write!(f, "it has more than {} bytes", Self::LONGEST),
            Self::LeadingDot => f.write_str("it begins with a dot"),
            Self::Character(character) => write!(f, "it has the character {character:?}"),
        }
    }
}

impl Error for BadName {}

/// Why a directory is not used for names.
#[derive(Debug)]
#[non_exhaustive]
pub enum DirectoryError {
    /// There is something else of this name: a file, or a symbolic link.
    NotADirectory {
        /// Where.
        path: PathBuf,
    },
    /// The directory belongs to another user, which could change its contents.
    Owner {
        /// Where.
        path: PathBuf,
        /// The number of the user to whom it belongs.
        owner: u32,
        /// The number of the user of this process.
        user: u32,
    },
    /// Other users may do more in the directory than `allowed`.
    Mode {
        /// Where.
        path: PathBuf,
        /// The directory's mode.
        mode: u32,
        /// The bits that it may have at most.
        allowed: u32,
    },
    /// A call to the system failed.
    System {
        /// Where.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
}

impl fmt::Display for DirectoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotADirectory { path } => {
                write!(f, "{}: no directory, or a symbolic link to one", path.display())
            }
            Self::Owner { path, owner, user } => {
                write!(f, "{}: it belongs to the user {owner}, not to the user {user}", path.display())
            }
            Self::Mode { path, mode, allowed } => {
                write!(f, "{}: its mode is {mode:o}, and may be {allowed:o} at most", path.display())
            }
            Self::System { path, error } => write!(f, "{}: {}", path.display(), Detail(error)),
        }
    }
}

impl Error for DirectoryError {}

/// Why processes do not meet by a name.
#[derive(Debug)]
#[non_exhaustive]
pub enum NameError {
    /// No ring can have this name.
    Bad {
        /// The name.
        name: String,
        /// Why not.
        why: BadName,
    },
    /// There is no ring of this name.
    NotFound {
        /// The name.
        name: String,
    },
    /// Another process, or this one, has a ring of this name.
    Taken {
        /// The name.
        name: String,
        /// The process; `None` if its file does not say.
        process: Option<ProcessId>,
    },
    /// The process that had the ring has ended.
    Dead {
        /// The name.
        name: String,
        /// The process; `None` if its file does not say.
        process: Option<ProcessId>,
    },
    /// The name belongs to something else than a file of a ring: a directory, a symbolic link.
    InTheWay {
        /// The name.
        name: String,
    },
    /// The file of this name belongs to another user, and the directory is this user's alone.
    Owner {
        /// The name.
        name: String,
        /// The number of the user to whom it belongs.
        owner: u32,
    },
    /// The ring's process and this process do not see the same process numbers: they are in two containers,
    /// and the directory is one user's alone. Let the containers share the numbers (`--pid` of docker and
    /// podman), or let both use a directory [with a mode](super::Directory::with_mode) for others, or pass
    /// the descriptor by [`send_fd`](super::send_fd).
    OtherNamespace {
        /// The name.
        name: String,
        /// The process, by its own numbers.
        process: ProcessId,
    },
    /// The kernel does not let this process open what that one has, and that one has no socket for it: it
    /// belongs to another user, or to another group of the same user, or became protected after it gave the
    /// name, or is root's and has a capability that this one, of root too, has not, or `/proc` hides it
    /// (`hidepid`). Run both as one user and group, with the same capabilities, or let both use a directory
    /// [with a mode](super::Directory::with_mode) for others, or pass the descriptor by
    /// [`send_fd`](super::send_fd).
    NotPermitted {
        /// The name.
        name: String,
        /// The process.
        process: ProcessId,
    },
    /// The process of the ring, which belongs to another user or is in another container, was asked for its
    /// descriptors, and did not answer for two seconds: it is stopped (`SIGSTOP`), or has no time.
    NoAnswer {
        /// The name.
        name: String,
        /// The process, by its own numbers.
        process: ProcessId,
    },
    /// The process that has the name is there, and what the name leads to is no file: it gave the name to
    /// something else, to a socket for example, or has closed the descriptor that the name keeps.
    NoDescriptor {
        /// The name.
        name: String,
        /// The process, by its own numbers.
        process: ProcessId,
    },
    /// Somebody has been changing names in the directory for two seconds.
    Busy,
    /// No ring of this name came in time.
    TimedOut {
        /// The name.
        name: String,
    },
    /// A call to the system failed.
    System {
        /// The name; empty where it is about all.
        name: String,
        /// What the system says.
        error: io::Error,
    },
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bad { name, why } => write!(f, "no ring can have the name {name:?}: {why}"),
            Self::NotFound { name } => write!(f, "there is no ring {name:?}"),
            Self::Taken { name, process: Some(process) } => {
                write!(f, "the name {name:?} is taken by {process}")
            }
            Self::Taken { name, process: None } => write!(f, "the name {name:?} is taken"),
            Self::Dead { name, process: Some(process) } => {
                write!(f, "the ring {name:?} is dead: {process} has ended")
            }
            Self::Dead { name, process: None } => write!(f, "the ring {name:?} is dead"),
            Self::InTheWay { name } => {
                write!(
                    f,
                    "something else is in the way of the name {name:?}: a directory, or a symbolic link"
                )
            }
            Self::Owner { name, owner } => {
                write!(f, "the file of the name {name:?} belongs to the user {owner}")
            }
            Self::OtherNamespace { name, process } => write!(
                f,
                "the ring {name:?} belongs to {process} in another container: share process numbers (--pid), \
                 or use a directory that others may use (mode 770, say), or pass the descriptor through a socket"
            ),
            Self::NotPermitted { name, process } => write!(
                f,
                "the ring {name:?} belongs to {process}, whose descriptors this process may not open: that one is of \
                 another user or group, is protected, has capabilities that this one has not, or is hidden in /proc. \
                 Run both as one user and group, with the same capabilities (CAP_SYS_PTRACE is enough), or let both \
                 use a directory that others may use (mode 770, say), or pass the descriptor through a socket"
            ),
            Self::NoAnswer { name, process } => write!(
                f,
                "the ring {name:?} belongs to {process}, which was asked for it, and has not answered for two \
                 seconds: is it stopped?"
            ),
            Self::NoDescriptor { name, process } => write!(
                f,
                "the name {name:?} leads to no ring: {process} is there, and has no such file open. End that process, \
                 or remove the name by force (annulus rm --force)"
            ),
            Self::Busy => f.write_str("another process has been changing the names for two seconds"),
            Self::TimedOut { name } => write!(f, "no ring {name:?} came in time"),
            Self::System { name, error } if name.is_empty() => {
                write!(f, "the system says: {}", Detail(error))
            }
            Self::System { name, error } => {
                write!(f, "the ring {name:?}: the system says: {}", Detail(error))
            }
        }
    }
}

impl Error for NameError {}

/// Why a ring can't have a name, or can't be had by its name.
#[derive(Debug)]
#[non_exhaustive]
pub enum FindError {
    /// The name can't be used: it is taken, impossible, or leads to no ring, for example.
    Name(NameError),
    /// The descriptor, or the name's target, is no ring that fits.
    Attach(AttachError),
    /// The user's directory of names can't be used.
    Directory(DirectoryError),
    /// There can be no such ring.
    Share(ShareError),
}

impl From<DirectoryError> for FindError {
    fn from(error: DirectoryError) -> Self {
        Self::Directory(error)
    }
}

impl From<ShareError> for FindError {
    fn from(error: ShareError) -> Self {
        Self::Share(error)
    }
}

impl From<NameError> for FindError {
    fn from(error: NameError) -> Self {
        Self::Name(error)
    }
}

impl From<AttachError> for FindError {
    fn from(error: AttachError) -> Self {
        Self::Attach(error)
    }
}

impl fmt::Display for FindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(error) => error.fmt(f),
            Self::Attach(error) => error.fmt(f),
            Self::Directory(error) => error.fmt(f),
            Self::Share(error) => error.fmt(f),
        }
    }
}

impl Error for FindError {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use alloc::vec::Vec;

    #[test]
    fn attach_error_names_what_was_found() {
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
        }
    }

    #[test]
    fn name_error_names_its_ring() {
        let name = || String::from("quotes");
        let process = ProcessId::new(77, 88);
        let system = || io::Error::from(io::ErrorKind::PermissionDenied);
        for (error, words) in [
            (NameError::Bad { name: name(), why: BadName::TooLong }, "200 bytes"),
            (NameError::Bad { name: name(), why: BadName::Empty }, "it is empty"),
            (NameError::Bad { name: name(), why: BadName::LeadingDot }, "begins with a dot"),
            (NameError::Bad { name: name(), why: BadName::Character('\0') }, r"'\0'"),
            (NameError::NotFound { name: name() }, "there is no ring"),
            (NameError::Taken { name: name(), process: Some(process) }, "taken by process 77"),
            (NameError::Taken { name: name(), process: None }, "is taken"),
            (NameError::Dead { name: name(), process: Some(process) }, "process 77 has ended"),
            (NameError::Dead { name: name(), process: None }, "is dead"),
            (NameError::InTheWay { name: name() }, "in the way"),
            (NameError::Owner { name: name(), owner: 99 }, "the user 99"),
            (NameError::OtherNamespace { name: name(), process }, "--pid"),
            (NameError::NotPermitted { name: name(), process }, "process 77, whose descriptors"),
            (NameError::NoAnswer { name: name(), process }, "process 77, which was asked"),
            (NameError::TimedOut { name: name() }, "in time"),
            (NameError::System { name: name(), error: system() }, "the system says"),
        ] {
            let text = error.to_string();
            assert!(text.contains("\"quotes\"") && text.contains(words), "{error:?}: {text}");
        }
        assert!(NameError::Busy.to_string().contains("two seconds"));
        let all = NameError::System { name: String::new(), error: system() };
        assert!(all.to_string().starts_with("the system says"));
    }

    #[test]
    fn directory_error_has_its_path() {
        let path = || PathBuf::from("/there");
        let system = || io::Error::from(io::ErrorKind::PermissionDenied);
        for (error, words) in [
            (DirectoryError::NotADirectory { path: path() }, "no directory"),
            (DirectoryError::Owner { path: path(), owner: 77, user: 88 }, "the user 77, not to the user 88"),
            (DirectoryError::Mode { path: path(), mode: 0o755, allowed: 0o700 }, "755, and may be 700"),
            (DirectoryError::System { path: path(), error: system() }, "permission"),
        ] {
            let text = error.to_string();
            assert!(text.starts_with("/there: ") && text.contains(words), "{error:?}: {text}");
        }
    }
}
