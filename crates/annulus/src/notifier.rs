//! [`Notifier`]: a receiving handle in a worker. Arm, look once more, wait for a file descriptor.
//!
//! It is a [`Listener`] whose waker writes to an eventfd. The order of its steps is what loses no wake-up: it
//! clears the descriptor, registers, and only then looks for the last time. A message that this look does not
//! see was sent after the registration, so its sender writes to the descriptor, and nobody clears it before
//! the next arming.
//!
//! *Ownership.* The waker has a share in the descriptor. So it stays open while a sender is about to write,
//! wherever the notifier is meanwhile, and the sender never writes to another file with the same number. The
//! receiver keeps its ring, and so the eventcount. A caller that gets hold of the receiver could put another
//! one in its place, so the listener is given up before that. A wake-up that it had by then stays with the
//! address of its eventcount: only a receiver that waits at that address uses it or passes it on.

use core::fmt;
use core::mem;
use core::num::NonZeroUsize;
use core::ptr::NonNull;
use core::task::Waker;
use std::io;
#[cfg(not(annulus_loom))]
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::sync::Arc;
use std::task::Wake;

use crate::os::event_fd::EventFd;
use crate::receive::Waitable;
use crate::sync::seeded;
use crate::wait::{Listener, Look, UntilReady};

/// How often [`Notifier::arm`] registers anew where its receiver waits at another eventcount each time.
const LOOKS: u32 = if cfg!(annulus_loom) { 3 } else { 64 };

/// What a caller of [`Notifier::arm`] does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use = "if it is `Ready`, the descriptor may never become readable"]
pub enum Readiness {
    /// Something is there: a message, a lag, or the end. Receive it. The notifier is not armed, so don't wait
    /// for its descriptor.
    Ready,
    /// Nothing is there. The descriptor becomes readable as soon as something is. Wait for that.
    Armed,
}

/// A receiving handle for `epoll`, `poll`, `io_uring` or a worker: it makes a file descriptor readable
/// when something can be received.
///
/// On Linux only, with the feature `std`. Elsewhere the type does not exist. It takes [every receiving
/// handle](Waitable), or a `&mut` reference to one.
///
/// A loop does the same three steps in each turn:
///
/// 1. Receive what is there, by verbs that do not wait, until they say "empty".
/// 2. [`arm`](Self::arm). If it says [`Readiness::Ready`], go back to 1.
/// 3. Wait until the descriptor is readable. Go back to 1.
///
/// ```
/// use annulus::{Notifier, Readiness, TryRecvError};
/// use rustix::event::{PollFd, PollFlags, poll};
///
/// let (mut producer, consumer) = annulus::spsc::channel::<u64>(64);
/// let mut notifier = Notifier::new(consumer)?;
/// let writer = std::thread::spawn(move || (1..=100).for_each(|number| producer.send(number).unwrap()));
///
/// let mut sum = 0;
/// 'receive: loop {
///     loop {
///         match notifier.get_mut().try_recv() {
///             Ok(number) => sum += number,
///             Err(TryRecvError::Empty) => break,
///             Err(TryRecvError::Closed) => break 'receive,
///         }
///     }
///     if notifier.arm() == Readiness::Armed {
///         poll(&mut [PollFd::new(&notifier, PollFlags::IN)], None)?; // or epoll, or io_uring
///     }
/// }
/// assert_eq!(sum, 5050);
/// # writer.join().unwrap();
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # What is promised
///
/// - *No wake-up is lost.* If `arm` says [`Readiness::Armed`], then the descriptor becomes readable at the
///   next message, at a lag, and when the ring is closed, also if that happens while `arm` runs.
/// - *A wake-up may come for nothing.* Another consumer of the same queue may be faster. And a wake-up that
///   began before the notifier was disarmed may come afterwards. So receive by verbs that do not wait.
/// - *Wake-ups coalesce.* A descriptor is written to once for each arming, however many messages come.
/// - *Either end may go first.* A notifier may be dropped at any time. A sender that is about to write to its
///   descriptor at that moment keeps it open until it has done so. So no sender ever writes to another file
///   with the same number. The receiver keeps its ring, so the ring can't go first. If it is closed, the
///   descriptor becomes readable, and the receiver says what it is told.
/// - *A wake-up in place of another's is passed on.* In a queue with many consumers, one message wakes one of
///   them. If that is a notifier which is then disarmed or dropped, it wakes another consumer. So it does if
///   its receiver is [replaced](Self::replace).
///
/// # The descriptor
///
/// Only poll for the descriptor: a program that reads from it, or writes to it, takes wake-ups from the
/// notifier, or gives it wake-ups for nothing. Take it out of an `epoll` (`EPOLL_CTL_DEL`) before you drop
/// the notifier. The guide says more: [level and edge triggers](crate::guide::waiting#level-or-edge), [what a
/// descriptor costs](crate::guide::waiting#what-a-descriptor-costs), and [how to use it with
/// tokio](crate::guide::waiting#with-tokio).
pub struct Notifier<R: Waitable> {
    /// Armed, or woken since. Its eventcount is the receiver's.
    listener: Option<Listener>,
    /// The eventcount where it had a wake-up for itself, in place of any other waiter, and has not found
    /// nothing since. The receiver may be another one by now, so this address is compared, and never
    /// followed.
    woken_at: Option<NonZeroUsize>,
    /// `None` only after `into_inner`.
    receiver: Option<R>,
    signal: Arc<Signal>,
}

