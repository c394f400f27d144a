// errors: 2
// at: let _text = std::str::from_utf8(&record);
// at: room[0] = 7;

fn reads(consumer: &mut annulus::shm::bytes::Consumer) {
    let record = consumer.read().unwrap();
    let _text = std::str::from_utf8(&record);
}

fn writes(producer: &mut annulus::shm::bytes::Producer) {
    let mut room = producer.reserve(1).unwrap();
    room[0] = 7;
}

fn main() {
    let _ = (reads, writes);
}
