// errors: 1
// says: `annulus::Message` is not implemented by hand, as it is for `Order`
// says: write `#[derive(Clone, Copy, annulus::Message)]` (feature `derive` of `annulus`) in place of the
// `impl` at: impl Message for Order {

use annulus::Message;
use annulus::schema::Schema;

#[derive(Clone, Copy)]
struct Order {
    _id: u64,
}

impl Message for Order {
    const SCHEMA: &'static Schema = u64::SCHEMA;
}

fn main() {}