/// The descriptor, as a waker.
struct Signal(EventFd);

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.raise();
        if seeded!("notifier_writes_twice") {
            self.0.raise();
        }
    }
}

impl<R: Waitable> Notifier<R> {
    /// A notifier for `receiver`, with a new file descriptor. It is not armed.
    ///
    /// # Errors
    ///
    /// If the system gives no descriptor, for example because the process has too many. The receiver is
    /// dropped then; pass `&mut receiver` to keep it.
    pub fn new(receiver: R) -> io::Result<Self> {
        let signal = Arc::new(Signal(EventFd::new()?));
        Ok(Self { listener: None, woken_at: None, receiver: Some(receiver), signal })
    }

    /// Clears the descriptor, and asks for the next wake-up, unless something is there already. It waits for
    /// nobody. It takes no message.
    ///
    /// If it was armed before, it is armed anew. A [stage](crate::broadcast::Subscriber::after) takes this as
    /// the beginning of a receive: what it received before counts as processed.
    ///
    /// # Panics
    ///
    /// If the receiver is a group without an aligned member, as its verbs do.
    // Decision 0073: nothing else arms, and a method that gives access to the receiver disarms.
    pub fn arm(&mut self) -> Readiness {
        self.drop_listener();
        if !seeded!("notifier_clears_late") {
            self.clear();
        }
        for _ in 0..LOOKS {
            if self.receiver_mut().is_ready() {
                return Readiness::Ready;
            }
            // Nothing is there that a wake-up could have been for.
            self.take_wake_up();
            let waker = Waker::from(Arc::clone(&self.signal));
            let receiver = self.receiver.as_mut().expect(THERE);
            // SAFETY: the eventcounts live as long as the receiver, which is in its place until the listener
            // is gone: `get_mut`, `into_inner` and the drop give up the listener first.
            let (look, is_owed) =
                unsafe { Listener::register_and_look(&mut self.listener, &mut UntilReady(receiver), &waker) };
            match look {
                Look::Found(()) => {
                    self.woken_at = is_owed.then(|| self.waits_at()).or(self.woken_at);
                    self.listener = None;
                    return Readiness::Ready;
                }
                Look::Nothing => {
                    if seeded!("notifier_clears_late") {
                        self.clear();
                    }
                    return Readiness::Armed;
                }
                // Unreached: the ring is overwritten at each look: threads have to meet there, here and below
                Look::Again => {}
            }
        }
        // What it waits for moves on faster than it looks: the loop looks again.
        // Unreached: as above
        self.signal.0.raise();
        // Unreached: as above
        Readiness::Armed
    }

    /// Asks for no wake-up any more, and clears the descriptor. A wake-up that it had in place of another
    /// waiter, and did not use, is passed on.
    ///
    /// A wake-up that is under way may still make the descriptor readable once, until the next
    /// [`arm`](Self::arm).
    pub fn disarm(&mut self) {
        self.pass_on();
        self.clear();
    }

    /// The receiver. The notifier stays armed. (If something is received by way of this reference, the next
    /// wake-up may come for nothing.)
    pub fn get_ref(&self) -> &R {
        self.receiver()
    }

