//! [`Placement`]: the state of a ring's memory now, and the options that were refused.

use core::fmt;

use super::refused::{MemoryError, MemoryOption};

/// What became of one option.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Grant {
    /// Nobody asked for it.
    #[default]
    NotRequested,
    /// It is in effect, says the kernel.
    Granted,
    /// It is not in effect.
    Refused(MemoryError),
}

impl Grant {
    /// Whether it is in effect.
    #[must_use]
    pub fn is_granted(&self) -> bool {
        *self == Self::Granted
    }

    /// Why it is not in effect, if it was requested.
    #[must_use]
    pub fn refusal(&self) -> Option<MemoryError> {
        match self {
            Self::Refused(error) => Some(error.clone()),
            Self::Granted | Self::NotRequested => None,
        }
    }

    /// Of this and that: granted if both are.
    fn and(self, other: Self) -> Self {
        if self.refusal().is_some() || other == Self::NotRequested { self } else { other }
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRequested => f.write_str("not requested"),
            Self::Granted => f.write_str("granted"),
            Self::Refused(error) => write!(f, "refused: {}", error.reason()),
        }
    }
}

/// The state of the memory of a ring's slots, as the kernel reports it, and the options that were refused.
/// The verb `placement` of each handle returns it.
///
/// It is a snapshot. The kernel is asked anew by each call of that verb, which takes system calls, and a look
/// at each page where a NUMA node was requested. It is not for hot paths.
///
/// Where a handle has several rings, such as the consumer of [`mpsc`](crate::mpsc), an option is granted if
/// all of them have it, and the numbers of bytes are sums.
///
/// ```
/// use annulus::memory::{Grant, Memory};
/// use annulus::{Settings, spsc};
///
/// let (plain, _) = spsc::channel::<u64>(64);
/// assert_eq!((plain.placement().mapped_bytes(), plain.placement().lock()), (0, Grant::NotRequested));
///
/// let memory = Memory::prefer().prefault();
/// let (producer, _) = spsc::with::<u64>(Settings::new(1024).memory(memory))?;
/// let placement = producer.placement();
/// assert_eq!(placement.prefault().is_granted(), placement.refusals().count() == 0);
/// # Ok::<(), annulus::CapacityError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    pub(super) mapped_bytes: usize,
    pub(super) huge_bytes: usize,
    pub(super) grants: [Grant; 4],
    pub(super) is_shared: bool,
}

/// In the order of [`Placement::grants`].
pub(super) const OPTIONS: [MemoryOption; 4] =
    [MemoryOption::HugePages, MemoryOption::Prefault, MemoryOption::Lock, MemoryOption::Node];

impl Placement {
    /// How many bytes the kernel has mapped for the slots alone: 0 if they come from the allocator. This is a
    /// whole number of pages. Of a ring between processes: how many bytes the slots have in the memory that
    /// the processes share.
    #[must_use]
    pub fn mapped_bytes(&self) -> usize {
        self.mapped_bytes
    }

    /// Whether the slots lie in memory that processes share, as in a ring between processes (module `shm`).
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// How many of these bytes lie in huge pages, reserved or transparent. Of a ring between processes, the
    /// kernel says it of all of the memory, and the slots are taken to have their share.
    #[must_use]
    pub fn huge_bytes(&self) -> usize {
        self.huge_bytes
    }

    /// Whether the slots lie in huge pages, all of them.
    #[must_use]
    pub fn huge_pages(&self) -> Grant {
        self.grants[0].clone()
    }

    /// Whether each page of the slots is in memory.
    #[must_use]
    pub fn prefault(&self) -> Grant {
        self.grants[1].clone()
    }

    /// Whether the slots are locked.
    #[must_use]
    pub fn lock(&self) -> Grant {
        self.grants[2].clone()
    }

    /// Whether the slots lie on the NUMA node that was requested, or on the reader's.
    #[must_use]
    pub fn node(&self) -> Grant {
        self.grants[3].clone()
    }

    /// The options that were refused, and why.
    pub fn refusals(&self) -> impl Iterator<Item = MemoryError> + use<> {
        self.grants.clone().into_iter().filter_map(|grant| grant.refusal())
    }

    /// Of so many bytes in memory that processes share.
    #[cfg(all(target_os = "linux", feature = "shm", not(annulus_loom)))]
    pub(super) fn shared(bytes: usize) -> Self {
        Self { mapped_bytes: bytes, is_shared: true, ..Self::default() }
    }

    /// Of a ring and another one.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        let mut others = other.grants.into_iter();
        let grants = self.grants.map(|grant| grant.and(others.next().unwrap_or_default()));
        Self {
            mapped_bytes: self.mapped_bytes + other.mapped_bytes,
            huge_bytes: self.huge_bytes + other.huge_bytes,
            grants,
            is_shared: self.is_shared || other.is_shared,
        }
    }
}

/// A line for each option that was requested.
impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mapped_bytes {
            bytes if self.is_shared => {
                write!(f, "{bytes} bytes in memory that processes share")?;
                if self.huge_bytes > 0 {
                    write!(f, ", {} of them in huge pages", self.huge_bytes)?;
                }
            }
            0 => f.write_str("memory of the allocator")?,
            bytes => write!(f, "{bytes} bytes mapped, {} of them in huge pages", self.huge_bytes)?,
        }
        for (option, grant) in OPTIONS.iter().zip(&self.grants) {
            if *grant != Grant::NotRequested {
                write!(f, "\n{option}: {grant}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::refused::Reason;
    use super::*;

    #[test]
    fn option_is_granted_if_both_have_it() {
        let error = MemoryError { option: MemoryOption::Lock, reason: Reason::Unseen };
        let refused = || Grant::Refused(error.clone());
        for (grants, both) in [
            ([Grant::Granted, Grant::Granted], Grant::Granted),
            ([Grant::Granted, Grant::NotRequested], Grant::Granted),
            ([Grant::Granted, refused()], refused()),
            ([Grant::NotRequested, refused()], refused()),
            ([Grant::NotRequested, Grant::NotRequested], Grant::NotRequested),
        ] {
            let [one, other] = grants;
            assert_eq!(one.clone().and(other.clone()), both);
            assert_eq!(other.and(one), both);
        }
    }
}
