//! [`Numbering`]: the numbers of the messages of a name, which go on when its publisher is started again.

use core::fmt;
use std::string::{String, ToString};
use std::sync::Arc;

use crate::os::kept_word::KeptWord;
use crate::settings::Settings;

/// The numbers of the messages of a name: the next publisher goes on where the one before stopped.
///
/// A ring begins with message 0, whatever was published under its name before. A ring with a numbering begins
/// with the number after the last one of that name. So a number stands for one message for ever: a subscriber
/// that [follows](super::NamedSubscriber) the name is told how many messages it has missed between two
/// publishers, and what is stored or sent on by number needs no other key.
///
/// [`Directory::numbering`](super::Directory::numbering) gives it to one publisher at a time. It is kept in a
/// small file beside the name: until that is removed ([`Directory::remove`](super::Directory::remove)), or
/// the directory, as most systems do at their start. Then the numbers begin anew, and subscribers are told.
///
/// After a [close](crate::broadcast::Publisher::close) or a drop, the next number is exact. After the process
/// was killed, up to 64 numbers are left out, because the file is written to once in so many messages: these
/// count as missed. A publisher pays nothing else. The publisher has the file mapped, so another process of
/// its user that cuts the file off ends it (`SIGBUS`).
///
/// ```
/// use annulus::Settings;
/// use annulus::shm::{Directory, NamedSubscriber, Received};
/// # let path = std::env::temp_dir().join(format!("annulus-numbering-{}", std::process::id()));
///
/// let directory = Directory::open(&path)?;
/// let mut subscriber = NamedSubscriber::<u64>::new(&directory, "prices")?.begin_with_oldest();
///
/// // Usually in another process, which is started again.
/// for life in 0..2 {
///     let numbering = directory.numbering("prices")?;
///     assert_eq!(numbering.next(), 2 * life);
///     let mut made = numbering.lossy::<u64>(Settings::new(64))?;
///     let name = made.invitation.publish(&directory, "prices")?;
///     made.handle.publish_batch(&[70, 71]);
///
///     assert!(matches!(subscriber.recv()?, Received::Began { missed: 0, .. }));
///     assert_eq!((subscriber.recv()?, subscriber.recv()?), (Received::Message(70), Received::Message(71)));
///     drop((made, name));
///     assert!(matches!(subscriber.recv()?, Received::Ended { .. }));
/// }
/// # std::fs::remove_dir_all(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
// Decision 0172: a word in a file, once in 64 messages.
pub struct Numbering {
    name: String,
    kept: Arc<KeptWord>,
    next: u64,
}

impl Numbering {
    pub(super) fn new(name: &str, kept: KeptWord) -> Self {
        let next = kept.number();
        Self { name: name.to_string(), kept: Arc::new(kept), next }
    }

    /// The number of the next message.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// The settings of a ring that goes on with it.
    pub(super) fn continued(self, settings: Settings) -> Settings {
        Settings { kept: Some(self.kept), first: self.next, ..settings }
    }
}

impl fmt::Debug for Numbering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Numbering")
            .field("name", &self.name)
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}
