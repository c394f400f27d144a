//! [`Newest`]: the message that was published last.

use annulus::shm::RingObserver;

use super::fields::{Decoder, Object};
use super::shown::fields_to_text;
use crate::text::printable;

/// What is in it, or why it is no message.
pub(crate) type Newest = Result<Object, String>;

/// Of a broadcast ring; `None` if nothing is published, or it can't be read now.
pub(crate) fn newest(observer: &RingObserver, decoder: &Decoder) -> Option<Newest> {
    let mut bytes = Vec::new();
    let number = observer.numbers()?.published.checked_sub(1)?;
    observer.read(number, &mut bytes).then(|| decoder.decode(&bytes))
}

/// On one line.
pub(crate) fn newest_to_text(newest: &Newest) -> String {
    match newest {
        Ok(fields) => fields_to_text(fields),
        Err(what) => format!("corrupt: {}", printable(what)),
    }
}