    /// The receiver, to receive from. The notifier is not armed any more. The descriptor is left as it is.
    ///
    /// To exchange the receiver for another one, use [`replace`](Self::replace), or
    /// [`disarm`](Self::disarm) the notifier first. If you exchange it by this reference alone, a wake-up
    /// that it had in place of another consumer of the ring before is not passed on: that consumer may sleep
    /// although a message is there.
    pub fn get_mut(&mut self) -> &mut R {
        self.drop_listener();
        self.receiver_mut()
    }

    /// [Disarms](Self::disarm) the notifier, puts `receiver` in the place of the one that it has, and returns
    /// that one. A wake-up that it had in place of another consumer of that one's ring goes on there.
    ///
    /// ```
    /// use annulus::{Notifier, Readiness, spsc};
    ///
    /// let (_before, consumer) = spsc::channel::<u64>(64);
    /// let mut notifier = Notifier::new(consumer)?;
    /// let (mut producer, consumer) = spsc::channel(64);
    /// drop(notifier.replace(consumer));
    /// assert_eq!(notifier.arm(), Readiness::Armed);
    /// producer.send(7).unwrap(); // makes the descriptor readable
    /// assert_eq!(notifier.get_mut().try_recv(), Ok(7));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn replace(&mut self, receiver: R) -> R {
        self.disarm();
        mem::replace(self.receiver_mut(), receiver)
    }

    /// Gives the receiver back, and closes the descriptor, as a drop does.
    #[must_use = "to drop the receiver, drop the notifier"]
    pub fn into_inner(mut self) -> R {
        self.pass_on();
        self.take_receiver()
    }

    fn take_receiver(&mut self) -> R {
        self.receiver.take().expect(THERE)
    }

    fn receiver(&self) -> &R {
        self.receiver.as_ref().expect(THERE)
    }

    fn receiver_mut(&mut self) -> &mut R {
        self.receiver.as_mut().expect(THERE)
    }

    fn clear(&self) {
        self.signal.0.clear();
    }

    /// From now on no thread writes to the descriptor, except one that is about to.
    fn drop_listener(&mut self) {
        if let Some(listener) = self.listener.take() {
            let at = listener.at().addr();
            if listener.left() {
                self.woken_at = Some(at);
            }
        }
    }

    /// Where the receiver waits.
    fn waits_at(&self) -> NonZeroUsize {
        NonNull::from(self.receiver().wait_point()).addr()
    }

    /// Whether there is a wake-up of the receiver's ring. It is the caller's then. One of another ring stays:
    /// its receiver may come back.
    fn take_wake_up(&mut self) -> bool {
        let is_here = self.woken_at.is_some_and(|at| at == self.waits_at());
        if is_here {
            self.woken_at = None;
        }
        is_here
    }

    /// Gives up the listener. If the notifier was woken in place of another waiter, and has not found its
    /// ring empty since, this wakes another one, because the caller may never look again.
    fn pass_on(&mut self) {
        self.drop_listener();
        if self.take_wake_up() && !seeded!("notifier_keeps_wake_up") {
            self.receiver().wait_point().notify_some(1);
        }
    }
}

/// Why the receiver can't be missing.
const THERE: &str = "only `into_inner` takes the receiver, and the notifier with it";

impl<R: Waitable> Drop for Notifier<R> {
    fn drop(&mut self) {
        if self.receiver.is_some() {
            self.pass_on();
        }
    }
}

#[cfg(not(annulus_loom))]
impl<R: Waitable> AsFd for Notifier<R> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.signal.0.as_fd()
    }
}

#[cfg(not(annulus_loom))]
impl<R: Waitable> AsRawFd for Notifier<R> {
    fn as_raw_fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}

/// What a model has in place of a descriptor.
#[cfg(annulus_loom)]
#[doc(hidden)]
impl<R: Waitable> Notifier<R> {
    /// Waits until it is readable.
    pub fn wait_until_readable(&self) {
        self.signal.0.wait();
    }

    /// How often it was written to since it was cleared.
    pub fn writes(&self) -> u64 {
        self.signal.0.count()
    }
}

impl<R: Waitable> fmt::Debug for Notifier<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notifier").field("is_armed", &self.listener.is_some()).finish_non_exhaustive()
    }
}
