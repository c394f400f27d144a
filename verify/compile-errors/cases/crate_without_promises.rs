// errors: 1
// says: implementing the trait `Plain` is not unsafe
// at: #[derive(Clone, Copy, annulus::Message)]

#![forbid(unsafe_code)]

mod rings {
    pub mod __private {
        pub use annulus::__private::{Cow, Field, Kind, KindRef, Message, Schema};
        pub use annulus::__private::{no_other_padding, no_padding_after};
        pub trait Plain {
            const SCHEMA: &'static Schema;
        }
        impl Plain for core::mem::MaybeUninit<f64> {
            const SCHEMA: &'static Schema = <f64 as Message>::SCHEMA;
        }
        impl Plain for () {
            const SCHEMA: &'static Schema = <() as Message>::SCHEMA;
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
