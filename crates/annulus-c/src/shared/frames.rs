//! Rings of frames between processes: how they are made and joined, and the verbs of their handles.

use core::ffi::{c_int, c_void};
use core::ptr;

use super::error::annulus_shared_error;
use super::frame_system::{self as system, FramePublisher, FrameSubscriber, HeldFrame};
use super::frame_types::{
    annulus_frame, annulus_frame_options, annulus_frame_publisher, annulus_frame_subscriber,
    annulus_held_frame,
};
use super::invitation::annulus_invitation;
use super::options::{SharedOptions, annulus_shared_options};
use super::rings::{join, make};
use crate::handle::{Handle, handle, object, place, take};
use crate::options::Patience;
use crate::ring::annulus_peer;
use crate::status::{annulus_status, guarded, guarded_or};

handle!(annulus_frame_publisher = 15: FramePublisher);
handle!(annulus_frame_subscriber = 16: FrameSubscriber);
handle!(annulus_held_frame = 17: HeldFrame);

/// Makes a ring of frames, and its publisher. Frames are written once, where all subscribers read them.
///
/// `options` say what is in the frames: `ANNULUS_SHARED_OPTIONS(4, float, "f32")` for frames that are
/// `float`s, one behind the other, or `ANNULUS_SHARED_BYTES_OPTIONS(4)` for bytes. Their capacity is how many
/// frames stay for subscribers that come late, or are slow; their `places`, for how many subscribers there is
/// room. All of the memory is there from the beginning: as many frames as the capacity, as all subscribers
/// may hold, and one or two more. Subscribers map it read-only.
///
/// Otherwise as `annulus_shared_producer_new`.
///
/// # Safety
///
/// As for `annulus_shared_producer_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_shared_frames_new(
    options: *const annulus_shared_options,
    frames: *const annulus_frame_options,
    publisher: *mut *mut annulus_frame_publisher,
    invitation: *mut *mut annulus_invitation,
    error: *mut annulus_shared_error,
) -> annulus_status {
    let made = |options: &SharedOptions| {
        // SAFETY: the caller's promise.
        let frames = unsafe { annulus_frame_options::checked(frames) }?;
        system::frame_publisher(options, &frames)
    };
    // SAFETY: the caller's promise.
    unsafe { make(options, publisher, invitation, error, made) }
}

/// Subscribes to a ring of frames, from the next frame on, or with `from_oldest` from the oldest one that is
/// there. If `options` have a schema, the frames have to be values of that.
///
/// With `awaited`, the publisher of a lossless ring waits for it; a lossy one never waits.
///
/// The caller owns the subscriber. When the process of the publisher has ended without a close, receives
/// return what it had published completely, and then `ANNULUS_PEER_DIED`. Returns `ANNULUS_OCCUPIED` if the
/// ring has no room for one more; otherwise as `annulus_invitation_producer`.
///
/// # Safety
///
/// As for `annulus_invitation_producer`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_invitation_frames(
    invitation: *const annulus_invitation,
    options: *const annulus_shared_options,
    from_oldest: bool,
    awaited: bool,
    subscriber: *mut *mut annulus_frame_subscriber,
    error: *mut annulus_shared_error,
) -> annulus_status {
    // SAFETY: the caller's promise.
    unsafe {
        join(invitation, options, subscriber, error, |invitation, options| {
            system::frame_subscriber(invitation, options, from_oldest, awaited)
        })
    }
}

/// Lends a frame of `length` bytes, to write to: `*bytes` is the first one. What is not written has old
/// content. Never waits. A frame that was lent and not published is lent once more.
///
/// The thread that uses the publisher may call this. Returns `ANNULUS_WRONG_SIZE` (a frame has fewer bytes),
/// `ANNULUS_INVALID`, `ANNULUS_NOT_A_HANDLE`. Then `*bytes` is null.
///
/// # Safety
///
/// `publisher` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it. `bytes` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_frame_publisher_loan(
    publisher: *mut annulus_frame_publisher,
    length: usize,
    bytes: *mut *mut c_void,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let bytes = unsafe { place(bytes) }?.write(ptr::null_mut());
        // SAFETY: the caller's promise.
        *bytes = unsafe { object::<FramePublisher>(publisher) }?.loan(length)?.cast();
        Ok(())
    })
}

