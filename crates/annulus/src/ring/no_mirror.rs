//! In place of the mirrors of `mirror.rs`, where there are none.

use crate::base::sequence::Sequence;

/// There is none.
pub(crate) enum Mirror {}

/// Nothing is seen.
pub(crate) enum Seen {}

impl Mirror {
    pub(super) fn seen(&self) -> Option<&Seen> {
        match *self {}
    }

    pub(super) fn show_bound(&self, _: Sequence) {
        match *self {}
    }

    pub(super) fn show_end(&self, _: Sequence) {
        match *self {}
    }
}

impl Seen {
    pub(super) fn bound(&self) -> Sequence {
        match *self {}
    }

    pub(super) fn end(&self) -> Option<Sequence> {
        match *self {}
    }

    pub(super) fn publisher_is_gone(&self) -> bool {
        match *self {}
    }
}
