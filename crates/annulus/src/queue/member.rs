//! A lane in its hub: what lies beside it, and how an end of it reaches it.

use core::ops::Deref;
use core::ptr::NonNull;

use super::plan::Plan;
use super::probe::Probe;
use crate::free_list::END;
use crate::lane::{Lane, SharedLane};
use crate::sync::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use crate::wait::Event;

/// A lane in its hub.
#[repr(C)]
pub(crate) struct Member<L> {
    pub(super) lane: L,
    /// The hub, with the right to give back a share in it; [`Hub::of`](super::hub::Hub::of) knows its type. Constant.
    pub(super) hub: NonNull<()>,
    /// Where its producer sleeps.
    pub(super) taken: Event,
    /// Whether its producer may go by it that consumers look at this lane. If not, it [lists](super::roster::Roster::list) the lane.
    pub(super) listed: AtomicBool,
    /// Whether a consumer has found something here since rings were last taken off the list: a hint, which consumers write.
    pub(super) active: AtomicBool,
    /// Its number in the roster. Constant.
    pub(super) index: u32,
    /// The number of the ring below it on the free list.
    pub(super) link: AtomicU32,
    /// Which producer this is; counted in the order of joining.
    pub(super) id: AtomicU64,
    /// The number of its producer's first message.
    pub(super) base: AtomicU64,
    /// Whether a producer has it.
    pub(super) taken_over: AtomicBool,
    /// Where that is asked for: what measures how long messages take.
    pub(super) probe: Option<Probe>,
}

impl<L> Member<L> {
    /// Number `index` of the roster, for producer `id`, of the hub at `hub`.
    pub(super) fn new(lane: L, index: u32, id: u64, hub: NonNull<()>, plan: &Plan) -> Self {
        Self {
            lane,
            hub,
            taken: Event::new(),
            listed: AtomicBool::new(false),
            active: AtomicBool::new(false),
            index,
            link: AtomicU32::new(END),
            id: AtomicU64::new(id),
            base: AtomicU64::new(plan.first),
            taken_over: AtomicBool::new(true),
            probe: plan.statistics.then(Probe::new),
        }
    }

    /// Whether consumers look at this lane.
    #[inline(always)]
    pub(super) fn is_listed(&self) -> bool {
        // Relaxed: the fence before it, and that of who takes it off the list, decide what it sees.
        self.listed.load(Ordering::Relaxed)
    }
}

/// A member, as an end of its lane knows it.
///
/// A member lives as long as its hub, and who has this also has a share in that hub: this is said here, once, so that the ends need not say it.
pub(super) struct MemberRef<L>(NonNull<Member<L>>);

impl<L> MemberRef<L> {
    /// A reference to `member`.
    ///
    /// # Safety
    ///
    /// Whoever uses it, or a copy of it, has a share in the member's hub at that time.
    pub(super) unsafe fn new(member: &Member<L>) -> Self {
        Self(NonNull::from(member))
    }
}

impl<L> Deref for MemberRef<L> {
    type Target = Member<L>;

    #[inline(always)]
    fn deref(&self) -> &Member<L> {
        // SAFETY: the promise of `new`; nobody borrows a member otherwise than shared.
        unsafe { self.0.as_ref() }
    }
}

impl<L> Clone for MemberRef<L> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<L> Copy for MemberRef<L> {}

impl<L> PartialEq for MemberRef<L> {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

/// Whether nothing lies in a lane, for a consumer of it.
pub(super) trait Quiet {
    fn is_quiet(&self) -> bool;
}

impl<T> Quiet for Lane<T> {
    #[inline(always)]
    fn is_quiet(&self) -> bool {
        self.tail() == self.head()
    }
}

impl<T> Quiet for SharedLane<T> {
    fn is_quiet(&self) -> bool {
        self.is_empty()
    }
}
