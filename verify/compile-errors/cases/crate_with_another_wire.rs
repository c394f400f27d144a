// errors: 1
// says: NoUninit` is not satisfied
// at: #[derive(Clone, Copy, annulus::Message)]
// may speak of bytemuck: where the library is said to be, there is nothing but its trait

#![forbid(unsafe_code)]

mod rings {
    pub mod __private {
        pub use annulus::__private::{Message, NoUninit, decode, encode};

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