/// Publishes the first `length` bytes of the frame that was lent. Waits for `timeout_ns` nanoseconds at most
/// for the slowest subscriber of a lossless ring: with 0 it does not wait, `ANNULUS_FOREVER` is no limit.
/// `sequence` may be null; otherwise the number of the message is stored there.
///
/// The thread that uses the publisher may call this. Returns `ANNULUS_INVALID` if no frame is lent, or it has
/// fewer bytes; `ANNULUS_TIMEOUT` (with 0: `ANNULUS_FULL`), `ANNULUS_CLOSED`; `ANNULUS_NOT_A_HANDLE`. Then
/// the frame stays lent, as it is.
///
/// # Safety
///
/// As for `annulus_frame_publisher_loan`. `sequence` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_frame_publisher_publish(
    publisher: *mut annulus_frame_publisher,
    length: usize,
    timeout_ns: u64,
    sequence: *mut u64,
) -> annulus_status {
    guarded(|| {
        let patience = if timeout_ns == 0 { Patience::None } else { Patience::of_ns(timeout_ns) };
        // SAFETY: the caller's promise.
        let published = unsafe { object::<FramePublisher>(publisher) }?.publish(length, patience)?;
        if !sequence.is_null() {
            // SAFETY: the caller's promise.
            unsafe { sequence.write(published) };
        }
        Ok(())
    })
}

/// Which of the ring's frames the one is that is lent, as `annulus_frame::index`; `SIZE_MAX` if none is, or
/// `publisher` is no handle.
///
/// # Safety
///
/// As for `annulus_frame_publisher_loan`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_frame_publisher_lent(publisher: *const annulus_frame_publisher) -> usize {
    // SAFETY: the caller's promise.
    guarded_or(usize::MAX, || Ok(unsafe { object::<FramePublisher>(publisher) }?.lent()))
}

/// How many frames the ring has; 0 if `publisher` is no handle.
///
/// # Safety
///
/// As for `annulus_frame_publisher_loan`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_frame_publisher_frames(publisher: *const annulus_frame_publisher) -> usize {
    // SAFETY: the caller's promise.
    guarded_or(0, || Ok(unsafe { object::<FramePublisher>(publisher) }?.frames()))
}

/// How many frames subscribers hold, of those that the ring no longer keeps. A frame that a dead subscriber
/// held is not. A system call for each subscriber that holds one. 0 if `publisher` is no handle.
///
/// # Safety
///
/// As for `annulus_frame_publisher_loan`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_frame_publisher_held(publisher: *mut annulus_frame_publisher) -> usize {
    // SAFETY: the caller's promise.
    guarded_or(0, || Ok(unsafe { object::<FramePublisher>(publisher) }?.held()))
}

/// Frees the publisher, which ends the ring: subscribers receive what was published. Null is no error, and
/// has no effect. Returns `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// As for `annulus_frame_publisher_loan`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_frame_publisher_free(
    publisher: *mut annulus_frame_publisher,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { take::<FramePublisher>(publisher) }.map(drop))
}

/// Receives the next frame, in place. Waits for it for `timeout_ns` nanoseconds at most: with 0 it does not
/// wait, `ANNULUS_FOREVER` is no limit. After a loss it goes on with the oldest frame that is there.
///
/// The frame is the caller's, which gives it back by `annulus_held_frame_free`, on any thread, also after the
/// subscriber was freed.
///
/// The thread that uses the subscriber may call this. Returns `ANNULUS_TIMEOUT` (with 0: `ANNULUS_EMPTY`);
/// `ANNULUS_VIEWED` if as many frames are held as may be: then nothing is received, or lost;
/// `ANNULUS_CLOSED`, `ANNULUS_PEER_DIED`, `ANNULUS_INVALID`, `ANNULUS_NOT_A_HANDLE`. Then all of `*frame` is
/// null and 0.
///
/// # Safety
///
/// `subscriber` is null, or a handle that this library made, whether it was freed or not; no other thread
/// uses it. `frame` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_frame_subscriber_recv(
    subscriber: *mut annulus_frame_subscriber,
    timeout_ns: u64,
    frame: *mut annulus_frame,
) -> annulus_status {
    let patience = if timeout_ns == 0 { Patience::None } else { Patience::of_ns(timeout_ns) };
    // SAFETY: the caller's promise.
    unsafe { receive(subscriber, frame, |subscriber| subscriber.recv(patience)) }
}

