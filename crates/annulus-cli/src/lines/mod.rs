//! `annulus pub` and `annulus sub`: lines of text through a ring between processes, and messages of any such
//! ring as JSON (Linux).
//!
//! ```text
//! arguments   what the user says
//! piece       a message: a piece of a line; and how lines are put together again
//! publishing  `annulus pub`
//! printing    `annulus sub`
//! following   `annulus sub --follow`
//! json        both of them with `--json`, for messages of any ring
//! ```

mod arguments;
mod following;
mod json;
mod piece;
mod printing;
mod publishing;

pub(crate) use arguments::{PublishArguments, SubscribeArguments};
pub(crate) use piece::Piece;
pub(crate) use printing::{ended, run as subscribe};
pub(crate) use publishing::run as publish;
