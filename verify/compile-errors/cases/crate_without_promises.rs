// errors: 1
// says: implementing the trait `Plain` is not unsafe
// at: #[derive(Clone, Copy, annulus::Message)]

mod rings {
    pub mod __private {
        pub use annulus::__private::{Cow, Field, Kind, KindRef, Message, Schema};
        pub use annulus::__private::{no_other_padding, no_padding_after};
        pub trait Plain {
            const SCHEMA: &'static Schema;
            const ANY_BITS: bool;
            unsafe fn is_value(bytes: *const u8) -> bool;
        }
        impl Plain for core::mem::MaybeUninit<f64> {
            const SCHEMA: &'static Schema = <f64 as Message>::SCHEMA;
            const ANY_BITS: bool = true;
            unsafe fn is_value(_: *const u8) -> bool {
                true
            }
        }
    }
}

// All bytes are those of the field, which may have none of them.
#[derive(Clone, Copy, annulus::Message)]
#[message(crate = "rings")]
struct Quote {
    price: core::mem::MaybeUninit<f64>,
}

fn main() {}
