//! The input of a pipeline as what one can send into: [`Transmit`](crate::Transmit).

use super::Input;
use crate::error::{Refusal, TryPublishError};
use crate::transmit::room::{Alone, AwaitRoom};
use crate::transmit::transmits;
use crate::wait::wait_until;

transmits! {
    [T: Send + 'static] Input<T>: T;
    |input, message| now: input.try_publish(message).map_err(|error| match error {
        TryPublishError::Full(message) => (Refusal::Full, message),
        TryPublishError::Closed(message) => (Refusal::Closed, message),
    }),
    |strategy, deadline| late: {
        let strategy = strategy.unwrap_or(Alone::strategy(input));
        let mut message = message;
        loop {
            message = match input.put_now(message) {
                Err((Refusal::Full, message)) => message,
                put => return put,
            };
            // (Of an input that is not built yet this says at once that it is closed.)
            let room = wait_until(&mut AwaitRoom(input), strategy, deadline);
            if let Err(refusal) = room.unwrap_or(Err(Refusal::Full)) {
                return Err((refusal, message));
            }
        }
    },
    closed: input.is_closed(),
    task: input.publish_async(message),
}
