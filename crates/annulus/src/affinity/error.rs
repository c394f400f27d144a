//! Errors that name the CPU, the reason, and what there is instead.

use alloc::vec::Vec;
use core::fmt;
use std::error::Error;
use std::io;

/// Why a thread can't be pinned. Nothing was changed: the thread runs where it ran before.
///
/// The text has the number of the CPU, the reason, and the [`available`](super::available) CPUs:
///
/// ```
/// let error = annulus::affinity::pin_to(1_000_000).unwrap_err();
/// assert_eq!(error.cpus(), [1_000_000]);
/// assert!(error.to_string().starts_with("can't run this thread on CPU 1000000: "));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PinError {
    pub(super) cpus: Vec<usize>,
    pub(super) reason: PinReason,
    pub(super) available: Vec<usize>,
}

/// The reason of a [`PinError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PinReason {
    /// The library can't pin threads on this system: see the [table](super#which-call-does-what-where).
    Unsupported,
    /// No CPU was named.
    NoCpu,
    /// The library can't name such a CPU to the system.
    TooLarge {
        /// The number of a CPU is below this.
        limit: usize,
    },
    /// The machine has no CPU of this number.
    NotThere,
    /// The CPU is there, but it is switched off.
    Offline,
    /// The set of CPUs of this process (its container, its *cpuset*) does not have it. If the system hides
    /// which CPUs there are, it may also be that the machine has none of this number.
    NotAllowed,
    /// The system says no: its error number.
    Os(i32),
}

impl PinError {
    /// The CPUs that can't be had for this reason, by the system's numbers.
    #[must_use]
    pub fn cpus(&self) -> &[usize] {
        &self.cpus
    }

    /// Why.
    #[must_use]
    pub fn reason(&self) -> PinReason {
        self.reason
    }

    /// The CPUs to which this thread could be pinned instead. Empty if the system does not say.
    #[must_use]
    pub fn available(&self) -> &[usize] {
        &self.available
    }

    /// Writes ` on CPU 7: the machine has no such CPU (this thread may run on [0, 1])`, which follows
    /// "can't run …".
    pub(crate) fn write_place(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cpus[..] {
            [] => f.write_str(" on no CPU: none was named")?,
            [cpu] => write!(f, " on CPU {cpu}: {}", self.reason)?,
            cpus => write!(f, " on CPUs {cpus:?}: {}", self.reason)?,
        }
        if self.available.is_empty() {
            Ok(())
        } else {
            write!(f, " (this thread may run on {:?})", self.available)
        }
    }
}

impl fmt::Display for PinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("can't run this thread")?;
        self.write_place(f)
    }
}

impl Error for PinError {}

impl From<PinError> for io::Error {
    fn from(error: PinError) -> Self {
        let kind = match error.reason {
            PinReason::Unsupported => io::ErrorKind::Unsupported,
            PinReason::Os(code) => Self::from_raw_os_error(code).kind(),
            _ => io::ErrorKind::InvalidInput,
        };
        Self::new(kind, error)
    }
}

impl fmt::Display for PinReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported => f.write_str("on this system the library can't pin threads"),
            Self::NoCpu => f.write_str("none was named"),
            Self::TooLarge { limit } => write!(f, "the library can't name CPUs from {limit} on"),
            Self::NotThere => f.write_str("the machine has no such CPU"),
            Self::Offline => f.write_str("it is offline"),
            Self::NotAllowed => f.write_str("this process may not use it"),
            Self::Os(code) => io::Error::from_raw_os_error(*code).fmt(f),
        }
    }
}

/// Why there are no such CPUs: see [`spread`](super::spread()).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SpreadError {
    /// More CPUs were asked for than there are.
    TooMany {
        /// How many were asked for.
        asked: usize,
        /// Those that there are.
        cpus: Vec<usize>,
    },
    /// There may be enough CPUs, but the system hides which of them are hardware threads of one core. Two
    /// threads that spin on one core are worse off than two that are not pinned, so nobody guesses.
    Hidden {
        /// How many were asked for.
        asked: usize,
        /// The CPUs whose core is known.
        known: Vec<usize>,
        /// The CPUs whose core is hidden.
        hidden: Vec<usize>,
    },
    /// The system does not say on which CPUs this thread may run.
    Unknown,
}

impl fmt::Display for SpreadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany { asked, cpus } => {
                write!(f, "there are no {asked} CPUs to choose from, but {}: {cpus:?}", cpus.len())
            }
            Self::Hidden { asked, known, hidden } => write!(
                f,
                "can't choose {asked} CPUs: the system hides which of {hidden:?} share a core, and knows it of \
                 {known:?}"
            ),
            Self::Unknown => f.write_str("the system does not say on which CPUs this thread may run"),
        }
    }
}

impl Error for SpreadError {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use alloc::vec;

    #[test]
    fn reasons_have_texts_of_their_own() {
        for (reason, words, kind) in [
            (PinReason::Unsupported, "can't pin", io::ErrorKind::Unsupported),
            (PinReason::TooLarge { limit: 9 }, "from 9 on", io::ErrorKind::InvalidInput),
            (PinReason::NotThere, "no such CPU", io::ErrorKind::InvalidInput),
            (PinReason::Offline, "offline", io::ErrorKind::InvalidInput),
            (PinReason::NotAllowed, "may not use", io::ErrorKind::InvalidInput),
        ] {
            let error = PinError { cpus: vec![7], reason, available: vec![0, 1] };
            let text = error.to_string();
            assert!(text.starts_with("can't run this thread on CPU 7: ") && text.contains(words), "{text}");
            assert!(text.ends_with(" (this thread may run on [0, 1])"), "{text}");
            assert_eq!(io::Error::from(error).kind(), kind);
        }
        let hidden = PinError { cpus: vec![3, 4], reason: PinReason::Offline, available: Vec::new() };
        assert_eq!(hidden.to_string(), "can't run this thread on CPUs [3, 4]: it is offline");
        let none = PinError { cpus: Vec::new(), reason: PinReason::NoCpu, available: Vec::new() };
        assert_eq!(none.to_string(), "can't run this thread on no CPU: none was named");
        let told = io::Error::from_raw_os_error(1);
        let error = PinError { cpus: vec![7], reason: PinReason::Os(1), available: Vec::new() };
        assert_eq!(error.reason().to_string(), told.to_string());
        assert_eq!(io::Error::from(error).kind(), told.kind());
        assert!(SpreadError::Unknown.to_string().contains("does not say"));
    }
}
