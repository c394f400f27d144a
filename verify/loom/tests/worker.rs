//! Workers that spin, without the fence for waking sleepers: a stop brings along what was sent before it.
#![cfg(annulus_loom)]

use annulus::{Worker, spsc};
use annulus_loom::{SPIN, check_up_to};

#[test]
fn stop_comes_after_earlier_messages() {
    check_up_to(2, || {
        let (mut producer, consumer) = spsc::channel(1);
        let builder = Worker::builder(consumer, 0).wait_strategy(SPIN);
        let worker = builder.spawn(|sum, number: u64, _| *sum += number).unwrap();
        assert!(producer.try_send(5).is_ok());
        worker.stop();
        assert_eq!(worker.join().unwrap().context, 5);
        drop(producer);
    });
}
