//! The ordered queue, as a lossless ring with one subscriber.

use annulus::queue::ordered::{Receiver, Sender, with};

use super::ends::{more_verbs, panic_in_handler, queue, receives, sends};

queue!(OneOrder, Sender<u64>, Receiver<u64>, many: true, |settings| with(settings).unwrap());

sends!([] Sender<u64>, observer: |sender| sender.observer(), another: |sender| Some(sender.clone()));

receives!([] Receiver<u64>, into_stream: |receiver| Some(Box::pin(receiver.into_stream())),
    panic_on_next: |receiver| panic_in_handler!(receiver), more_verbs: more_verbs!());
