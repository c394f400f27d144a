//! The lossy ring against a plain model, which is in `models/lossy.rs`, in random steps and at every small
//! capacity.

#[path = "../models/lossy.rs"]
mod lossy;

use annulus::{LossyTryRecvError, TryRecvError};
use lossy::{Step, message, run};
use proptest::prelude::*;

const CASES: u32 = if cfg!(miri) { 2 } else { 600 };
const STEPS: usize = if cfg!(miri) { 30 } else { 400 };

fn capacities() -> impl Strategy<Value = usize> {
    prop_oneof![2_usize..=8, 2_usize..=1000]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    proptest::collection::vec(any::<[u8; 4]>().prop_map(Step::from), 1..STEPS)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_the_model(capacity in capacities(), steps in steps()) {
        let (publisher, subscribable) = annulus::broadcast::lossy(capacity);
        prop_assert_eq!((publisher.capacity(), subscribable.capacity()), (capacity, capacity));
        run((publisher, subscribable), capacity, &steps);
    }

    #[test]
    fn many_publishers_agree_with_the_model(capacity in capacities(), steps in steps()) {
        run(annulus::broadcast::mp_lossy(capacity), capacity, &steps);
    }
}

#[test]
fn rings_of_every_small_capacity_at_every_lag() {
    for capacity in 2..if cfg!(miri) { 4 } else { 40 } {
        for published in 0..3 * capacity as u64 {
            let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(capacity);
            let mut subscriber = subscribable.subscribe();
            (0..published).for_each(|sequence| publisher.publish(message(sequence)));
            let lost = published.saturating_sub(capacity as u64);
            if lost > 0 {
                assert_eq!(subscriber.try_recv_or_lag(), Err(LossyTryRecvError::Lagged { skipped: lost }));
            }
            for sequence in lost..published {
                assert_eq!(
                    subscriber.try_recv(),
                    Ok(message(sequence)),
                    "{capacity} slots, {published} published"
                );
            }
            assert_eq!(subscriber.try_recv(), Err(TryRecvError::Empty));
        }
    }
}
