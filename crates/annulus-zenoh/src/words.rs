//! [`Words`]: what threads of the network say to the thread of a table or of a service, which waits for them
//! together with its ring.

use std::sync::{Arc, Mutex, PoisonError};

use annulus::mpsc::Producer;

/// So many words of others wait at most.
pub(crate) const MOST_WORDS: usize = 1024;

/// Makes a thread look at what there is to do.
pub(crate) type Wake = Box<dyn Fn() + Send + Sync>;

/// The sending end of such words.
pub(crate) struct Words<W: Send>(Arc<Mutex<Producer<W>>>);

impl<W: Send> Clone for Words<W> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<W: Send> Words<W> {
    pub(crate) fn new(producer: Producer<W>) -> Self {
        Self(Arc::new(Mutex::new(producer)))
    }

    /// Says it, or gives it back: too many wait, or the thread has ended. Never waits.
    pub(crate) fn say(&self, word: W) -> Result<(), W> {
        let mut producer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        producer.try_send(word).map_err(annulus::TrySendError::into_inner)
    }
}
