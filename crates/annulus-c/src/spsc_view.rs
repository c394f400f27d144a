//! [`annulus_spsc_producer`] and [`annulus_spsc_consumer`]: what a C program has of a queue of one producer
//! and one consumer, so that a message costs it no call.

use core::mem::offset_of;
use core::ptr;

use annulus::queue::Lent;
use annulus::spsc::Spsc;

use crate::blocks::{self, Contiguous, WORD};
use crate::consumer::{Consumer, ConsumerEnd, annulus_consumer};
use crate::handle::object;
use crate::options::Patience;
use crate::producer::{Producer, ProducerEnd, annulus_producer};
use crate::status::annulus_status::{self, ANNULUS_UNSUPPORTED};
use crate::status::{Done, guarded};
use crate::view::{self, View};

/// In the words `wakes`: the other side may sleep, or a fence is needed to tell.
pub const ANNULUS_WAKES: u32 = 0x53;
/// In the words `closes`: the queue is closed.
pub const ANNULUS_CLOSES: u32 = 0x04;

const _: () = assert!(ANNULUS_WAKES == Lent::SLOW && ANNULUS_CLOSES == Lent::CLOSED);

/// A view of the producer of an `ANNULUS_SPSC` queue: what `annulus_inline.h` needs to send without a call.
/// The library fills it, and the functions of `annulus_inline.h` change it; a program does neither. It lies
/// where the program wants it, and may be copied; the copy that was used last is the view.
///
/// Message numbers count words of 8 bytes, and wrap.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Debug)]
#[repr(C)]
pub struct annulus_spsc_producer {
    /// The number of the next word.
    pub tail: u64,
    /// Words before this number are free and contiguous.
    pub stop: u64,
    /// Where word 0 would lie: word `n` lies at this address + 8 `n`, modulo 2^64 (2^32).
    pub origin: usize,
    /// Where `tail` is stored (release) when messages are written.
    pub own: *mut u64,
    /// `ANNULUS_WAKES` of this tell, after that store, whether to call the library.
    pub wakes: *const u32,
    /// `ANNULUS_CLOSES` of this tells whether the queue is closed.
    pub closes: *const u32,
    /// From one message to the next, in words.
    pub stride: usize,
    /// The size of a message.
    pub message_size: usize,
    /// Whose view it is.
    pub producer: *mut annulus_producer,
}

/// A view of the consumer of an `ANNULUS_SPSC` queue, as `annulus_spsc_producer`.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Debug)]
#[repr(C)]
pub struct annulus_spsc_consumer {
    /// The number of the next word.
    pub head: u64,
    /// Words before this number are there and contiguous.
    pub stop: u64,
    /// Where word 0 would lie.
    pub origin: usize,
    /// Where `head` is stored (release) when messages are read.
    pub own: *mut u64,
    /// Where the producer stores how far it is.
    pub other: *const u64,
    /// `ANNULUS_WAKES` of this tell, after the store to `own`, whether to call the library.
    pub wakes: *const u32,
    /// `ANNULUS_CLOSES` of this tells whether the queue is closed.
    pub closes: *const u32,
    /// From one message to the next, in words.
    pub stride: usize,
    /// The size of a message.
    pub message_size: usize,
    /// Up to this number, words that are sent from now on are contiguous with the words before `stop`.
    pub lap_end: u64,
    /// Whose view it is.
    pub consumer: *mut annulus_consumer,
}

// What the header asserts, too.
#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(offset_of!(annulus_spsc_producer, own) == 24 && size_of::<annulus_spsc_producer>() == 72);
    assert!(offset_of!(annulus_spsc_producer, producer) == 64);
    assert!(offset_of!(annulus_spsc_consumer, own) == 24 && size_of::<annulus_spsc_consumer>() == 88);
    assert!(offset_of!(annulus_spsc_consumer, consumer) == 80);
};

/// What a view that is ended looks at: a queue that is empty and closed, so it calls the library, which says
/// what it is.
pub(crate) static ENDED: (u64, u32) = (0, ANNULUS_CLOSES);

impl View for annulus_spsc_producer {
    type Of = Producer;

    fn ended() -> Self {
        Self {
            tail: 0,
            stop: 0,
            origin: 0,
            own: ptr::null_mut(),
            wakes: &raw const ENDED.1,
            closes: &raw const ENDED.1,
            stride: 1,
            message_size: 0,
            producer: ptr::null_mut(),
        }
    }

    fn handle(&self) -> *mut annulus_producer {
        self.producer
    }

    unsafe fn give_back(self, of: &mut Producer) -> Done {
        // SAFETY: the caller's promise.
        unsafe { producer_end(of)?.lent()?.take_back() };
        Ok(())
    }
}

