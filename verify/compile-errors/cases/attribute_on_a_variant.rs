// errors: 1
// says: expected `name = "buy"`: that is all that a variant can be given
// at: #[message(packed)]

#[derive(Clone, Copy, annulus::Message)]
enum Place {
    First,
    #[message(packed)]
    Second,
}

fn main() {}
