// errors: 2
// says: `{integer}` cannot receive messages by value
// says: not a receiving handle, or its messages can only be borrowed
// says: `annulus::queue::Producer<u64, annulus::spsc::Spsc>` cannot receive messages by value
// at: drain(&mut 7);
// at: drain(&mut producer);

use annulus::Receive;

fn drain(receiver: &mut impl Receive<Item = u64>) {
    while receiver.try_recv().is_ok() {}
}

fn main() {
    let (mut producer, _consumer) = annulus::spsc::channel::<u64>(64);
    drain(&mut 7);
    drain(&mut producer);
}
