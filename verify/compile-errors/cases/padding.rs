// errors: 1
// says: `Quote` has 7 bytes of padding after its field `side`
// says: add a field `_padding: [u8; 7]` after it, or `#[message(packed)]` to the struct
// at: side: u8,

#[derive(Clone, Copy, annulus::Message)]
#[repr(C)]
struct Quote {
    side: u8,
    price: f64,
}

fn main() {}
