//! What is the same in the modules of the four kinds.

/// What the module of each kind has: names for its handles, and short forms of its builder. `holds` says what
/// a capacity is the capacity of.
macro_rules! channels {
    ($kind:ident, holds: $holds:literal) => {
        /// A producer of such a queue.
        pub type Producer<T> = super::Producer<T, $kind>;

        /// A consumer of such a queue.
        pub type Consumer<T> = super::Consumer<T, $kind>;

        /// The builder of such a queue.
        pub type Builder = super::Builder<$kind>;

        // Names of other libraries. The compiler shows the line to a program that asks for one.
        #[cfg(any())]
        pub use Consumer as Receiver; // here it is called `Consumer`
        #[cfg(any())]
        pub use Producer as Sender; // here it is called `Producer`
        #[cfg(any())]
        pub use Producer as SyncSender; // here it is called `Producer`
        #[cfg(any())]
        pub use channel as bounded; // here it is called `channel`
        #[cfg(any())]
        pub use channel as sync_channel; // here it is called `channel`
        #[cfg(any())]
        pub use channel as unbounded; // here it is called `channel`, and has a capacity

        #[doc = $holds]
        ///
        /// # Panics
        ///
        /// If `capacity` is 0, or memory has no room for so many slots. [`Builder::build`] returns an error
        /// instead.
        #[doc(alias = "unbounded")]
        #[doc(alias = "unbounded_channel")]
        #[doc(alias = "sync_channel")]
        #[doc(alias = "try_channel")]
        #[doc(alias = "bounded")]
        #[doc(alias = "MpmcChannel")]
        #[doc(alias = "RingBuffer")]
        #[must_use]
        #[track_caller]
        pub fn channel<T: Send>(capacity: usize) -> (Producer<T>, Consumer<T>) {
            Builder::new(capacity).build_or_panic()
        }
    };
}
pub(super) use channels;
