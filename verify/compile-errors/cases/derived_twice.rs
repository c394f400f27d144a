// errors: 3
// says: conflicting implementations of trait `annulus::__private::Plain` for type `Order`
// says: conflicting implementations of trait `annulus::Message` for type `Side`
// says: conflicting implementations of trait `annulus::__private::Encoded` for type `Side`
// at: #[derive(Clone, Copy, annulus::Message)]

use annulus::Message;

#[derive(Message)]
#[derive(Clone, Copy, annulus::Message)]
struct Order {
    _id: u64,
}

#[derive(Message)]
#[derive(Clone, Copy, annulus::Message)]
enum Side {
    _Buy,
    _Sell(u8),
}

fn main() {}
