// errors: 6
// says: expected `name = "price"`, `unit = "ns"` or `bytes`; `packed` and `version` are for the whole type
// says: a unit is a text such as "ns", without brackets and quotation marks
// says: a name has letters, digits and `_`, and nothing else
// says: two are called `price` in the schema
// says: `bytes` is for a field that lies in the ring as it is
// at: #[message(packed)]
// at: First(#[message(skip)] u8),
// at: #[message(unit = "EUR (cents)")]
// at: #[message(name = "best bid")]
// at: #[message(name = "price")]

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

#[derive(Clone, Copy, annulus::Message)]
struct Units {
    #[message(unit = "EUR (cents)")]
    price: u64,
}

#[derive(Clone, Copy, annulus::Message)]
struct Names {
    #[message(name = "best bid")]
    bid: f64,
}

#[derive(Clone, Copy, annulus::Message)]
struct Twins {
    price: f64,
    #[message(name = "price")]
    ask: f64,
}

#[derive(Clone, Copy, annulus::Message)]
#[message(packed)]
struct Packed {
    #[message(bytes)]
    price: f64,
}

fn main() {}
