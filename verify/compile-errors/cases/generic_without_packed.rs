// errors: 1
// says: whether a generic struct has padding shows only where it is used; add `#[message(packed)]`
// at: struct Stamped<T> {

#[derive(Clone, Copy, annulus::Message)]
struct Stamped<T> {
    at: u64,
    value: T,
}

fn main() {}
