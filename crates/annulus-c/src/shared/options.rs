//! [`annulus_shared_options`]: of what size a ring between processes is, and of which type its messages are.

use core::ffi::{CStr, c_char};
use core::time::Duration;
use std::ffi::CString;

use annulus::schema::{Schema, SchemaError};

use super::error::{Shared, Why, bytes, text};
use crate::options::{Options, annulus_options, annulus_wait};
use crate::status::annulus_status::{ANNULUS_INVALID, ANNULUS_WRONG_SIZE};
use crate::status::guarded_or;

/// A bit of `flags`, of queues between processes: when the process of the consumer has ended without a close,
/// the queue stays open for a next one, and producers that find no room wait for that one. Without it, the
/// queue is closed then.
pub const ANNULUS_WAIT_FOR_NEXT_CONSUMER: u32 = 2;
/// A bit of `flags`, of rings with several producers or publishers between processes: the ring ends when all
/// of them are gone, after one at least was there. Without it, it waits for the next ones.
pub const ANNULUS_CLOSE_WITH_LAST_PRODUCER: u32 = 4;

/// A bit of `flags`, of queues that several consumers share: the queue is closed when all consumers are gone,
/// after one at least was there. Without it, producers fill their rings, and wait for the next ones.
pub const ANNULUS_CLOSE_WITH_LAST_CONSUMER: u32 = 8;
/// A bit of `flags`, of queues that several consumers share: what a consumer had claimed when its process
/// died is dropped, and counted. Without it, another consumer has it.
pub const ANNULUS_DROP_UNRECEIVED: u32 = 16;

/// What a ring between processes is made of, and what a process that joins asks for:
/// `annulus_shared_options options = ANNULUS_SHARED_OPTIONS(1024, struct quote, "quote{bid:f64,ask:f64}");`,
/// and then what is to be other than the default. What is not set has to be 0.
///
/// Both sides say what a message is made of, by a schema (`docs/SCHEMA.md`). A program in Rust has it from
/// `#[derive(Message)]`. The names, kinds and places of the fields have to be equal.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct annulus_shared_options {
    /// `sizeof(annulus_shared_options)`: it tells the library which version of this the program was compiled
    /// with.
    pub size: usize,
    /// How many messages the ring holds, exactly; of a queue of records, how many bytes. Those that join have
    /// the ring's; it is not looked at then.
    pub capacity: usize,
    /// The size of a message, in bytes: above 0, and a multiple of its alignment.
    pub message_size: usize,
    /// The alignment of a message, in bytes: a power of two, at most 4096.
    pub message_alignment: usize,
    /// What a message is made of, as text: `quote{bid:f64,ask:f64}`. It has to have `message_size` bytes.
    /// Null: only the size is known. A ring that is made so has no schema, and only those that have none join
    /// it. A process that joins so takes any ring with messages of that size.
    pub schema: *const c_char,
    /// How threads of this process wait that have to.
    pub wait: annulus_wait,
    /// Of a ring with several producers or publishers: how many there can be at one time. Of a lossless ring
    /// of one publisher: for how many subscribers it waits. At most 1024; 0 is 16. Those that join have the
    /// ring's.
    pub places: u32,
    /// Of several of these bits, together: `ANNULUS_STATISTICS`, `ANNULUS_WAIT_FOR_NEXT_CONSUMER`,
    /// `ANNULUS_CLOSE_WITH_LAST_PRODUCER`, `ANNULUS_CLOSE_WITH_LAST_CONSUMER`, `ANNULUS_DROP_UNRECEIVED`.
    pub flags: u32,
    /// Of a queue that several consumers share: how many there can be at one time. Of a lossless ring of
    /// several publishers: for how many subscribers they wait. At most 1024; 0 is 16. Those that join have
    /// the ring's.
    pub receivers: u32,
    /// Of a broadcast ring, of frames and of newest values: a promise that something is published at least
    /// once in so many nanoseconds. Of a process that subscribes to a broadcast ring: after how long a
    /// silence it calls the publisher overdue, whatever that has promised. 0: nothing is promised, or the
    /// promise holds. See `annulus_subscriber_overdue`.
    pub deadline_ns: u64,
    /// Of a broadcast ring of one publisher: a name, whose numbers the ring goes on with; null: it begins
    /// with 0. The numbers of a name are kept in its directory. One publisher at a time has them, or it is
    /// `ANNULUS_OCCUPIED`. Of those that join it is not looked at.
    pub numbering: *const c_char,
    /// The path of that directory, of any bytes; null is the directory of the user.
    pub numbering_directory: *const c_char,
}

/// The options, checked.
#[cfg_attr(
    not(all(target_os = "linux", target_pointer_width = "64")),
    allow(dead_code, reason = "there are none")
)]
pub(crate) struct SharedOptions {
    pub(crate) ring: Options,
    pub(crate) alignment: usize,
    pub(crate) schema: Option<Schema>,
    pub(crate) places: usize,
    pub(crate) waits_for_next: bool,
    pub(crate) closes_with_last: bool,
    /// As C has them.
    pub(crate) flags: u32,
    pub(crate) receivers: usize,
    pub(crate) deadline: Option<Duration>,
    pub(crate) numbering: Option<NumbersOf>,
}

/// The name whose numbers go on, and its directory.
#[cfg_attr(
    not(all(target_os = "linux", target_pointer_width = "64")),
    allow(dead_code, reason = "there are none")
)]
pub(crate) struct NumbersOf {
    pub(crate) directory: Option<CString>,
    pub(crate) name: String,
}

