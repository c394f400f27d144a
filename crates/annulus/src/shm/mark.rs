//! [`Mark`]: where a lossy subscriber stands, for whoever looks from outside.
//!
//! The kernel shows the position of each opening of a file, as `lseek` has set it, in `/proc/PID/fdinfo`.
//! Nothing reads or writes a ring at a position. So the position of an opening that nobody else has is a
//! number that its process can show: it needs no memory, it ends with the process, and nobody else's work
//! depends on it.
// Decision 0105: a number in the kernel, and none in the memory.

use core::fmt;
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::os::fd::AsFd;

use crate::os::lock;

/// Shows where a lossy subscriber stands to whoever looks at the ring, `annulus top` for example.
///
/// A lossy subscriber writes nothing that another process can read, so how far it is behind is not known
/// elsewhere. Who wants it to be known calls [`set`](Self::set) now and then: once in so many messages, and
/// before it waits. What others see is as old as the last call.
///
/// Each subscriber has a mark of its own, from [`Accepted::mark`](super::broadcast::Accepted::mark). A mark
/// is a descriptor. It ends with its drop, or with the process. The publisher and other subscribers know
/// nothing of it.
///
/// # Examples
///
/// ```
/// use annulus::broadcast::Builder;
/// use annulus::shm::broadcast;
///
/// let (mut publisher, _, invitation) = broadcast::lossy::<u64>(Builder::new(1024))?;
/// let ring = invitation.accept::<u64>()?;
/// let mut subscriber = ring.subscribable().subscribe();
/// let mark = ring.mark()?;
/// # let mut sum = 0;
///
/// (0..1000).for_each(|number| publisher.publish(number));
/// while let Ok(number) = subscriber.try_recv() {
///     sum += number;
///     if subscriber.cursor() % 64 == 0 {
///         mark.set(subscriber.cursor());
///     }
/// }
/// mark.set(subscriber.cursor()); // and now it waits
/// # assert_eq!(sum, 999 * 500);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Mark {
    /// Of this alone.
    opening: File,
    /// The ring's first message.
    start: u64,
}

impl Mark {
    /// For a ring whose first message is `start`.
    pub(super) fn new(ring: impl AsFd, start: u64) -> io::Result<Self> {
        Ok(Self { opening: lock::reopened(ring)?.into(), start })
    }

    /// Shows that the subscriber's cursor is there. One system call, which waits for nobody.
    pub fn set(&self, cursor: u64) {
        // Position 0 is that of an opening which shows nothing.
        let position = cursor.saturating_sub(self.start).saturating_add(1).min(i64::MAX as u64);
        // No position of a file in memory is refused.
        let _ = (&self.opening).seek(SeekFrom::Start(position));
    }
}

impl fmt::Debug for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mark").finish_non_exhaustive()
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use std::format;
    use std::os::fd::AsRawFd;
    use std::string::{String, ToString};

    use super::*;
    use crate::os::shared_memory::{Access, SharedMemory};

    fn shown(mark: &Mark) -> String {
        let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", mark.opening.as_raw_fd()));
        let info = info.unwrap();
        info.lines().find_map(|line| line.strip_prefix("pos:")).unwrap().trim().to_string()
    }

    #[test]
    fn the_kernel_shows_each_by_itself() {
        let memory = SharedMemory::create("annulus test", 4096, Access::CreatorAlone).unwrap();
        let [one, other] = [(); 2].map(|()| Mark::new(&memory, 1 << 40).unwrap());
        assert_eq!([shown(&one), shown(&other)], ["0", "0"]);
        assert_eq!(format!("{one:?}"), "Mark { .. }");
        one.set(1 << 40);
        other.set((1 << 40) + 7);
        assert_eq!([shown(&one), shown(&other)], ["1", "8"]);
        // What can't be.
        one.set(3);
        other.set(u64::MAX);
        assert_eq!(shown(&one), "1");
        assert_eq!(shown(&other), (u64::MAX - (1 << 40) + 1).min(i64::MAX as u64).to_string());
    }
}
