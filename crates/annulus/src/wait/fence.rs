//! The light fence of the waker and the heavy fence of the sleeper.
//!
//! Between "store, then look for sleepers" and "register, then look for the store" each side needs a fence
//! between its store and its load. The waker runs for every message and the sleeper once in a while, so where
//! the operating system can make the other cores execute a barrier (Linux, `membarrier(2)`, private
//! expedited), the waker's fence is for the compiler only and the sleeper pays for both. Elsewhere both are
//! `fence(SeqCst)`.
//!
//! *Registration.* The kernel carries out such barriers for a process that has registered for them. As long
//! as a process has one thread, it registers in no time, so the first ring does it. As soon as there is a
//! second thread it takes milliseconds. Then a ring only asks whether the kernel knows the command, which
//! decides the kind of its fences for good, and a thread that would sleep without a barrier naps (below).
//! Once some naps have run out, a thread that has nothing else to do registers. So no sleeper waits for that,
//! nor does a close. An eventcount that is young (`event_count.rs`) needs no barrier at all.
//!
//! *Why wakers may go before that.* What is light is right at any time, registered or not:
//!
//! - The barrier is had. The kernel interrupts each thread of the process that runs, and one that does not
//!   run has executed a barrier when it was switched out, and executes another when it is switched in. That
//!   goes for threads that began before the registration, too: it returns only when all cores know of it. So
//!   to each waker the barrier falls before event.wake1, and then event.wake3 sees the sleeper, or after
//!   event.wake1, and then the sleeper sees the store: one of the two, however long ago that waker began.
//! - The barrier is refused: the process has not registered yet, or may not, or may not ask (a sandbox that
//!   came after its rings). Then the sleeper is told so, and naps: it looks again some milliseconds later, so
//!   a wake-up that was missed comes late rather than never. (One is missed only where the waker's store is
//!   still on its way to the other cores during the sleeper's second look.) For a task, a thread of the
//!   library naps (`event_count/sleep.rs`). A consumer that would deactivate a lane leaves it active. A
//!   thread that ends a queue waits a millisecond, and so does a task for which nobody can nap.
//! - Nobody asked for one. Then nobody sleeps, and a waker that looks has nothing to miss.
//!
//! *Between processes.* Where sleepers are of other processes, the same is done by another form of the
//! barrier (`membarrier(2)`, global expedited): it reaches all processes that have registered for it. Here it
//! is the waker's process that registers, before anybody can sleep, and the sleeper needs to be told
//! (`other_processes.rs`). What was said of a barrier that is refused goes for this one, too.
//!
//! Only wake-ups, and on which side of a close a message is, hang on this pair, never the soundness of a
//! read: `membarrier` is outside the language's memory model, and nothing that the model has to promise is
//! built on it. Loom and Miri see two `SeqCst` fences.

#[cfg(feature = "std")]
use std::time::{Duration, Instant};

use super::Deadline;
#[cfg(feature = "shm")]
use crate::sync::light_fence;
use crate::sync::{Ordering, fence, seeded};

/// Whether a sleeper can do the work of both sides: what this process is told at its first ring, whatever it
/// is allowed later.
// Mutants: `with true`: the same on this system.
pub(crate) fn is_asymmetric() -> bool {
    system::is_offered()
}

/// Does in advance what the process needs for its sleeps: it tells the operating system that sleepers will
/// ask for barriers.
///
/// On Linux this takes some milliseconds, once in a process, if the process has a second thread. On other
/// systems it takes no time. Without this call, it is done with the first ring if the process has one thread
/// at that moment. If it has more, no thread that sleeps in a blocking call waits for it
/// ([`WaitStrategy::Block`](crate::WaitStrategy::Block), the default). While the process has not registered,
/// such a thread wakes up now and then to look at its ring: after 1, 2, 4, 8 and then each 16 milliseconds.
/// In rare cases, a wake-up is missed, and it comes late by such a time. Once a thread has slept for about 30
/// milliseconds, or many have for a shorter time, a thread of the library registers, and ends. A `select!`, a
/// task and a notifier do not wait either: a thread of the library wakes them in the same rhythm, and then
/// registers. Meanwhile these cost more:
///
/// - To end a [`queue`](crate::queue), by `close` or by the drop of its consumers, while producers are there
///   takes a millisecond, if more messages were sent than a few dozen. So does closing a broadcast ring with
///   one publisher from outside (a [`Closer`](crate::Closer)).
/// - With several producers of one [`mpsc`](crate::mpsc) or [`mpmc`](crate::mpmc) queue, a receive that stops
///   looking at idle producers, after it has looked at them millions of times, registers.
///
/// A new ring is exempt until some 64 messages in a row have woken nobody. So a ring that carries one reply,
/// or one whose receiver sleeps before nearly each message, costs the same in any process.
///
/// A program that makes its first ring before other threads start never needs this call, nor does one that
/// only publishes to and receives from broadcast rings, and spins. Call it if your program makes its rings
/// later, and cannot have a pause of a few milliseconds: best at the start of `main`, before other threads
/// start, when it takes no time.
///
/// It may be called from any thread, and any number of times. If the system refuses it, nothing changes.
///
/// ```
/// annulus::wait::prepare_process();
/// ```
#[cfg(feature = "std")]
pub fn prepare_process() {
    register();
}

