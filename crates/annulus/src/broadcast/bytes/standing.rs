//! Which records stand: their extents are still there, and so are their bytes.

use core::mem::MaybeUninit;

use super::super::handle::{Handle, Role};
use crate::base::sequence::Sequence;
use crate::ring::{Area, Copied, Extent, Frontier};

/// How far the publisher has come, and the oldest record that stands. A record may be overwritten at any
/// moment after that.
///
/// Takes a bounded number of steps: as [`Ring::frontier`](crate::ring::Ring::frontier), and a look at the
/// extents of log₂ n records, where n is the number of extents. `known` is a bound that the caller already
/// has.
pub(super) fn frontier<R: Role>(
    extents: &Handle<Copied<Extent>, R>,
    area: &Area,
    known: Sequence,
) -> Frontier {
    let frontier = extents.ring.frontier(known);
    let first_standing = area.first_standing();
    let stands = |sequence| {
        let mut extent = MaybeUninit::uninit();
        // All of these were published, so an extent that can't be read was overwritten.
        let extent = extents.read(sequence, &mut extent);
        // SAFETY: the ring is of this process.
        extent.is_ok_and(|extent| unsafe { extent.unchecked() }.take()[0] >= first_standing)
    };
    // Records lie in the order of their numbers, so those that stand come last.
    let (mut gone, mut oldest) = (frontier.oldest, frontier.head);
    while gone < oldest {
        let middle = gone.plus(oldest.since(gone) / 2);
        if stands(middle) {
            oldest = middle;
        } else {
            gone = middle.next();
        }
    }
    Frontier { oldest, ..frontier }
}
