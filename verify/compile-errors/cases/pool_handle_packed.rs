// errors: 1
// says: `Handle` cannot be copied through a ring
// says: a `Handle` of an `annulus::pool`, which every subscriber would receive and only one could redeem
// says: no derive helps
// at: Shown(Handle),

use annulus::pool::Handle;

#[derive(Clone, Copy, annulus::Message)]
enum Picture {
    Shown(Handle),
    Hidden,
}

fn main() {}
