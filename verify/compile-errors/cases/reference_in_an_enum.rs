// errors: 1
// says: `&'static str` cannot be copied through a ring
// at: Reject { why: &'static str },

#[derive(Clone, Copy, annulus::Message)]
enum Answer {
    Accept,
    Reject { why: &'static str },
}

fn main() {}
