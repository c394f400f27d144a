//! Why a value was refused. These errors give it back.

use core::error::Error;
use core::fmt;

/// Why there is no slot for a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Somebody is in the way, and goes on some day.
    Full,
    /// No handle is left that could receive, or somebody closed the ring.
    Closed,
}

/// An error that gives a value back.
pub(crate) trait GiveBack<V> {
    /// The error for `value`, which was refused because of `refusal`.
    fn of(refusal: Refusal, value: V) -> Self;
}

/// For a caller that makes an error of it later.
impl<V> GiveBack<V> for (Refusal, V) {
    #[inline]
    fn of(refusal: Refusal, value: V) -> Self {
        (refusal, value)
    }
}

/// Hands `value` to `publish` if it was admitted. If not, gives it back in an error.
#[inline(always)]
pub(crate) fn if_admitted<A, V, E: GiveBack<V>>(
    admitted: Result<A, Refusal>,
    value: V,
    publish: impl FnOnce(A, V),
) -> Result<(), E> {
    match admitted {
        Ok(admission) => {
            publish(admission, value);
            Ok(())
        }
        Err(refusal) => Err(E::of(refusal, value)),
    }
}

/// Three errors that give a value back: of verbs that wait, of those that don't, and of those that wait for a
/// time.
macro_rules! give_back {
    (
        $(#[$of_waiting:meta])* waits: $Waiting:ident, closed: $closed:literal;
        $(#[$of_trying:meta])* tries: $Trying:ident, $(#[$full_meta:meta])* full: $full:literal;
        $(#[$of_timed:meta])* timed: $Timed:ident, late: $late:literal;
        $(#[$value:meta])* value;
        $(#[$closed_meta:meta])* variant;
    ) => {
        $(#[$of_waiting])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub struct $Waiting<T>(
            $(#[$value])*
            pub T,
        );

        impl<T> $Waiting<T> {
            $(#[$value])*
            pub fn into_inner(self) -> T {
                self.0
            }
        }

        impl<T> GiveBack<T> for $Waiting<T> {
            /// Of a verb that has no deadline, so it is refused for one reason only.
            #[inline]
            fn of(_: Refusal, value: T) -> Self {
                Self(value)
            }
        }

        impl<T> fmt::Display for $Waiting<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($closed)
            }
        }

        /// Does not show the value, which may be a closure.
        impl<T> fmt::Debug for $Waiting<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($Waiting)).finish_non_exhaustive()
            }
        }

        impl<T> Error for $Waiting<T> {}

        $(#[$of_trying])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $Trying<T> {
            $(#[$full_meta])*
            #[doc(alias = "RingBufferFull")]
            Full(T),
            $(#[$closed_meta])*
            #[doc(alias = "Disconnected")]
            Closed(T),
        }

        impl<T> $Trying<T> {
            $(#[$value])*
            pub fn into_inner(self) -> T {
                match self {
                    Self::Full(value) | Self::Closed(value) => value,
                }
            }

            /// Whether there was no room. If so, another attempt may succeed later.
            pub fn is_full(&self) -> bool {
                matches!(self, Self::Full(_))
            }
        }

        impl<T> GiveBack<T> for $Trying<T> {
            #[inline]
            fn of(refusal: Refusal, value: T) -> Self {
                match refusal {
                    Refusal::Full => Self::Full(value),
                    Refusal::Closed => Self::Closed(value),
                }
            }
        }

        impl<T> fmt::Display for $Trying<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    Self::Full(_) => f.write_str($full),
                    Self::Closed(_) => f.write_str($closed),
                }
            }
        }

        /// Does not show the value, which may be a closure.
        impl<T> fmt::Debug for $Trying<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    Self::Full(_) => "Full(..)",
                    Self::Closed(_) => "Closed(..)",
                })
            }
        }

        impl<T> Error for $Trying<T> {}

        impl<T> From<$Waiting<T>> for $Trying<T> {
            fn from(error: $Waiting<T>) -> Self {
                Self::Closed(error.0)
            }
        }

        $(#[$of_timed])*
        #[cfg(feature = "std")]
        #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $Timed<T> {
            /// The time passed, and there was no room.
            Timeout(T),
            $(#[$closed_meta])*
            #[doc(alias = "Disconnected")]
            Closed(T),
        }

        #[cfg(feature = "std")]
        impl<T> $Timed<T> {
            $(#[$value])*
            pub fn into_inner(self) -> T {
                match self {
                    Self::Timeout(value) | Self::Closed(value) => value,
                }
            }
        }

        #[cfg(feature = "std")]
        impl<T> GiveBack<T> for $Timed<T> {
            #[inline]
            fn of(refusal: Refusal, value: T) -> Self {
                match refusal {
                    Refusal::Full => Self::Timeout(value),
                    Refusal::Closed => Self::Closed(value),
                }
            }
        }

        #[cfg(feature = "std")]
        impl<T> fmt::Display for $Timed<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    Self::Timeout(_) => f.write_str($late),
                    Self::Closed(_) => f.write_str($closed),
                }
            }
        }

        /// Does not show the value, which may be a closure.
        #[cfg(feature = "std")]
        impl<T> fmt::Debug for $Timed<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    Self::Timeout(_) => "Timeout(..)",
                    Self::Closed(_) => "Closed(..)",
                })
            }
        }

        #[cfg(feature = "std")]
        impl<T> Error for $Timed<T> {}

        #[cfg(feature = "std")]
        impl<T> From<$Waiting<T>> for $Timed<T> {
            fn from(error: $Waiting<T>) -> Self {
                Self::Closed(error.0)
            }
        }
    };
}

give_back! {
    /// The error of [`publish`](crate::broadcast::Publisher::publish) and similar verbs on rings whose
    /// publishers wait: somebody closed the ring, or nobody is left to receive the value. All subscribers are
    /// gone, and everything that could make one.
    ///
    /// It gives the value back. For a batch, it gives back the part that was not published.
    waits: PublishError, closed: "nobody is left to receive (every subscriber is gone, and all that could make one), or somebody closed the ring";
    /// Why a value could not be published at once. Gives the value back.
    #[doc(alias = "MissingFreeSlots")]
    tries: TryPublishError,
        /// There is no room: the slowest subscriber, or a publisher that is one lap behind, still needs the
        /// slot.
        full: "the ring is full: the slowest subscriber has to receive first";
    /// Why a value could not be published in time. Gives the value back; for a batch, the part that was not
    /// published.
    timed: PublishTimeoutError, late: "no room came in time: the slowest subscriber has to receive first";
    /// The value that was not published.
    value;
    /// Nobody is left to receive it, or somebody closed the ring.
    variant;
}

give_back! {
    /// The error of [`send`](crate::queue::Producer::send) and similar verbs: the queue is closed. Every
    /// consumer is gone, or somebody closed it.
    ///
    /// It gives the value back. For a slice, it gives back the part that was not sent.
    waits: SendError, closed: "the queue is closed: every consumer is gone, or somebody closed it";
    /// Why a value could not be sent at once. Gives the value back.
    #[doc(alias = "PushError")]
    tries: TrySendError,
        /// There is no room: a consumer has to receive first.
        full: "the queue is full: a consumer has to receive first";
    /// Why a value could not be sent in time. Gives the value back; for a slice, the part that was not sent.
    timed: SendTimeoutError, late: "no room came in time: a consumer has to receive first";
    /// The value that was not sent.
    value;
    /// The queue is closed.
    variant;
}
