//! A program for crossbeam-channel, with two lines changed: senders that are cloned for each message, in one
//! order, with one capacity.
//!
//! `cargo run --release -p annulus --example from_crossbeam`

use std::thread;
use std::time::Duration;

use annulus::queue::ordered::{Receiver, Sender, channel}; // was crossbeam_channel, with `bounded`

struct Request {
    number: u64,
    reply: Sender<u64>,
}

fn serve(requests: &Receiver<Request>) {
    for request in requests {
        // The thread that asked may be gone.
        let _ = request.reply.send(request.number * request.number);
    }
}

fn ask(server: &Sender<Request>, number: u64) -> Option<u64> {
    let (reply, answer) = channel(1);
    server.send(Request { number, reply }).ok()?;
    answer.recv_timeout(Duration::from_secs(10)).ok()
}

fn main() {
    let (server, requests) = channel::<Request>(32); // was bounded(32)
    let servers: Vec<_> = (0..2)
        .map(|_| {
            let requests = requests.clone();
            thread::spawn(move || serve(&requests))
        })
        .collect();
    drop(requests);

    // `&self`: threads share one sender by reference.
    thread::scope(|scope| {
        for client in 0..4 {
            let server = &server;
            scope.spawn(move || {
                for number in client * 100..(client + 1) * 100 {
                    assert_eq!(ask(server, number), Some(number * number));
                }
            });
        }
    });
    assert!(server.is_empty());
    drop(server);
    for server in servers {
        server.join().unwrap();
    }
    println!("400 questions answered");
}
