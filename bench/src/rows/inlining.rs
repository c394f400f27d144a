//! The loops of `one_thread`, with it decided whether the rings' functions are inlined.
//!
//! The compiler inlines a function that has one call site whatever its size, and one that has several only if
//! it is small. A ring whose `publish` is just too large for that looks twice as slow in one program as in
//! the other. So here are both: a module for each loop, which is a compilation unit of its own with one call
//! site of each function, and the same with every call behind a function that is never inlined.

use super::entries::contenders;
use super::one_thread;
use crate::contenders::Called;
use crate::floor;
use crate::row::Row;

pub fn rows() -> [Row; 4] {
    use publish_alone::publish;
    use publish_receive::publish_and_receive;

    let row = |name, about| Row::new(name, about, one_thread::CAPACITY, 8_000_000);
    [
        row(
            "publish alone, inlined",
            "the same where each function has one call site, so that all are inlined",
        )
        .entries(contenders!(publish))
        .floor("storing 16-byte slots", floor::store_slots),
        row("publish alone, called", "the same through functions that are never inlined")
            .entries(contenders!(publish, Called)),
        row("publish + receive, inlined", "the same where each function has one call site")
            .entries(contenders!(publish_and_receive)),
        row("publish + receive, called", "the same through functions that are never inlined")
            .entries(contenders!(publish_and_receive, Called)),
    ]
}

mod publish_alone {
    use crate::contenders::Contender;
    use crate::row::{Plan, Sample};
    use crate::rows::one_thread;

    pub fn publish<C: Contender>(plan: &Plan) -> Sample {
        one_thread::publish::<C>(plan)
    }
}

mod publish_receive {
    use crate::contenders::Contender;
    use crate::row::{Plan, Sample};
    use crate::rows::one_thread;

    pub fn publish_and_receive<C: Contender>(plan: &Plan) -> Sample {
        one_thread::publish_and_receive::<C>(plan)
    }
}
