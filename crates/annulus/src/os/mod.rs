//! What the operating system is asked for beside waiting.

pub(crate) mod numa;
