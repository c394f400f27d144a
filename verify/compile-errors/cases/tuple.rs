// errors: 1
// says: `(u8, u32)` cannot be copied through a ring
// says: an `Option`, a tuple, or an array of these: make it a field of such a struct

fn main() {
    let (_publisher, _subscribable) = annulus::broadcast::mp_lossy::<(u8, u32)>(64);
}
