//! Both ends of a queue used in place, whatever its kind: for queues between processes, whose kinds are not
//! told apart by each verb.

use annulus::queue::kind::{AnyKind, InPlace};

use crate::blocks::{Consumer, Producer, Unit};
use crate::options::Patience;
use crate::status::Done;

/// What a [`Producer`] does.
pub(crate) trait PutInPlace: Send {
    /// # Safety
    ///
    /// As of [`Producer::put`].
    unsafe fn put(&mut self, messages: *const u8, count: usize, patience: Patience) -> Done<usize>;
    fn reserve(&mut self, most: usize, patience: Patience) -> Done<(*mut u8, usize)>;
    fn commit(&mut self, count: usize) -> Done;
    fn len(&self) -> usize;
    fn stride_bytes(&self) -> usize;
}

/// What a [`Consumer`] does.
pub(crate) trait GetInPlace: Send {
    /// # Safety
    ///
    /// As of [`Consumer::get`].
    unsafe fn get(&mut self, messages: *mut u8, count: usize, patience: Patience) -> Done<usize>;
    fn readable(&mut self, patience: Patience) -> Done<(*const u8, usize)>;
    fn advance(&mut self, count: usize) -> Done;
    fn len(&mut self) -> usize;
    fn stride_bytes(&self) -> usize;
    /// How many messages were none.
    fn corrupt(&self) -> u64;
    fn fd(&mut self) -> Done<i32>;
    fn arm(&mut self) -> Done<bool>;
}

impl<K: AnyKind + InPlace, U: Unit> PutInPlace for Producer<K, U> {
    unsafe fn put(&mut self, messages: *const u8, count: usize, patience: Patience) -> Done<usize> {
        // SAFETY: the caller's promise.
        unsafe { self.put(messages, count, patience) }
    }

    fn reserve(&mut self, most: usize, patience: Patience) -> Done<(*mut u8, usize)> {
        self.reserve(most, patience)
    }

    fn commit(&mut self, count: usize) -> Done {
        self.commit(count)
    }

    fn len(&self) -> usize {
        self.len()
    }

    fn stride_bytes(&self) -> usize {
        self.stride_bytes()
    }
}

impl<K: AnyKind + InPlace, U: Unit> GetInPlace for Consumer<K, U> {
    unsafe fn get(&mut self, messages: *mut u8, count: usize, patience: Patience) -> Done<usize> {
        // SAFETY: the caller's promise.
        unsafe { self.get(messages, count, patience) }
    }

    fn readable(&mut self, patience: Patience) -> Done<(*const u8, usize)> {
        self.readable(patience)
    }

    fn advance(&mut self, count: usize) -> Done {
        self.advance(count)
    }

    fn len(&mut self) -> usize {
        self.len()
    }

    fn stride_bytes(&self) -> usize {
        self.stride_bytes()
    }

    fn corrupt(&self) -> u64 {
        0
    }

    fn fd(&mut self) -> Done<i32> {
        self.units.fd()
    }

    fn arm(&mut self) -> Done<bool> {
        self.arm()
    }
}
