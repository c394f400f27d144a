// errors: 4
// says: `String` cannot be copied through a ring: it is not an `annulus::Message`
// says: the method `subscribe` exists for struct
// says: which is required by `String: annulus::Message`
// at: let (mut publisher, subscribable)

// No error names the library that says which types have no padding.
fn main() {
    let (mut publisher, subscribable) = annulus::broadcast::lossy::<String>(64);
    let mut subscriber = subscribable.subscribe();
    publisher.publish("bid".to_string());
    let _ = subscriber.try_recv();
    let bus = annulus::Bus::<String>::new(64);
}
