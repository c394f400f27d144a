//! Publishers of events as what one can send values into: [`Transmit`](crate::Transmit).

use super::reset::Reset;
use super::{EventPublisher, MpEventPublisher};
use crate::broadcast::slot_access::{claim_by, claim_now};
use crate::transmit::transmits;

transmits! {
    [T: Send + Sync, R: Reset<T>] EventPublisher<T, R>: T;
    |publisher, value| now: {
        let admitted = publisher.try_admit();
        publisher.put_admitted(admitted, value)
    },
    |strategy, deadline| late: {
        let strategy = strategy.unwrap_or(publisher.single.shared.strategy);
        let admitted = publisher.admit_by(strategy, deadline);
        publisher.put_admitted(admitted, value)
    },
    closed: publisher.is_closed(),
    task: publisher.send_async(value),

    [T: Send + Sync, R: Reset<T>] MpEventPublisher<T, R>: T;
    |publisher, value| now: publisher.put_admitted(claim_now(publisher.shared()), value),
    |strategy, deadline| late: {
        let strategy = strategy.unwrap_or(publisher.shared().strategy);
        publisher.put_admitted(claim_by(publisher.shared(), 1, strategy, deadline), value)
    },
    closed: publisher.is_closed(),
    task: MpEventPublisher::send_async(publisher, value),
}