/// Tells the system that there will be barriers; false where it refuses that. Once is enough, more do no
/// harm.
pub(super) fn register() -> bool {
    system::register()
}

/// The waker's fence where the pair is not asymmetric. (Where it is, that is [`light_fence`].)
// Mutants: `with ()`: only a model sees it: event_no_light_fence.
#[inline(always)]
pub(super) fn full() {
    fence(Ordering::SeqCst);
}

/// Whether eventcounts begin with full fences where light ones are to come (`event_count.rs`).
pub(super) fn begins_young() -> bool {
    // Models in which nobody sleeps are to go without, and models of young eventcounts are to have them.
    #[cfg(annulus_loom)]
    return std::env::var_os("ANNULUS_LOOM_YOUNG").is_some();
    #[cfg(not(annulus_loom))]
    true
}

/// The sleeper's fence; false where the system refused it, although it had promised it. Registers, where that
/// is what was missing.
pub(super) fn heavy(asymmetric: bool) -> bool {
    // Mutants: `|| with &&`, `&& with ||`: see `barrier` in `event_count/fences.rs`.
    heavy_if_registered(asymmetric) || (register() && heavy_if_registered(asymmetric))
}

/// As [`heavy`], for a waiter that can [`nap`] instead: false also where the process has not registered.
// Decision 0014: no first sleep registers.
pub(super) fn heavy_if_registered(asymmetric: bool) -> bool {
    fence(Ordering::SeqCst);
    if seeded!("sleep_registers") {
        register();
    }
    !asymmetric || system::barrier()
}

/// As [`heavy`], for a caller that can neither do without nor nap, and does not wait for the registration:
/// where the system refuses the barrier, this [waits](wait_out) in its place.
pub(super) fn heavy_or_wait(asymmetric: bool) {
    if seeded!("close_registers") {
        register();
    }
    if !heavy_if_registered(asymmetric) {
        wait_out();
        #[cfg(feature = "std")]
        system::nap_ran_out(false);
    }
}

/// Whether the process has registered, or has no need to. May be a barrier, too.
pub(super) fn is_registered() -> bool {
    system::is_registered()
}

/// Lets sleepers of other processes make up for the light fences of this one's wakers; false where the system
/// refuses it. Takes some milliseconds, once in a process, if there is a second thread.
#[cfg(all(feature = "shm", not(annulus_loom)))]
pub(super) fn register_across() -> bool {
    is_asymmetric() && system::register_across()
}

/// The waker's fence where the sleeper may be of another process, and makes up for it.
#[cfg(feature = "shm")]
#[inline(always)]
pub(super) fn light_across() {
    light_fence();
    // A model has no barrier that reaches another thread. This stands for it: of the two fences, one comes
    // first. So does the barrier, before the waker's store or behind it.
    #[cfg(annulus_loom)]
    if !seeded!("remote_no_barrier") {
        fence(Ordering::SeqCst);
    }
}

/// The sleeper's fence for wakers of another process: if `asymmetric`, they have light ones. False where the
/// system refused it.
#[cfg(feature = "shm")]
pub(super) fn heavy_across(asymmetric: bool) -> bool {
    fence(Ordering::SeqCst);
    !asymmetric || system::barrier_across()
}

/// Sleeps without the heavy fence, in a wait of which `naps` naps have run out: `sleep` is to return soon, so
/// that a wake-up that is missed comes late rather than never. Each nap is as long as those before it
/// together, up to 16 milliseconds. False where it ran out before `deadline`: then the wait goes on, with a
/// new registration.
#[cfg(feature = "std")]
pub(super) fn nap(naps: u32, deadline: Deadline, sleep: impl FnOnce(Deadline)) -> bool {
    /// How often a nap is twice as long as the one before.
    const DOUBLED: u32 = 4;

    let soon = Instant::now() + Duration::from_millis(1 << naps.min(DOUBLED));
    if deadline.is_some_and(|deadline| deadline <= soon) {
        sleep(deadline);
        return true;
    }
    sleep(Some(soon));
    let has_run_out = Instant::now() >= soon;
    if has_run_out {
        system::nap_ran_out(naps >= DOUBLED);
    }
    !has_run_out
}

