//! [`Either`]: a handle of a ring that loses messages, or of one that loses none. One type of C is both.

/// The one or the other mode of a ring.
pub(crate) enum Either<L, A> {
    Lossy(L),
    Lossless(A),
}

/// What is done with either.
macro_rules! either {
    ($of:expr, $handle:ident => $what:expr) => {
        match $of {
            $crate::either::Either::Lossy($handle) => $what,
            $crate::either::Either::Lossless($handle) => $what,
        }
    };
}
pub(crate) use either;
