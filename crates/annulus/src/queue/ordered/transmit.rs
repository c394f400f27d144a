//! Senders as what one can send into: [`Transmit`](crate::Transmit). Each is for a sender, and for a
//! reference to one, because its verbs take `&self`.

use super::Sender;
use crate::transmit::transmits;

/// For a sender, and for a reference.
macro_rules! senders {
    ($([$($borrowed:tt)*])*) => {$(
        transmits! {
            [T: Send] $($borrowed)* Sender<T>: T;
            |sender, value| now: sender.state.try_put(value),
            |strategy, deadline| late: {
                let strategy = strategy.unwrap_or(sender.state.strategy);
                sender.state.send_late(value, strategy, deadline)
            },
            closed: sender.state.lane.is_ended(),
            task: Sender::send_async(sender, value),
        }
    )*};
}

senders! {
    []
    [&]
}
