// errors: 2
// says: `annulus::queue::Consumer<u64, annulus::spsc::Spsc>` cannot send messages by value
// says: not a sending handle that can be used again
// says: `annulus::oneshot::Sender<u64>` cannot send messages by value
// at: fill(&mut consumer);
// at: fill(&mut sender);

use annulus::{Transmit, oneshot, spsc};

fn fill(sender: &mut impl Transmit<Item = u64>) {
    while sender.try_send(7).is_ok() {}
}

fn main() {
    let (_producer, mut consumer) = spsc::channel::<u64>(64);
    let (mut sender, _receiver) = oneshot::channel::<u64>();
    fill(&mut consumer);
    fill(&mut sender);
}
