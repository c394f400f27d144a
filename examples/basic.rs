//! One producer, one consumer: any message that is `Send` will do; it is moved in and moved out.
//!
//! `cargo run --release -p annulus --example basic`

use std::thread;

use annulus::{RecvError, TrySendError, spsc};

fn main() {
    let (mut producer, mut consumer) = spsc::channel::<String>(4);
    for name in ["ant", "bee", "cat", "dog"] {
        producer.send(name.to_string()).expect("the consumer is there");
    }
    // Five do not fit into four slots. `send` would wait for the consumer.
    let refused = producer.try_send("eel".to_string()).unwrap_err();
    assert!(matches!(&refused, TrySendError::Full(name) if name == "eel"));
    println!("full: {:?} came back", refused.into_inner());

    let reader = thread::spawn(move || {
        // Sleeps while the queue is empty, and ends when it is closed.
        let names: Vec<String> = consumer.iter().collect();
        (names, consumer.recv())
    });
    producer.send("fox".to_string()).expect("the consumer is there");
    drop(producer); // closes the queue; what was sent is still received
    let (names, after) = reader.join().unwrap();
    println!("received {names:?}, then: {:?}", after.as_ref().unwrap_err());
    assert_eq!(names, ["ant", "bee", "cat", "dog", "fox"]);
    assert_eq!(after, Err(RecvError::CLOSED));
}
