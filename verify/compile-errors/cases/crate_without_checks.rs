// errors: 1
// says: `Quote` has padding

#![forbid(unsafe_code)]

mod rings {
    pub mod __private {
        pub use annulus::__private::{Cow, Field, Kind, KindRef, Message, Plain, Schema};
        pub const fn no_padding_after(_: &[(usize, usize)], _: usize, _: usize, _: &str, _: &[&str]) {}
        pub const fn no_other_padding(_: usize, _: usize, _: &str) {}
    }
}

#[derive(Clone, Copy, annulus::Message)]
#[message(crate = "rings")]
#[repr(C)]
struct Quote {
    side: u8,
    price: f64,
}

fn main() {}
