// errors: 0

// A crate without std or `unsafe`, which forbids what there is to forbid.
#![no_std]
#![no_main]
#![forbid(unsafe_code, missing_docs, deprecated, nonstandard_style, unused, future_incompatible)]
#![forbid(rust_2018_idioms, trivial_casts, trivial_numeric_casts, unused_qualifications, unreachable_pub)]
#![forbid(single_use_lifetimes, missing_debug_implementations, missing_copy_implementations)]
#![forbid(unused_lifetimes, unused_results, elided_lifetimes_in_paths, let_underscore_drop, unit_bindings)]
#![forbid(clippy::all, clippy::pedantic)]

//! It has messages.

extern crate std;

use annulus::{Message, Text};

/// It lies in the ring as it is.
#[derive(Clone, Copy, Debug, Message)]
pub struct Plain {
    /// A price.
    pub price: f64,
    /// A name.
    pub name: Text<6>,
    /// A flag for each.
    pub flags: [[bool; 4]; 2],
}

/// It is taken apart, and has a field of a type that nobody else knows.
#[derive(Clone, Copy, Debug, Message)]
#[message(packed)]
pub struct Packed<T, const N: usize>
where
    T: Copy,
{
    /// A number.
    pub number: u8,
    /// Perhaps a price.
    pub price: Option<f64>,
    /// What it is about.
    pub values: [Option<T>; N],
    hidden: Hidden,
}

#[derive(Clone, Copy, Debug, Message)]
#[message(packed)]
struct Hidden(u64, (u8, u16));

/// Either of some.
#[derive(Clone, Copy, Debug, Message)]
pub enum Order {
    /// With a price.
    Limit {
        /// The price.
        price: f64,
        /// How many.
        quantity: u32,
    },
    /// Without.
    Market(u32),
    /// None.
    Cancel,
}

/// A side.
#[derive(Clone, Copy, Debug, Message)]
#[repr(u8)]
pub enum Side {
    /// One.
    Buy,
    /// The other.
    Sell,
}

/// A level of some.
#[derive(Clone, Copy, Debug, Message)]
#[repr(u8)]
pub enum Level<const N: usize> {
    /// The lowest.
    Low,
    /// The highest.
    High,
}

macro_rules! quote {
    ($(#[$attribute:meta])* $name:ident: $ty:ty, $other:ty) => {
        /// Of types that a macro was given.
        #[derive(Clone, Copy, Debug, Message)]
        $(#[$attribute])*
        pub struct $name {
            /// A value.
            pub value: $ty,
            /// Another.
            pub other: [$other; 2],
            /// Of the macro's own.
            pub side: $crate::Side,
        }
    };
}

quote!(PlainQuote: [bool; 2], u8);
quote!(#[message(packed)] PackedQuote: Option<Order>, (u8, u32));
