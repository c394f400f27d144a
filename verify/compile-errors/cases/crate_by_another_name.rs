// errors: 0

// Names of the user's modules are not those of the macro's generic parameters either.
#![deny(warnings)]
#![allow(dead_code, non_snake_case)]

use annulus as T;
use annulus as F;
use annulus as N;
use annulus as S;

#[derive(Clone, Copy, F::Message)]
#[message(crate = "F")]
struct Plain {
    bid: f64,
    live: [bool; 8],
}

#[derive(Clone, Copy, S::Message)]
#[message(crate = "S", packed)]
struct Packed {
    bid: f64,
    live: Option<bool>,
}

#[derive(Clone, Copy, T::Message)]
#[message(crate = "T")]
enum Order {
    Bid(f64),
    None,
}

#[derive(Clone, Copy, N::Message)]
#[message(crate = "self::N")]
#[repr(u8)]
enum Side {
    Buy,
    Sell,
}

fn main() {}
