// errors: 1
// says: `__AnnulusField: annulus::__private::NoUninit` is not satisfied
// at: #[derive(Clone, Copy, annulus::Message)]
// may speak of bytemuck: where the library is said to be, there is nothing but its trait

#![forbid(unsafe_code)]

mod rings {
    pub mod __private {
        pub use annulus::__private::{NoUninit, no_other_padding, no_padding_after};
        pub trait Plain {}
        impl<T> Plain for T {}
    }
}

// All bytes are those of the field, which may have none of them.
#[derive(Clone, Copy, annulus::Message)]
#[message(crate = "rings")]
struct Quote {
    price: core::mem::MaybeUninit<f64>,
}

fn main() {}
