// errors: 1
// says: `Handle` cannot be a field of a message that is copied as it is
// says: a `Handle` of an `annulus::pool`, which every subscriber would receive and only one could redeem
// says: no derive helps; for one reader a queue, for many a ring of owned events (example `video_frames`)
// at: pixels: Handle,

use annulus::pool::Handle;

#[derive(Clone, Copy, annulus::Message)]
struct Frame {
    pixels: Handle,
    number: u32,
}

fn main() {}
