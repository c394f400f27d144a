// errors: 1
// says: cannot be written or read in place: many consumers take them one by one
// says: `spsc` and `mpsc` queues have it

fn main() {
    let (_producer, mut consumer) = annulus::mpmc::channel::<u64>(64);
    let _messages = consumer.readable();
}
