//! [`Ring`]: what the publisher's side does with a ring of either mode.

use annulus::broadcast::{Builder, Lossless, Lossy, Mode, Publisher};
use annulus::shm::{Invitation, ShareError, broadcast};

use super::arguments::SUBSCRIBERS_MAX;
use super::message::Load;

/// A ring between processes, and who publishes to it.
pub(super) trait Ring: Mode + Sized {
    /// Whether the publisher waits for the slowest subscriber.
    const LOSSLESS: bool;

    /// A ring of so many slots.
    ///
    /// # Errors
    ///
    /// There can be none.
    fn make<const WORDS: usize>(
        capacity: usize,
    ) -> Result<(Publisher<Load<WORDS>, Self>, Invitation), ShareError>;

    /// Publishes `load`, and says whether it could.
    fn publish<const WORDS: usize>(publisher: &mut Publisher<Load<WORDS>, Self>, load: Load<WORDS>) -> bool;
}

impl Ring for Lossy {
    const LOSSLESS: bool = false;

    fn make<const WORDS: usize>(capacity: usize) -> Result<(Publisher<Load<WORDS>>, Invitation), ShareError> {
        let (publisher, _, invitation) = broadcast::lossy(Builder::new(capacity))?;
        Ok((publisher, invitation))
    }

    #[inline]
    fn publish<const WORDS: usize>(publisher: &mut Publisher<Load<WORDS>>, load: Load<WORDS>) -> bool {
        publisher.publish(load);
        true
    }
}

impl Ring for Lossless {
    const LOSSLESS: bool = true;

    fn make<const WORDS: usize>(
        capacity: usize,
    ) -> Result<(Publisher<Load<WORDS>, Self>, Invitation), ShareError> {
        broadcast::lossless(Builder::new(capacity), SUBSCRIBERS_MAX.into())
    }

    #[inline]
    fn publish<const WORDS: usize>(publisher: &mut Publisher<Load<WORDS>, Self>, load: Load<WORDS>) -> bool {
        publisher.publish(load).is_ok()
    }
}
