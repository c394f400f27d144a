//! [`WaitStrategy`].

/// How a blocking call waits.
///
/// | strategy | reacts | CPU while idle | for |
/// | --- | --- | --- | --- |
/// | [`BusySpin`](Self::BusySpin) | fastest, or as fast as the next | a whole core | a pinned thread on a core of its own |
/// | [`YieldSpin`](Self::YieldSpin) | as fast, or faster | a whole core, but kind to its sibling thread | SMT siblings, laptops, single messages to and fro |
/// | [`BackoffSpin`](Self::BackoffSpin) | slower the longer it waits | a core that others may take | background threads |
/// | [`Adaptive`](Self::Adaptive) | fast at first | a core that others may take | without an operating system |
/// | `Block` | fast at first, then a wake-up by the kernel | none | everything else; the default with `std` |
///
/// A publisher pays nothing for the strategies that spin, and one load for those that sleep, until somebody does.
///
/// # Real-time priorities
///
/// Under `SCHED_FIFO` and `SCHED_RR` to give up the time slice means to let threads of the *same* priority run. So a thread of a higher priority that waits on the same
/// core by `BusySpin`, `YieldSpin`, `BackoffSpin` or `Adaptive` keeps the one it waits for from ever running. `Block` lets it run. Where a thread must not sleep,
/// give the one that it waits for a core of its own.
///
/// # Which
///
/// Which of the first two is faster hangs on the machine. On the virtual Xeon of `docs/benchmarks-xeon.md` a message took the same time one way, and a round
/// trip a twentieth to a tenth less with pauses: that goes for two bare words, too.
///
/// ```
/// use annulus::WaitStrategy;
///
/// let (mut publisher, subscribable) = annulus::broadcast::lossy::<u32>(8);
/// let mut subscriber = subscribable.subscribe();
/// let reader = std::thread::spawn(move || subscriber.recv_by(WaitStrategy::YieldSpin));
/// publisher.publish(5);
/// assert_eq!(reader.join().unwrap(), Ok(5));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WaitStrategy {
    /// Polls without a pause. When threads outnumber cores it keeps the one it waits for off the core.
    BusySpin,
    /// Polls with the processor's pause instruction between polls. Never gives up the core either.
    YieldSpin,
    /// Pauses twice as long after each poll, up to 64 pause instructions; from then on, with `std`, it also gives
    /// up its time slice between polls.
    BackoffSpin,
    /// Polls `spin_iters` times without a pause, `yield_iters` times with one, and from then on with eight, and
    /// (with `std`) gives up its time slice between polls. Any numbers will do, `u32::MAX` too.
    Adaptive {
        /// Polls without a pause.
        spin_iters: u32,
        /// Polls with one pause instruction each, after those.
        yield_iters: u32,
    },
    /// Polls `spin_iters` times without a pause, `yield_iters` times with one, then sleeps in the kernel until it
    /// is woken. Both may be 0, to sleep at once.
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    Block {
        /// Polls without a pause.
        spin_iters: u32,
        /// Polls with one pause instruction each, after those.
        yield_iters: u32,
    },
}

/// With `std`, [`Block`](WaitStrategy::Block) after a brief spin; without, [`Adaptive`](WaitStrategy::Adaptive).
impl Default for WaitStrategy {
    fn default() -> Self {
        #[cfg(feature = "std")]
        return Self::Block { spin_iters: 64, yield_iters: 32 };
        #[cfg(not(feature = "std"))]
        return Self::Adaptive { spin_iters: 64, yield_iters: 64 };
    }
}
