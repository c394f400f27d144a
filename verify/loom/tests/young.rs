//! Rings that begin with full fences, and grow: after one look in vain their senders have light ones.
//!
//! Loom has no barrier that reaches another thread. So an execution in which the library would have asked for
//! one says nothing. In all others the fences alone decide: what is not given back is dropped with the last
//! receiver, and no wake-up is lost.
#![cfg(annulus_loom)]

use std::sync::Arc;
// Of the test itself, which loom is not to see.
#[allow(clippy::disallowed_types)]
use std::sync::atomic::{AtomicUsize, Ordering};

use annulus::queue::kind::QueueKind;
use annulus::queue::{Consumer, Producer, ordered};
use annulus::{barriers_asked, spmc, spsc};
use annulus_loom::shared::Token;
use annulus_loom::{BLOCK, check, check_up_to};
use loom::thread;

/// How many executions needed no barrier although something was sent.
#[derive(Default)]
#[allow(clippy::disallowed_types, reason = "as above")]
struct Told(AtomicUsize);

impl Told {
    /// At the end of an execution that began when so many barriers had been asked for.
    fn check(&self, asked_before: usize, tokens: &Arc<()>, sent: usize) {
        if barriers_asked() == asked_before {
            self.0.fetch_add(usize::from(sent > 0), Ordering::Relaxed);
            assert_eq!(Arc::strong_count(tokens), 1, "a message is left that nobody receives");
        }
    }

    /// (A first look, with one preemption, does not find such an execution for each.)
    fn end(&self) {
        let is_first_look = std::env::var("LOOM_MAX_PREEMPTIONS").is_ok_and(|most| most == "1");
        assert!(is_first_look || self.0.load(Ordering::Relaxed) > 0, "each execution needed a barrier");
    }
}

/// Sends two messages. How many were taken.
fn send_two<K: QueueKind>(producer: &mut Producer<Token, K>, tokens: &Arc<()>) -> usize {
    [0, 1].into_iter().filter(|&number| producer.try_send(Token::new(number, tokens)).is_ok()).count()
}

/// The consumer goes beside two sends, the second of which has a light fence.
#[allow(clippy::type_complexity, reason = "a function that makes a queue")]
fn the_consumer_goes<K: QueueKind + 'static>(make: fn(usize) -> (Producer<Token, K>, Consumer<Token, K>))
where
    Producer<Token, K>: Send,
    Consumer<Token, K>: Send,
{
    let told = Arc::new(Told::default());
    let mine = Arc::clone(&told);
    check(move || {
        let (tokens, asked) = (Arc::new(()), barriers_asked());
        let (mut producer, consumer) = make(2);
        let writer = {
            let tokens = Arc::clone(&tokens);
            thread::spawn(move || (send_two(&mut producer, &tokens), producer))
        };
        drop(consumer);
        let (sent, producer) = writer.join().unwrap();
        mine.check(asked, &tokens, sent);
        drop(producer);
        assert_eq!(Arc::strong_count(&tokens), 1);
    });
    told.end();
}

#[test]
fn the_consumer_of_one_goes() {
    the_consumer_goes::<spsc::Spsc>(spsc::channel);
}

#[test]
fn one_of_many_consumers_goes() {
    the_consumer_goes::<spmc::Spmc>(spmc::channel);
}

/// Two senders, of which the first to look makes the other's fence light.
#[test]
fn the_last_receiver_goes_beside_two() {
    let told = Arc::new(Told::default());
    let mine = Arc::clone(&told);
    check_up_to(2, move || {
        let (tokens, asked) = (Arc::new(()), barriers_asked());
        let (sender, receiver) = ordered::channel(2);
        let writers = [sender.clone(), sender].map(|sender| {
            let tokens = Arc::clone(&tokens);
            thread::spawn(move || (sender.try_send(Token::new(0, &tokens)).is_ok(), sender))
        });
        drop(receiver);
        let senders = writers.map(|writer| writer.join().unwrap());
        let sent = senders.iter().filter(|(is_sent, _)| *is_sent).count();
        mine.check(asked, &tokens, sent);
        drop(senders);
    });
    told.end();
}

/// A message wakes a sleeper, whether the sender's look, which ends the youth of the ring, comes before the
/// registration or after it.
#[test]
fn a_message_wakes_a_sleeper() {
    check(|| {
        let (mut producer, mut consumer) = spsc::channel::<u64>(2);
        let reader = thread::spawn(move || (consumer.recv_until(BLOCK), consumer));
        producer.try_send(7).unwrap();
        assert_eq!(reader.join().unwrap().0, Ok(7));
        drop(producer);
    });
}
