//! `--json` of `annulus pub` and `annulus sub`: messages of any ring that has a schema, as JSON.
//!
//! ```text
//! publishing  `annulus pub --json`
//! printing    `annulus sub --json`
//! ```

mod printing;
mod publishing;

use annulus::schema::Schema;
use annulus::shm::RingInfo;
use annulus::shm::dynamic::{LONGEST, OpenError};

use crate::outcome::Failure;
use crate::text::{grouped, quoted};

pub(super) use printing::run as print;
pub(super) use publishing::run as publish;

/// What the ring of that name says that its messages are.
fn schema_of(name: &str, info: &RingInfo) -> Result<Schema, Failure> {
    let (name, bytes) = (quoted(name), info.payload_bytes());
    match info.schema() {
        Ok(Some(schema)) if schema.size() > 0 => Ok(schema),
        Ok(Some(schema)) => Err(Failure::new(format!("the messages of {name} have no bytes: {schema}"))),
        Ok(None) => Err(Failure::new(format!(
            "{name} has no schema: nobody knows what is in its messages of {bytes} bytes"
        ))),
        Err(error) => Err(Failure::new(format!("{name} can't be used: {error}"))),
    }
}

/// Why an end of a ring can't be had.
fn reason(error: &OpenError) -> String {
    match error {
        OpenError::TooLong { bytes } => {
            let (most, bytes) = (grouped(LONGEST as u64), grouped(*bytes as u64));
            format!("a message of a broadcast ring has up to {most} bytes here, and this one has {bytes}")
        }
        error => error.to_string(),
    }
}
