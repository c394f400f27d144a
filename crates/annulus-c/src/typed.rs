//! Rings whose messages are copied by value, one by one: [`Put`] and [`Get`], over any sending and any
//! receiving handle of the library.
//!
//! Where several threads claim slots, each step is one slot, so a slot has to be a message. There is an
//! instance of such a ring for each of the classes of sizes, and a message has a slot of the smallest class
//! that holds it.

// Decision 0123: words in place, classes of sizes where slots are claimed.

use core::ptr;
use core::time::Duration;

use annulus::broadcast::{self, LentPublisher, LentSubscriber};
use annulus::{Receive, RecvTimeoutError, SendTimeoutError, Transmit, TryRecvError, TrySendError};

use crate::blocks::WORD;
use crate::notified::Notified;
use crate::options::Patience;
use crate::status::Done;
use crate::status::annulus_status::{
    ANNULUS_CLOSED, ANNULUS_EMPTY, ANNULUS_FULL, ANNULUS_TIMEOUT, ANNULUS_UNSUPPORTED,
};

/// The slot of a message of up to so many words.
pub(crate) type Block<const WORDS: usize> = [u64; WORDS];

/// What a message is copied to and from, on the stack: words.
pub(crate) trait Words: Copy + Send + 'static {
    const ZERO: Self;
}

impl<const WORDS: usize> Words for Block<WORDS> {
    const ZERO: Self = [0; WORDS];
}

/// The size of the largest class, in bytes.
pub const ANNULUS_MESSAGE_MAX: usize = 4096;

/// `classes!(size, WORDS => expression)`: the expression, in which `WORDS` is the constant of the smallest
/// class that holds `size` bytes; an error where none does.
macro_rules! classes {
    ($size:expr, $WORDS:ident => $make:expr) => {
        $crate::typed::classes!(@ $size, $WORDS => $make, 1 2 4 8 16 32 64 128 256 512)
    };
    (@ $size:expr, $WORDS:ident => $make:expr, $($class:literal)+) => {
        match $size.div_ceil($crate::blocks::WORD) {
            $(words if words <= $class => {
                const $WORDS: usize = $class;
                $make
            })+
            _ => Err($crate::status::annulus_status::ANNULUS_WRONG_SIZE),
        }
    };
}
pub(crate) use classes;

const _: () = assert!(ANNULUS_MESSAGE_MAX == 512 * WORD, "the largest class");

/// What sends messages of one size.
pub(crate) trait Put: Send {
    /// Sends the message that lies at `message`.
    ///
    /// # Safety
    ///
    /// So many bytes as a message of the ring has lie there.
    unsafe fn put(&mut self, message: *const u8, patience: Patience) -> Done;

    /// Another one for the same ring.
    fn another(&self) -> Done<Box<dyn Put>>;

    /// What a view of it needs.
    fn lends(&mut self) -> Done<&mut dyn LendsPublisher>;

    /// How many messages wait, where it is asked and not the ring.
    fn len(&self) -> usize {
        0
    }
}

/// What receives messages of one size.
pub(crate) trait Get: Send {
    /// Receives a message to `message`.
    ///
    /// # Safety
    ///
    /// There is room for so many bytes as a message of the ring has.
    unsafe fn get(&mut self, message: *mut u8, patience: Patience) -> Done;

    /// Another one for the same ring.
    fn another(&self) -> Done<Box<dyn Get>>;

    /// What a view of it needs. It disarms the descriptor.
    fn lends(&mut self) -> Done<&mut dyn LendsSubscriber>;

    fn fd(&mut self) -> Done<i32>;

    fn arm(&mut self) -> Done<bool>;

    /// How many messages it received, how many it lost, and how many are there for it.
    fn counts(&self) -> Counts;

    /// Begins with the last `count` messages, and says how many these are.
    fn begin_with_last(&mut self, count: usize) -> Done<usize>;

    /// Claims a message, where several consumers of several processes share a queue, and copies it to
    /// `message`.
    ///
    /// # Safety
    ///
    /// As of [`get`](Self::get).
    unsafe fn claim(&mut self, _message: *mut u8, _patience: Patience) -> Done<Box<dyn Held>> {
        Err(ANNULUS_UNSUPPORTED)
    }

    /// After how long a silence the publisher is overdue, if that was said.
    fn deadline(&self) -> Option<Duration> {
        None
    }

    /// For how long the publisher has been silent, if it is overdue.
    fn overdue(&mut self) -> Option<Duration> {
        None
    }
}

/// A message that a consumer has claimed. Its drop gives it back.
pub(crate) trait Held: Send {
    fn done(self: Box<Self>);

    /// How often it was given before.
    fn given_before(&self) -> u64;
}

/// How another handle joins a ring.
pub(crate) type Join<H> = fn(&H) -> Done<H>;

/// What a receiving handle knows of its own messages. Nothing, where each message reaches one of several.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) received: u64,
    pub(crate) lagged: u64,
    /// What another process has written that was no message.
    pub(crate) corrupt: u64,
    pub(crate) pending: usize,
    /// The number of the next message, of a subscriber.
    pub(crate) next: u64,
}

/// A sending handle.
pub(crate) struct Sending<S> {
    pub(crate) handle: S,
    pub(crate) size: usize,
    /// How others join.
    pub(crate) join: Join<S>,
    /// What a view of it needs.
    pub(crate) lends: Option<fn(&mut S) -> &mut dyn LendsPublisher>,
}

