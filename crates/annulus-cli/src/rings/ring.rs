//! [`Ring`]: what the publisher's side does with a broadcast ring of either mode.

use std::io::ErrorKind;
use std::thread;
use std::time::Duration;

use annulus::broadcast::{Lossless, Lossy, Mode, Publisher};
use annulus::shm::{
    Directory, FindError, Invitation, PeerState, RingObserver, ShareError, Shared, broadcast,
};
use annulus::{Message, SendTimeoutError, Settings};
use bytemuck::Pod;

use super::processes::Processes;
use super::sample::Process;
use super::sampler::readers;
use crate::numbers::whole_in;
use crate::outcome::Failure;

/// How many subscribers of a lossless ring the publisher waits for, at most.
pub(crate) const SEATS: u16 = 64;

/// Parses for how many subscribers it is to wait.
pub(crate) fn seats(text: &str) -> Result<u16, String> {
    let count = whole_in(text, 1..=SEATS.into())?;
    Ok(count.try_into().expect("it is in the range of another `u16`"))
}

/// The time between two looks at which processes have come.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);

/// A ring between processes, and its publisher.
pub(crate) trait Ring: Mode + Sized {
    /// A ring of these settings.
    ///
    /// # Errors
    ///
    /// There can be none.
    fn make<T: Message + Pod>(settings: Settings) -> Result<(Publisher<T, Self>, Invitation), ShareError>;

    /// Publishes `message`, and says whether it could.
    fn publish<T: Message + Pod>(publisher: &mut Publisher<T, Self>, message: T) -> bool;

    /// Publishes `message`, and waits for subscribers no longer than `timeout`. False if that was too short.
    fn publish_timeout<T: Message + Pod>(
        publisher: &mut Publisher<T, Self>,
        message: T,
        timeout: Duration,
    ) -> bool;
}

impl Ring for Lossy {
    fn make<T: Message + Pod>(settings: Settings) -> Result<(Publisher<T>, Invitation), ShareError> {
        let Shared { handle, invitation, .. } = broadcast::lossy(settings)?;
        Ok((handle, invitation))
    }

    #[inline]
    fn publish<T: Message + Pod>(publisher: &mut Publisher<T>, message: T) -> bool {
        publisher.publish(message);
        true
    }

    #[inline]
    fn publish_timeout<T: Message + Pod>(
        publisher: &mut Publisher<T>,
        message: T,
        _timeout: Duration,
    ) -> bool {
        publisher.publish(message);
        true
    }
}

impl Ring for Lossless {
    fn make<T: Message + Pod>(settings: Settings) -> Result<(Publisher<T, Self>, Invitation), ShareError> {
        let Shared { handle, invitation, .. } = broadcast::lossless(settings, SEATS.into())?;
        Ok((handle, invitation))
    }

    #[inline]
    fn publish<T: Message + Pod>(publisher: &mut Publisher<T, Self>, message: T) -> bool {
        publisher.publish(message).is_ok()
    }

    #[inline]
    fn publish_timeout<T: Message + Pod>(
        publisher: &mut Publisher<T, Self>,
        message: T,
        timeout: Duration,
    ) -> bool {
        !matches!(publisher.publish_timeout(message, timeout), Err(SendTimeoutError::Timeout(_)))
    }
}

/// That there can be no ring of so many slots. The option is named where fewer slots might help.
pub(crate) fn not_made(capacity: usize, error: &ShareError) -> Failure {
    let is_too_large =
        |kind| matches!(kind, ErrorKind::OutOfMemory | ErrorKind::StorageFull | ErrorKind::FileTooLarge);
    Failure::new(match error {
        ShareError::Capacity(_) => format!("--capacity {capacity}: {error}"),
        ShareError::System(why) if is_too_large(why.kind()) => format!("--capacity {capacity}: {error}"),
        _ => error.to_string(),
    })
}

/// Waits until so many subscribers of the lossless ring of this name have seats.
///
/// # Errors
///
/// The ring can't be looked at.
pub(crate) fn wait_for_readers(directory: &Directory, name: &str, count: usize) -> Result<(), FindError> {
    let observer = RingObserver::of(&directory.find(name)?)?;
    let is_there = |numbers: annulus::shm::RingNumbers| {
        numbers.readers.iter().filter(|reader| reader.state == PeerState::Alive).count() >= count
    };
    while !observer.numbers().is_some_and(is_there) {
        thread::sleep(LOOK_INTERVAL);
    }
    Ok(())
}

/// Whether a process other than this one has joined the ring of this name. (Other users' processes are
/// not seen.)
pub(crate) fn is_read(directory: &Directory, name: &str) -> bool {
    let Ok(observer) =
        directory.find(name).map_err(FindError::from).and_then(|named| RingObserver::of(&named))
    else {
        return false;
    };
    let this = Process::of(Some(std::process::id()));
    !readers(&observer, None, Some(&this), &Processes::now(), None).is_empty()
}

#[cfg(test)]
mod tests {
    use annulus::CapacityError;

    use super::*;

    #[test]
    fn refusal_names_the_capacity_where_fewer_slots_might_help() {
        let system = |kind: ErrorKind| ShareError::System(kind.into());
        for (error, is_named) in [
            (ShareError::Capacity(CapacityError::TooSmall { capacity: 1, minimum: 2 }), true),
            (system(ErrorKind::OutOfMemory), true),
            (system(ErrorKind::FileTooLarge), true),
            (system(ErrorKind::StorageFull), true),
            (system(ErrorKind::NotFound), false),
            (system(ErrorKind::PermissionDenied), false),
            (ShareError::Seats { seats: 0, most: 64 }, false),
        ] {
            let (text, named) = (error.to_string(), format!("--capacity 7: {error}"));
            let expected = if is_named { named } else { text };
            assert_eq!(not_made(7, &error), Failure::new(expected));
        }
    }
}
