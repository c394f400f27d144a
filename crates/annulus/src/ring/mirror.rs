//! [`Mirror`]: what the ring of one publisher shows to other processes, or sees of another one's: how far the
//! publisher is, and where the ring ends. Of a ring that several processes publish to, all share that.
//!
//! The slots of such a ring lie in memory that several processes map, and so does what is [`SharedNumbers`].
//! All else that a ring has is private to each process: the publisher's, which shows, and the others, which
//! see. A process that only sees maps the memory read-only, and takes nothing in it for granted: a number
//! that can't be is taken for the nearest one that can.
// Decision 0086: a ring of each process, over the same slots.

use alloc::sync::Arc;
#[cfg(feature = "shm")]
use core::ptr::NonNull;

use super::claims::Claims;
use super::shared_numbers::Seen;
#[cfg(feature = "shm")]
use super::shared_numbers::SharedNumbers;
use crate::base::sequence::Sequence;
#[cfg(feature = "shm")]
use crate::os::kept_word::KeptWord;
#[cfg(feature = "shm")]
use crate::sync::{Ordering, seeded};

/// The one publisher of a ring says how far it is once in so many messages at least.
pub(super) const MOST_INTERVAL: u64 = 64;

/// A ring, and the other processes that have its slots.
pub(crate) enum Mirror {
    /// The publisher is of this process.
    #[cfg(feature = "shm")]
    Shows(NonNull<SharedNumbers>, KeptNumbers),
    /// The publisher is of another process.
    #[cfg(feature = "shm")]
    Sees(Seen),
    /// Several publishers claim what they publish, of this process or of several.
    Shares(Arc<Claims>),
}

/// Where the numbers of a ring are kept when its process ends.
#[cfg(feature = "shm")]
type KeptNumbers = Option<Arc<KeptWord>>;

// SAFETY: the pointers stand for shared borrows of atomics, which live as long as the ring (see `new`).
unsafe impl Send for Mirror {}
// SAFETY: as above.
unsafe impl Sync for Mirror {}

impl Mirror {
    /// Of the publisher's process.
    ///
    /// # Safety
    ///
    /// `numbers` is a [`SharedNumbers`] that lives, and can be written to, as long as the ring.
    #[cfg(feature = "shm")]
    pub(crate) unsafe fn shows(numbers: NonNull<SharedNumbers>, kept: KeptNumbers) -> Self {
        Self::Shows(numbers, kept)
    }

    /// Of another process; `is_gone` asks the kernel whether the publisher's is gone.
    ///
    /// # Safety
    ///
    /// `numbers` is a [`SharedNumbers`] that lives as long as the ring.
    #[cfg(feature = "shm")]
    pub(crate) unsafe fn sees(
        numbers: NonNull<SharedNumbers>,
        is_gone: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Self {
        Self::Sees(Seen::new(numbers, is_gone))
    }

    /// What another process shows.
    #[inline]
    #[cfg_attr(
        not(feature = "shm"),
        allow(clippy::unnecessary_wraps, reason = "with other processes there may be none")
    )]
    pub(super) fn seen(&self) -> Option<&Seen> {
        match self {
            #[cfg(feature = "shm")]
            Self::Shows(..) => None,
            #[cfg(feature = "shm")]
            Self::Sees(seen) => Some(seen),
            Self::Shares(claims) => Some(claims.seen()),
        }
    }

    /// Whether the publishers are of other processes, all gone, at least one by its death, and nobody has
    /// closed the ring.
    pub(super) fn publisher_has_died(&self) -> bool {
        match self {
            #[cfg(feature = "shm")]
            Self::Shows(..) => false,
            #[cfg(feature = "shm")]
            Self::Sees(seen) => seen.publisher_has_died(),
            Self::Shares(claims) => claims.publishers_have_died(),
        }
    }

    /// The claims, where publishers claim.
    #[inline]
    #[cfg_attr(
        not(feature = "shm"),
        allow(clippy::unnecessary_wraps, reason = "with other processes there may be none")
    )]
    pub(crate) fn claims(&self) -> Option<&Claims> {
        match self {
            #[cfg(feature = "shm")]
            Self::Shows(..) | Self::Sees(_) => None,
            Self::Shares(claims) => Some(claims),
        }
    }

    /// head.pass1, for the other processes.
    #[cold]
    pub(crate) fn show_bound(&self, bound: Sequence) {
        match self {
            #[cfg(feature = "shm")]
            Self::Shows(numbers, kept) => {
                // kept.keep1, before a message of these numbers is there.
                if let Some(kept) = kept {
                    let ahead = if seeded!("numbering_kept_late") { 0 } else { MOST_INTERVAL };
                    kept.keep(bound.get() + ahead);
                }
                // SAFETY: it lives as long as the ring. Release: pairs with the Acquire in `Seen::bound`.
                unsafe { numbers.as_ref() }.bound.store(bound.get(), Ordering::Release);
            }
            // Unreached: the numbers of the others are seen in the memory of this process
            _ => _ = bound,
        }
    }

    /// The ring has ended, before `end`.
    pub(super) fn show_end(&self, end: Sequence) {
        match self {
            #[cfg(feature = "shm")]
            Self::Shows(numbers, kept) => {
                if let Some(kept) = kept {
                    kept.keep(end.get());
                }
                // SAFETY: it lives as long as the ring.
                let numbers = unsafe { numbers.as_ref() };
                // Release: pairs with the Acquire in `Seen::end`, so the messages before it are seen.
                numbers.end.word.store(end.next().get(), Ordering::Release);
            }
            _ => _ = end,
        }
    }
}
