// errors: 1
// says: `Gaps` has padding in 4 places: add `#[message(packed)]` to the struct
// says: which leaves padding out of the ring, or a field to each place: `[u8; 1]` after `a`, `[u8; 3]` after
// says: `[u8; 3]` after `c`, `[u8; 3]` after `e`, `[u8; 7]` after `g`
// at: a: u8,

#[derive(Clone, Copy, annulus::Message)]
#[repr(C)]
struct Gaps {
    a: u8,
    b: u16,
    c: u8,
    d: u32,
    e: u8,
    f: u64,
    g: u8,
}

fn main() {}
