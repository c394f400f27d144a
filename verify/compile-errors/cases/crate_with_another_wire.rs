// errors: 1
// says: Filled` is not satisfied
// at: #[derive(Clone, Copy, annulus::Message)]

#![forbid(unsafe_code)]

mod rings {
    pub mod __private {
        pub use annulus::__private::{Cow, Field, Kind, KindRef, Schema};
        pub use annulus::__private::{Encoded, Filled, Message, decode, encode};

        // There is padding between the two.
        #[derive(Clone, Copy)]
        #[repr(C)]
        pub struct Both<A, B>(pub A, pub B);
    }
}

#[derive(Clone, Copy, annulus::Message)]
#[message(packed, crate = "rings")]
struct Quote {
    side: u8,
    price: f64,
}

fn main() {}