impl annulus_spsc_producer {
    /// What it may use: nothing, until `look` has found something.
    fn begin(&mut self, lent: Lent, found: Option<&Contiguous>) {
        // SAFETY: a word of a queue that lives. Nobody else writes it.
        self.tail = unsafe { lent.own.read() };
        self.stop = self.tail;
        if let Some(found) = found {
            self.stop = self.tail.wrapping_add(found.units as u64);
            self.origin = origin(found.start, self.tail);
        }
    }
}

impl View for annulus_spsc_consumer {
    type Of = Consumer;

    fn ended() -> Self {
        Self {
            head: 0,
            stop: 0,
            origin: 0,
            own: ptr::null_mut(),
            other: &raw const ENDED.0,
            wakes: &raw const ENDED.1,
            closes: &raw const ENDED.1,
            stride: 1,
            message_size: 0,
            lap_end: 0,
            consumer: ptr::null_mut(),
        }
    }

    fn handle(&self) -> *mut annulus_consumer {
        self.consumer
    }

    unsafe fn give_back(self, of: &mut Consumer) -> Done {
        // SAFETY: the caller's promise.
        unsafe { consumer_end(of)?.lent()?.take_back() };
        Ok(())
    }
}

impl annulus_spsc_consumer {
    fn begin(&mut self, lent: Lent, found: Option<&Contiguous>) {
        // SAFETY: a word of a queue that lives. Nobody else writes it.
        self.head = unsafe { lent.own.read() };
        self.stop = self.head;
        self.lap_end = self.head;
        if let Some(found) = found {
            self.stop = self.head.wrapping_add(found.units as u64);
            // At least what was found; no more, where it must ask for the rest.
            self.lap_end = self.head.wrapping_add(lent.beside.max(found.units) as u64);
            self.origin = origin(found.start, self.head);
        }
    }
}

/// Where word 0 would lie, if word `number` lies at `start`.
fn origin(start: *const u8, number: u64) -> usize {
    start.expose_provenance().wrapping_sub((number as usize).wrapping_mul(WORD))
}

fn waits(timeout_ns: u64) -> Patience {
    if timeout_ns == 0 { Patience::None } else { Patience::of_ns(timeout_ns) }
}

fn producer_end(of: &mut Producer) -> Done<&mut blocks::Producer<Spsc>> {
    match &mut of.end {
        ProducerEnd::Spsc(end) => Ok(end),
        _ => Err(ANNULUS_UNSUPPORTED),
    }
}

fn consumer_end(of: &mut Consumer) -> Done<&mut blocks::Consumer<Spsc>> {
    match &mut of.end {
        ConsumerEnd::Spsc(end) => Ok(end),
        _ => Err(ANNULUS_UNSUPPORTED),
    }
}

/// Makes a view of a producer, for `annulus_inline.h`: `version` is `ANNULUS_VIEW_VERSION`. Until
/// `annulus_producer_view_end` the producer is used through the view only: its own functions that send,
/// reserve, commit or free return `ANNULUS_VIEWED`; the others work.
///
/// The thread that uses the producer may call this, and uses the view; both may move to another thread.
/// Returns `ANNULUS_UNSUPPORTED` (another kind of queue, or another version), `ANNULUS_VIEWED` (it has a view
/// already), `ANNULUS_RESERVED`, `ANNULUS_INVALID`, `ANNULUS_NOT_A_HANDLE`. Then `*view` is as one that was
/// ended.
///
/// # Safety
///
/// `producer` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it. `view` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_producer_view(
    producer: *mut annulus_producer,
    version: u32,
    view: *mut annulus_spsc_producer,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let view = unsafe { view::begin(view, version) }?;
        // SAFETY: the caller's promise.
        let end = producer_end(unsafe { object(producer) }?)?;
        let lent = end.lend()?;
        (view.stride, view.message_size) = (end.stride_bytes() / WORD, end.message_size());
        (view.own, view.producer) = (lent.own.as_ptr(), producer);
        (view.wakes, view.closes) = (lent.wakes.as_ptr(), lent.closes.as_ptr());
        view.begin(lent, None);
        Ok(())
    })
}

/// For `annulus_inline.h`: looks for free slots, and waits for one for `timeout_ns` nanoseconds at most; with
/// 0 it does not wait, `ANNULUS_FOREVER` is no limit.
///
/// The thread that uses the view may call this. Returns `ANNULUS_FULL` (with 0), `ANNULUS_TIMEOUT`,
/// `ANNULUS_CLOSED`, `ANNULUS_INVALID` (the view was ended), `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// `view` is null, or points to a view that this library has filled, and that `annulus_inline.h` has used by
/// its rules; no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_producer_view_look(
    view: *mut annulus_spsc_producer,
    timeout_ns: u64,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (view, of) = unsafe { view::used(view) }?;
        let end = producer_end(of)?.lent()?;
        // SAFETY: the caller's promise.
        let found = unsafe { end.look(waits(timeout_ns)) };
        view.begin(end.units.lend(), found.as_ref().ok());
        of.ring.order.after_room();
        found.map(drop).map_err(|status| of.ring.told(status))
    })
}

