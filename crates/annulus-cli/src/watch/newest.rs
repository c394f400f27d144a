//! [`Newest`]: the message that was published last.

use annulus::shm::RingObserver;

use super::fields::{Decoder, Object};
use super::shown::fields_to_text;
use crate::text::printable;

/// What is in it, or why it is no message.
pub(crate) type Newest = Result<Object, String>;

/// No larger message is read only to be shown in a line.
const MOST_BYTES: usize = 1 << 16;

/// So much of it is shown.
const MOST_CHARS: usize = 400;

/// Of a broadcast ring; `None` if nothing is published, it can't be read now, or it is large.
pub(crate) fn newest(observer: &RingObserver, decoder: &Decoder) -> Option<Newest> {
    if decoder.schema().size() > MOST_BYTES {
        return None;
    }
    let mut bytes = Vec::new();
    let number = observer.numbers()?.published.checked_sub(1)?;
    observer.read(number, &mut bytes).then(|| decoder.decode(&bytes))
}

/// On one line, which ends with `…` where it would be long.
pub(crate) fn newest_to_text(newest: &Newest) -> String {
    shortened(match newest {
        Ok(fields) => fields_to_text(fields),
        Err(what) => format!("corrupt: {}", printable(what)),
    })
}

/// What messages are made of, on such a line.
pub(crate) fn message_to_text(schema: &str) -> String {
    shortened(printable(schema))
}

fn shortened(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(MOST_CHARS) {
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_not_long() {
        assert_eq!(message_to_text("ä"), "ä");
        assert_eq!(message_to_text(&"ä".repeat(400)), "ä".repeat(400));
        assert_eq!(message_to_text(&"ä".repeat(401)), "ä".repeat(400) + "…");
    }
}
