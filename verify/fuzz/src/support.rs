//! What the models need of the tests' support.

use std::time::Duration;

#[path = "../../../crates/annulus/tests/support/polled.rs"]
pub(crate) mod polled;
#[allow(dead_code, reason = "executors of tests with threads")]
#[path = "../../../crates/annulus/tests/support/tasks.rs"]
pub(crate) mod tasks;

/// Longer than any one thing takes.
pub(crate) const STUCK: Duration = Duration::from_secs(30);