/// Whether the process has tried to register, so that barriers which are refused are refused for good.
#[cfg(all(target_os = "linux", feature = "std", not(annulus_loom), not(miri)))]
pub(super) fn has_tried() -> bool {
    system::has_tried()
}

/// Waits for so long that each processor has carried out what it had begun.
#[cfg(feature = "std")]
pub(super) fn wait_out() {
    std::thread::sleep(Duration::from_millis(1));
}

/// Nobody sleeps without `std`.
#[cfg(not(feature = "std"))]
pub(super) fn nap(_: u32, deadline: Deadline, sleep: impl FnOnce(Deadline)) -> bool {
    sleep(deadline);
    true
}

/// The fence is never refused without `std`.
#[cfg(not(feature = "std"))]
pub(super) fn wait_out() {}

/// How often the library would have asked the system for a barrier.
#[cfg(annulus_loom)]
#[allow(clippy::disallowed_types, reason = "of the model itself, which loom is not to see")]
static BARRIERS_ASKED: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

/// How often the system was asked for a barrier so far. Loom has none, so a model says nothing of an
/// execution in which one was needed.
#[cfg(annulus_loom)]
#[doc(hidden)]
pub fn barriers_asked() -> usize {
    BARRIERS_ASKED.load(Ordering::Relaxed)
}

#[cfg(all(target_os = "linux", feature = "std", not(annulus_loom), not(miri)))]
mod system {
    use std::os::unix::fs::MetadataExt;
    use std::sync::OnceLock;

    use crate::os::helper_thread;
    use crate::os::linux::{Membarrier, has_membarrier, membarrier};
    use crate::sync::{AtomicBool, AtomicU32, Ordering, seeded};

    /// Whether the kernel knows the command; the answer never changes within a process.
    // Mutants: `with true`: the same on this system.
    pub(super) fn is_offered() -> bool {
        static OFFERED: OnceLock<bool> = OnceLock::new();
        *OFFERED.get_or_init(|| {
            let offered = has_membarrier(Membarrier::Private);
            if offered && (has_one_thread() || seeded!("ring_registers")) {
                // Unreached: in a process of one thread, and each test has a thread; test system registration
                register();
            }
            offered
        })
    }

    /// Whether the process has no second thread, so that it registers in no time. Where that is not known,
    /// there may be one.
    fn has_one_thread() -> bool {
        // The folder has one for each thread, and each of these is a link to it.
        std::fs::metadata("/proc/self/task").is_ok_and(|tasks| tasks.nlink() == 3)
    }

    /// Whether somebody has called [`register`], and it has returned.
    static TRIED: AtomicBool = AtomicBool::new(false);

    /// Tells the kernel that this process will ask for barriers.
    pub(super) fn register() -> bool {
        let registered = membarrier(Membarrier::RegisterPrivate);
        // Relaxed, here and below: a hint; the lock of `event_count/sleep.rs` orders it where that matters.
        TRIED.store(true, Ordering::Relaxed);
        registered
    }

    pub(super) fn has_tried() -> bool {
        TRIED.load(Ordering::Relaxed)
    }

    /// A nap has run out, perhaps one of the longest. The process has spent so much on naps that it
    /// registers, if that was one of the longest, or there have been many. A thread does so that has nothing
    /// else to do: the thread that sleeps here may be woken meanwhile.
    pub(super) fn nap_ran_out(is_longest: bool) {
        const MANY: u32 = 64;
        static NAPS: AtomicU32 = AtomicU32::new(0);

        // Relaxed: a number on which no order depends.
        let naps = NAPS.fetch_add(1, Ordering::Relaxed);
        if (is_longest || naps >= MANY) && is_first_to_begin() {
            // Unreached: the system has no thread to give
            if helper_thread::spawn("annulus-register", register).is_err() {
                register();
            }
        }
    }

    /// Whether nobody has begun such a thread yet, in this process: a child that `fork` made has the numbers
    /// of its parent, and not its threads. (What the kernel knows of the process, that it has registered, the
    /// child has, too. So of what is static here, nothing else has the number of its process.)
    pub(super) fn is_first_to_begin() -> bool {
        /// The process that has begun it.
        static BEGUN_BY: AtomicU32 = AtomicU32::new(0);

        let me = std::process::id();
        // Relaxed: no order depends on it.
        let before = BEGUN_BY.swap(me, Ordering::Relaxed);
        if seeded!("fence_begun_by_the_parent") { before == 0 } else { before != me }
    }

    /// A barrier on every core that runs a thread of this process; false where the process has not
    /// registered, and where it is refused to processes that have, too. (The kernel keeps which ones did, so
    /// there is no flag that could differ from what it knows.)
    pub(super) fn barrier() -> bool {
        #[cfg(test)]
        super::tests::BARRIERS.set(super::tests::BARRIERS.get() + 1);
        membarrier(Membarrier::Private)
    }

