// errors: 1
// says: `Quote: Copy` is not satisfied
// may speak of bytemuck: the compiler shows where `Copy` is asked for

#[derive(annulus::Message)]
struct Quote {
    price: f64,
}

fn main() {}
