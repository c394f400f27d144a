//! Producers as what one can send into: [`Transmit`](crate::Transmit).

use super::Producer;
use super::ends::Write;
use super::kind::AnyKind;
use super::producer::{send_slow_path, try_send_slow_path};
use crate::transmit::transmits;

transmits! {
    [T: Send, K: AnyKind] Producer<T, K>: T;
    |producer, value| now: match producer.end.send_plainly(value) {
        Ok(()) => Ok(()),
        Err(value) => try_send_slow_path(&mut producer.end, value),
    },
    |strategy, deadline| late: {
        let strategy = strategy.unwrap_or(producer.end.state().plan.strategy);
        send_slow_path(&mut producer.end, value, strategy, deadline)
    },
    closed: producer.is_closed(),
    task: Producer::send_async(producer, value),
}
