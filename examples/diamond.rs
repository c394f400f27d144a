//! A graph of stages: an order is journalled and replicated at the same time, and executed once both are
//! done.
//!
//! ```text
//!            ┌─► journal ───┐
//!  input ────┤              ├──► execute
//!            └─► replicate ─┘
//! ```
//!
//! The branches read one ring, and the last stage gets a pair for each order. (Stages of one broadcast ring
//! that follow each other, without a copy in between, are made by `Subscriber::after`.)
//!
//! `cargo run --release -p annulus --example diamond`

use annulus::pipeline::Pipeline;

const ORDERS: u64 = 200_000;

/// What a branch has done, for which order.
#[derive(Clone, Copy, Debug)]
struct Done {
    order: u64,
    at: u64,
}

/// A stage that writes each order to its own list.
fn writes() -> impl FnMut(u64) -> Done {
    let mut written = Vec::new();
    move |order| {
        written.push(order);
        Done { order, at: written.len() as u64 - 1 }
    }
}

fn main() {
    let (mut input, stages) = Pipeline::builder().capacity(1024).input::<u64>();
    let (output, pipeline) = stages
        .fork(|s| s.then(writes()).name("journal"), |s| s.then(writes()).name("replicate"))
        .zip()
        .then(|(journalled, replicated)| {
            assert_eq!(journalled.order, replicated.order, "both have done the same order");
            (journalled.order, journalled.at, replicated.at)
        })
        .name("execute")
        .build();
    print!("{}", pipeline.describe().mermaid());

    let client = std::thread::spawn(move || {
        (0..ORDERS).for_each(|order| input.send(order).expect("the stages are there"));
    }); // the input is dropped here, so the pipeline ends
    let executed =
        output.into_iter().filter(|(order, journal, replica)| journal == order && replica == order);
    let executed = executed.count() as u64;
    client.join().unwrap();
    pipeline.join().expect("no stage panicked");
    println!("executed {executed} orders, each after it was journalled and replicated");
    assert_eq!(executed, ORDERS);
}
