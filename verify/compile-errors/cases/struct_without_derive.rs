// errors: 1
// says: `Order` cannot be copied through a ring
// says: add `#[derive(Clone, Copy, annulus::Message)]` to it (feature `derive` of `annulus`)

#[derive(Clone, Copy)]
struct Order {
    _id: u64,
}

fn main() {
    let (_publisher, _subscribable) = annulus::broadcast::lossy::<Order>(64);
}
