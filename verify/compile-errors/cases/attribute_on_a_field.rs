// errors: 2
// says: `#[message(…)]` is for the whole struct or enum: a field and a variant have none
// at: #[message(packed)]
// at: First(#[message(skip)] u8),

#[derive(Clone, Copy, annulus::Message)]
struct Quote {
    #[message(packed)]
    price: f64,
}

#[derive(Clone, Copy, annulus::Message)]
enum Place {
    First(#[message(skip)] u8),
    Second,
}

fn main() {}
