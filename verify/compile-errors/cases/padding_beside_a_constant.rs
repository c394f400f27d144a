// errors: 1
// says: `Bad` has 3 bytes of padding after its field `a`
// at: a: [u8; SIZE - 4],

// The name of a constant is its user's, whatever the macro calls its own.
const SIZE: usize = 5;

#[derive(Clone, Copy, annulus::Message)]
#[repr(C)]
struct Bad {
    a: [u8; SIZE - 4],
    b: u32,
}

fn main() {}
