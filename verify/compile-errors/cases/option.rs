// errors: 1
// says: `Option<f64>` cannot be copied through a ring
// says: an `Option`, a tuple, or an array of these: make it a field of such a struct

fn main() {
    let (_publisher, _subscribable) = annulus::broadcast::lossy::<Option<f64>>(64);
}
