// errors: 1
// says: a union cannot be a message

#[derive(Clone, Copy, annulus::Message)]
union Either {
    number: u32,
    float: f32,
}

fn main() {}
