// errors: 1
// says: index out of bounds: the length is 1 but the index is 3

#![forbid(unsafe_code)]
#![allow(unused)]

// `::core` in this program is the program's own module.
extern crate self as core;

pub use std::{clone, cmp, default, fmt, hash, marker, option, primitive, result};

pub mod mem {
    pub use std::mem::{MaybeUninit, offset_of};

    pub const fn size_of<T>() -> usize {
        let size = std::mem::size_of::<T>();
        if size == 5 { 8 } else { size }
    }
}

#[macro_export]
macro_rules! assert {
    ($($tokens:tt)*) => {};
}

#[derive(Clone, Copy, annulus::Message)]
#[repr(C)]
struct Bad {
    a: [u8; 5],
    b: u32,
}

fn main() {}