    /// Tells the kernel that this process is to carry out the barriers of others. Once is enough.
    #[cfg(feature = "shm")]
    pub(super) fn register_across() -> bool {
        membarrier(Membarrier::RegisterGlobal)
    }

    /// A barrier on every core that runs a thread of a process which has registered for that.
    #[cfg(feature = "shm")]
    pub(super) fn barrier_across() -> bool {
        membarrier(Membarrier::Global)
    }

    /// Whether the process has registered. It asks the kernel by a barrier until the answer is yes, which it
    /// stays.
    pub(super) fn is_registered() -> bool {
        static REGISTERED: OnceLock<()> = OnceLock::new();
        let is_registered = REGISTERED.get().is_some() || barrier();
        if is_registered {
            _ = REGISTERED.set(());
        }
        is_registered
    }
}

#[cfg(not(all(target_os = "linux", feature = "std", not(annulus_loom), not(miri))))]
mod system {
    // Mutants: `with true`: the same on this system.
    // Mutants: `with false`: not in this build: not on Linux.
    pub(super) fn is_offered() -> bool {
        // Models in which nobody sleeps run without the waker's fence, which would hide a missing order
        // elsewhere.
        #[cfg(annulus_loom)]
        return std::env::var_os("ANNULUS_LOOM_ASYMMETRIC").is_some();
        #[cfg(not(annulus_loom))]
        return false;
    }

    // Mutants: `with false`: not in this build: not on Linux.
    pub(super) fn register() -> bool {
        true
    }

    /// Without a barrier there is nothing to register for.
    #[cfg(feature = "std")]
    pub(super) fn nap_ran_out(_: bool) {}

    // Mutants: `with false`: not in this build: not on Linux.
    pub(super) fn barrier() -> bool {
        #[cfg(annulus_loom)]
        super::BARRIERS_ASKED.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        true
    }

    #[cfg(all(feature = "shm", not(annulus_loom)))]
    pub(super) fn register_across() -> bool {
        false
    }

    #[cfg(feature = "shm")]
    pub(super) fn barrier_across() -> bool {
        true
    }

    pub(super) fn is_registered() -> bool {
        true
    }
}

#[cfg(all(test, feature = "std"))]
pub(super) mod tests {
    use core::cell::Cell;

    use super::*;

    std::thread_local! {
        /// How often this thread has asked the system for a barrier.
        pub(crate) static BARRIERS: Cell<u64> = const { Cell::new(0) };
    }

    #[test]
    /// Nobody here has registered in advance.
    fn heavy_fence_is_had_on_this_system() {
        assert!(heavy(is_asymmetric()));
        assert!(heavy(false));
    }

    #[test]
    fn wait_in_place_of_a_barrier_is_as_long_as_it_says() {
        let begun = Instant::now();
        wait_out();
        assert!(begun.elapsed() >= Duration::from_millis(1));
    }

    /// A child that `fork` made has no thread that its parent has begun.
    #[cfg(all(target_os = "linux", not(miri)))]
    #[test]
    fn child_by_fork_begins_a_thread_of_its_own() {
        system::is_first_to_begin();
        assert!(!system::is_first_to_begin());
        // SAFETY: the child calls the system only, and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let begins = [(); 2].map(|()| i32::from(system::is_first_to_begin()));
            let has_what_is_registered = !is_registered() || system::barrier();
            // SAFETY: it ends the child, and runs nothing of the parent's.
            unsafe { libc::_exit(begins[0] + 2 * begins[1] + 4 * i32::from(!has_what_is_registered)) };
        }
        let mut status = 0;
        // SAFETY: it waits for the child, and `status` is there meanwhile.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert!(libc::WIFEXITED(status));
        assert_eq!(libc::WEXITSTATUS(status), 1, "once");
    }

    #[test]
    fn nap_is_short_and_never_later_than_the_deadline() {
        let sleep =
            |end: Deadline| std::thread::sleep(end.unwrap().saturating_duration_since(Instant::now()));
        assert!(!nap(0, None, sleep), "it ran out");
        for (naps, ms) in [(0, 1), (1, 2), (3, 8), (4, 16), (5, 16), (u32::MAX, 16)] {
            let (before, length) = (Instant::now(), Duration::from_millis(ms));
            nap(naps, None, |end| {
                let end = end.unwrap();
                assert!((before + length..=Instant::now() + length).contains(&end), "{naps}");
            });
            assert!(nap(naps, Some(before), |end| assert_eq!(end, Some(before))), "it did not run out");
        }
    }
}
