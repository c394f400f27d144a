//! [`Mark`].

/// What whoever has an event may set in its word, for good.
#[derive(Clone, Copy)]
#[repr(u32)]
pub(crate) enum Mark {
    /// Nothing comes any more.
    Over = 4,
    /// Whatever else wakers are to know.
    Other = 8,
}

impl Mark {
    /// All of them.
    pub(super) const ALL: u32 = Self::Over as u32 | Self::Other as u32;
}
