//! Queues that consumers of several processes share, as lossless rings with one subscriber. All mappings of a
//! queue are in this process.

use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use annulus::Receive as _;
use annulus::shm::mpmc::{Builder, Claimed, Consumer, Producer, consumer, producer};
use annulus::shm::{Invitation, WhenGone};

#[cfg(feature = "async")]
use crate::support::tasks::block_on;

use super::ends::{Reader, queue, receives, sends};
use super::{Verb, verbs};

/// A producer, and what another one joins by.
pub(crate) struct Joined {
    producer: Producer<u64>,
    invitation: Arc<Invitation>,
}

impl Deref for Joined {
    type Target = Producer<u64>;

    fn deref(&self) -> &Producer<u64> {
        &self.producer
    }
}

impl DerefMut for Joined {
    fn deref_mut(&mut self) -> &mut Producer<u64> {
        &mut self.producer
    }
}

queue!(SharedWork, Joined, Consumer<u64>, many: true, |settings| {
    let builder = Builder::new(settings).when_no_producer(WhenGone::Close);
    let made = builder.when_no_consumer(WhenGone::Close).build::<u64>().unwrap();
    let (consumer, producer) = (consumer(&made.invitation).unwrap(), producer(&made.invitation).unwrap());
    (Joined { producer, invitation: Arc::new(made.invitation) }, consumer)
});

sends!([] Joined, observer: |_joined| unreachable!("another process observes it"), another: |joined| {
    let invitation = Arc::clone(&joined.invitation);
    producer(&invitation).ok().map(|producer| Joined { producer, invitation })
});

receives!([] Consumer<u64>, into_stream: |_consumer| None, panic_on_next: |consumer| panic_with(consumer),
    more_verbs: claims());

/// It comes back, and is received in the second try.
fn panic_with(consumer: &mut Consumer<u64>) {
    let work = || {
        let _claimed = consumer.try_claim().expect("one is there");
        resume_unwind(Box::new("on purpose"))
    };
    let _: Box<dyn std::any::Any + Send> = catch_unwind(AssertUnwindSafe(work)).unwrap_err();
    let again = consumer.try_claim().expect("it is given again");
    assert_eq!(again.given_before(), 1);
    again.done();
}

fn claims() -> Vec<Verb<Reader<Consumer<u64>>>> {
    #[allow(unused_mut, reason = "without the feature `async` nothing is added")]
    let mut verbs: Vec<Verb<Reader<Consumer<u64>>>> = verbs! {
        "claim", true, |reader| {
            let result = reader.consumer.claim().map(Claimed::done);
            reader.count(result)
        };
        "try_claim", false, |reader| {
            let result = reader.consumer.try_claim().map(Claimed::done);
            reader.count(result)
        };
    };
    #[cfg(feature = "async")]
    {
        let more: Vec<Verb<Reader<Consumer<u64>>>> = verbs! {
            "claim_async", true, |reader| {
                let result = block_on(reader.consumer.claim_async()).map(Claimed::done);
                reader.count(result)
            };
        };
        verbs.extend(more);
    }
    verbs
}
