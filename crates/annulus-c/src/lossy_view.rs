//! [`annulus_lossy_publisher`] and [`annulus_lossy_subscriber`]: what a C program has of a lossy broadcast
//! ring of one publisher, so that a message costs it no call.

use core::ffi::c_void;
use core::mem::offset_of;
use core::ptr;

use annulus::broadcast::{LentPublisher, LentSubscriber};

use crate::handle::object;
use crate::options::Patience;
use crate::publisher::{Publisher, annulus_publisher};
use crate::spsc_view::ENDED;
use crate::status::annulus_status::{self, ANNULUS_CLOSED, ANNULUS_INVALID, ANNULUS_VIEWED};
use crate::status::{Done, guarded};
use crate::subscriber::{Subscriber, annulus_subscriber};
use crate::view::{self, View};

/// Messages of up to so many bytes are always copied by `annulus_inline.h`; larger ones by the library, where
/// that has vectors for it.
pub const ANNULUS_INLINE_MAX: usize = 128;

/// A view of the publisher of an `ANNULUS_LOSSY` ring: what `annulus_inline.h` needs to publish without a
/// call. The library fills it, and the functions of `annulus_inline.h` change it; a program does neither. It
/// lies where the program wants it, and may be copied; the copy that was used last is the view.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Debug)]
#[repr(C)]
pub struct annulus_lossy_publisher {
    /// The number of the next message.
    pub next: u64,
    /// Its slot: the stamp, and `payload_at` words behind it the message.
    pub slot: *mut u64,
    /// The first slot.
    pub begin: *mut u64,
    /// Behind the last slot, where the first one comes again.
    pub stop: *mut u64,
    /// A message whose number has none of these bits is noted in `bound`, or, where they are 0, published by
    /// the library.
    pub slow_mask: *const u64,
    /// How far the publisher says it is.
    pub bound: *mut u64,
    /// `ANNULUS_WAKES` of this tell, after each message, whether to call the library.
    pub wakes: *const u32,
    /// From one slot to the next, in words.
    pub stride: usize,
    /// Where a message lies in its slot, in words. Other than 1: the library copies it.
    pub payload_at: usize,
    /// The size of a message.
    pub message_size: usize,
    /// Whose view it is.
    pub publisher: *mut annulus_publisher,
}

/// A view of a subscriber of an `ANNULUS_LOSSY` ring, as `annulus_lossy_publisher`.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Debug)]
#[repr(C)]
pub struct annulus_lossy_subscriber {
    /// The number of the next message.
    pub next: u64,
    /// Its slot: the stamp, and `payload_at` words behind it the message.
    pub slot: *const u64,
    /// The first slot.
    pub begin: *const u64,
    /// Behind the last slot, where the first one comes again.
    pub stop: *const u64,
    /// Not 0 once nothing comes any more.
    pub over: *const u8,
    /// From one slot to the next, in words.
    pub stride: usize,
    /// Where a message lies in its slot, in words. Other than 1: the library copies it.
    pub payload_at: usize,
    /// The size of a message.
    pub message_size: usize,
    /// Whose view it is.
    pub subscriber: *mut annulus_subscriber,
}

// What the header asserts, too.
#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(offset_of!(annulus_lossy_publisher, slot) == 8 && size_of::<annulus_lossy_publisher>() == 88);
    assert!(offset_of!(annulus_lossy_publisher, publisher) == 80);
    assert!(offset_of!(annulus_lossy_subscriber, slot) == 8 && size_of::<annulus_lossy_subscriber>() == 72);
    assert!(offset_of!(annulus_lossy_subscriber, subscriber) == 64);
};

impl View for annulus_lossy_publisher {
    type Of = Publisher;

    fn ended() -> Self {
        Self {
            next: 0,
            slot: ptr::null_mut(),
            begin: ptr::null_mut(),
            stop: ptr::null_mut(),
            slow_mask: &raw const ENDED.0,
            bound: ptr::null_mut(),
            wakes: &raw const ENDED.1,
            stride: 0,
            payload_at: 0,
            // No message has it.
            message_size: usize::MAX,
            publisher: ptr::null_mut(),
        }
    }

    fn handle(&self) -> *mut annulus_publisher {
        self.publisher
    }

    unsafe fn give_back(self, of: &mut Publisher) -> Done {
        lent_publisher(of)?;
        // SAFETY: the caller's promise.
        unsafe { of.end.lends()?.take_back(self.next) };
        of.is_lent = false;
        Ok(())
    }
}

