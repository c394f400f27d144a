//! What is done to a queue.

use crate::support::polled::Patience;

/// A step, and the handle that takes it: a number, modulo how many there are.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    pub(crate) who: usize,
    pub(crate) step: Step,
}

/// How many producers there may have been: a message's number tells whose it is.
pub(crate) const WHOSE: u64 = 1000;

#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "async"), allow(dead_code, reason = "nobody awaits"))]
pub(crate) enum Step {
    Send,
    Reserve {
        most: usize,
        commit: usize,
    },
    ReserveAndDrop(usize),
    FillerPanics {
        most: usize,
        after: usize,
    },
    Receive,
    Wait,
    Into(usize),
    Read {
        advance: usize,
    },
    AdvanceTooFar,
    Peek,
    PeekMany(usize),
    Skip(usize),
    TryIter {
        take: usize,
    },
    Consume,
    ConsumeUpTo(usize),
    HandlerPanics {
        after: usize,
    },
    Look,
    /// A consumer, in a task; the next steps are taken while it waits.
    Await(Patience),
    /// A producer, in a task.
    AwaitRoom(Patience),
    Close,
    // Where there are several.
    Join,
    Leave,
}

/// Any four bytes are a turn.
impl From<[u8; 4]> for Turn {
    fn from([kind, who, first, second]: [u8; 4]) -> Self {
        let (most, few, other) = (usize::from(first % 6), usize::from(first % 4), usize::from(second % 6));
        let patience = Patience::from(second);
        let step = match kind % 39 {
            0..6 => Step::Send,
            6..8 => Step::AwaitRoom(patience),
            8..11 => Step::Reserve { most, commit: other },
            11 => Step::ReserveAndDrop(most),
            12 => Step::FillerPanics { most: most.max(1), after: other % 4 },
            13..15 => Step::Receive,
            15..17 => Step::Await(patience),
            17..19 => Step::Wait,
            19..21 => Step::Into(few),
            21..24 => Step::Read { advance: few },
            24 => Step::AdvanceTooFar,
            25..27 => Step::Peek,
            27 => Step::PeekMany(few),
            28 => Step::Skip(few),
            29 => Step::TryIter { take: few },
            30 => Step::Consume,
            31..33 => Step::ConsumeUpTo(few),
            33 => Step::HandlerPanics { after: few },
            34..36 => Step::Look,
            36 => Step::Join,
            37 => Step::Leave,
            _ => Step::Close,
        };
        Self { who: usize::from(who % 8), step }
    }
}
