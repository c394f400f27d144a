//! Rings between processes: beside the same ring in one process, beside what two processes can do without
//! one, and beside a library for that. Decision 0109.
//!
//! ```text
//! streams      how fast messages go one way
//! round_trips  there and back
//! one_way      how long one is on its way: the slowest of ten thousand, too
//! wake_ups     to a process that sleeps
//! iceoryx2     beside that library, with one subscriber and with four
//! frames       written and read where they lie, beside that library's, up to 8 MiB
//! questions    and answers, beside its requests and responses
//! newest       the newest value, beside its blackboard
//! others       what they have alike: the other processes
//! ```

#[cfg(feature = "iceoryx2")]
mod frames;
#[cfg(feature = "iceoryx2")]
mod iceoryx2;
#[cfg(feature = "iceoryx2")]
mod newest;
mod one_way;
mod others;
#[cfg(feature = "iceoryx2")]
mod questions;
mod round_trips;
mod streams;
mod wake_ups;

use crate::common_lines::missing;
use crate::processes::Works;
use crate::row::Row;

pub fn rows() -> Vec<Row> {
    if missing().is_some() {
        return vec![];
    }
    let mut rows = streams::rows();
    rows.extend(round_trips::rows());
    rows.extend(one_way::rows());
    rows.extend(wake_ups::rows());
    #[cfg(feature = "iceoryx2")]
    rows.extend([iceoryx2::rows(), frames::rows(), questions::rows(), newest::rows()].into_iter().flatten());
    rows
}

pub fn works() -> Works {
    let mut works = streams::works();
    works.extend(round_trips::works());
    works.extend(one_way::works());
    works.extend(wake_ups::works());
    #[cfg(feature = "iceoryx2")]
    for work in
        [iceoryx2::works(), frames::works(), questions::works(), newest::works()].into_iter().flatten()
    {
        // Some are those of other rows, too.
        if works.iter().all(|(name, _)| *name != work.0) {
            works.push(work);
        }
    }
    works
}

/// Which rows are left out here, and why.
pub fn left_out() -> Vec<String> {
    if let Some(why) = missing() {
        return vec![format!("without rows between processes: {why}")];
    }
    if cfg!(feature = "iceoryx2") {
        return vec![];
    }
    vec!["without rows beside iceoryx2: this program was built without its feature of that name".to_owned()]
}
