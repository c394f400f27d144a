// errors: 1
// says: `Quote: Copy` is not satisfied

#[derive(annulus::Message)]
struct Quote {
    price: f64,
}

fn main() {}
