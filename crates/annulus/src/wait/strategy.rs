//! [`WaitStrategy`]: how a thread waits, as its user chooses, for a ring or for one handle of it.

use alloc::borrow::ToOwned;
use alloc::string::String;
use core::error::Error;
use core::fmt;
use core::str::FromStr;

/// How a blocking call waits.
///
/// | strategy | reacts | CPU while idle | for |
/// | --- | --- | --- | --- |
/// | [`BusySpin`](Self::BusySpin) | fastest | a whole core | a pinned thread on a core of its own |
/// | [`PauseSpin`](Self::PauseSpin) | as fast, on some machines faster | a whole core, but its SMT sibling runs better | SMT siblings, laptops, single messages to and fro |
/// | [`Monitor`](Self::Monitor) | nearly as fast, where the processor can | a whole core, at less power; its SMT sibling runs better | a thread on a core of its own, SMT siblings, machines that run hot |
/// | [`BackoffSpin`](Self::BackoffSpin) | slower the longer it waits | a core that others may take | background threads |
/// | [`Adaptive`](Self::Adaptive) | fast at first | a core that others may take | systems without an operating system |
/// | `Block` | fast at first, later after a wake-up by the kernel | none | everything else; the default with `std` |
///
/// A publisher pays nothing for readers that spin. To learn whether a reader sleeps, it pays one load.
///
/// # On a shared core
///
/// A thread that spins keeps others off its core, also the thread that it waits for. `Block`, `Adaptive` and
/// `BackoffSpin` spin for about two microseconds, and then give the core away. `Block` gives up its time
/// slice a few times before it sleeps, if that helped the last time at this ring. Now and then it tries
/// whether that would help. A publisher or producer that waits for free slots pauses longer between its
/// polls. Its pauses count as polls. `BusySpin`, `PauseSpin` and `Monitor` never give the core away,
/// whichever thread waits.
///
/// # Real-time priorities
///
/// Under `SCHED_FIFO` and `SCHED_RR`, giving up the time slice lets only threads of the *same* priority run.
/// Suppose that a thread of a higher priority waits by any strategy but `Block`, and the thread that it waits
/// for has the same core. Then that thread never runs. `Block` lets it run. If a thread must not sleep, give
/// the thread that it waits for a core of its own. This is true for `Monitor`, too: to the operating system,
/// a thread that waits by the processor runs.
///
/// # `BusySpin` or `PauseSpin`
///
/// Which of the two is faster depends on the machine. On a virtual Xeon with two cores a
/// message took the same time one way, and a round trip took a twentieth to a tenth less with `PauseSpin`.
/// The same was true for two threads that exchanged a bare word.
///
/// ```
/// use annulus::WaitStrategy;
///
/// let (mut publisher, subscribable) = annulus::broadcast::lossy::<u32>(8);
/// let mut subscriber = subscribable.subscribe();
/// let reader = std::thread::spawn(move || subscriber.recv_until(WaitStrategy::PauseSpin));
/// publisher.publish(5);
/// assert_eq!(reader.join().unwrap(), Ok(5));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WaitStrategy {
    /// Polls without a pause. If there are more threads than cores, it can keep the thread that it waits for
    /// off the core.
    BusySpin,
    /// Polls with the processor's pause instruction between polls. Never gives up the core.
    #[doc(alias = "BusySpinWithSpinLoopHint")]
    PauseSpin,
    /// Polls a few times with a pause, and then lets the processor wait until the one word changes that says
    /// whether there is something: the stamp of a slot, or the tail or the head of a queue. What does so is
    /// [`ProcessorWait::of_this_processor`](crate::wait::ProcessorWait::of_this_processor). It never sleeps
    /// in the kernel, and never gives up the core.
    ///
    /// One such wait lasts 100 microseconds at most, and then it polls again. So it notices a close, or the
    /// stop of a worker, up to that much later. A wait with a deadline ends with the deadline; with
    /// [`Wfe`](crate::wait::ProcessorWait::Wfe) up to 100 microseconds later.
    ///
    /// If the processor has no such instruction, or a virtual machine hides it, or if no single word decides,
    /// this is [`PauseSpin`](Self::PauseSpin). No single word decides for `select!`, `Select`, patterns of a
    /// bus, publishers that wait for subscribers, stages that follow several others, and consumers of a queue
    /// that has several rings.
    #[doc(alias = "MonitorWait")]
    #[doc(alias = "MonitorWaitFallback")]
    Monitor,
    /// Doubles the pause after each poll, up to a little less than a microsecond. From then on, with `std`,
    /// it also gives up its time slice between polls.
    BackoffSpin,
    /// Polls `spin_iters` times without a pause, then `pause_iters` times with one pause instruction each.
    /// From then on it pauses for a quarter of that longest pause of `BackoffSpin` between polls and, with
    /// `std`, gives up its time slice. Any numbers are allowed, even `u32::MAX`. Made by
    /// [`adaptive`](Self::adaptive) and [`adaptive_after`](Self::adaptive_after).
    #[non_exhaustive]
    Adaptive {
        /// Polls without a pause.
        spin_iters: u32,
        /// Polls with one pause instruction each, after those.
        pause_iters: u32,
    },
    /// Polls `spin_iters` times without a pause, then `pause_iters` times with one pause instruction each. If
    /// that helped the last time, it gives up its time slice up to four times, and it begins with that after
    /// 16 polls. Then it sleeps in the kernel until it is woken. If both are 0, it sleeps at once.
    ///
    /// Where more than four threads sleep at one ring and all of them are to wake up, the one that wakes them
    /// makes one system call, and those that are woken wake the others first. So that call takes as long for
    /// hundreds as for one. A thread may wake up later because another one that was woken before it has no
    /// core to run on.
    ///
    /// Made by [`block`](Self::block) and [`block_after`](Self::block_after).
    #[cfg(feature = "std")]
    #[non_exhaustive]
    Block {
        /// Polls without a pause.
        spin_iters: u32,
        /// Polls with one pause instruction each, after those.
        pause_iters: u32,
    },
}

