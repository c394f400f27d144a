//! [`BlocksAcross`]: the numbers of a lane between processes whose messages have a size that is known at run
//! time.
//!
//! Such a lane has bytes for slots, and a message takes as many of them as it has. Every step of either side
//! is a number of whole messages, so what is free, what is there, and what lies beside each other, are whole
//! messages at all times. In the memory that both processes map, a number counts messages, as in every lane
//! between processes ([`Across`]): the other process may know the type. So numbers are converted where they
//! are stored and loaded, and nowhere else.
//!
//! From the first message on, message `first + n` has the number `first + n × size` here. This is exact as
//! long as fewer than 2^63 bytes were sent: 29 years at 10 GB a second.
// Decision 0129: numbers are converted at the border.

use core::ptr::NonNull;

use super::across::Numbers;
use super::{Across, ControlBlock, Number, OtherProcess};
use crate::sync::{AtomicU64, UnsafeCell};

/// [`Across`], for slots of which a message takes several.
pub(crate) struct BlocksAcross {
    across: Across,
    /// The number of the first message, here and there.
    first: Number,
    /// How many slots a message takes. Not 0.
    size: u64,
    /// What divides by it: a shift by the twos in it, and the inverse of the rest modulo 2^64. It is exact
    /// for multiples of the size, and only those are divided.
    shift: u32,
    inverse: u64,
    /// What stands for a number that can't be. It is 2^63 away, or a little less, so nobody believes it
    /// (`OneToOne::believed`); and it is a number of whole messages, as all others are.
    impossible: Number,
}

impl BlocksAcross {
    /// Over numbers of a lane whose first message is `first`, and whose messages take `size` slots each.
    ///
    /// # Safety
    ///
    /// As of [`Across::over`].
    pub(crate) unsafe fn over(numbers: NonNull<Numbers>, first: Number, size: usize) -> Self {
        // SAFETY: the caller's promise.
        let across = unsafe { Across::over(numbers, first, 1) };
        let size = size.max(1) as u64;
        let shift = size.trailing_zeros();
        let impossible = first.plus((1 << 63) / size * size);
        Self { across, first, size, shift, inverse: inverse_of_odd(size >> shift), impossible }
    }
}

/// By Newton's method: each step doubles the number of bits that are right. At first there are three.
fn inverse_of_odd(odd: u64) -> u64 {
    (0..5).fold(odd, |inverse, _| inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse))))
}

impl ControlBlock for BlocksAcross {
    const ACROSS: bool = true;
    const SOLE: bool = false;
    type OtherSide = OtherProcess;

    #[inline(always)]
    fn tail(&self) -> &AtomicU64 {
        ControlBlock::tail(&self.across)
    }

    #[inline(always)]
    fn head(&self) -> &AtomicU64 {
        ControlBlock::head(&self.across)
    }

    #[inline(always)]
    fn end(&self) -> &AtomicU64 {
        ControlBlock::end(&self.across)
    }

    #[inline(always)]
    fn cached_limit(&self) -> &UnsafeCell<Number> {
        ControlBlock::cached_limit(&self.across)
    }

    #[inline(always)]
    fn of_memory(&self, number: u64) -> Number {
        // Another process may have written any number.
        match Number::new(number).since(self.first).checked_mul(self.size) {
            Some(slots) => self.first.plus(slots),
            None => self.impossible,
        }
    }

    #[inline(always)]
    fn in_memory(&self, number: Number) -> u64 {
        let messages = (number.since(self.first) >> self.shift).wrapping_mul(self.inverse);
        self.first.plus(messages).get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [u64; 12] = [1, 2, 3, 8, 12, 24, 56, 100, 200, 4096, 4099, 1 << 40];
    const FIRSTS: [u64; 4] = [0, 7, u64::MAX / 2, u64::MAX - 1];

    fn with(
        first: u64,
        size: u64,
        look: impl FnOnce(&dyn Fn(u64) -> Number, &dyn Fn(Number) -> u64, &BlocksAcross),
    ) {
        let first = Number::new(first);
        // SAFETY: nothing is loaded or stored there.
        let control = unsafe { BlocksAcross::over(NonNull::dangling(), first, size as usize) };
        let of_memory = |number| ControlBlock::of_memory(&control, number);
        let in_memory = |number| ControlBlock::in_memory(&control, number);
        look(&of_memory, &in_memory, &control);
    }

    #[test]
    fn messages_are_counted_in_memory_and_slots_here() {
        for (first, size) in FIRSTS.into_iter().flat_map(|first| SIZES.map(|size| (first, size))) {
            with(first, size, |of_memory, in_memory, control| {
                let most = (1 << 63) / size;
                for messages in [0, 1, 2, 3, 1000, most / 3, most - 1].map(|count| count.min(most)) {
                    let shared = first.wrapping_add(messages);
                    let number = of_memory(shared);
                    assert_eq!(number.since(control.first), messages * size, "{size}");
                    assert_eq!(in_memory(number), shared, "{messages} of {size}");
                }
            });
        }
    }

    /// Whatever lies there stands for whole messages, and what can't be is far away from all that was sent.
    #[test]
    fn numbers_of_another_process_are_whole_messages() {
        for (first, size) in FIRSTS.into_iter().flat_map(|first| SIZES.map(|size| (first, size))) {
            with(first, size, |of_memory, _, control| {
                for shift in 0..64 {
                    for garbage in [1_u64 << shift, (1_u64 << shift).wrapping_sub(3), !(1_u64 << shift)] {
                        let distance = of_memory(first.wrapping_add(garbage)).since(control.first);
                        assert_eq!(distance % size, 0, "{garbage} of {size}");
                        let is_possible = u128::from(garbage) * u128::from(size) <= u128::from(u64::MAX);
                        assert!(is_possible || distance > u64::MAX / 4, "{garbage} of {size}");
                    }
                }
            });
        }
    }
}
