//! [`Reset`]: what is done to an event before a closure gets it.

/// What happens to an event before a closure gets it: nothing (`()`), or a function call. It is a type, so
/// publishers without a function have no extra step.
///
/// You need not implement it: [`event::channel_with_reset`](crate::event::channel_with_reset) takes the
/// function.
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
        self(event);
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for () {}
    impl<T> Sealed for fn(&mut T) {}
}
