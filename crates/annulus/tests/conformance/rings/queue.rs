//! Queues, as lossless rings with one subscriber: where the property is the same, so is the test.

use annulus::queue::kind::AnyKind;
use annulus::queue::{self, Consumer, Producer};
use annulus::{mpmc, mpsc, spmc, spsc};

use super::ends::{more_verbs, panic_in_handler, queue as ring, receives, sends};

macro_rules! queue {
    ($name:ident, $kind:ty, many: $many:literal, |$settings:ident| $made:expr) => {
        ring!($name, Producer<u64, $kind>, Consumer<u64, $kind>, many: $many, |$settings| $made);
    };
}

queue!(Spsc, spsc::Spsc, many: false, |settings| queue::with(settings).unwrap());
queue!(Mpsc, mpsc::Mpsc, many: true, |settings| queue::with(settings).unwrap());
queue!(Spmc, spmc::Spmc, many: false, |settings| queue::with(settings).unwrap());
queue!(Mpmc, mpmc::Mpmc, many: true, |settings| queue::with(settings).unwrap());
#[cfg(feature = "std")]
queue!(MappedSpsc, spsc::Spsc, many: false, |settings| queue::with(settings.memory(super::mapped())).unwrap());
#[cfg(feature = "std")]
queue!(MappedMpmc, mpmc::Mpmc, many: true, |settings| queue::with(settings.memory(super::mapped())).unwrap());
// Between processes: both sides of it are mapped here.
#[cfg(all(feature = "shm", target_os = "linux", not(any(miri, annulus_loom))))]
queue!(SharedSpsc, annulus::shm::spsc::Across<u64>, many: false, |settings| {
    let made = annulus::shm::spsc::producer(settings, annulus::shm::WhenGone::Close).unwrap();
    let (producer, invitation) = (made.handle, made.invitation);
    let (consumer, _) = annulus::shm::spsc::consumer(&invitation).unwrap();
    (producer, consumer)
});
// (A second producer joins by the invitation, and not by the first one.)
#[cfg(all(feature = "shm", target_os = "linux", not(any(miri, annulus_loom))))]
queue!(SharedMpsc, annulus::shm::mpsc::ManyAcross<u64>, many: false, |settings| {
    use annulus::shm::{Shared, WhenGone, mpsc};

    let builder = mpsc::Builder::new(settings).producers(3).when_no_producer(WhenGone::Close);
    let Shared { handle: consumer, invitation, .. } = builder.build().unwrap();
    (mpsc::producer(&invitation).unwrap().0, consumer)
});

/// What differs.
pub(crate) trait Sides: AnyKind {
    fn another(_: &Producer<u64, Self>) -> Option<Producer<u64, Self>> {
        None
    }
}

impl Sides for spsc::Spsc {}
#[cfg(all(feature = "shm", target_os = "linux", not(any(miri, annulus_loom))))]
impl Sides for annulus::shm::spsc::Across<u64> {}
#[cfg(all(feature = "shm", target_os = "linux", not(any(miri, annulus_loom))))]
impl Sides for annulus::shm::mpsc::ManyAcross<u64> {}
impl Sides for spmc::Spmc {}

impl Sides for mpsc::Mpsc {
    fn another(producer: &Producer<u64, Self>) -> Option<Producer<u64, Self>> {
        Some(producer.clone())
    }
}

impl Sides for mpmc::Mpmc {
    fn another(producer: &Producer<u64, Self>) -> Option<Producer<u64, Self>> {
        Some(producer.clone())
    }
}

sends!([K: Sides] Producer<u64, K>, observer: |producer| producer.observer(), another: |producer| K::another(producer));

receives!([K: Sides] Consumer<u64, K>, into_stream: |consumer| Some(Box::pin(consumer.into_stream())),
    panic_on_next: |consumer| panic_in_handler!(consumer), more_verbs: more_verbs!());