impl annulus_lossy_publisher {
    fn begin(&mut self, LentPublisher { slots, head, next, wakes }: LentPublisher) {
        assert!(slots.payload_at == 1 || self.message_size > ANNULUS_INLINE_MAX);
        self.begin = slots.start.as_ptr();
        self.stop = self.begin.wrapping_add(slots.capacity * slots.stride);
        self.go_to(next, slots.capacity, slots.stride);
        (self.slow_mask, self.bound) = (head.slow_path_mask.as_ptr(), head.bound.as_ptr());
        (self.stride, self.payload_at, self.wakes) = (slots.stride, slots.payload_at, wakes.as_ptr());
    }

    fn go_to(&mut self, next: u64, capacity: usize, stride: usize) {
        self.next = next;
        self.slot = self.begin.wrapping_add((next % capacity as u64) as usize * stride);
    }
}

impl View for annulus_lossy_subscriber {
    type Of = Subscriber;

    fn ended() -> Self {
        Self {
            next: 0,
            slot: ptr::null(),
            begin: ptr::null(),
            stop: ptr::null(),
            over: (&raw const ENDED.1).cast(),
            stride: 0,
            payload_at: 0,
            // No message has it.
            message_size: usize::MAX,
            subscriber: ptr::null_mut(),
        }
    }

    fn handle(&self) -> *mut annulus_subscriber {
        self.subscriber
    }

    unsafe fn give_back(self, of: &mut Subscriber) -> Done {
        lent_subscriber(of)?;
        // SAFETY: the caller's promise.
        unsafe { of.end.lends()?.take_back(self.next) };
        of.is_lent = false;
        Ok(())
    }
}

impl annulus_lossy_subscriber {
    fn begin(&mut self, LentSubscriber { slots, next, over }: LentSubscriber) {
        assert!(slots.payload_at == 1 || self.message_size > ANNULUS_INLINE_MAX);
        self.begin = slots.start.as_ptr();
        self.stop = self.begin.wrapping_add(slots.capacity * slots.stride);
        self.next = next;
        self.slot = self.begin.wrapping_add((next % slots.capacity as u64) as usize * slots.stride);
        (self.stride, self.payload_at, self.over) = (slots.stride, slots.payload_at, over.as_ptr());
    }
}

/// The publisher of a view.
fn lent_publisher(of: &mut Publisher) -> Done<&mut Publisher> {
    if of.is_lent { Ok(of) } else { Err(ANNULUS_INVALID) }
}

/// The subscriber of a view.
fn lent_subscriber(of: &mut Subscriber) -> Done<&mut Subscriber> {
    if of.is_lent { Ok(of) } else { Err(ANNULUS_INVALID) }
}

/// Makes a view of a publisher, for `annulus_inline.h`: `version` is `ANNULUS_VIEW_VERSION`. Until
/// `annulus_publisher_view_end` the publisher is used through the view only: its own functions that publish
/// or free return `ANNULUS_VIEWED`; the others work.
///
/// The thread that uses the publisher may call this, and uses the view; both may move to another thread.
/// Returns `ANNULUS_UNSUPPORTED` (another kind of ring, or another version), `ANNULUS_VIEWED` (it has a view
/// already), `ANNULUS_INVALID`, `ANNULUS_NOT_A_HANDLE`. Then `*view` is as one that was ended.
///
/// # Safety
///
/// `publisher` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it. `view` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_publisher_view(
    publisher: *mut annulus_publisher,
    version: u32,
    view: *mut annulus_lossy_publisher,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let view = unsafe { view::begin(view, version) }?;
        // SAFETY: the caller's promise.
        let object = unsafe { object::<Publisher>(publisher) }?;
        if object.is_lent {
            return Err(ANNULUS_VIEWED);
        }
        let lent = object.end.lends()?.lend();
        (view.message_size, view.publisher) = (object.ring.message_size, publisher);
        view.begin(lent);
        object.is_lent = true;
        Ok(())
    })
}

/// For `annulus_inline.h`: message `next` is announced and written, and `slow_mask` is 0. Publishes it.
///
/// The thread that uses the view may call this. Returns `ANNULUS_CLOSED`: then it is not published.
/// `ANNULUS_INVALID` (the view was ended), `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// `view` is null, or points to a view that this library has filled, and that `annulus_inline.h` has used by
/// its rules; no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_publisher_view_settle(view: *mut annulus_lossy_publisher) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (view, of) = unsafe { view::used(view) }?;
        let publisher = lent_publisher(of)?;
        publisher.ring.order.before_send();
        // SAFETY: the caller's promise.
        let is_published = unsafe { publisher.end.lends()?.settle(view.next) };
        if !is_published {
            return Err(ANNULUS_CLOSED);
        }
        view.go_to(view.next + 1, publisher.ring.capacity, view.stride);
        Ok(())
    })
}

