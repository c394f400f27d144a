//! Random steps against the model, in small rings, and every lag by every length.

use annulus::LossyTryRecvError;
use annulus::broadcast::bytes;
use proptest::prelude::*;

use super::records::record;
use super::steps::{Step, run};

const CASES: u32 = if cfg!(miri) { 2 } else { 600 };
const STEPS: usize = if cfg!(miri) { 25 } else { 400 };

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_the_model(
        capacity in prop_oneof![Just(64_usize), Just(128), Just(256), Just(1024), Just(8192)],
        steps in proptest::collection::vec(any::<[u8; 3]>().prop_map(Step::from), 1..STEPS),
    ) {
        run(capacity, &steps);
    }
}

/// Records of one length from each word of the ring on: whatever number of them is published, what is lost is
/// told first, and it is not more than the documentation says.
#[test]
fn records_of_every_length_at_every_lag() {
    let (capacity, lengths) = if cfg!(miri) { (64, [0, 9, 32]) } else { (256, [0, 17, 96]) };
    for length in lengths {
        for begin in 0..capacity / 8 {
            let (mut publisher, subscribable) = bytes::lossy(capacity);
            for _ in 0..begin {
                publisher.publish(&record(publisher.published(), 8)).unwrap();
            }
            for published in 1..if cfg!(miri) { 5 } else { 2 * publisher.max_records() as u64 } {
                let (mut subscriber, mut buffer) = (subscribable.subscribe(), Vec::new());
                for _ in 0..published {
                    publisher.publish(&record(publisher.published(), length)).unwrap();
                }
                let mut result = subscriber.try_recv_or_lag(&mut buffer);
                if let Err(LossyTryRecvError::Lagged { skipped }) = result {
                    assert_eq!(skipped, subscriber.total_lagged());
                    result = subscriber.try_recv_or_lag(&mut buffer);
                }
                while result != Err(LossyTryRecvError::Empty) {
                    assert_eq!(result, Ok(length));
                    assert_eq!(buffer, record(subscriber.cursor() - 1, length));
                    result = subscriber.try_recv_or_lag(&mut buffer);
                }
                let (received, lost) = (subscriber.total_received(), subscriber.total_lagged());
                assert_eq!(received + lost, published);
                // What is too much for the ring may be lost, and no more.
                let kept = received + u64::from(lost > 0);
                let bytes = kept * length.next_multiple_of(8) as u64;
                let is_full = bytes > capacity as u64 * 15 / 16 || kept > publisher.max_records() as u64;
                assert!(lost == 0 || is_full, "{lost} of {published} of {length} bytes were lost");
            }
        }
    }
}
