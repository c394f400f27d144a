//! The strategy of one handle, in place of its ring's.

/// Writes `wait_strategy` and `set_wait_strategy` of a handle that receives. `make` is a line of the example
/// that makes such a handle, `reader`. The handle has a field `strategy`, an option (`ring`: what it is
/// instead of); or it always has its own (`own`); or it waits `as` another handle in it does.
macro_rules! own_strategy {
    (make: $make:literal, |$handle:ident| ring: $ring:expr $(,)?) => {
        $crate::wait::own_strategy!(
            @written $make,
            |$handle| $handle.strategy.unwrap_or($ring),
            |$handle, strategy| if !$crate::sync::seeded!("handle_strategy_unheard") {
                $handle.strategy = Some(strategy);
            }
        );
    };
    (make: $make:literal, |$handle:ident| own: $own:expr $(,)?) => {
        $crate::wait::own_strategy!(
            @written $make,
            |$handle| $own,
            |$handle, strategy| $own = strategy
        );
    };
    (make: $make:literal, |$handle:ident| as: $other:expr $(,)?) => {
        $crate::wait::own_strategy!(
            @written $make,
            |$handle| $other.wait_strategy(),
            |$handle, strategy| $other.set_wait_strategy(strategy)
        );
    };
    (@written $make:literal, |$handle:ident| $get:expr, |$changed:ident, $strategy:ident| $set:expr) => {
        /// How this handle waits if a verb is given no strategy: as its ring was told to, or as
        /// [`set_wait_strategy`](Self::set_wait_strategy) says.
        #[must_use]
        pub fn wait_strategy(&self) -> $crate::WaitStrategy {
            let $handle = self;
            $get
        }

        /// Chooses how this handle waits if a verb is given no strategy: each verb that waits, iterators, an
        /// worker or a select (which waits by its first handle). Other handles of the ring wait as
        /// before. A handle that is made from this one, such as a clone, waits as this one does now. Tasks
        /// and file descriptors have no strategy.
        ///
        /// # Examples
        ///
        /// ```
        /// use annulus::WaitStrategy;
        ///
        #[doc = $make]
        /// assert_eq!(reader.wait_strategy(), WaitStrategy::default()); // as the ring
        /// reader.set_wait_strategy(WaitStrategy::BusySpin);
        /// assert_eq!(reader.wait_strategy(), WaitStrategy::BusySpin);
        /// ```
        pub fn set_wait_strategy(&mut self, strategy: $crate::WaitStrategy) {
            let ($changed, $strategy) = (self, strategy);
            $set;
        }
    };
}
pub(crate) use own_strategy;
