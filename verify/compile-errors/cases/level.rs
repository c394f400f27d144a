// errors: 0

// A number of a type parameter's is no field: it lies in the ring as it is.
#![deny(warnings)]
#![allow(dead_code)]

use annulus::{Message, broadcast};

#[derive(Clone, Copy, Message)]
#[repr(u8)]
enum Level<const N: usize> {
    Low,
    High,
}

#[derive(Clone, Copy, Message)]
#[repr(i16)]
enum Wide<const N: u8, const FLAG: bool>
where
    [u8; 4]: Sized,
{
    Low = -1,
    High = 1000,
}

#[derive(Clone, Copy, Message)]
enum Taken<const N: usize> {
    Low,
    High,
}

#[derive(Clone, Copy, Message)]
struct Levels {
    one: Level<1>,
    two: Level<2>,
    wide: Wide<3, true>,
}

fn main() {
    let (_publisher, _subscribable) = broadcast::lossy::<Level<3>>(8);
    let (_publisher, _subscribable) = broadcast::lossy::<Wide<3, false>>(8);
    let (_publisher, _subscribable) = broadcast::lossy::<Taken<3>>(8);
}
