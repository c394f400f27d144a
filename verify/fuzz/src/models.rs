//! The models of the library's tests, and what they need.

#[path = "../../../crates/annulus/tests/queues/queue/counted.rs"]
pub(crate) mod counted;
#[allow(dead_code, unused_imports, reason = "what the conformance suite sees of a ring: a model sees less")]
#[path = "../../../crates/annulus/tests/conformance/rings/mod.rs"]
pub(crate) mod rings;

#[path = "../../../crates/annulus/tests/queues/queue/dice.rs"]
pub(crate) mod dice;
#[allow(dead_code, reason = "what the test prints of a play")]
#[path = "../../../crates/annulus/tests/queues/queue/fair.rs"]
pub(crate) mod fair;
#[path = "../../../crates/annulus/tests/conformance/model/groups.rs"]
pub(crate) mod groups;
#[path = "../../../crates/annulus/tests/conformance/model/lossless.rs"]
pub(crate) mod lossless;
#[path = "../../../crates/annulus/tests/models/lossy.rs"]
pub(crate) mod lossy;
#[path = "../../../crates/annulus/tests/conformance/model/lossy_stages.rs"]
pub(crate) mod lossy_stages;
#[path = "../../../crates/annulus/tests/queues/queue/model/many_consumers.rs"]
pub(crate) mod many_consumers;
#[path = "../../../crates/annulus/tests/queues/queue/model/one_consumer.rs"]
pub(crate) mod one_consumer;
#[path = "../../../crates/annulus/tests/queues/queue/model/ordered.rs"]
pub(crate) mod ordered;
#[path = "../../../crates/annulus/tests/models/pool.rs"]
pub(crate) mod pool;
#[path = "../../../crates/annulus/tests/conformance/model/stages.rs"]
pub(crate) mod stages;
#[path = "../../../crates/annulus/tests/queues/queue/model/step.rs"]
pub(crate) mod step;
#[path = "../../../crates/annulus/tests/queues/queue/model/tasks.rs"]
pub(crate) mod tasks;
