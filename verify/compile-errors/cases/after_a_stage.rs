// errors: 1
// says: this subscriber is a stage already
// says: give it all upstreams at once

fn main() {
    let (_publisher, subscribable) = annulus::broadcast::lossy::<u64>(64);
    let (first, second) = (subscribable.subscribe_tracked(), subscribable.subscribe_tracked());
    let _third = subscribable.subscribe().after(&[&first]).after(&[&second]);
}
