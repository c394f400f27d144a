// errors: 1
// says: `&'static str` cannot be copied through a ring

fn main() {
    let (_publisher, _subscribable) = annulus::broadcast::lossless::<&'static str>(64);
}
