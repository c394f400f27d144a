// errors: 1
// says: `String` cannot be copied through a ring: it is not an `annulus::Message`
// says: a ring of owned events (`annulus::event`), or a queue (`annulus::queue`)
// says: `annulus::Text<N>` holds up to `N` bytes
// at: let (_publisher, _subscribable)

fn main() {
    let (_publisher, _subscribable) = annulus::broadcast::lossy::<String>(64);
}
