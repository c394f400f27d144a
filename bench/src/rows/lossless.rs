//! Rings whose publisher waits for its readers.
//!
//! Each row has its loops in a module of its own.

use super::entries::contenders;
use crate::contenders::guests::{self, Lmax};
use crate::contenders::{
    AnnulusLossless, AnnulusLosslessWaiting, AsyncBroadcast, AsyncBroadcastWaiting, Bus, BusWaiting,
    Disruptor, DisruptorOfMany, Named, PhotonRing, PhotonRingBounded, PhotonRingBoundedWaiting,
};
use crate::floor;
use crate::row::Row;

pub fn rows() -> [Row; 5] {
    use batches::stream_batches;
    use to_four::stream_to_four;
    use to_one::stream;
    use to_two::stream_to_two;
    use waiting::stream_waiting;

    let row = |name, about| Row::new(name, about, 4096, 1_024_000).on_two_cores();
    [
        row("lossless, one reader", "u64, published one by one, received one by one on the other core")
            .entries(contenders!(stream: AnnulusLossless, PhotonRingBounded, Disruptor, Bus, AsyncBroadcast))
            .entries(guests::entry::<Lmax>(|plan| guests::run_lmax("one", plan)))
            .floor(EVERY_LINE, floor::hand_every_line_over)
            .target(PhotonRing::NAME, 0.55)
            .aim(0.40)
            .target(Disruptor::NAME, 0.85)
            .aim(0.60),
        Row::new(
            "lossless, one reader, waiting",
            "the same by verbs that wait, on both sides, as each library does by default",
            4096,
            // Some sleep and wake for a few messages each.
            64_000,
        )
        .on_two_cores()
        .entries(contenders!(
            stream_waiting: AnnulusLosslessWaiting,
            PhotonRingBoundedWaiting,
            BusWaiting,
            AsyncBroadcastWaiting
        )),
        row(
            "lossless, batches of 64",
            "u64, published in batches of 64, received on the other core into a buffer of 64",
        )
        .entries(contenders!(stream_batches: AnnulusLossless, PhotonRingBounded, Disruptor))
        .entries(guests::entry::<Lmax>(|plan| guests::run_lmax("batches", plan)))
        .floor(EVERY_LINE, floor::hand_every_line_over_in_batches)
        .target(EVERY_LINE, 1.30),
        row(
            "lossless, two readers",
            "u64, published one by one, a thread on the other core polls two readers in turn; the time of a message that \
             both have received",
        )
        .entries(contenders!(stream_to_two: AnnulusLossless, PhotonRingBounded, DisruptorOfMany, Bus, AsyncBroadcast))
        .target(PhotonRing::NAME, 0.60),
        Row { messages: 4_096_000, ..row("lossless, four readers", "the same with four readers, which one thread polls in turn") }
            .entries(contenders!(stream_to_four: AnnulusLossless, PhotonRingBounded, DisruptorOfMany))
            .target(PhotonRing::NAME, 0.60),
    ]
}

const EVERY_LINE: &str = "handing every line over";

mod to_one {
    use crate::contenders::Gated;
    use crate::row::{Plan, Sample};
    use crate::rows::stream;

    pub fn stream<C: Gated<1>>(plan: &Plan) -> Sample {
        stream::stream::<C, 1>(plan)
    }
}

mod waiting {
    use crate::contenders::Gated;
    use crate::row::{Plan, Sample};
    use crate::rows::stream;

    pub fn stream_waiting<C: Gated<1>>(plan: &Plan) -> Sample {
        stream::stream::<C, 1>(plan)
    }
}

mod to_two {
    use crate::contenders::Gated;
    use crate::row::{Plan, Sample};
    use crate::rows::stream;

    pub fn stream_to_two<C: Gated<2>>(plan: &Plan) -> Sample {
        stream::stream::<C, 2>(plan)
    }
}

mod to_four {
    use crate::contenders::Gated;
    use crate::row::{Plan, Sample};
    use crate::rows::stream;

    pub fn stream_to_four<C: Gated<4>>(plan: &Plan) -> Sample {
        stream::stream::<C, 4>(plan)
    }
}

mod batches {
    use crate::contenders::{BatchPublisher, BatchReader, Gated};
    use crate::row::{Plan, Sample};
    use crate::rows::stream;

    pub fn stream_batches<C: Gated<1>>(plan: &Plan) -> Sample
    where
        C::Publisher: BatchPublisher,
        C::Reader: BatchReader,
    {
        stream::stream_batches::<C>(plan)
    }
}
