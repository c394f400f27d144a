//! A batch of one of many publishers stays together: nothing of another comes between its messages.

use std::thread;

use annulus::{channel_mpmc, channel_mpmc_bounded};

use crate::every::join;

const BATCHES: u64 = if cfg!(miri) {
    5
} else if cfg!(debug_assertions) {
    500
} else {
    3_000
};

/// Messages in a batch.
const LENGTH: u64 = 4;

/// For all messages.
const ROOM: usize = (3 * BATCHES * LENGTH) as usize;

/// Message `place` of batch `count` of publisher `id`.
fn message(id: u64, count: u64, place: u64) -> u64 {
    id << 48 | count << 8 | place
}

fn batch(id: u64, count: u64) -> [u64; LENGTH as usize] {
    std::array::from_fn(|place| message(id, count, place as u64))
}

/// Each message after the first of its batch follows the one before it.
fn check(received: &[u64]) {
    for pair in received.windows(2) {
        let place = pair[1] & 0xff;
        assert!(place == 0 || pair[1] == pair[0] + 1, "{:x} after {:x}", pair[1], pair[0]);
    }
}

/// Three publishers at a ring with room for everything, so that nobody is in the way, and nothing that was lost hides what came between.
macro_rules! together {
    ($($name:ident: $channel:expr;)*) => {$(
        #[test]
        fn $name() {
            let (publisher, subscribable) = $channel;
            let mut subscriber = subscribable.subscribe();
            let writers = [0, 1, 2].map(|id| {
                let publisher = publisher.clone();
                thread::spawn(move || {
                    for count in 0..BATCHES {
                        let _ = publisher.publish_batch(&batch(id, count));
                    }
                })
            });
            drop(publisher);
            let received: Vec<u64> = subscriber.iter().collect();
            check(&received);
            assert_eq!(received.len() as u64, 3 * BATCHES * LENGTH);
            join(writers);
        }
    )*};
}

together! {
    a_lossy_batch_stays_together: channel_mpmc::<u64>(ROOM);
    a_lossless_batch_stays_together: channel_mpmc_bounded::<u64>(ROOM + 3, 3);
}
