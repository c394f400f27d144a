// errors: 1
// says: `Side` cannot be a field of a message that is copied as it is
// says: an enum without data: add `#[repr(u8)]` to it
// says: add `#[message(packed)]` to the struct that has this field
// at: side: Side,

#[derive(Clone, Copy, annulus::Message)]
enum Side {
    _Buy,
    _Sell,
}

#[derive(Clone, Copy, annulus::Message)]
struct Quote {
    price: u64,
    side: Side,
    _padding: [u8; 7],
}

// With what the error says.
#[derive(Clone, Copy, annulus::Message)]
#[repr(u8)]
enum Mended {
    _Buy,
    _Sell,
}

#[derive(Clone, Copy, annulus::Message)]
struct Plain {
    price: u64,
    side: Mended,
    _padding: [u8; 7],
}

#[derive(Clone, Copy, annulus::Message)]
#[message(packed)]
struct Packed {
    price: u64,
    side: Side,
}

fn main() {}
