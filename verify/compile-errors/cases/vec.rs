// errors: 1
// says: `Vec<u8>` cannot be copied through a ring
// says: a buffer of an `annulus::pool`

fn main() {
    let (_publisher, _subscribable) = annulus::broadcast::mp_lossless::<Vec<u8>>(64);
}
