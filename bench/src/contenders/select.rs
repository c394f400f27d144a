//! One thread that waits for several queues at once.

use super::{AnnulusQueue, Crossbeam, Flume, Queue};

/// How many queues there are to wait for.
pub const RINGS: usize = 4;

/// A library that waits for [`RINGS`] queues.
pub trait Selecting: Queue {
    /// Waits for a message, and tells from which queue it is.
    fn select(receivers: &mut [Self::Receiver; RINGS]) -> (usize, u64);
}

const THERE: &str = "the other side is there";

macro_rules! by_macro {
    ($queue:ty, $select:path) => {
        impl Selecting for $queue {
            #[inline(always)]
            fn select(receivers: &mut [Self::Receiver; RINGS]) -> (usize, u64) {
                use $select as select;
                let [first, second, third, fourth] = receivers;
                select! {
                    recv(first.0) -> message => (0, message.expect(THERE)),
                    recv(second.0) -> message => (1, message.expect(THERE)),
                    recv(third.0) -> message => (2, message.expect(THERE)),
                    recv(fourth.0) -> message => (3, message.expect(THERE)),
                }
            }
        }
    };
}

by_macro!(AnnulusQueue, annulus::select);
by_macro!(Crossbeam, crossbeam_channel::select);

impl Selecting for Flume {
    #[inline(always)]
    fn select(receivers: &mut [Self::Receiver; RINGS]) -> (usize, u64) {
        let [first, second, third, fourth] = receivers;
        flume::Selector::new()
            .recv(&first.0, |message| (0, message.expect(THERE)))
            .recv(&second.0, |message| (1, message.expect(THERE)))
            .recv(&third.0, |message| (2, message.expect(THERE)))
            .recv(&fourth.0, |message| (3, message.expect(THERE)))
            .wait()
    }
}
