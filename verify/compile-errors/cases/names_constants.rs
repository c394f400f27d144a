// errors: 0

// Constants, statics and functions of a user's, called what the macro might call its own.
#![deny(warnings)]
#![allow(dead_code, non_upper_case_globals, non_camel_case_types)]

use annulus::Message;

const SIZE: usize = 16;
const FIELDS: usize = 16;
const SIZES: usize = 16;
const value: u8 = 1;
const number: u8 = 1;
const wire: u8 = 1;
const payload: u8 = 1;
const is_some: u8 = 1;
const part0: u8 = 1;
const part1: u8 = 1;
const space: u8 = 1;
const it: u8 = 1;
const this: u8 = 1;
const field: u8 = 1;
static fields: u8 = 1;
static other: u8 = 1;
struct at;
fn plain() {}
fn fields_are_plain() {}

#[derive(Clone, Copy, Message)]
struct Plain {
    size: [u8; SIZE],
    fields: [u32; FIELDS],
    sizes: [[bool; SIZES]; SIZE],
    block: [u8; {
        const SIZE: usize = 4;
        SIZE
    }],
}

#[derive(Clone, Copy, Message)]
#[message(packed)]
struct Packed {
    size: [u8; SIZE],
    option: Option<Option<u8>>,
    value: [Option<u16>; FIELDS],
    part0: ((u8, u32), u64),
}

#[derive(Clone, Copy, Message)]
enum Order {
    Tuple(u8, Option<(u8, u16)>, [(u8, u16); SIZE]),
    Named { value: u8, number: u32 },
    Unit,
}

#[derive(Clone, Copy, Message)]
#[repr(u8)]
enum Side {
    Buy = value,
    Sell = 1 + number,
}

// And inside a function, with locals.
fn main() {
    const SIZE: usize = 3;
    #[derive(Clone, Copy, Message)]
    struct Local([u8; SIZE]);
    assert_eq!(size_of::<Local>(), 3);
}
