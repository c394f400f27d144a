// errors: 1
// says: `Option<f64>` cannot be a field of a message that is copied as it is
// says: add `#[message(packed)]` to the struct that has this field
// at: price: Option<f64>,

#[derive(Clone, Copy, annulus::Message)]
struct Quote {
    price: Option<f64>,
}

fn main() {}