impl SharedOptions {
    /// Fails if they promise something that such a ring does not keep.
    pub(super) fn promise_nothing(&self) -> Shared {
        if self.deadline.is_some() {
            return Err(Why::new(ANNULUS_INVALID, "no deadline holds for a queue: deadline_ns has to be 0"));
        }
        self.begin_anew()
    }

    /// Fails if such a ring can't go on with the numbers of a name.
    pub(super) fn begin_anew(&self) -> Shared {
        if self.numbering.is_some() {
            let text =
                "only a broadcast ring of one publisher goes on with numbers: numbering has to be null";
            return Err(Why::new(ANNULUS_INVALID, text));
        }
        Ok(())
    }

    /// Fails if they are no options of a queue of records: a record has no type.
    pub(super) fn of_bytes(&self) -> Shared {
        if self.ring.message_size != 1 || self.alignment != 1 {
            return Err(Why::new(ANNULUS_WRONG_SIZE, "records are bytes: say ANNULUS_SHARED_BYTES_OPTIONS")
                .with(self.ring.message_size as u64, self.alignment as u64));
        }
        match self.schema {
            Some(_) => Err(Why::new(ANNULUS_INVALID, "records have no schema")),
            None => Ok(()),
        }
    }
}

const FLAGS: u32 = ANNULUS_WAIT_FOR_NEXT_CONSUMER
    | ANNULUS_CLOSE_WITH_LAST_PRODUCER
    | ANNULUS_CLOSE_WITH_LAST_CONSUMER
    | ANNULUS_DROP_UNRECEIVED;

/// Of places: 0 is the default.
fn places_or_16(places: u32) -> usize {
    if places == 0 { 16 } else { places as usize }
}

impl annulus_shared_options {
    /// # Safety
    ///
    /// `options` is null, or points to so many bytes as its `size` says; its texts are null, or strings.
    pub(crate) unsafe fn checked(options: *const Self, joins: bool) -> Shared<SharedOptions> {
        // SAFETY: the caller's promise; `size` is looked at before the rest.
        if options.is_null() || unsafe { (*options).size } != size_of::<Self>() {
            return Err(ANNULUS_INVALID.into());
        }
        // SAFETY: as above.
        let given = unsafe { *options };
        let Self { capacity, message_size, message_alignment, schema, wait, flags, .. } = given;
        let ring = annulus_options {
            size: size_of::<annulus_options>(),
            capacity: if joins { 1 } else { capacity },
            message_size,
            wait,
            flags: flags & !FLAGS,
        };
        // SAFETY: it is here.
        let ring = unsafe { annulus_options::checked(&raw const ring) }?;
        if !can_be(message_size, message_alignment) {
            return Err(Why::new(ANNULUS_WRONG_SIZE, "messages can't have such a size and alignment")
                .with(message_size as u64, message_alignment as u64));
        }
        let schema = if schema.is_null() {
            None
        } else {
            // SAFETY: the caller's promise.
            let schema = unsafe { parsed(schema) }?;
            if schema.size() != message_size {
                return Err(Why::new(ANNULUS_WRONG_SIZE, "the schema has another size than the messages")
                    .with(schema.size() as u64, message_size as u64));
            }
            Some(schema)
        };
        Ok(SharedOptions {
            ring,
            alignment: message_alignment,
            schema,
            places: places_or_16(given.places),
            receivers: places_or_16(given.receivers),
            deadline: (given.deadline_ns > 0).then(|| Duration::from_nanos(given.deadline_ns)),
            // SAFETY: the caller's promise.
            numbering: if joins { None } else { unsafe { given.numbers() }? },
            waits_for_next: flags & ANNULUS_WAIT_FOR_NEXT_CONSUMER != 0,
            closes_with_last: flags & ANNULUS_CLOSE_WITH_LAST_PRODUCER != 0,
            flags,
        })
    }

    /// # Safety
    ///
    /// The texts are null, or strings.
    unsafe fn numbers(&self) -> Shared<Option<NumbersOf>> {
        // SAFETY: the caller's promise.
        let (directory, name) =
            unsafe { (bytes(self.numbering_directory), text(self.numbering, "numbering")?) };
        let directory = directory.map(CStr::to_owned);
        Ok(name.map(|name| NumbersOf { directory, name: name.to_owned() }))
    }
}

/// Whether a ring between processes can have messages of this size and alignment.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
fn can_be(bytes: usize, alignment: usize) -> bool {
    annulus::shm::blocks::MessageType::of_bytes(bytes, alignment).can_be()
}

/// There are no such rings here.
#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
fn can_be(_: usize, _: usize) -> bool {
    true
}

/// # Safety
///
/// `schema` is a string.
unsafe fn parsed(schema: *const c_char) -> Shared<Schema> {
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(schema) }.to_str();
    let text = text.map_err(|_| Why::new(ANNULUS_INVALID, "the schema is no UTF-8"))?;
    text.parse().map_err(|error: SchemaError| Why::new(ANNULUS_INVALID, error.to_string()))
}

/// The number by which two processes tell types of messages apart: the fingerprint of a schema, which
/// `docs/SCHEMA.md` defines. It is the same on every machine.
///
/// Any thread may call this. It returns 0 if `schema` is null or no schema.
///
/// # Safety
///
/// `schema` is null, or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_fingerprint(schema: *const c_char) -> u64 {
    guarded_or(0, || {
        if schema.is_null() {
            return Err(ANNULUS_INVALID);
        }
        // SAFETY: the caller's promise.
        let schema = unsafe { parsed(schema) }.map_err(|why| why.status)?;
        Ok(schema.fingerprint().to_u64())
    })
}
