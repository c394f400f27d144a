//! Publishers as what one can send into: [`Transmit`](crate::Transmit).

#[cfg(feature = "shm")]
use super::FellowPublisher;
use super::slot_access::{claim_by, claim_now};
use super::{Lossless, Lossy, MpPublisher, Publisher};
use crate::message::Message;
use crate::transmit::transmits;

transmits! {
    [T: Message] Publisher<T, Lossless>: T;
    |publisher, message| now: {
        let admitted = publisher.single.try_admit();
        publisher.put_admitted(admitted, message)
    },
    |strategy, deadline| late: {
        let strategy = strategy.unwrap_or(publisher.single.shared.strategy);
        let admitted = publisher.single.admit_by(strategy, deadline);
        publisher.put_admitted(admitted, message)
    },
    closed: publisher.is_closed(),
    task: publisher.publish_async(message),

    // It waits for nobody.
    [T: Message] Publisher<T, Lossy>: T;
    |publisher, message| now: publisher.put(&message).map_err(|refusal| (refusal, message)),
    |_strategy, _deadline| late: publisher.put(&message).map_err(|refusal| (refusal, message)),
    closed: publisher.is_closed(),
    task: core::future::ready(publisher.put(&message).map_err(|_| crate::SendError(message))),

    // Nor does this.
    [T: Message] MpPublisher<T, Lossy>: T;
    |publisher, message| now: publisher.put(&message).map_err(|refusal| (refusal, message)),
    |_strategy, _deadline| late: publisher.put(&message).map_err(|refusal| (refusal, message)),
    closed: publisher.is_closed(),
    task: core::future::ready(publisher.put(&message).map_err(|_| crate::SendError(message))),
}

#[cfg(feature = "shm")]
transmits! {
    // It waits for nobody.
    [T: Message] FellowPublisher<T>: T;
    |publisher, message| now: publisher.put(&message).map_err(|refusal| (refusal, message)),
    |_strategy, _deadline| late: publisher.put(&message).map_err(|refusal| (refusal, message)),
    closed: publisher.is_closed(),
    task: core::future::ready(publisher.put(&message).map_err(|_| crate::SendError(message))),
}

/// For a publisher, and for a reference to one, because its verbs take `&self`.
macro_rules! publishers {
    ($([$($borrowed:tt)*])*) => {$(
        transmits! {
            [T: Message] $($borrowed)* MpPublisher<T, Lossless>: T;
            |publisher, message| now: {
                let claimed = claim_now(&publisher.shared);
                publisher.put_admitted(claimed, message)
            },
            |strategy, deadline| late: {
                let strategy = strategy.unwrap_or(publisher.shared.strategy);
                let claimed = claim_by(&publisher.shared, 1, strategy, deadline);
                publisher.put_admitted(claimed, message)
            },
            closed: MpPublisher::<T, Lossless>::is_closed(publisher),
            task: publisher.publish_async(message),
        }
    )*};
}

publishers! {
    []
    [&]
}
