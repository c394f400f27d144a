// errors: 1
// says: unrecognized representation hint
// at: #[repr(u8, wide)]

// What the compiler says of it is enough.
#[derive(Clone, Copy, annulus::Message)]
#[repr(u8, wide)]
enum Side {
    Buy,
    Sell,
}

fn main() {}
