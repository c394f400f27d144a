//! The entries of a row, made from the contenders that it names.

/// An entry for each contender, which runs this function with it; ours first. Without names: the lossy rings.
/// With the name of one adapter: the lossy rings in that adapter. With a constant after the names (the number
/// of readers, for example): the function has it as its last parameter.
macro_rules! contenders {
    ($function:ident) => {
        contenders!($function: crate::contenders::Annulus, crate::contenders::PhotonRing)
    };
    ($function:ident, $adapter:ident) => {
        contenders!($function: $adapter<crate::contenders::Annulus>, $adapter<crate::contenders::PhotonRing>)
    };
    ($function:ident: $ours:ty $(, $rival:ty)*) => {
        contenders!(@ $ours, $function::<$ours> $(; $rival, $function::<$rival>)*)
    };
    ($function:ident: $ours:ty $(, $rival:ty)*; $count:ident) => {
        contenders!(@ $ours, $function::<$ours, $count> $(; $rival, $function::<$rival, $count>)*)
    };
    (@ $ours:ty, $run:expr $(; $rival:ty, $rival_run:expr)*) => {{
        use crate::contenders::Named;
        use crate::row::{Entry, Kind};
        [
            Entry { name: <$ours>::NAME, kind: Kind::Ours, run: $run },
            $(Entry { name: <$rival>::NAME, kind: Kind::Rival, run: $rival_run },)*
        ]
    }};
}
pub(super) use contenders;
