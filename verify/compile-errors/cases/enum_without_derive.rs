// errors: 1
// says: `Order` cannot be copied through a ring
// says: a struct or an enum of your own: add `#[derive(Clone, Copy, annulus::Message)]` to it

#[derive(Clone, Copy)]
enum Order {
    _Limit { price: f64 },
    _Cancel,
}

fn main() {
    let (_publisher, _subscribable) = annulus::broadcast::lossy::<Order>(64);
}
