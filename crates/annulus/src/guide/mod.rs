//! The guide: one page for each question that a user of this library has sooner or later.
//!
//! | page | question |
//! | --- | --- |
//! | [`choosing`] | Which ring do I need, and how large? |
//! | [`slow_readers`] | What happens when a reader is slower than its writer? |
//! | [`closing`] | How does a ring end, and how do I stop my threads? |
//! | [`waiting`] | How does a thread wait, and what does that cost? |
//! | [`real_time`] | What may a thread do that must never be late: an audio callback, a control loop? |
//! | [`payloads`] | How do I send text, vectors, and large blocks? |
//! | [`pinning`] | On which cores should my threads run? |
//! | [`measuring`] | How do I measure without fooling myself? |
//! | [`limits`] | What allocates, and what does not hold? |
//! | [`proof`] | Why should I believe that it is correct? |
//!
//! These modules are part of the documentation only. They contain no code of the library. Every example on
//! these pages runs as a test.

pub mod choosing;
pub mod closing;
pub mod limits;
pub mod measuring;
pub mod payloads;
pub mod pinning;
pub mod proof;
pub mod real_time;
pub mod slow_readers;
pub mod waiting;
