//! [`Reset`]: what is done to an event before a closure gets it.

use crate::sync::mutated;

/// What is done to an event before a closure gets it: nothing, `()`, or a function. It is a type, so that publishers without one have no step more.
///
/// There is nothing to implement: [`event::channel_with_reset`](crate::event::channel_with_reset) takes the function.
pub trait Reset<T>: Copy + Send + Sync + sealed::Sealed {
    #[doc(hidden)]
    fn reset(self, event: &mut T);
}

impl<T> Reset<T> for () {
    #[inline(always)]
    fn reset(self, _: &mut T) {}
}

impl<T> Reset<T> for fn(&mut T) {
    #[inline(always)]
    fn reset(self, event: &mut T) {
        if !mutated!("event_reset_skipped") {
            self(event);
        }
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for () {}
    impl<T> Sealed for fn(&mut T) {}
}