/// The publisher of a ring of which views are made.
pub(crate) trait LendsPublisher {
    fn lend(&self) -> LentPublisher;

    /// # Safety
    ///
    /// As of the function of that name in the Rust library, here and below.
    unsafe fn take_back(&mut self, next: u64);

    /// # Safety
    ///
    /// As above.
    unsafe fn settle(&mut self, next: u64) -> bool;
}

/// The subscriber of such a ring.
pub(crate) trait LendsSubscriber {
    fn lend(&self) -> LentSubscriber;

    /// # Safety
    ///
    /// As above.
    unsafe fn take_back(&mut self, next: u64);
}

impl<const WORDS: usize> LendsPublisher for broadcast::Publisher<Block<WORDS>> {
    fn lend(&self) -> LentPublisher {
        self.lend()
    }

    unsafe fn take_back(&mut self, next: u64) {
        // SAFETY: the caller's promise.
        unsafe { self.take_back(next) };
    }

    unsafe fn settle(&mut self, next: u64) -> bool {
        // SAFETY: the caller's promise.
        unsafe { self.settle(next) }
    }
}

impl<const WORDS: usize> LendsSubscriber for broadcast::Subscriber<Block<WORDS>> {
    fn lend(&self) -> LentSubscriber {
        self.lend()
    }

    unsafe fn take_back(&mut self, next: u64) {
        // SAFETY: the caller's promise.
        unsafe { self.take_back(next) };
    }
}

/// A receiving handle.
pub(crate) struct Receiving<R: Receive + 'static> {
    pub(crate) handle: Notified<R>,
    pub(crate) size: usize,
    /// How others join.
    pub(crate) join: Join<R>,
    pub(crate) counts: fn(&R) -> Counts,
    /// What a view of it needs.
    pub(crate) lends: Option<fn(&mut R) -> &mut dyn LendsSubscriber>,
    /// How it begins with the last messages, if it is a subscriber.
    pub(crate) begins_with_last: Option<fn(&mut R, usize) -> usize>,
}

/// What nobody can join.
pub(crate) fn alone<H>(_: &H) -> Done<H> {
    Err(ANNULUS_UNSUPPORTED)
}

impl<S: Transmit<Item: Words> + 'static> Put for Sending<S> {
    unsafe fn put(&mut self, message: *const u8, patience: Patience) -> Done {
        let mut block = S::Item::ZERO;
        // SAFETY: the caller's promise; the class has room for the message.
        unsafe { ptr::copy_nonoverlapping(message, (&raw mut block).cast(), self.size) };
        match patience {
            Patience::None => self.handle.try_send(block).map_err(|error| match error {
                TrySendError::Full(_) => ANNULUS_FULL,
                TrySendError::Closed(_) => ANNULUS_CLOSED,
            }),
            Patience::Endless => self.handle.send(block).map_err(|_| ANNULUS_CLOSED),
            Patience::For(timeout) => self.handle.send_timeout(block, timeout).map_err(|error| match error {
                SendTimeoutError::Timeout(_) => ANNULUS_TIMEOUT,
                SendTimeoutError::Closed(_) => ANNULUS_CLOSED,
            }),
        }
    }

    fn another(&self) -> Done<Box<dyn Put>> {
        Ok(Box::new(Self { handle: (self.join)(&self.handle)?, ..*self }))
    }

    fn lends(&mut self) -> Done<&mut dyn LendsPublisher> {
        self.lends.map(|lends| lends(&mut self.handle)).ok_or(ANNULUS_UNSUPPORTED)
    }
}

impl<R: Receive<Item: Words> + 'static> Get for Receiving<R> {
    unsafe fn get(&mut self, message: *mut u8, patience: Patience) -> Done {
        let handle = self.handle.receiver();
        let block = match patience {
            Patience::None => handle.try_recv().map_err(|error| match error {
                TryRecvError::Empty => ANNULUS_EMPTY,
                TryRecvError::Closed => ANNULUS_CLOSED,
            }),
            Patience::Endless => handle.recv().map_err(|_| ANNULUS_CLOSED),
            Patience::For(timeout) => handle.recv_timeout(timeout).map_err(|error| match error {
                RecvTimeoutError::Timeout => ANNULUS_TIMEOUT,
                RecvTimeoutError::Closed => ANNULUS_CLOSED,
            }),
        }?;
        // SAFETY: the caller's promise; the class has room for the message.
        unsafe { ptr::copy_nonoverlapping((&raw const block).cast(), message, self.size) };
        Ok(())
    }

    fn another(&self) -> Done<Box<dyn Get>> {
        let handle = Notified::Not((self.join)(self.handle.look())?);
        Ok(Box::new(Self { handle, ..*self }))
    }

    fn lends(&mut self) -> Done<&mut dyn LendsSubscriber> {
        self.lends.map(|lends| lends(self.handle.receiver())).ok_or(ANNULUS_UNSUPPORTED)
    }

    fn fd(&mut self) -> Done<i32> {
        self.handle.fd()
    }

    fn arm(&mut self) -> Done<bool> {
        self.handle.arm()
    }

    fn counts(&self) -> Counts {
        (self.counts)(self.handle.look())
    }

    fn begin_with_last(&mut self, count: usize) -> Done<usize> {
        let begin = self.begins_with_last.ok_or(ANNULUS_UNSUPPORTED)?;
        Ok(begin(self.handle.receiver(), count))
    }
}
