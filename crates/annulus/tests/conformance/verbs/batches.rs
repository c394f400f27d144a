//! A batch of one of many publishers stays together, in parts of 64: nothing of another comes between their
//! messages, and none waits longer.

use std::hint::spin_loop;
use std::thread;
use std::time::Instant;

use crate::every::{STUCK, join};

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

/// Three publishers at a ring with room for everything, so that nobody is in the way, and nothing that was
/// lost hides what came between.
macro_rules! together {
    ($($name:ident: $channel:expr;)*) => {$(
        #[test]
        fn $name() {
            let (publisher, subscribable) = $channel;
            let mut subscriber = subscribable.subscribe();
            let writers = [0, 1, 2].map(|id| {
                #[allow(unused_mut, reason = "a lossy one needs it")]
                let mut publisher = publisher.clone();
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
    a_lossy_batch_stays_together: annulus::broadcast::mp_lossy::<u64>(ROOM);
    a_lossless_batch_stays_together: annulus::broadcast::mp_lossless_with::<u64>(annulus::Settings::new(ROOM + 3).headroom(3)).unwrap();
}

/// Messages that are claimed at once.
const PART: usize = 64;

/// Many parts: in release a batch of so many messages takes a core for a millisecond.
const LONG: usize = if cfg!(miri) { 4 * PART } else { 1 << 16 };

/// On a machine that has one core to spare, two threads meet in a batch that takes longer than a turn on that
/// core.
const LONGEST: usize = if cfg!(miri) { LONG } else { 1 << 20 };

/// So many times with batches of one length; then they are twice as long.
const TRIES: u32 = 8;

/// While one publishes a long batch, another comes between its parts, and never between the messages of one.
/// They try until they meet: only if they don't for so long, one waits for the other's whole batches.
macro_rules! in_parts {
    ($($name:ident: |$capacity:ident| $channel:expr;)*) => {$(
        #[test]
        fn $name() {
            let begun = Instant::now();
            let mut long = LONG;
            while (0..TRIES).all(|_| $name::parts_of_a_batch(long) == 1) {
                assert!(begun.elapsed() < STUCK, "the other one waited for whole batches");
                long = (2 * long).min(LONGEST);
            }
        }

        mod $name {
            use super::*;

            pub(super) fn parts_of_a_batch(long: usize) -> usize {
                let $capacity = 2 * long;
                #[allow(unused_mut, reason = "a lossy one needs it")]
                let (mut publisher, subscribable) = $channel;
                let mut subscriber = subscribable.subscribe();
                #[allow(unused_mut, reason = "as above")]
                let mut other = publisher.clone();
                let batch = vec![1; long];
                let writer = thread::spawn(move || {
                    let _ = publisher.publish_batch(&batch);
                });
                while other.published() == 0 {
                    thread::yield_now();
                }
                // As long as the batch is under way, and there is room to look at all of it afterwards.
                for _ in 0..long / PART {
                    let _ = other.publish(0);
                    if writer.is_finished() {
                        break;
                    }
                    (0..20).for_each(|_| spin_loop());
                }
                join([writer]);
                drop(other);
                let received: Vec<u64> = subscriber.iter().collect();
                let of_the_batch = received.split(|&message| message == 0).map(<[u64]>::len);
                let parts: Vec<usize> = of_the_batch.filter(|&length| length > 0).collect();
                assert_eq!(parts.iter().sum::<usize>(), long, "nothing is lost");
                assert!(parts.iter().all(|length| length % PART == 0), "{parts:?}");
                parts.len()
            }
        }
    )*};
}

in_parts! {
    a_long_lossy_batch_lets_others_in: |capacity| annulus::broadcast::mp_lossy::<u64>(capacity);
    a_long_lossless_batch_lets_others_in: |capacity| annulus::broadcast::mp_lossless::<u64>(2 * capacity);
}
