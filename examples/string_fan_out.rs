//! Strings for several readers: each gets every one, as a clone, or looks at it where it lies.
//!
//! `cargo run --release -p annulus --example string_fan_out`

use std::thread;

use annulus::event;

fn main() {
    let (publisher, subscribable) = event::channel(16, String::new);
    let mut publisher = publisher.with_reset(String::clear);

    // These take a clone each …
    let loggers: Vec<_> = (0..2)
        .map(|_| {
            let subscriber = subscribable.subscribe();
            thread::spawn(move || subscriber.into_iter().collect::<Vec<String>>())
        })
        .collect();
    // … and this one only looks, so nothing is copied for it.
    let mut counter = subscribable.subscribe();
    let counter = thread::spawn(move || {
        let mut letters = 0;
        while let Ok(count) = counter.process(String::len) {
            letters += count;
        }
        letters
    });

    for number in 0..1_000 {
        if number % 2 == 0 {
            publisher.send(format!("line {number}")).expect("they listen"); // moved in
        } else {
            publisher
                .publish(|line| {
                    use std::fmt::Write;
                    // In place, into the memory of a line a lap before, which is empty.
                    write!(line, "line {number}").unwrap();
                })
                .expect("they listen");
        }
    }
    drop(publisher);

    let lines: Vec<String> = (0..1_000).map(|number| format!("line {number}")).collect();
    assert!(loggers.into_iter().all(|logger| logger.join().unwrap() == lines));
    assert_eq!(counter.join().unwrap(), lines.iter().map(String::len).sum());
    println!("{} lines for three readers", lines.len());
}
