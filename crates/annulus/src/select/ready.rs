//! [`Select`]: which of any number of handles is ready.

use alloc::vec::Vec;
use core::fmt;
use std::time::{Duration, Instant};

use super::chosen::{took, turn};
use crate::queue::bytes;
use crate::queue::kind::InPlace;
use crate::receive::Waitable;
use crate::transmit::room::WaitsForRoom;
use crate::wait::{AnyArm, Arms, Deadline, Listening, RoomArm, Source, Until, UntilReady, wait_for_any};

/// Waits until one of several handles is ready: for any number of handles, where
/// [`select!`](crate::select!) needs to know them in advance.
///
/// A receiving handle is ready if a receive would return at once: a message, a lag, or the end. A sending
/// handle is ready if a slot is free, or if nobody will receive any more. [`ready`](Self::ready) takes
/// nothing and sends nothing, so the verb that follows may find nothing after all: where several consumers
/// share a queue, or several handles send, another one may be faster. So use the verbs that do not wait, and
/// select again if they find nothing.
///
/// A select borrows its handles until it is dropped: drop it before you use them.
///
/// *Memory.* A new select allocates a list of its handles, and something for each handle that sends. The
/// first wait in which a thread sleeps allocates what it sleeps on, and the first one at a ring allocates for
/// its waiters, as for tasks. Waits that follow allocate nothing, by this select or another one.
///
/// *Order.* With [`new`](Self::new), a look mostly begins with the handle that was returned last, and now and
/// then with another one. As long as a thread calls nothing but this select, each of `n` handles comes first
/// in at least one of `100 * n` calls, so a handle that stays ready is returned within so many. With
/// [`new_biased`](Self::new_biased), the handle that was added first is returned if it is ready.
///
/// *Waiting.* It waits with the [`WaitStrategy`](crate::WaitStrategy) of the first handle, and sleeps once
/// for all of them. It wakes up for a message that another consumer may also take. Such a wake-up is passed
/// on to another consumer, which may find nothing then, if the message was received here.
///
/// # Examples
///
/// ```
/// use annulus::{Select, spsc};
///
/// let (mut producers, mut consumers): (Vec<_>, Vec<_>) = (0..3).map(|_| spsc::channel(4)).unzip();
/// producers[2].send(7).unwrap();
///
/// let index = {
///     let mut select = Select::new();
///     for consumer in &mut consumers {
///         select.recv(consumer); // 0, 1, 2
///     }
///     select.ready()
/// }; // the select is dropped, and the consumers are free again
/// assert_eq!((index, consumers[index].try_recv()), (2, Ok(7)));
/// ```
///
/// With handles of different types, and ends that are reported:
///
/// ```
/// use annulus::{RecvError, Select, TryRecvError, broadcast, mpsc};
///
/// let (mut publisher, subscribable) = broadcast::lossy(8);
/// let mut prices = subscribable.subscribe();
/// let (mut producer, mut orders) = mpsc::channel(8);
/// publisher.publish(1.5);
/// producer.send("buy").unwrap();
/// drop((publisher, producer));
///
/// let (mut is_open, mut received) = ([true; 2], 0);
/// while is_open != [false; 2] {
///     let mut select = Select::new();
///     let indexes = [select.recv(&mut prices), select.recv(&mut orders)];
///     for index in indexes {
///         if !is_open[index] {
///             select.remove(index);
///         }
///     }
///     let index = select.ready();
///     drop(select);
///     let result = if index == indexes[0] {
///         prices.recv().map(drop) // a lag is skipped
///     } else {
///         orders.recv().map(drop)
///     };
///     match result {
///         Ok(()) => received += 1,
///         Err(_) => is_open[index] = false,
///     }
/// }
/// assert_eq!(received, 2);
/// ```
#[doc(alias = "ReadyTimeoutError")]
#[doc(alias = "TryReadyError")]
#[doc(alias = "SelectTimeoutError")]
pub struct Select<'a> {
    arms: Vec<SelectArm<'a>>,
    /// The index of the next handle.
    next: usize,
    is_fair: bool,
}

/// A handle with its index.
struct SelectArm<'a> {
    index: usize,
    arm: ReadyArm<'a>,
}

/// A handle that receives, or a look for room for one that sends.
enum ReadyArm<'a> {
    Receives(Listening<UntilReady<&'a mut (dyn Source + 'a)>>),
    Sends(RoomArm<'a>),
}

impl Arms for Vec<SelectArm<'_>> {
    fn count(&self) -> usize {
        self.len()
    }

    fn at(&mut self, index: usize) -> &mut AnyArm<'_> {
        match &mut self[index].arm {
            ReadyArm::Receives(ready) => ready,
            ReadyArm::Sends(room) => &mut *room.0,
        }
    }
}

impl<'a> Select<'a> {
    /// A fair select, without handles.
    #[must_use]
    pub fn new() -> Self {
        Self { arms: Vec::new(), next: 0, is_fair: true }
    }

