// errors: 1
// says: cannot be followed: it does not tell what it has processed
// says: make the subscriber that is to be followed by `subscribe_tracked()`

fn main() {
    let (_publisher, subscribable) = annulus::broadcast::lossless::<u64>(64);
    let first = subscribable.subscribe();
    let _second = subscribable.subscribe().after(&[&first]);
}