/// For `annulus_inline.h`: messages before `next` were published, and a look at `wakes` has found that there
/// is more to do.
///
/// The thread that uses the view may call this. Returns `ANNULUS_INVALID` (the view was ended),
/// `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// As for `annulus_publisher_view_settle`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_publisher_view_wake(view: *mut annulus_lossy_publisher) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (view, of) = unsafe { view::used(view) }?;
        let publisher = lent_publisher(of)?;
        // SAFETY: the caller's promise.
        unsafe { publisher.end.lends()?.take_back(view.next) };
        Ok(())
    })
}

/// As `annulus_publisher_publish`, through a view: for messages that are too large to be copied inline.
///
/// The thread that uses the view may call this. Returns as `annulus_publisher_publish`, and `ANNULUS_INVALID`
/// also if the view was ended.
///
/// # Safety
///
/// As for `annulus_publisher_view_settle`. `message` is null, or `size` bytes lie there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_publisher_view_publish(
    view: *mut annulus_lossy_publisher,
    message: *const c_void,
    size: usize,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (view, of) = unsafe { view::used(view) }?;
        let publisher = lent_publisher(of)?;
        publisher.ring.takes(message, size)?;
        // SAFETY: the caller's promise.
        unsafe { publisher.end.lends()?.take_back(view.next) };
        publisher.ring.order.before_send();
        // SAFETY: the caller's promise, and `size` is the size of a message.
        unsafe { publisher.end.put(message.cast(), Patience::Endless) }?;
        view.go_to(view.next + 1, publisher.ring.capacity, view.stride);
        Ok(())
    })
}

/// Ends a view: the publisher publishes by its own functions again. A view that is null or was ended is no
/// error.
///
/// The thread that uses the view may call this. Returns `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// As for `annulus_publisher_view_settle`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_publisher_view_end(view: *mut annulus_lossy_publisher) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { view::end(view) })
}

/// Makes a view of a subscriber, for `annulus_inline.h`, as `annulus_publisher_view`: until
/// `annulus_subscriber_view_end` the subscriber's own functions that receive, arm or free return
/// `ANNULUS_VIEWED`, and those that count its messages know those up to the last call of the library. Its
/// descriptor, if it has one, is disarmed.
///
/// The thread that uses the subscriber may call this, and uses the view; both may move to another thread.
/// Returns `ANNULUS_UNSUPPORTED` (another kind of ring, or another version), `ANNULUS_VIEWED` (it has a view
/// already), `ANNULUS_INVALID`, `ANNULUS_NOT_A_HANDLE`. Then `*view` is as one that was ended.
///
/// # Safety
///
/// `subscriber` is null, or a handle that this library made, whether it was freed or not; no other thread
/// uses it. `view` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_subscriber_view(
    subscriber: *mut annulus_subscriber,
    version: u32,
    view: *mut annulus_lossy_subscriber,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let view = unsafe { view::begin(view, version) }?;
        // SAFETY: the caller's promise.
        let object = unsafe { object::<Subscriber>(subscriber) }?;
        if object.is_lent {
            return Err(ANNULUS_VIEWED);
        }
        let lent = object.end.lends()?.lend();
        (view.message_size, view.subscriber) = (object.ring.message_size, subscriber);
        view.begin(lent);
        object.is_lent = true;
        Ok(())
    })
}

/// For `annulus_inline.h`: receives the next message by the library, as `annulus_subscriber_recv_timeout`;
/// with 0 it does not wait, `ANNULUS_FOREVER` is no limit. After a lag it continues with a message that is
/// there.
///
/// The thread that uses the view may call this. Returns `ANNULUS_EMPTY` (with 0), `ANNULUS_TIMEOUT`,
/// `ANNULUS_CLOSED`, `ANNULUS_WRONG_SIZE`, `ANNULUS_INVALID` (also if the view was ended),
/// `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// As for `annulus_publisher_view_settle`. `message` is null, or `size` bytes may be written there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_subscriber_view_recv(
    view: *mut annulus_lossy_subscriber,
    message: *mut c_void,
    size: usize,
    timeout_ns: u64,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (view, of) = unsafe { view::used(view) }?;
        let subscriber = lent_subscriber(of)?;
        subscriber.ring.takes(message, size)?;
        // SAFETY: the caller's promise.
        unsafe { subscriber.end.lends()?.take_back(view.next) };
        let patience = if timeout_ns == 0 { Patience::None } else { Patience::of_ns(timeout_ns) };
        // SAFETY: the caller's promise, and `size` is the size of a message.
        let result = unsafe { subscriber.end.get(message.cast(), patience) };
        view.begin(subscriber.end.lends()?.lend());
        subscriber.ring.order.after_receive();
        result.map_err(|status| subscriber.ring.told(status))
    })
}

/// Ends a view: the subscriber receives by its own functions again. A view that is null or was ended is no
/// error.
///
/// The thread that uses the view may call this. Returns `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// As for `annulus_publisher_view_settle`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_subscriber_view_end(view: *mut annulus_lossy_subscriber) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { view::end(view) })
}
