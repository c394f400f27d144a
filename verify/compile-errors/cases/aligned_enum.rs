// errors: 2
// says: `Side` cannot be a field of a message that is copied as it is
// says: `Wide` cannot be a field of a message that is copied as it is
// at: side: Side,
// at: wide: Wide,

// Seven bytes of it are padding, so it is taken apart.
#[derive(Clone, Copy, annulus::Message)]
#[repr(u8, align(8))]
enum Side {
    Buy = 1,
    Sell = 2,
}

#[derive(Clone, Copy, annulus::Message)]
#[repr(align(16))]
#[repr(i32)]
enum Wide {
    Low = -1,
    High = 1,
}

#[derive(Clone, Copy, annulus::Message)]
struct Quote {
    side: Side,
    wide: Wide,
}

fn main() {
    let (_publisher, _subscribable) = annulus::broadcast::lossy::<Side>(8);
    let (_publisher, _subscribable) = annulus::broadcast::lossy::<Wide>(8);
}
