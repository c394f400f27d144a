// errors: 1
// says: messages of a queue of kind `Mpmc` cannot be written or read in place
// says: `spsc` and `mpsc` queues have it

fn main() {
    let (_producer, mut consumer) = annulus::mpmc::channel::<u64>(64);
    let _messages = consumer.readable();
}
