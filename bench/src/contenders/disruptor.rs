//! The `disruptor`: its publisher waits for its readers, its messages are changed and read where they lie.
//!
//! Its readers poll and take one message at a time: of its ways to receive what is published one by one, the
//! one that took the least time by far. (The others take all that there are at once, by a poll or in a
//! handler on a thread that the library makes; they keep up with the publisher, and so are after the same
//! lines as it is.)

use disruptor::{
    BusySpin, EventPoller, MultiConsumerBarrier, Producer, SingleConsumerBarrier, SingleProducer,
    SingleProducerBarrier, build_single_producer,
};

use super::{BatchPublisher, BatchReader, FanOut, Gated, Named, Publisher, Reader};
use crate::messages::BATCH;

/// With one reader, which its producer looks at directly.
pub struct Disruptor;

impl Named for Disruptor {
    const NAME: &'static str = "disruptor";
}

impl Gated<1> for Disruptor {}

impl FanOut<1> for Disruptor {
    type Publisher = SingleProducer<u64, SingleConsumerBarrier>;
    type Reader = EventPoller<u64, SingleProducerBarrier>;

    fn channel(capacity: usize) -> (Self::Publisher, [Self::Reader; 1]) {
        let (reader, builder) = build_single_producer(capacity, || 0, BusySpin).new_event_poller();
        (builder.build(), [reader])
    }
}

/// With any number of them.
pub struct DisruptorOfMany;

impl Named for DisruptorOfMany {
    const NAME: &'static str = Disruptor::NAME;
}

impl<const READERS: usize> Gated<READERS> for DisruptorOfMany {}

impl<const READERS: usize> FanOut<READERS> for DisruptorOfMany {
    type Publisher = SingleProducer<u64, MultiConsumerBarrier>;
    type Reader = EventPoller<u64, SingleProducerBarrier>;

    fn channel(capacity: usize) -> (Self::Publisher, [Self::Reader; READERS]) {
        let mut builder = Some(build_single_producer(capacity, || 0, BusySpin).with_multi_consumer());
        let readers = std::array::from_fn(|_| {
            let (reader, next) = builder.take().expect("put back each time").new_event_poller();
            builder = Some(next);
            reader
        });
        (builder.expect("put back each time").build(), readers)
    }
}

/// The trait that both its producers' barriers have is not public.
macro_rules! publisher {
    ($barrier:ty) => {
        impl Publisher<u64> for SingleProducer<u64, $barrier> {
            #[inline(always)]
            fn publish(&mut self, message: u64) {
                Producer::publish(self, |event| *event = message);
            }
        }
    };
}

publisher!(SingleConsumerBarrier);
publisher!(MultiConsumerBarrier);

impl BatchPublisher for SingleProducer<u64, SingleConsumerBarrier> {
    #[inline(always)]
    fn publish_batch(&mut self, messages: &[u64; BATCH]) {
        self.batch_publish(BATCH, |events| {
            events.zip(messages).for_each(|(event, message)| *event = *message)
        });
    }
}

impl Reader for EventPoller<u64, SingleProducerBarrier> {
    #[inline(always)]
    fn poll(&mut self, mut receive: impl FnMut(u64)) -> bool {
        match self.take(1) {
            Ok(mut events) => {
                for event in &mut events {
                    receive(*event);
                }
                true
            }
            Err(_) => false,
        }
    }
}

impl BatchReader for EventPoller<u64, SingleProducerBarrier> {
    #[inline(always)]
    fn poll_batch(&mut self, _: &mut [u64; BATCH], mut each: impl FnMut(u64)) -> u64 {
        match self.take(BATCH as u64) {
            Ok(mut events) => {
                let mut count = 0;
                for event in &mut events {
                    each(*event);
                    count += 1;
                }
                count
            }
            Err(_) => 0,
        }
    }
}
