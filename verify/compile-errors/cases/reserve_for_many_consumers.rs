// errors: 1
// says: messages of a queue of kind `Spmc` cannot be written or read in place

fn main() {
    let (mut producer, _consumer) = annulus::spmc::channel::<u64>(64);
    let _slots = producer.try_reserve(4);
}
