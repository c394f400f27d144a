// errors: 1
// says: `#[message(…)]` is for the whole struct or enum: a field and a variant have none
// at: #[message(packed)]

#[derive(Clone, Copy, annulus::Message)]
enum Place {
    First,
    #[message(packed)]
    Second,
}

fn main() {}
