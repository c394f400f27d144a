//! [`Limit`]: how long a verb waits at most. [`SLICE`]: how long it does so before it looks for signals.
//! And the numbers of things that arguments are, whose errors name the argument.

use std::time::{Duration, Instant};

use pyo3::exceptions::{PyOverflowError, PyValueError};
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
    /// Whether it is one: for verbs that look at the clock only if they wait.
    #[inline]
    pub(crate) fn check(timeout: Option<f64>) -> PyResult<()> {
        match timeout {
            Some(seconds) if seconds.is_nan() || seconds < 0.0 => Err(PyValueError::new_err(format!(
                "timeout is {seconds}: it is a number of seconds from 0 on, or None, which is for ever"
            ))),
            _ => Ok(()),
        }
    }

    /// As Python has it: seconds, or None.
    pub(crate) fn of(timeout: Option<f64>) -> PyResult<Self> {
        Self::check(timeout)?;
        let Some(seconds) = timeout else { return Ok(Self::Never) };
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

/// How many of a thing: the argument of this name.
fn whole(argument: &Bound<'_, PyAny>, what: &str) -> PyResult<usize> {
    argument.extract().map_err(|error: PyErr| {
        // (A number, and none that there can be.)
        if error.is_instance_of::<PyOverflowError>(argument.py()) {
            PyValueError::new_err(format!(
                "{what} is {argument}: it is a whole number from 0 to {}",
                usize::MAX
            ))
        } else {
            error
        }
    })
}

/// Functions for `from_py_with`, each of the argument of its name.
macro_rules! arguments {
    ($($name:ident: $what:literal,)*) => {$(
        pub(crate) fn $name(argument: &Bound<'_, PyAny>) -> PyResult<usize> {
            whole(argument, $what)
        }
    )*};
}

arguments! {
    whole_capacity: "capacity",
    whole_seats: "seats",
    whole_cells: "cells",
    whole_clients: "clients",
    whole_publishers: "publishers",
    whole_producers: "producers",
    whole_consumers: "consumers",
    whole_subscribers: "subscribers",
    whole_held: "held",
    whole_open: "open",
    whole_frame_bytes: "frame_bytes",
}

/// As `whole_seats`; or None.
pub(crate) fn some_seats(argument: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    if argument.is_none() { Ok(None) } else { whole_seats(argument).map(Some) }
}
