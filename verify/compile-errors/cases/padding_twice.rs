// errors: 2
// says: `Quote` has 1 byte of padding after its field `0`
// says: `Quote` has 8 bytes of padding after its field `2`
// at: struct Quote(u8, u16, u32);

#[derive(Clone, Copy, annulus::Message)]
#[repr(C, align(16))]
struct Quote(u8, u16, u32);

fn main() {}
