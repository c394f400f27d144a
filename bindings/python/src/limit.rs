//! [`Limit`]: how long a verb waits at most. [`SLICE`]: how long it does so before it looks for signals.

use std::time::{Duration, Instant};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// So long a wait lasts until it looks for a signal, and whether another thread wants the handle.
pub(crate) const SLICE: Duration = Duration::from_millis(20);

/// When a wait ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Limit {
    /// It does not begin.
    Now,
    At(Instant),
    Never,
}

impl Limit {
    /// As Python has it: seconds, or None.
    pub(crate) fn of(timeout: Option<f64>) -> PyResult<Self> {
        let Some(seconds) = timeout else { return Ok(Self::Never) };
        if seconds.is_nan() || seconds < 0.0 {
            return Err(PyValueError::new_err(format!(
                "timeout is {seconds}: it is a number of seconds from 0 on, or None, which is for ever"
            )));
        }
        if seconds == 0.0 {
            return Ok(Self::Now);
        }
        // What no clock reaches is for ever.
        let until =
            Duration::try_from_secs_f64(seconds).ok().and_then(|long| Instant::now().checked_add(long));
        Ok(until.map_or(Self::Never, Self::At))
    }

    /// How long the next part of the wait lasts; `None` if the time is over.
    pub(crate) fn next_slice(self) -> Option<Duration> {
        match self {
            Self::Now => None,
            Self::Never => Some(SLICE),
            Self::At(end) => {
                let left = end.saturating_duration_since(Instant::now());
                (!left.is_zero()).then(|| left.min(SLICE))
            }
        }
    }
}
