// errors: 1
// says: `Quote` has padding in 2 places: add `#[message(packed)]` to the struct
// says: or a field to each place: `[u8; 1]` after `0`, `[u8; 8]` after `2`
// at: struct Quote(u8, u16, u32);

#[derive(Clone, Copy, annulus::Message)]
#[repr(C, align(16))]
struct Quote(u8, u16, u32);

fn main() {}
