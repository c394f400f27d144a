// errors: 1
// says: a message cannot borrow

#[derive(Clone, Copy, annulus::Message)]
struct Line<'a> {
    text: &'a str,
}

fn main() {}
