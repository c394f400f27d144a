// errors: 1
// says: an enum without variants has no value that could be sent

#[derive(Clone, Copy, annulus::Message)]
enum Never {}

fn main() {}
