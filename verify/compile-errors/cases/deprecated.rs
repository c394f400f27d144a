// errors: 0

// A derive for something deprecated uses none of it.
#![deny(warnings)]
#![allow(dead_code)]

use annulus::Message;

#[derive(Clone, Copy, Message)]
#[deprecated]
pub struct Old {
    #[deprecated]
    pub price: f64,
    pub number: u64,
}

#[derive(Clone, Copy, Message)]
#[deprecated(note = "there is a better one")]
#[message(packed)]
pub struct OldPacked<T> {
    #[deprecated]
    pub price: f64,
    pub number: T,
}

#[derive(Clone, Copy, Message)]
#[deprecated]
#[repr(u8)]
pub enum OldSide {
    Buy,
    #[deprecated]
    Sell,
}

#[derive(Clone, Copy, Message)]
pub enum Order {
    #[deprecated]
    Limit {
        #[deprecated]
        price: f64,
    },
    #[deprecated]
    Market(u32, u8),
    #[deprecated]
    Cancel,
    New,
}

#[allow(deprecated)]
mod with_old_types {
    use super::{Message, Old, OldPacked, OldSide};

    #[derive(Clone, Copy, Message)]
    pub struct Plain {
        pub old: Old,
        pub sides: [OldSide; 8],
    }

    #[derive(Clone, Copy, Message)]
    #[message(packed)]
    pub struct Packed {
        pub old: Option<OldPacked<u8>>,
        pub sides: [OldSide; 3],
    }
}

#[derive(Clone, Copy, Message)]
#[allow(deprecated)]
pub struct Plain {
    pub old: Old,
}

#[derive(Clone, Copy, Message)]
#[message(packed)]
#[allow(deprecated, reason = "it is still there")]
pub struct Packed {
    pub old: Option<OldPacked<u8>>,
}

fn main() {}
