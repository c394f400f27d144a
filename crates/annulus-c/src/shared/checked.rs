//! [`Checked`]: receives what another process has written, and finds out whether it is a message. It is for
//! messages with a `bool`, an enum, a text or the like; other handles have nothing of it.

use core::slice;
use std::sync::Arc;

use annulus::schema::Checker;

use crate::in_place::GetInPlace;
use crate::options::Patience;
use crate::status::Done;
use crate::status::annulus_status::{ANNULUS_CORRUPT, ANNULUS_UNSUPPORTED};
use crate::typed::{Counts, Get, LendsSubscriber};

/// What receives by `E`, and checks it.
pub(crate) struct Checked<E: ?Sized> {
    end: Box<E>,
    checker: Arc<Checker>,
    corrupt: u64,
}

impl<E: ?Sized> Checked<E> {
    /// # Safety
    ///
    /// A message of this schema lies at `message`: as many bytes, all written.
    unsafe fn look(&mut self, message: *const u8) -> Done {
        // SAFETY: the caller's promise.
        if self.checker.is_message(unsafe { slice::from_raw_parts(message, self.checker.size()) }) {
            return Ok(());
        }
        self.corrupt += 1;
        Err(ANNULUS_CORRUPT)
    }
}

/// A subscriber's end, which checks messages if there is something to check.
pub(crate) fn checked(end: Box<dyn Get>, checker: Option<&Arc<Checker>>) -> Box<dyn Get> {
    match checker {
        Some(checker) => Box::new(Checked { end, checker: Arc::clone(checker), corrupt: 0 }),
        None => end,
    }
}

/// The end of a queue's consumer, as [`checked`].
pub(crate) fn checked_in_place(
    end: Box<dyn GetInPlace>,
    checker: Option<&Arc<Checker>>,
) -> Box<dyn GetInPlace> {
    match checker {
        Some(checker) => Box::new(Checked { end, checker: Arc::clone(checker), corrupt: 0 }),
        None => end,
    }
}

impl Get for Checked<dyn Get> {
    unsafe fn get(&mut self, message: *mut u8, patience: Patience) -> Done {
        // SAFETY: the caller's promise.
        unsafe { self.end.get(message, patience) }?;
        // SAFETY: the line above has written the message.
        unsafe { self.look(message) }
    }

    fn another(&self) -> Done<Box<dyn Get>> {
        Ok(checked(self.end.another()?, Some(&self.checker)))
    }

    fn lends(&mut self) -> Done<&mut dyn LendsSubscriber> {
        // A view would read without a check.
        Err(ANNULUS_UNSUPPORTED)
    }

    fn fd(&mut self) -> Done<i32> {
        self.end.fd()
    }

    fn arm(&mut self) -> Done<bool> {
        self.end.arm()
    }

    fn counts(&self) -> Counts {
        let counts = self.end.counts();
        Counts { received: counts.received - self.corrupt, corrupt: self.corrupt, ..counts }
    }

    fn begin_with_last(&mut self, count: usize) -> Done<usize> {
        self.end.begin_with_last(count)
    }
}

impl GetInPlace for Checked<dyn GetInPlace> {
    /// Of several those that are messages, without a gap. They are an error only if none is one.
    unsafe fn get(&mut self, messages: *mut u8, count: usize, patience: Patience) -> Done<usize> {
        // SAFETY: the caller's promise.
        let received = unsafe { self.end.get(messages, count, patience) }?;
        let (size, mut good) = (self.checker.size(), 0);
        for number in 0..received {
            // SAFETY: so many messages were written.
            let message = unsafe { messages.add(number * size) };
            // SAFETY: as above.
            if unsafe { self.look(message) }.is_ok() {
                // SAFETY: as above, and there are as many before this one at least.
                unsafe { message.copy_to(messages.add(good * size), size) };
                good += 1;
            }
        }
        if good == 0 { Err(ANNULUS_CORRUPT) } else { Ok(good) }
    }

    fn readable(&mut self, _: Patience) -> Done<(*const u8, usize)> {
        // The other process may write to a message after it was checked.
        Err(ANNULUS_UNSUPPORTED)
    }

    fn advance(&mut self, count: usize) -> Done {
        self.end.advance(count)
    }

    fn len(&mut self) -> usize {
        self.end.len()
    }

    fn stride_bytes(&self) -> usize {
        self.end.stride_bytes()
    }

    fn corrupt(&self) -> u64 {
        self.corrupt
    }

    fn fd(&mut self) -> Done<i32> {
        self.end.fd()
    }

    fn arm(&mut self) -> Done<bool> {
        self.end.arm()
    }
}
