//! The publisher of a topic as what one can send into: [`Transmit`].

use super::kind::TopicRing;
use super::publisher::TopicPublisher;
use crate::Transmit;
use crate::message::Message;
use crate::transmit::transmits;

transmits! {
    [T: Message, K: TopicRing] TopicPublisher<T, K>: T, where [K::Writer<T>: Transmit<Item = T>];
    |publisher, message| now: (**publisher).put_now(message),
    |strategy, deadline| late: (**publisher).put_late(message, strategy, deadline),
    closed: Transmit::is_closed(&**publisher),
    task: Transmit::send_async(&mut **publisher, message),
}
