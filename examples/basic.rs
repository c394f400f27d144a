//! One producer, one consumer: sent one by one, or many at once, written and read in place.
//!
//! `cargo run --release -p annulus --example basic`

use std::thread;

use annulus::{RecvError, TrySendError, spsc};

fn main() {
    one_by_one();
    in_place();
}

/// Any message that is `Send` will do; it is moved in and moved out.
fn one_by_one() {
    let (mut producer, mut consumer) = spsc::channel::<String>(4);
    for name in ["ant", "bee", "cat", "dog"] {
        producer.send(name.to_string()).expect("the consumer is there");
    }
    // Five do not fit into four slots. `send` would wait for the consumer.
    let refused = producer.try_send("eel".to_string()).unwrap_err();
    assert!(matches!(&refused, TrySendError::Full(name) if name == "eel"));
    println!("full: {:?} came back", refused.into_inner());

    let reader = thread::spawn(move || {
        let names: Vec<String> = consumer.iter().collect(); // sleeps while the queue is empty, ends when it is closed
        (names, consumer.recv())
    });
    producer.send("fox".to_string()).expect("the consumer is there");
    drop(producer); // closes the queue; what was sent is still received
    let (names, after) = reader.join().unwrap();
    println!("received {names:?}, then: {:?}", after.as_ref().unwrap_err());
    assert_eq!(names, ["ant", "bee", "cat", "dog", "fox"]);
    assert_eq!(after, Err(RecvError));
}

/// Slots lie beside each other, so many messages can be written straight into the ring, sent at once, and read where they are.
fn in_place() {
    let (mut producer, mut consumer) = spsc::channel::<u64>(8);
    let reservation = producer.reserve(5).expect("there is room");
    println!("reserved {} slots; nothing is sent yet: {}", reservation.len(), consumer.is_empty());
    let sent = reservation.write_iter((1..).map(|n| n * n)); // fills them and commits

    let squares = consumer.readable();
    println!("sent {sent}: {squares:?}, and they are still in the ring");
    assert_eq!(squares, [1, 4, 9, 16, 25]);
    consumer.advance(2); // done with two
    assert_eq!(consumer.readable(), [9, 16, 25]);

    // A reservation ends where the ring does, so that its slots are one slice; the rest is a second one.
    let mut rest: &[u64] = &[36, 49, 64, 81, 100];
    let mut pieces = Vec::new();
    while let Some(reservation) = producer.reserve(rest.len()) {
        let sent = reservation.write_slice(rest);
        rest = &rest[sent..];
        pieces.push(sent);
    }
    println!("five more went in as pieces of {pieces:?}");
    assert_eq!(pieces, [3, 2]);
    assert_eq!(consumer.try_iter().collect::<Vec<_>>(), [9, 16, 25, 36, 49, 64, 81, 100]);
}
