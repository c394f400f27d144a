//! `Mapping` where there is none: not on Linux, without `std`, or under loom, which sees no mapping.

use core::ptr::NonNull;

/// There is none.
#[derive(Debug)]
pub(crate) enum Mapping {}

/// There are none.
#[derive(Debug)]
pub(crate) enum Pages {}

/// What nobody says.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) page_bytes: usize,
    pub(crate) resident: usize,
    pub(crate) transparent: usize,
    pub(crate) reserved: usize,
    pub(crate) locked: usize,
}

/// Whether there are any.
pub(crate) const IS_SUPPORTED: bool = false;

impl Mapping {
    #[allow(clippy::unnecessary_wraps, reason = "the same shape as the real one")]
    pub(crate) fn new(_: usize, _: usize, _: Option<usize>) -> Result<Self, Option<i32>> {
        Err(None)
    }

    pub(crate) fn pages(&self) -> &Pages {
        match *self {}
    }
}

impl Pages {
    pub(crate) fn start(&self) -> NonNull<u8> {
        match *self {}
    }

    pub(crate) fn bytes(&self) -> usize {
        match *self {}
    }

    pub(crate) fn advise_huge(&self) -> Result<(), i32> {
        match *self {}
    }

    pub(crate) fn populate(&self) -> Result<(), i32> {
        match *self {}
    }

    pub(crate) fn lock(&self) -> Result<(), i32> {
        match *self {}
    }

    pub(crate) fn seen(&self) -> Option<Seen> {
        match *self {}
    }
}

pub(crate) fn page_bytes() -> usize {
    4096
}

pub(crate) fn lock_limit() -> Option<u64> {
    None
}

pub(crate) fn reserved_page_bytes() -> Option<usize> {
    None
}

pub(crate) fn free_reserved_pages(_: usize) -> Option<u64> {
    None
}

pub(crate) fn transparent_page_bytes() -> Option<usize> {
    None
}
