// errors: 2
// says: a queue of kind `Across<u64>` is one between processes
// says: another process may write to its messages
// says: the verbs whose names have `shared` in them
// at: let _messages = consumer.readable();
// at: let _message = consumer.peek();

fn shows(consumer: &mut annulus::shm::spsc::Consumer<u64>) {
    let _messages = consumer.readable();
    let _message = consumer.peek();
}

fn main() {
    let _ = shows;
}
