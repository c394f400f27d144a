// errors: 2
// says: `Option<f64>` cannot be a field of a message that is copied as it is
// says: `(u8, u32)` cannot be a field of a message that is copied as it is
// says: Then all of its fields may be such, and no padding has to be named
// at: price: Option<f64>,
// at: place: (u8, u32),

// Nothing is said of padding, which `packed` leaves out as well.
#[derive(Clone, Copy, annulus::Message)]
struct Order {
    id: u64,
    price: Option<f64>,
    live: bool,
    quantity: u32,
    place: (u8, u32),
    venue: u16,
}

// With what the first error says.
#[derive(Clone, Copy, annulus::Message)]
#[message(packed)]
struct Mended {
    id: u64,
    price: Option<f64>,
    live: bool,
    quantity: u32,
    place: (u8, u32),
    venue: u16,
}

fn main() {}
