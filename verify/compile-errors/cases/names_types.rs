// errors: 0

// Types of a user's that are called as others are in every program.
#![deny(warnings)]
#![allow(dead_code, non_camel_case_types)]

mod structs {
    #[derive(Clone, Copy, annulus::Message)]
    pub struct u8(pub ::core::primitive::u16);

    #[derive(Clone, Copy, annulus::Message)]
    #[message(packed)]
    pub struct u16 {
        small: u8,
        large: ::core::primitive::u64,
    }

    pub struct usize;
    pub struct bool;

    #[derive(Clone, Copy, annulus::Message)]
    pub struct Plain {
        one: u8,
        several: u8,
    }

    #[derive(Clone, Copy, annulus::Message)]
    #[message(packed)]
    pub struct Packed {
        arrays: [u8; 3],
        taken_apart: [u16; 3],
        option: Option<u8>,
    }

    #[derive(Clone, Copy, annulus::Message)]
    pub enum Order {
        One(u8),
        Several([u16; 4]),
        None,
    }

    #[derive(Clone, Copy, annulus::Message)]
    #[repr(u8)]
    pub enum Side {
        Buy,
        Sell,
    }
}

mod aliases {
    pub type u8 = ::core::primitive::u64;
    pub type usize = ::core::primitive::bool;

    #[derive(Clone, Copy, annulus::Message)]
    pub struct Plain {
        one: u8,
        several: [usize; 8],
    }

    #[derive(Clone, Copy, annulus::Message)]
    pub enum Order {
        One(u8, usize),
        Several([u8; 4], [usize; 2]),
        None(Option<usize>),
    }
}

// The names of traits, of generic parameters, and of what the library keeps for the macro.
mod others {
    pub trait Message {}
    pub trait NoUninit {}
    pub trait Copy {}
    pub struct Both;
    pub struct Either;
    pub struct Some;
    pub struct None;

    #[derive(Clone, core::marker::Copy, annulus::Message)]
    pub struct W {
        field: u64,
    }

    #[derive(Clone, core::marker::Copy, annulus::Message)]
    #[message(packed)]
    pub struct F<T, B: core::marker::Copy> {
        field: u64,
        value: Option<T>,
        array: [B; 2],
        nested: [Option<(T, B)>; 2],
    }

    #[derive(Clone, core::marker::Copy, annulus::Message)]
    pub enum Option_<A> {
        A(A),
        T,
    }
}

fn main() {}