/// For `annulus_inline.h`: the last `words` words were sent, and a look at `wakes` has found that there is
/// more to do.
///
/// The thread that uses the view may call this. Returns `ANNULUS_CLOSED` if the queue was closed meanwhile:
/// then these are not sent. `ANNULUS_INVALID` (the view was ended), `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// As for `annulus_producer_view_look`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_producer_view_settle(
    view: *mut annulus_spsc_producer,
    words: usize,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (view, of) = unsafe { view::used(view) }?;
        let end = producer_end(of)?.lent()?;
        // SAFETY: the caller's promise.
        let result = unsafe { end.settle(words) };
        if result.is_err() {
            view.begin(end.units.lend(), None);
        }
        result
    })
}

/// Ends a view: the producer sends by its own functions again. A view that is null or was ended is no error.
///
/// The thread that uses the view may call this. Returns `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// As for `annulus_producer_view_look`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_producer_view_end(view: *mut annulus_spsc_producer) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { view::end(view) })
}

/// Makes a view of a consumer, for `annulus_inline.h`, as `annulus_producer_view`: until
/// `annulus_consumer_view_end` the consumer's own functions that receive, read, advance, arm or free return
/// `ANNULUS_VIEWED`. Its descriptor, if it has one, is disarmed.
///
/// The thread that uses the consumer may call this, and uses the view; both may move to another thread.
/// Returns `ANNULUS_UNSUPPORTED` (another kind of queue, or another version), `ANNULUS_VIEWED` (it has a view
/// already), `ANNULUS_INVALID`, `ANNULUS_NOT_A_HANDLE`. Then `*view` is as one that was ended.
///
/// # Safety
///
/// `consumer` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it. `view` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_consumer_view(
    consumer: *mut annulus_consumer,
    version: u32,
    view: *mut annulus_spsc_consumer,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let view = unsafe { view::begin(view, version) }?;
        // SAFETY: the caller's promise.
        let end = consumer_end(unsafe { object(consumer) }?)?;
        let lent = end.lend()?;
        (view.stride, view.message_size) = (end.stride_bytes() / WORD, end.message_size());
        (view.own, view.other, view.consumer) = (lent.own.as_ptr(), lent.other.as_ptr(), consumer);
        (view.wakes, view.closes) = (lent.wakes.as_ptr(), lent.closes.as_ptr());
        view.begin(lent, None);
        Ok(())
    })
}

/// For `annulus_inline.h`: looks for messages, and waits for one for `timeout_ns` nanoseconds at most; with 0
/// it does not wait, `ANNULUS_FOREVER` is no limit.
///
/// The thread that uses the view may call this. Returns `ANNULUS_EMPTY` (with 0), `ANNULUS_TIMEOUT`,
/// `ANNULUS_CLOSED` (every message was received), `ANNULUS_INVALID` (the view was ended),
/// `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// As for `annulus_producer_view_look`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_consumer_view_look(
    view: *mut annulus_spsc_consumer,
    timeout_ns: u64,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (view, of) = unsafe { view::used(view) }?;
        let end = consumer_end(of)?.lent()?;
        // SAFETY: the caller's promise.
        let found = unsafe { end.show(waits(timeout_ns)) };
        view.begin(end.units.look().lend(), found.as_ref().ok());
        of.ring.order.after_receive();
        found.map(drop).map_err(|status| of.ring.told(status))
    })
}

/// For `annulus_inline.h`: messages were taken, and a look at `wakes` has found that there is more to do.
///
/// The thread that uses the view may call this. Returns `ANNULUS_INVALID` (the view was ended),
/// `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// As for `annulus_producer_view_look`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_consumer_view_wake(view: *mut annulus_spsc_consumer) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (_, of) = unsafe { view::used(view) }?;
        let end = consumer_end(of)?.lent()?;
        // SAFETY: the caller's promise.
        unsafe { end.wake() };
        Ok(())
    })
}

/// Ends a view: the consumer receives by its own functions again. A view that is null or was ended is no
/// error.
///
/// The thread that uses the view may call this. Returns `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// As for `annulus_producer_view_look`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_consumer_view_end(view: *mut annulus_spsc_consumer) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { view::end(view) })
}
