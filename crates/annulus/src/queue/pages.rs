//! Verbs that some kinds of queue have and others do not, written once.
//!
//! rustdoc shows a block of verbs on the page of `spmc::Consumer` if the block's *type* may be that consumer.
//! It does not look at bounds. So the compiler gets one block with a bound, and rustdoc gets a block for each
//! kind that has the verbs. `ci/doc` compares what the pages show with what compiles.

/// `of_kinds! { spsc::Spsc, mpsc::Mpsc => impl<T: Send, K: AnyKind> Consumer<T, K> { … } }` is that block for
/// the compiler, and a block for each of these kinds for rustdoc.
///
/// A kind that is there with a feature only has an attribute, `#[cfg(feature = "shm")] across::Across`.
///
/// A verb may have a bound of its own, `where K: InPlace,`. The compiler explains a missing bound of a verb
/// better than a missing bound of its block.
macro_rules! of_kinds {
    ($($(#[$when:meta])* $module:ident::$kind:ident),+ => impl<T: Send, K: $bound:ident> $Handle:ident<T, K> $verbs:tt) => {
        #[cfg(not(doc))]
        $crate::queue::pages::of_kinds!(@all [T: Send, K: $bound] [] [$Handle<T, K>] $verbs);
        $(
            #[cfg(doc)]
            $(#[$when])*
            const _: () = {
                // As the verbs call it.
                type K = super::$module::$kind;
                $crate::queue::pages::of_kinds!(@page [T: Send] [$Handle<T, K>] $verbs);
            };
        )+
    };
    ($($module:ident::$kind:ident),+ => $(#[$about:meta])* impl<T: Send, K: $bound:ident> Clone for $Handle:ident<T, K> $verbs:tt) => {
        #[cfg(not(doc))]
        $crate::queue::pages::of_kinds!(@all [T: Send, K: $bound] [Clone for] [$Handle<T, K>] $verbs);
        $crate::queue::pages::of_kinds!(@clones [$($module $kind)+] $Handle { $(#[$about])* } $verbs);
    };
    ($($module:ident::$kind:ident),+ => impl<K: $bound:ident> $Handle:ident<K> $verbs:tt) => {
        #[cfg(not(doc))]
        $crate::queue::pages::of_kinds!(@all [K: $bound] [] [$Handle<K>] $verbs);
        $(
            #[cfg(doc)]
            $crate::queue::pages::of_kinds!(@page [] [$Handle<super::$module::$kind>] $verbs);
        )+
    };
    (@all [$($parameters:tt)*] [$($Trait:tt)*] [$($Handle:tt)*] { $($verbs:tt)* }) => {
        impl<$($parameters)*> $($Trait)* $($Handle)* { $($verbs)* }
    };
    (@clones [$($module:ident $kind:ident)+] $Handle:ident $about:tt $verbs:tt) => {
        $(
            #[cfg(doc)]
            $crate::queue::pages::of_kinds!(@clone $module $kind $Handle $about $verbs);
        )+
    };
    (@clone $module:ident $kind:ident $Handle:ident { $(#[$about:meta])* } { $(#[$note:meta])* fn clone $($rest:tt)* }) => {
        $(#[$about])*
        impl<T: Send> Clone for $Handle<T, super::$module::$kind> {
            $(#[$note])*
            fn clone(&self) -> Self {
                unreachable!("rustdoc runs nothing")
            }
        }
    };
    (@page [$($parameters:tt)*] [$($Handle:tt)*] { $(
        $(#[$note:meta])*
        pub fn $name:ident($($arguments:tt)*) $(-> $result:ty)? $(where K: $bound:ident,)? $body:block
    )* }) => {
        impl<$($parameters)*> $($Handle)* { $(
            $(#[$note])*
            pub fn $name($($arguments)*) $(-> $result)? {
                unreachable!("rustdoc runs nothing")
            }
        )* }
    };
}
pub(super) use of_kinds;