/// Polls of [`WaitStrategy::block`] and [`WaitStrategy::adaptive`]: without a pause, and with one.
#[cfg(feature = "std")]
const BLOCK: (u32, u32) = (64, 32);
const ADAPTIVE: (u32, u32) = (64, 64);

impl WaitStrategy {
    /// [`Block`](Self::Block) after a brief spin: the default with `std`.
    #[cfg(feature = "std")]
    #[must_use]
    pub const fn block() -> Self {
        Self::Block { spin_iters: BLOCK.0, pause_iters: BLOCK.1 }
    }

    /// [`Block`](Self::Block) after so many polls without a pause, and so many with one; `block_after(0, 0)`
    /// sleeps at once.
    ///
    /// ```
    /// use annulus::WaitStrategy;
    ///
    /// assert_eq!(WaitStrategy::block_after(64, 32), WaitStrategy::block());
    /// ```
    #[cfg(feature = "std")]
    #[must_use]
    pub const fn block_after(spin_iters: u32, pause_iters: u32) -> Self {
        Self::Block { spin_iters, pause_iters }
    }

    /// Whether it never gives up the core.
    pub(super) fn keeps_its_core(self) -> bool {
        matches!(self, Self::BusySpin | Self::PauseSpin | Self::Monitor)
    }

    /// [`Adaptive`](Self::Adaptive) with 64 polls of each kind: the default without `std`.
    #[must_use]
    pub const fn adaptive() -> Self {
        Self::Adaptive { spin_iters: ADAPTIVE.0, pause_iters: ADAPTIVE.1 }
    }

    /// [`Adaptive`](Self::Adaptive) with so many polls without a pause, and so many with one.
    #[must_use]
    pub const fn adaptive_after(spin_iters: u32, pause_iters: u32) -> Self {
        Self::Adaptive { spin_iters, pause_iters }
    }
}

/// With `std`, `Block` after a brief spin; without, [`Adaptive`](WaitStrategy::Adaptive).
impl Default for WaitStrategy {
    fn default() -> Self {
        #[cfg(feature = "std")]
        return Self::block();
        #[cfg(not(feature = "std"))]
        return Self::adaptive();
    }
}

/// The form that [`FromStr`] reads: `busy-spin`, `pause-spin`, `monitor`, `backoff-spin`, `adaptive:64,64`,
/// `block:64,32`.
impl fmt::Display for WaitStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BusySpin => f.write_str("busy-spin"),
            Self::PauseSpin => f.write_str("pause-spin"),
            Self::Monitor => f.write_str("monitor"),
            Self::BackoffSpin => f.write_str("backoff-spin"),
            Self::Adaptive { spin_iters, pause_iters } => write!(f, "adaptive:{spin_iters},{pause_iters}"),
            #[cfg(feature = "std")]
            Self::Block { spin_iters, pause_iters } => write!(f, "block:{spin_iters},{pause_iters}"),
        }
    }
}

/// For arguments and settings. The names are `busy-spin`, `pause-spin`, `monitor`, `backoff-spin`, `adaptive`
/// and, with `std`, `block`. The last two may be followed by their numbers of polls, as in `block:0,0`.
///
/// ```
/// use annulus::WaitStrategy;
///
/// assert_eq!("busy-spin".parse(), Ok(WaitStrategy::BusySpin));
/// assert_eq!("adaptive:10,5".parse(), Ok(WaitStrategy::adaptive_after(10, 5)));
/// let error = "spin".parse::<WaitStrategy>().unwrap_err();
/// assert!(error.to_string().starts_with("\"spin\" is no wait strategy"));
/// ```
impl FromStr for WaitStrategy {
    type Err = ParseWaitStrategyError;

