// errors: 0

// Types that speak of the type that they are in.
#![deny(warnings)]
#![allow(dead_code)]

#[derive(Clone, Copy, annulus::Message)]
struct Plain {
    bytes: [u8; Self::LEN],
    nested: [[bool; Self::LEN]; Plain::LEN * 2],
}

impl Plain {
    const LEN: usize = 3;
}

#[derive(Clone, Copy, annulus::Message)]
#[message(packed)]
struct Packed {
    first: u8,
    bytes: [u16; Self::LEN],
    options: [Option<u16>; Self::LEN + 1],
    pairs: ([u8; Self::LEN], u64),
}

impl Packed {
    const LEN: usize = 3;
}

#[derive(Clone, Copy, annulus::Message)]
enum Order {
    Bytes([u8; Self::LEN], u8),
    Options { options: [Option<char>; Self::LEN] },
    None,
}

impl Order {
    const LEN: usize = 3;
}

#[derive(Clone, Copy, annulus::Message)]
#[message(packed)]
struct Generic<T: Side>
where
    Self: Sized,
    T::Price: Copy,
{
    side: T,
    price: <T as Side>::Price,
    also: Option<T::Price>,
    volume: <Self as Side>::Price,
}

trait Side {
    type Price;
}

impl<T: Side> Side for Generic<T>
where
    T::Price: Copy,
{
    type Price = u64;
}

fn main() {}
