// errors: 1
// says: expected `packed`, `name = "quote"`, `version = 1` or `crate = "path"`
// at: #[message(tight)]

#[derive(Clone, Copy, annulus::Message)]
#[message(tight)]
struct Quote {
    price: f64,
}

fn main() {}
