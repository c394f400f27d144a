//! Queues from one producer to one consumer.
//!
//! Each row has its loops in a module of its own.

use super::entries::contenders;
use crate::contenders::guests::{self, Calls, Inline, Moodycamel};
use crate::contenders::{
    AnnulusCopied, AnnulusInPlace, AnnulusQueue, AnnulusTried, Crossbeam, CrossbeamTried, Kanal, KanalTried,
    Named, Rtrb, RtrbCopied, RtrbInPlace, StdSync,
};
use crate::floor;
use crate::row::Row;

pub fn rows() -> [Row; 4] {
    use copied::copied;
    use in_place::in_place;
    use tried::tried;
    use waiting::waiting;

    const EVERY_LINE: &str = "handing every line over";
    let row = |name, about| Row::new(name, about, 4096, 4_096_000).on_two_cores();
    [
        row("queue, one by one, tried", "u64, sent and received on two cores by verbs that return at once, in a loop")
            .entries(contenders!(tried: AnnulusTried, Rtrb, CrossbeamTried, KanalTried))
            .entries(guests::entry::<Moodycamel>(|plan| guests::run_moodycamel("one-tried", plan)))
            .entries(guests::entry::<Inline>(|plan| guests::run_annulus("one-tried", plan)))
            .entries(guests::entry::<Calls>(|plan| guests::run_annulus("one-tried-by-calls", plan)))
            .floor(EVERY_LINE, floor::hand_every_line_over)
            .target(Rtrb::NAME, 1.0),
        row(
            "queue, one by one, waiting",
            "the same by verbs that wait, as each library does by default; rtrb, which has none, by a loop that tries",
        )
        .entries(contenders!(waiting: AnnulusQueue, Rtrb, Crossbeam, Kanal, StdSync))
        .entries(guests::entry::<Moodycamel>(|plan| guests::run_moodycamel("one-waiting", plan)))
        .entries(guests::entry::<Inline>(|plan| guests::run_annulus("one-waiting", plan)))
        .target(Rtrb::NAME, 0.90),
        row(
            "queue, batches of 64, copied",
            "u64, sent from a slice, and received into a buffer of 64 on the other core, by verbs for batches",
        )
        .entries(contenders!(copied: AnnulusCopied, RtrbCopied))
        .floor(EVERY_LINE, floor::hand_every_line_over_in_batches),
        row(
            "queue, batches of 64, in place",
            "the same, written to slots that were reserved, and read where they lie",
        )
        .entries(contenders!(in_place: AnnulusInPlace, RtrbInPlace))
        .entries(guests::entry::<Inline>(|plan| guests::run_annulus("in-place", plan)))
        .floor(EVERY_LINE, floor::hand_every_line_over_in_batches)
        .target(Rtrb::NAME, 0.90),
    ]
}

mod tried {
    use crate::contenders::{Queue, Receiver, Sender};
    use crate::row::{Plan, Sample};
    use crate::rows::stream;

    #[inline(never)]
    pub fn tried<Q: Queue<Sender: Sender, Receiver: Receiver>>(plan: &Plan) -> Sample {
        stream::queue::<Q>(plan)
    }
}

mod waiting {
    use crate::contenders::{Queue, Receiver, Sender};
    use crate::row::{Plan, Sample};
    use crate::rows::stream;

    #[inline(never)]
    pub fn waiting<Q: Queue<Sender: Sender, Receiver: Receiver>>(plan: &Plan) -> Sample {
        stream::queue::<Q>(plan)
    }
}

mod copied {
    use crate::contenders::{BatchReceiver, BatchSender, Queue};
    use crate::row::{Plan, Sample};
    use crate::rows::stream;

    #[inline(never)]
    pub fn copied<Q: Queue<Sender: BatchSender, Receiver: BatchReceiver>>(plan: &Plan) -> Sample {
        stream::queue_batches::<Q>(plan)
    }
}

mod in_place {
    use crate::contenders::{BatchReceiver, BatchSender, Queue};
    use crate::row::{Plan, Sample};
    use crate::rows::stream;

    #[inline(never)]
    pub fn in_place<Q: Queue<Sender: BatchSender, Receiver: BatchReceiver>>(plan: &Plan) -> Sample {
        stream::queue_batches::<Q>(plan)
    }
}
