// errors: 1
// says: `Quote` has 3 bytes of padding after its field `live`
// at: live: bool,

#[derive(Clone, Copy, annulus::Message)]
struct Quote {
    live: bool,
    bid: f64,
    symbol: u32,
}

fn main() {}
