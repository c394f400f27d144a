//! [`annulus_options`]: of what size a ring is, and how its threads wait.

use core::time::Duration;

use annulus::WaitStrategy;

use crate::status::Done;
use crate::status::annulus_status::{ANNULUS_INVALID, ANNULUS_WRONG_SIZE};

/// How a thread waits: its `kind` is one of the `ANNULUS_WAIT_…`. All zero is the default: it polls a little,
/// and then sleeps until it is woken.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct annulus_wait {
    /// One of the `ANNULUS_WAIT_…`.
    pub kind: u32,
    /// Of `ANNULUS_WAIT_ADAPTIVE` and `ANNULUS_WAIT_BLOCK`: so many polls without a pause. Where this and
    /// `pause_polls` are 0, the default's numbers hold.
    pub spin_polls: u32,
    /// Of these two: so many polls then with a pause, before it gives up the time slice, or sleeps.
    pub pause_polls: u32,
}

/// Polls, then sleeps until it is woken: `ANNULUS_WAIT_BLOCK`.
pub const ANNULUS_WAIT_DEFAULT: u32 = 0;
/// Polls without a pause. For threads that have a core of their own.
pub const ANNULUS_WAIT_BUSY_SPIN: u32 = 1;
/// Polls with the processor's pause instruction between polls. Never gives up the core.
pub const ANNULUS_WAIT_PAUSE_SPIN: u32 = 2;
/// The processor waits until the word changes, where it can; else as `ANNULUS_WAIT_PAUSE_SPIN`.
pub const ANNULUS_WAIT_MONITOR: u32 = 3;
/// Polls with pauses that become longer.
pub const ANNULUS_WAIT_BACKOFF_SPIN: u32 = 4;
/// Polls, and then gives up its time slice between polls.
pub const ANNULUS_WAIT_ADAPTIVE: u32 = 5;
/// Polls, and then sleeps until it is woken.
pub const ANNULUS_WAIT_BLOCK: u32 = 6;

/// A bit of `flags`: the ring counts what `annulus_stats` says of waits.
pub const ANNULUS_STATISTICS: u32 = 1;

/// No timeout: it waits for as long as it takes.
pub const ANNULUS_FOREVER: u64 = u64::MAX;

/// What a ring is made of: `annulus_options options = ANNULUS_OPTIONS(1024, sizeof(struct order));`, and then
/// what is to be other than the default. What is not set has to be 0.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct annulus_options {
    /// `sizeof(annulus_options)`: it tells the library which version of this the program was compiled with.
    pub size: usize,
    /// How many messages the ring holds, exactly; any number above 0. Of a ring of records: how many bytes.
    pub capacity: usize,
    /// The size of a message, in bytes; above 0. Of a ring of records: 1 (`ANNULUS_BYTES_OPTIONS`).
    pub message_size: usize,
    /// How threads wait that have to.
    pub wait: annulus_wait,
    /// `ANNULUS_STATISTICS`, or 0.
    pub flags: u32,
}

/// The options, checked.
#[derive(Clone, Copy)]
pub(crate) struct Options {
    pub(crate) capacity: usize,
    pub(crate) message_size: usize,
    pub(crate) strategy: WaitStrategy,
    pub(crate) statistics: bool,
}

impl annulus_options {
    /// # Safety
    ///
    /// `options` is null, or points to so many bytes as its `size` says.
    pub(crate) unsafe fn checked(options: *const Self) -> Done<Options> {
        // SAFETY: the caller's promise; `size` is looked at before the rest.
        if options.is_null() || unsafe { (*options).size } != size_of::<Self>() {
            return Err(ANNULUS_INVALID);
        }
        // SAFETY: as above.
        let Self { capacity, message_size, wait, flags, .. } = unsafe { *options };
        if capacity == 0 || flags & !ANNULUS_STATISTICS != 0 {
            return Err(ANNULUS_INVALID);
        }
        if message_size == 0 || isize::try_from(message_size).is_err() {
            return Err(ANNULUS_WRONG_SIZE);
        }
        let (strategy, statistics) = (wait.strategy()?, flags & ANNULUS_STATISTICS != 0);
        Ok(Options { capacity, message_size, strategy, statistics })
    }
}

impl Options {
    /// These options, if they can be of a ring of records, whose capacity is in bytes.
    pub(crate) fn of_bytes(self) -> Done<Self> {
        if self.message_size == 1 { Ok(self) } else { Err(ANNULUS_WRONG_SIZE) }
    }
}

impl annulus_wait {
    fn strategy(self) -> Done<WaitStrategy> {
        let (spin_iters, pause_iters) = (self.spin_polls, self.pause_polls);
        let is_default = (spin_iters, pause_iters) == (0, 0);
        Ok(match self.kind {
            ANNULUS_WAIT_BUSY_SPIN => WaitStrategy::BusySpin,
            ANNULUS_WAIT_PAUSE_SPIN => WaitStrategy::PauseSpin,
            ANNULUS_WAIT_MONITOR => WaitStrategy::Monitor,
            ANNULUS_WAIT_BACKOFF_SPIN => WaitStrategy::BackoffSpin,
            ANNULUS_WAIT_ADAPTIVE if is_default => WaitStrategy::adaptive(),
            ANNULUS_WAIT_ADAPTIVE => WaitStrategy::adaptive_after(spin_iters, pause_iters),
            ANNULUS_WAIT_DEFAULT | ANNULUS_WAIT_BLOCK if is_default => WaitStrategy::block(),
            ANNULUS_WAIT_DEFAULT | ANNULUS_WAIT_BLOCK => WaitStrategy::block_after(spin_iters, pause_iters),
            _ => return Err(ANNULUS_INVALID),
        })
    }
}

/// For how long a call waits.
#[derive(Clone, Copy)]
pub(crate) enum Patience {
    None,
    Endless,
    For(Duration),
}

impl Patience {
    pub(crate) fn of_ns(timeout_ns: u64) -> Self {
        if timeout_ns == ANNULUS_FOREVER {
            Self::Endless
        } else {
            Self::For(Duration::from_nanos(timeout_ns))
        }
    }
}
