// errors: 1
// says: a queue of kind `ManyAcross<u64>` is one between processes
// at: room.as_uninit()[0].write(7);

fn reserves(producer: &mut annulus::shm::mpsc::Producer<u64>) {
    let mut room = producer.try_reserve(4).unwrap();
    room.as_uninit()[0].write(7);
}

fn main() {
    let _ = reserves;
}