/// As `annulus_frame_subscriber_recv` without a wait, but receives the newest frame, and passes those before
/// it, which `annulus_frame_subscriber_lagged` counts. `ANNULUS_UNSUPPORTED` where the publisher waits for
/// this subscriber.
///
/// # Safety
///
/// As for `annulus_frame_subscriber_recv`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_frame_subscriber_latest(
    subscriber: *mut annulus_frame_subscriber,
    frame: *mut annulus_frame,
) -> annulus_status {
    // SAFETY: the caller's promise.
    unsafe { receive(subscriber, frame, FrameSubscriber::latest) }
}

/// # Safety
///
/// As of `annulus_frame_subscriber_recv`.
unsafe fn receive(
    subscriber: *mut annulus_frame_subscriber,
    frame: *mut annulus_frame,
    receive: impl FnOnce(&mut FrameSubscriber) -> crate::status::Done<HeldFrame>,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let place = unsafe { place(frame) }?.write(annulus_frame::NONE);
        // SAFETY: the caller's promise.
        let held = receive(unsafe { object::<FrameSubscriber>(subscriber) }?)?;
        *place = held.shown();
        place.held = held.hand_out();
        Ok(())
    })
}

/// Gives a frame back. Null is no error, and has no effect. Any thread may call this, once for each frame.
/// Returns `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// `held` is null, or a handle that this library made, whether it was freed or not. Nobody reads the frame
/// any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_held_frame_free(held: *mut annulus_held_frame) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { take::<HeldFrame>(held) }.map(drop))
}

/// How many frames it has lost, or passed. 0 if `subscriber` is no handle.
///
/// # Safety
///
/// As for `annulus_frame_subscriber_recv`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_frame_subscriber_lagged(subscriber: *const annulus_frame_subscriber) -> u64 {
    // SAFETY: the caller's promise.
    guarded_or(0, || Ok(unsafe { object::<FrameSubscriber>(subscriber) }?.lagged()))
}

/// How many frames the ring has, as `annulus_frame::index` counts them. 0 if `subscriber` is no handle.
///
/// # Safety
///
/// As for `annulus_frame_subscriber_recv`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_frame_subscriber_frames(
    subscriber: *const annulus_frame_subscriber,
) -> usize {
    // SAFETY: the caller's promise.
    guarded_or(0, || Ok(unsafe { object::<FrameSubscriber>(subscriber) }?.frames()))
}

/// A file descriptor for `poll`, `epoll` or `io_uring`, as `annulus_consumer_fd`;
/// `annulus_frame_subscriber_arm` arms it. Returns `ANNULUS_SYSTEM`, `ANNULUS_INVALID`,
/// `ANNULUS_NOT_A_HANDLE`. Then `*fd` is -1.
///
/// # Safety
///
/// As for `annulus_frame_subscriber_recv`. `fd` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_frame_subscriber_fd(
    subscriber: *mut annulus_frame_subscriber,
    fd: *mut c_int,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let fd = unsafe { place(fd) }?.write(-1);
        // SAFETY: the caller's promise.
        *fd = unsafe { object::<FrameSubscriber>(subscriber) }?.fd()?;
        Ok(())
    })
}

/// Arms the descriptor, before each wait for it, as `annulus_consumer_arm`. `*ready` says whether a frame, or
/// the end, is there already; then receive first. Returns `ANNULUS_INVALID` (there is no descriptor yet),
/// `ANNULUS_NOT_A_HANDLE`. Then `*ready` is true.
///
/// # Safety
///
/// As for `annulus_frame_subscriber_recv`. `ready` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_frame_subscriber_arm(
    subscriber: *mut annulus_frame_subscriber,
    ready: *mut bool,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let ready = unsafe { place(ready) }?.write(true);
        // SAFETY: the caller's promise.
        *ready = unsafe { object::<FrameSubscriber>(subscriber) }?.arm()?;
        Ok(())
    })
}

/// As `annulus_producer_peer`: whether the process of the publisher is there.
///
/// # Safety
///
/// As for `annulus_frame_subscriber_recv`. `peer` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_frame_subscriber_peer(
    subscriber: *const annulus_frame_subscriber,
    peer: *mut annulus_peer,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let found = unsafe { object::<FrameSubscriber>(subscriber) }?.peer();
        // SAFETY: the caller's promise.
        unsafe { place(peer) }?.write(found);
        Ok(())
    })
}

/// Frees the subscriber. Frames that it has received stay the caller's. Its descriptor is closed. Null is no
/// error, and has no effect. Returns `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// As for `annulus_frame_subscriber_recv`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_frame_subscriber_free(
    subscriber: *mut annulus_frame_subscriber,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { take::<FrameSubscriber>(subscriber) }.map(drop))
}
