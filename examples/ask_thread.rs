//! A thread that owns some accounts, and threads that ask it: a question is to move money, and its answer is
//! what is left. Each has many questions open at once. The owner refuses what can't be, and needs no lock.
//!
//! `cargo run --release -p annulus --example ask_thread`

use std::collections::HashMap;
use std::thread;

use annulus::service::{self, AnswerError, PendingAnswer};

struct Transfer {
    from: String,
    to: String,
    amount: u64,
}

fn main() {
    const TELLERS: u64 = 4;
    const TRANSFERS: u64 = 1_000;
    let (client, mut server) = service::channel::<Transfer, u64>(32); // each client may have 32 open

    let owner = thread::spawn(move || {
        let mut accounts = HashMap::from([("ada".to_string(), 10_000), ("grace".to_string(), 0)]);
        for request in &mut server {
            let (Transfer { from, to, amount }, request) = request.take_question();
            let Some(rest) = accounts.get(&from).and_then(|there: &u64| there.checked_sub(amount)) else {
                continue; // the request is dropped: refused
            };
            accounts.insert(from, rest);
            *accounts.entry(to).or_default() += amount;
            let _ = request.answer(rest); // the teller may be gone
        }
        accounts
    });

    let tellers: Vec<_> = (0..TELLERS)
        .map(|_| {
            let mut client = client.clone();
            thread::spawn(move || {
                let transfer = || Transfer { from: "ada".into(), to: "grace".into(), amount: 7 };
                let mut told = Vec::new();
                for _ in 0..TRANSFERS / 10 {
                    let open: Vec<_> = (0..10).map(|_| client.ask(transfer()).unwrap()).collect();
                    told.extend(open.into_iter().map(PendingAnswer::recv));
                }
                told
            })
        })
        .collect();
    drop(client); // the service closes with its last client

    let told: Vec<_> = tellers.into_iter().flat_map(|teller| teller.join().unwrap()).collect();
    let done = told.iter().filter(|answer| answer.is_ok()).count() as u64;
    let refused = told.iter().filter(|answer| **answer == Err(AnswerError::Refused)).count() as u64;
    assert_eq!((done, done + refused), (10_000 / 7, TELLERS * TRANSFERS));
    let accounts = owner.join().unwrap();
    assert_eq!((accounts["ada"], accounts["grace"]), (10_000 - 7 * done, 7 * done));
}
