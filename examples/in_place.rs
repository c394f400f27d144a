//! Many messages at once: written straight into the ring, sent together, and read where they are.
//!
//! `cargo run --release -p annulus --example in_place`

use annulus::spsc;

fn main() {
    let (mut producer, mut consumer) = spsc::channel::<u64>(8);
    let reservation = producer.try_reserve(5).expect("there is room");
    println!("reserved {} slots; nothing is sent yet: {}", reservation.len(), consumer.is_empty());
    let sent = reservation.write_iter((1..).map(|n| n * n)); // fills them and sends all

    let squares = consumer.readable();
    println!("sent {sent}: {squares:?}, and they are still in the ring");
    assert_eq!(squares, [1, 4, 9, 16, 25]);
    consumer.advance(2); // done with two
    assert_eq!(consumer.readable(), [9, 16, 25]);

    // The slots of a reservation are one slice, so it ends where the ring ends. A second one takes the rest.
    let mut rest: &[u64] = &[36, 49, 64, 81, 100];
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        let reservation = producer.try_reserve(rest.len()).expect("there is room");
        let sent = reservation.write_slice(rest);
        rest = &rest[sent..];
        pieces.push(sent);
    }
    println!("five more went in as pieces of {pieces:?}");
    assert_eq!(pieces, [3, 2]);
    assert_eq!(consumer.try_iter().collect::<Vec<_>>(), [9, 16, 25, 36, 49, 64, 81, 100]);
}
