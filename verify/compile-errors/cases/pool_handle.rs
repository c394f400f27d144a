// errors: 1
// says: `Handle` cannot be copied through a ring
// says: a `Handle` of an `annulus::pool`, which every subscriber would receive and only one could redeem
// says: no derive helps; use one of the two ways for large blocks
// says: for one reader a buffer of an `annulus::pool`, whose handle goes through a queue
// says: for many a ring of owned events (example `video_frames`)
// at: let (_publisher, _subscribable)

use annulus::pool::Handle;

fn main() {
    let (_publisher, _subscribable) = annulus::broadcast::lossless::<Handle>(16);
}
