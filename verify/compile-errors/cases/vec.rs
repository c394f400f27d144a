// errors: 1
// says: `Vec<u8>` cannot be copied through a ring
// says: a buffer of an `annulus::pool`

fn main() {
    let (_publisher, _subscribable) = annulus::channel_mpmc_bounded::<Vec<u8>>(64, 0);
}