    fn from_str(text: &str) -> Result<Self, ParseWaitStrategyError> {
        let error = || ParseWaitStrategyError { text: text.to_owned() };
        let (name, polls) = match text.split_once(':') {
            Some((name, polls)) => {
                let (spin, pause) = polls.split_once(',').ok_or_else(error)?;
                let number = |text: &str| text.trim().parse::<u32>().map_err(|_| error());
                (name, Some((number(spin)?, number(pause)?)))
            }
            None => (text, None),
        };
        match (name, polls) {
            ("busy-spin", None) => Ok(Self::BusySpin),
            ("pause-spin", None) => Ok(Self::PauseSpin),
            ("monitor", None) => Ok(Self::Monitor),
            ("backoff-spin", None) => Ok(Self::BackoffSpin),
            ("adaptive", polls) => {
                let (spin_iters, pause_iters) = polls.unwrap_or(ADAPTIVE);
                Ok(Self::Adaptive { spin_iters, pause_iters })
            }
            #[cfg(feature = "std")]
            ("block", polls) => {
                let (spin_iters, pause_iters) = polls.unwrap_or(BLOCK);
                Ok(Self::Block { spin_iters, pause_iters })
            }
            _ => Err(error()),
        }
    }
}

/// The error for a text that does not name a [`WaitStrategy`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ParseWaitStrategyError {
    text: String,
}

impl fmt::Display for ParseWaitStrategyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let block = if cfg!(feature = "std") { ", block, block:POLLS,PAUSED_POLLS" } else { "" };
        write!(
            f,
            "{:?} is no wait strategy: there are busy-spin, pause-spin, monitor, backoff-spin, adaptive, adaptive:POLLS,PAUSED_POLLS{block}",
            self.text
        )
    }
}

impl Error for ParseWaitStrategyError {}

/// Writes `wait_strategy` and `set_wait_strategy` of a handle that receives. `make` is a line of the example
/// that makes such a handle, `reader`. The handle has a field `strategy`, an option (`ring`: what it is
/// instead of); or it always has its own (`own`); or it waits `as` another handle in it does.
macro_rules! own_strategy {
    (make: $make:literal, |$handle:ident| ring: $ring:expr $(,)?) => {
        $crate::wait::own_strategy!(
            @written $make,
            |$handle| $handle.strategy.unwrap_or($ring),
            |$handle, strategy| if !$crate::sync::seeded!("handle_strategy_unheard") {
                $handle.strategy = Some(strategy);
            }
        );
    };
    (make: $make:literal, |$handle:ident| own: $own:expr $(,)?) => {
        $crate::wait::own_strategy!(
            @written $make,
            |$handle| $own,
            |$handle, strategy| $own = strategy
        );
    };
    (make: $make:literal, |$handle:ident| as: $other:expr $(,)?) => {
        $crate::wait::own_strategy!(
            @written $make,
            |$handle| $other.wait_strategy(),
            |$handle, strategy| $other.set_wait_strategy(strategy)
        );
    };
    (@written $make:literal, |$handle:ident| $get:expr, |$changed:ident, $strategy:ident| $set:expr) => {
        /// How this handle waits if a verb is given no strategy: as its ring was told to, or as
        /// [`set_wait_strategy`](Self::set_wait_strategy) says.
        #[must_use]
        pub fn wait_strategy(&self) -> $crate::WaitStrategy {
            let $handle = self;
            $get
        }

        /// Chooses how this handle waits if a verb is given no strategy: each verb that waits, iterators, a
        /// worker or a select (which waits by its first handle). Other handles of the ring wait as
        /// before. A handle that is made from this one, such as a clone, waits as this one does now. Tasks
        /// and file descriptors have no strategy.
        ///
        /// # Examples
        ///
        /// ```
        /// use annulus::WaitStrategy;
        ///
        #[doc = $make]
        /// assert_eq!(reader.wait_strategy(), WaitStrategy::default()); // as the ring
        /// reader.set_wait_strategy(WaitStrategy::BusySpin);
        /// assert_eq!(reader.wait_strategy(), WaitStrategy::BusySpin);
        /// ```
        pub fn set_wait_strategy(&mut self, strategy: $crate::WaitStrategy) {
            let ($changed, $strategy) = (self, strategy);
            $set;
        }
    };
}
pub(crate) use own_strategy;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn strategy_that_is_shown_is_read() {
        let mut all = alloc::vec![
            WaitStrategy::BusySpin,
            WaitStrategy::PauseSpin,
            WaitStrategy::Monitor,
            WaitStrategy::BackoffSpin,
            WaitStrategy::adaptive(),
            WaitStrategy::Adaptive { spin_iters: 0, pause_iters: u32::MAX },
        ];
        #[cfg(feature = "std")]
        all.extend([WaitStrategy::block(), WaitStrategy::Block { spin_iters: 1, pause_iters: 0 }]);
        for strategy in all {
            assert_eq!(strategy.to_string().parse(), Ok(strategy));
        }
        assert_eq!("adaptive".parse(), Ok(WaitStrategy::adaptive()));
        #[cfg(feature = "std")]
        assert_eq!("block".parse(), Ok(WaitStrategy::block()));
    }

    #[test]
    fn name_of_no_strategy_is_refused() {
        for text in [
            "",
            "spin",
            "Block",
            "busy-spin:1,2",
            "monitor:1,2",
            "adaptive:",
            "adaptive:1",
            "adaptive:1,x",
            "adaptive:-1,1",
        ] {
            let error = text.parse::<WaitStrategy>().unwrap_err().to_string();
            assert!(error.starts_with(&alloc::format!("{text:?} is no wait strategy: ")), "{error}");
        }
    }
}