    /// A select that prefers the handles that were added first.
    ///
    /// ```
    /// let (mut a, mut first) = annulus::spsc::channel(1);
    /// let (mut b, mut second) = annulus::spsc::channel(1);
    /// a.send(1).unwrap();
    /// b.send(2).unwrap();
    /// let mut select = annulus::Select::new_biased();
    /// let index = select.recv(&mut first);
    /// select.recv(&mut second);
    /// assert_eq!((select.ready(), select.ready()), (index, index));
    /// ```
    #[must_use]
    pub fn new_biased() -> Self {
        Self { is_fair: false, ..Self::new() }
    }

    /// Adds a handle that receives, and returns its index: 0 for the first handle, and one more for each that
    /// follows, whether it receives or sends.
    pub fn recv<S: Waitable>(&mut self, handle: &'a mut S) -> usize {
        self.add(ReadyArm::Receives(Listening::until_ready(handle)))
    }

    /// Adds a handle that sends, and returns its index, like [`recv`](Self::recv).
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::spsc::channel(1);
    /// producer.send(1).unwrap();
    /// let mut select = annulus::Select::new();
    /// let index = select.send(&mut producer);
    /// assert_eq!(select.try_ready(), None, "the ring is full");
    /// consumer.recv().unwrap();
    /// assert_eq!(select.try_ready(), Some(index));
    /// drop(select);
    /// assert!(producer.try_send(2).is_ok());
    /// ```
    pub fn send<S: WaitsForRoom>(&mut self, handle: &'a mut S) -> usize {
        self.add(ReadyArm::Sends(handle.room()))
    }

    /// Adds a producer of bytes, which is ready if a record of `len` bytes has room, or if a
    /// [`reserve`](crate::queue::bytes::Producer::reserve) would fail. Returns its index, like
    /// [`recv`](Self::recv).
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::queue::bytes::channel(64);
    /// producer.write(&[1; 32]).unwrap();
    /// let mut select = annulus::Select::new();
    /// let index = select.reserve(&mut producer, 32);
    /// assert_eq!(select.try_ready(), None, "there is no room for so much");
    /// drop(consumer.read());
    /// assert_eq!(select.try_ready(), Some(index));
    /// drop(select);
    /// assert!(producer.try_write(&[2; 32]).is_ok());
    /// ```
    pub fn reserve<K: InPlace>(&mut self, producer: &'a mut bytes::Producer<K>, len: usize) -> usize {
        self.add(ReadyArm::Sends(producer.room_for(len)))
    }

    fn add(&mut self, handle: ReadyArm<'a>) -> usize {
        let index = self.next;
        self.next += 1;
        self.arms.push(SelectArm { index, arm: handle });
        index
    }

    /// Takes a handle out. The others keep their indexes.
    ///
    /// # Panics
    ///
    /// If no handle has this index.
    #[track_caller]
    pub fn remove(&mut self, index: usize) {
        let at = self.arms.iter().position(|arm| arm.index == index);
        self.arms.remove(at.expect("no handle of the select has this index"));
    }

    /// Waits until a handle is ready, and returns its index.
    ///
    /// # Panics
    ///
    /// If there is no handle: this would wait for ever.
    #[track_caller]
    pub fn ready(&mut self) -> usize {
        assert!(!self.arms.is_empty(), "a select without handles would wait for ever");
        match self.wait(None) {
            Some(index) => index,
            None => unreachable!("a wait without a deadline does not end without a result"),
        }
    }

    /// The index of a handle that is ready now; `None` if none is. Never waits.
    pub fn try_ready(&mut self) -> Option<usize> {
        self.wait(Some(Instant::now()))
    }

    /// As [`ready`](Self::ready), but gives up after `timeout` on the monotonic clock, and returns `None`. A
    /// timeout that is too long for the clock means no timeout. Without handles it returns at once.
    pub fn ready_timeout(&mut self, timeout: Duration) -> Option<usize> {
        self.ready_until(timeout)
    }

    /// As [`ready`](Self::ready), but waits as [`Until`] says. (A strategy has no effect: it waits by the
    /// strategy of its first handle.)
    pub fn ready_until(&mut self, until: impl Into<Until>) -> Option<usize> {
        self.wait(until.into().deadline())
    }

    fn wait(&mut self, deadline: Deadline) -> Option<usize> {
        if self.arms.is_empty() {
            return None;
        }
        let first = if self.is_fair { turn(self.arms.len()) } else { 0 };
        let chosen = wait_for_any(&mut self.arms, first, deadline)?;
        if self.is_fair {
            took(chosen, first);
        }
        Some(self.arms[chosen].index)
    }
}

impl Default for Select<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Select<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Select").field("handles", &self.arms.len()).field("fair", &self.is_fair).finish()
    }
}
