//! In place of the seats of `seats.rs`, where there are none.

use super::registry::Pass;
use crate::base::sequence::Sequence;
use crate::sync::AtomicU64;

/// There are none.
pub(crate) enum Seats {}

impl Seats {
    pub(super) fn scanned(&self) -> &AtomicU64 {
        match *self {}
    }

    pub(super) fn floor(&self) -> &AtomicU64 {
        match *self {}
    }

    pub(super) fn enter(&self, _: Sequence) -> Option<Pass> {
        match *self {}
    }

    pub(super) fn begin(&self, _: Pass) {
        match *self {}
    }

    pub(super) fn seated(&self) -> usize {
        match *self {}
    }

    pub(super) fn free_dead(&self) -> bool {
        match *self {}
    }

    pub(super) fn leave(&self, _: Pass) {
        match *self {}
    }

    pub(super) fn slowest(&self) -> u64 {
        match *self {}
    }

    pub(super) fn sweep(&self) -> bool {
        match *self {}
    }

    pub(super) fn visit(&self, _: impl FnMut(u64, Sequence)) {
        match *self {}
    }
}
