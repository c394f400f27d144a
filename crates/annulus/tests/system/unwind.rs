//! What a panic that was caught leaves: every public type may be used afterwards.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind};

use annulus::broadcast::{self, Lossless, Lossy, Staged, SubscriberGroup};
use annulus::bus::{self, Bus, Many};
use annulus::pipeline::Pipeline;
use annulus::{Select, Worker, event, memory, mpmc, mpsc, pipeline, pool, queue, spmc, spsc, worker};
use static_assertions::{assert_impl_all, assert_not_impl_any};

type C = Cell<u8>;

/// Checks that each type is whole after a panic, may be moved after it was pinned, and goes to other threads
/// as `$auto` says. `$list` says their names, without what comes in brackets.
macro_rules! whole {
    ($list:ident ($($auto:ident),*): $($type:ty),* $(,)?) => {
        whole!(@each ($($auto),*): $($type),*);
        #[allow(dead_code, reason = "only where all types are there")]
        const $list: &[&str] = &[$(stringify!($type)),*];
    };
    (@each $auto:tt: $($type:ty),*) => {
        $(whole!(@one $auto: $type);)*
    };
    (@one ($($auto:ident),*): $type:ty) => {
        assert_impl_all!($type: UnwindSafe, RefUnwindSafe, Unpin $(, $auto)*);
    };
}

// What is moved in and out is whole whatever it carries.
whole! { RINGS (Send, Sync):
    annulus::Settings, broadcast::DependencyBarrier,
    broadcast::Publisher<u64>, broadcast::Publisher<u64, Lossless>,
    broadcast::MpPublisher<u64>, broadcast::MpPublisher<u64, Lossless>,
    broadcast::Subscribable<u64>, broadcast::Subscriber<u64>, broadcast::Subscriber<u64, Lossless>,
    broadcast::Subscriber<u64, Staged<Lossless>>, SubscriberGroup<u64, 2>,
    annulus::Iter<&'static mut broadcast::Subscriber<u64>>, broadcast::TryIter<'static, u64>, annulus::Iter<broadcast::Subscriber<u64>>, annulus::Iter<SubscriberGroup<u64, 2>>,
    annulus::Iter<broadcast::bytes::Subscriber>, annulus::Iter<queue::bytes::Consumer>,
    Lossy, Lossless, Staged<Lossy>,
    broadcast::bytes::Publisher, broadcast::bytes::Publisher<broadcast::Lossless>,
    broadcast::bytes::Subscribable, broadcast::bytes::Subscriber,
    event::Publisher<String>, event::Publisher<String, fn(&mut String)>,
    event::MpPublisher<String>, event::Subscribable<String>, event::Subscriber<String>,
    annulus::Iter<&'static mut event::Subscriber<String>>, event::TryIter<'static, String>, annulus::Iter<event::Subscriber<String>>,
    event::Ref<'static, String>,
    mpsc::Mpsc, spmc::Spmc, mpmc::Mpmc, spsc::Spsc,
    queue::Producer<C, spsc::Spsc>, queue::Producer<C, mpsc::Mpsc>, queue::Producer<C, spmc::Spmc>,
    queue::Producer<C, mpmc::Mpmc>,
    queue::Consumer<C, spsc::Spsc>, queue::Consumer<C, mpsc::Mpsc>, queue::Consumer<C, spmc::Spmc>,
    queue::Consumer<C, mpmc::Mpmc>,
    queue::Reservation<'static, C, spsc::Spsc>, queue::Reservation<'static, C, mpmc::Mpmc>,
    queue::SharedSlice<'static, u64>,
    annulus::Iter<&'static mut queue::Consumer<C, spsc::Spsc>>, queue::TryIter<'static, C, mpsc::Mpsc>,

    queue::bytes::Producer, queue::bytes::Consumer,
    queue::bytes::Producer<mpsc::Mpsc>, queue::bytes::Consumer<mpsc::Mpsc>,
    queue::bytes::Record<'static>, queue::bytes::Reservation<'static>,
    queue::bytes::TryWriteError, queue::bytes::WriteError,
    queue::bytes::WriteTimeoutError,
    queue::ordered::Sender<C>, queue::ordered::Receiver<C>,
    annulus::Iter<&'static queue::ordered::Receiver<C>>, queue::ordered::TryIter<'static, C>, annulus::Iter<queue::ordered::Receiver<C>>,
    annulus::oneshot::Sender<C>, annulus::oneshot::Receiver<C>,
    annulus::service::Client<C, C>, annulus::service::Server<C, C>, annulus::service::PendingAnswer<C>, annulus::service::Request<u64, C>,
    annulus::service::AskError<u64>, annulus::service::AnswerError, annulus::service::ClientGone<u64>,
    pool::BufferPool, pool::Buffer, pool::Handle, pool::HandleError, pool::PoolError,
}

whole! { ABOVE (Send, Sync):
    annulus::watch::Sender<u64>, annulus::watch::Receiver<u64>,
    annulus::Iter<queue::Consumer<C, mpmc::Mpmc>>, annulus::Iter<annulus::watch::Receiver<u64>>,
    annulus::Iter<bus::MatchingSubscriber<u64>>,
    Bus<C>, Bus<u64, Many<Lossless>>, bus::TypedBus, bus::TypedBus<Lossless>, Many<Lossy>,
    bus::TopicBuilder<'static, C>, bus::TopicPublisher<u64>, bus::TopicPublisher<u64, Many<Lossless>>,
    bus::MatchingSubscriber<u64>, bus::TopicInfo, bus::TopicKind, bus::TopicError, bus::RemoveError,
    bus::PatternError,
    Worker<C>, worker::Finished<u64>, worker::Stopper, worker::Delivery,
    pipeline::Builder, pipeline::Sunk, Pipeline, pipeline::kind::Free, pipeline::kind::InStep, pipeline::kind::Merged,
    pipeline::BuildError, pipeline::JoinError, pipeline::StagePanic, pipeline::CloseReason, pipeline::Graph, pipeline::Node,
    pipeline::RingKind, pipeline::EdgeInfo, pipeline::StageInfo, pipeline::Stats,
    pipeline::EdgeStats, pipeline::StageStats,
}

// They have closures of their user's, which one thread calls at a time.
whole! { OF_ONE_AT_A_TIME (Send):
    worker::Builder<spsc::Consumer<C>, C>, worker::SpawnError<spsc::Consumer<C>, C, fn()>,
    pipeline::Stages<C>, pipeline::Stages<C, pipeline::kind::Free>,
    pipeline::Fork<(pipeline::Stages<C>, pipeline::Stages<C>)>, pipeline::Input<C>,
}
assert_not_impl_any!(worker::Builder<spsc::Consumer<u8>, u8>: Sync);
assert_not_impl_any!(pipeline::Stages<u8>: Sync);
assert_not_impl_any!(pipeline::Input<u8>: Sync);

// A lock is given back by the thread that took it.
whole! { READ_BY_ALL (Sync):
    annulus::watch::Ref<'static, u64>,
}
assert_not_impl_any!(annulus::watch::Ref<'static, u64>: Send);

// What a thread waits for, and the cores that it has, are its own.
whole! { OF_ONE_THREAD ():
    Select<'static>, annulus::affinity::Pinned,
}
assert_not_impl_any!(Select<'static>: Send, Sync);
assert_not_impl_any!(annulus::affinity::Pinned: Send, Sync);

whole! { REST (Send, Sync):
    annulus::Closer, annulus::Observer, annulus::Shutdown,
    annulus::stats::Counted, annulus::stats::Delta, annulus::stats::FollowedStats, annulus::stats::HandleCount, annulus::stats::Latency,
    annulus::stats::OwnStats, annulus::stats::ProducerStats, annulus::stats::Stats,
    annulus::CapacityError, annulus::RegisterError, annulus::UpstreamError,
    annulus::RecvError, annulus::TryRecvError, annulus::RecvTimeoutError,
    annulus::LossyRecvError, annulus::LossyTryRecvError,
    annulus::SendError<u64>, annulus::TrySendError<u64>, annulus::SendTimeoutError<u64>,
    annulus::SendError<u64>, annulus::TrySendError<u64>, annulus::SendTimeoutError<u64>,
    annulus::Text<8>, annulus::TooLong,
    annulus::schema::Schema, annulus::schema::Kind, annulus::schema::KindRef, annulus::schema::Scalar,
    annulus::schema::Field, annulus::schema::Variant, annulus::schema::Difference, annulus::schema::SchemaError, annulus::schema::BadValue, annulus::schema::Checker,
    annulus::Until, annulus::WaitStrategy, annulus::wait::ParseWaitStrategyError, annulus::wait::ProcessorWait,
    memory::Memory, memory::HugePages, memory::Placement, memory::Grant, memory::MemoryError,
    memory::MemoryOption, memory::Reason,
    annulus::affinity::Cpu, annulus::affinity::Detail, annulus::affinity::Hidden,
    annulus::affinity::PinError, annulus::affinity::PinReason,
    annulus::affinity::Spread, annulus::affinity::SpreadError, annulus::affinity::Topology,
}

#[cfg(feature = "async")]
whole! { TASKS (Send, Sync):
    annulus::oneshot::RecvFuture<C>, annulus::service::AnswerFuture<C>,
}

#[cfg(not(feature = "async"))]
#[allow(dead_code, reason = "as above")]
const TASKS: &[&str] = &["RecvFuture", "AnswerFuture"];

#[cfg(target_os = "linux")]
whole! { LINUX (Send, Sync):
    annulus::Notifier<broadcast::Subscriber<u64>>, annulus::Notifier<spsc::Consumer<C>>,
    annulus::Readiness,
}

#[cfg(all(target_os = "linux", feature = "shm"))]
use annulus::shm;

#[cfg(all(target_os = "linux", feature = "shm"))]
whole! { SHM (Send, Sync):
    shm::Accepted<u64>, shm::broadcast::AcceptedLossless<u64>, shm::broadcast::NoSeat,
    shm::spsc::Producer<u64>, shm::spsc::Consumer<u64>, shm::mpsc::Producer<u64>, shm::mpsc::Consumer<u64>, shm::bytes::Producer, shm::bytes::Consumer,
    shm::Shared<u64>, shm::mp_broadcast::Builder, broadcast::FellowPublisher<u64>,
    shm::mpsc::Builder, shm::mpsc::Places, shm::RingInfo, shm::Directory, shm::Entry, shm::NamedRing, shm::Numbering, shm::PublishedName, shm::Peer,
    shm::Invitation, shm::NamedSubscriber<u64>, shm::Received<u64>, shm::Fingerprint, shm::ShmKind,
    shm::mpmc::Builder, shm::mpmc::Producer<u64>, shm::mpmc::Consumer<u64>, shm::mpmc::Claimed<u64>, shm::mpmc::Queue<u64>, shm::mpmc::Unreceived,
    shm::PeerState, shm::ProcessId, shm::WhenGone, shm::FrameUse, shm::ReaderNumbers, shm::RingNumbers,
    shm::RingObserver, shm::AttachError, shm::FindError, shm::BadName, shm::DirectoryError, shm::NameError,
    shm::ShareError, broadcast::Awaited, broadcast::Foreign,
    shm::dynamic::OpenError, shm::dynamic::Ring, shm::dynamic::Start, shm::broadcast::bytes::AcceptedBytes,
    shm::broadcast::bytes::AcceptedBytes<broadcast::Awaited>, broadcast::bytes::Subscriber<broadcast::Awaited>,
    broadcast::bytes::Subscribable<broadcast::Foreign>, broadcast::bytes::Subscriber<broadcast::Foreign>,
    shm::frames::Builder, shm::frames::Publisher, shm::frames::Loan<'static>, shm::frames::AcceptedFrames, shm::frames::Subscriber, shm::frames::Frame,
    shm::frames::SubscribeError, shm::frames::TooManyHeld, shm::frames::FrameError,
    shm::watch::Sender<u64>, shm::watch::AcceptedWatch<u64>, shm::watch::Receiver<u64>, shm::watch::Changes<u64>, shm::watch::Change<u64>,
    shm::watch::GetError, shm::watch::KeyError,
    shm::dynamic::watch::AcceptedWatch, shm::dynamic::watch::Changes, shm::dynamic::watch::Sender,
    shm::dynamic::Claimed, shm::dynamic::WorkQueue,
    shm::dynamic::Client, shm::dynamic::PendingAnswer, shm::dynamic::Request, shm::dynamic::Server,
    shm::service::Builder, shm::service::Client<u64, u64>, shm::service::Server<u64, u64>, shm::service::Request<u64, u64>,
    shm::service::PendingAnswer<u64>, shm::service::ClientId, shm::service::ClientGone<u64>, shm::service::AskError<u64>, shm::service::AnswerError,
    shm::service::NamedClient<u64, u64>, shm::service::NamedAskError<u64>, shm::service::ServerError,
}

#[cfg(all(target_os = "linux", feature = "shm", feature = "async"))]
whole! { SHM_TASKS (Send, Sync):
    shm::service::AnswerFuture<u64>,
}

#[cfg(not(all(target_os = "linux", feature = "shm", feature = "async")))]
#[allow(dead_code, reason = "as above")]
const SHM_TASKS: &[&str] = &["AnswerFuture"];

#[cfg(all(target_os = "linux", feature = "shm"))]
whole! { SHM_OF_ONE_AT_A_TIME (Send):
    shm::dynamic::Receiver, shm::dynamic::Reserved<'static>, shm::dynamic::Sender,
}

// An event is changed in place, so its handles are what it is. What keeps a handle of its user's choice is
// what that handle is.
assert_not_impl_any!(event::Publisher<C>: UnwindSafe, RefUnwindSafe);
assert_not_impl_any!(event::Subscriber<C>: UnwindSafe, RefUnwindSafe);
assert_not_impl_any!(annulus::Iter<&'static mut event::Subscriber<&'static mut u8>>: UnwindSafe, RefUnwindSafe);
assert_not_impl_any!(worker::Builder<&'static mut spsc::Consumer<C>, C>: UnwindSafe);
#[cfg(target_os = "linux")]
assert_not_impl_any!(annulus::Notifier<event::Subscriber<&'static mut u8>>: UnwindSafe);
#[cfg(target_os = "linux")]
assert_not_impl_any!(annulus::Notifier<&'static mut spsc::Consumer<C>>: UnwindSafe);

/// Where a `T`, or a kind, could take it from them.
#[test]
fn handles_of_what_is_pinned_move() {
    type P = std::marker::PhantomPinned;
    assert_impl_all!(event::Publisher<P>: Unpin);
    assert_impl_all!(event::Publisher<String, fn(&mut String)>: Unpin);
    assert_impl_all!(event::MpPublisher<P>: Unpin);
    assert_impl_all!(event::Subscribable<P>: Unpin);
    assert_impl_all!(event::Subscriber<P>: Unpin);
    assert_impl_all!(queue::ordered::Sender<P>: Unpin);
    assert_impl_all!(queue::ordered::Receiver<P>: Unpin);
    assert_impl_all!(annulus::watch::Sender<P>: Unpin);
    assert_impl_all!(annulus::watch::Receiver<P>: Unpin);
    assert_impl_all!(annulus::oneshot::Receiver<P>: Unpin);
    assert_impl_all!(annulus::service::Client<P, P>: Unpin);
    assert_impl_all!(annulus::service::PendingAnswer<P>: Unpin);
    assert_impl_all!(pipeline::Input<P>: Unpin);

    fn moves<T: Unpin>() {}
    fn of_any_kind<T: Send, K: queue::kind::AnyKind, L: queue::kind::InPlace, M: broadcast::Mode>() {
        moves::<queue::Producer<T, K>>();
        moves::<queue::Consumer<T, K>>();
        moves::<queue::bytes::Consumer<L>>();
        moves::<queue::bytes::Producer<L>>();
        moves::<broadcast::Subscriber<T, M>>();
        moves::<broadcast::MpPublisher<T, M>>();
        moves::<SubscriberGroup<T, 2, M>>();
        moves::<event::Subscriber<T, M>>();
    }
    of_any_kind::<P, mpmc::Mpmc, spsc::Spsc, Lossy>();
}

/// A stream that owns its handle.
#[cfg(feature = "async")]
#[test]
fn streams_are_whole() {
    fn whole<T: UnwindSafe + RefUnwindSafe>(_: T) {}
    whole(broadcast::lossy::<u64>(2).1.subscribe().into_stream());
    whole(event::channel(2, String::new).1.subscribe().into_stream());
    whole(mpmc::channel::<C>(2).1.into_stream());
    whole(queue::ordered::channel::<C>(2).1.into_stream());
    whole(Bus::<u64>::new(2).subscribe_matching("*").unwrap().into_stream());
}

/// Each public type of the sources is in one of the lists.
#[cfg(all(target_os = "linux", feature = "shm", not(miri)))]
#[test]
fn lists_are_complete() {
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::Path;

    /// Not for users: parts of macros and of hidden verbs, and markers of queues between processes.
    /// (`Lent…` and blocks: what the library for C asks for.)
    const OTHERS: &[&str] = &["Across", "Both", "Chosen", "Either", "Joins", "Listening", "ManyAcross"];
    const MORE_OTHERS: &[&str] = &["FellowRing", "Look", "Mark", "Never", "Refusal", "Several", "Limit"];
    const BLOCKS: &[&str] = &["Block", "BlocksAcross", "ManyBlocksAcross", "MessageType", "Silence"];
    /// Public in private modules, for hidden parts of sealed traits.
    const HIDDEN: &[&str] = &[
        "Claimant",
        "FrameReader",
        "FrameWriter",
        "Gating",
        "OwnPlace",
        "Receiving",
        "RoomArm",
        "Share",
        "StageRole",
        "TakeCell",
        "ValueReader",
        "ValueWriter",
        "WorkTaker",
        "WorkWriter",
    ];
    const LENT: &[&str] = &["Lent", "LentHead", "LentPublisher", "LentSlots", "LentSubscriber"];

    fn declared(folder: &Path, names: &mut BTreeMap<String, usize>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                // (What `sync` has is for builds that record accesses.)
                if path.file_name().is_none_or(|name| name != "sync") {
                    declared(&path, names);
                }
                continue;
            }
            for line in std::fs::read_to_string(&path).unwrap().lines() {
                let words: Vec<_> = line.split_whitespace().collect();
                if let ["pub", "struct" | "enum" | "union", name, ..] = words[..] {
                    let is_part = |c: char| !c.is_alphanumeric();
                    *names.entry(name.split(is_part).next().unwrap().to_owned()).or_default() += 1;
                }
            }
        }
    }

    let mut names = BTreeMap::new();
    declared(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")), &mut names);
    let listed: BTreeSet<_> = [
        RINGS,
        ABOVE,
        OF_ONE_AT_A_TIME,
        READ_BY_ALL,
        OF_ONE_THREAD,
        REST,
        TASKS,
        SHM_TASKS,
        LINUX,
        SHM,
        SHM_OF_ONE_AT_A_TIME,
    ]
    .concat()
    .into_iter()
    .map(|name| name.split(['<', ' ']).next().unwrap().to_owned())
    .collect();
    // (A name with `$` is that of a macro, which makes three types by it.)
    let others =
        |name: &str| name.is_empty() || [OTHERS, MORE_OTHERS, BLOCKS, HIDDEN, LENT].concat().contains(&name);
    let missing: Vec<_> = names
        .into_iter()
        .filter(|(name, _)| !others(name))
        .filter(|(name, count)| {
            let ends = |path: &&String| path.rsplit("::").next() == Some(name);
            listed.iter().filter(ends).count() < *count
        })
        .collect();
    assert!(
        missing.is_empty(),
        "public types that no list names, and how often they are declared: {missing:?}"
    );
}

/// What `action` panics with. It takes what it uses by shared references: no promise is needed for that.
fn caught<R>(action: impl FnOnce() -> R + UnwindSafe) {
    assert!(catch_unwind(|| drop(action())).is_err());
}

#[test]
fn bus_goes_on() {
    let bus = Bus::<u64>::new(4);
    let mut matching = bus.subscribe_matching("*").unwrap();
    let mut publisher = bus.publisher("a");
    caught(|| bus.publisher("a"));
    caught(|| bus.topic("b").capacity(1).subscribe().unwrap());
    publisher.publish(1);
    // By its thread's panic the publisher goes back.
    caught(move || -> () { panic!("with {publisher:?}") });
    bus.publisher("a").publish(2);
    assert_eq!(matching.try_recv(), Ok(("a", 1)));
    assert_eq!(matching.try_recv(), Ok(("a", 2)));
    assert_eq!(bus.topics().len(), 1);
}

/// A select waits for a group of which all members are paused, which panics: the others can be waited for
/// afterwards, and nobody is registered anywhere.
#[test]
fn select_goes_on() {
    let (mut publisher, subscribable) = broadcast::lossy::<u64>(4);
    let (mut producer, mut consumer) = spsc::channel::<u64>(4);
    let mut group: SubscriberGroup<u64, 2> = subscribable.subscribe_group();
    publisher.publish_batch(&[0, 1]);
    group.pause(0);
    group.pause(1);
    let mut select = Select::new();
    let indexes = [select.recv(&mut consumer), select.recv(&mut group)];
    for _ in 0..4 {
        assert!(catch_unwind(AssertUnwindSafe(|| select.ready())).is_err());
    }
    select.remove(indexes[1]);
    assert_eq!(select.try_ready(), None);
    producer.send(7).unwrap();
    assert_eq!(select.ready(), indexes[0]);
    drop(select);
    let _ = group.try_recv_member(0);
    assert_eq!((consumer.recv(), group.recv()), (Ok(7), Ok(0)), "that member is aligned again");
}

/// The same for a notifier.
#[cfg(target_os = "linux")]
#[test]
fn notifier_goes_on() {
    let (mut publisher, subscribable) = broadcast::lossy::<u64>(4);
    let mut notifier = annulus::Notifier::new(subscribable.subscribe_group::<2>()).unwrap();
    assert_eq!(notifier.arm(), annulus::Readiness::Armed);
    (0..2).for_each(|member| notifier.get_mut().pause(member));
    publisher.publish(1);
    assert!(catch_unwind(AssertUnwindSafe(|| notifier.arm())).is_err());
    let _ = notifier.get_mut().try_recv_member(0);
    assert_eq!(notifier.arm(), annulus::Readiness::Ready);
    assert_eq!(notifier.get_mut().try_recv(), Ok(1));
    assert_eq!(notifier.arm(), annulus::Readiness::Armed);
    publisher.publish(2);
    assert_eq!(notifier.into_inner().try_recv(), Ok(2));
}

/// The closure of a verb panics while a pipeline is made: its input says that there is none.
#[test]
fn input_outlives_its_pipeline() {
    let (mut input, stages) = Pipeline::builder().input::<u64>();
    caught(|| stages.then(|x| x + 1).fork(|s| s, |_| -> pipeline::Stages<u64> { panic!("on purpose") }));
    assert!(input.send(1).is_err());
    assert!(input.is_closed());
}

/// A closure panics in the middle of a verb: what borrows the handle gives it back as it was.
#[test]
fn borrowed_handle_survives_a_panic() {
    let (mut producer, mut consumer) = spsc::channel::<u64>(4);
    let reservation = producer.try_reserve(3).unwrap();
    caught(|| {
        reservation.write_iter((0..2).map(|number| if number == 1 { panic!("on purpose") } else { 1 }))
    });
    producer.send_batch(&[1, 2, 3, 4]).unwrap();
    let mut there = consumer.try_iter();
    assert!(
        catch_unwind(AssertUnwindSafe(|| there.by_ref().for_each(|number| assert_eq!(number, 1)))).is_err()
    );
    assert_eq!(there.next(), Some(3));
    assert_eq!(consumer.try_recv(), Ok(4));
}

/// A handler panics, and so does what is called when nothing comes.
#[test]
fn worker_ends() {
    let (mut producer, consumer) = spsc::channel::<u64>(4);
    let worker = Worker::builder(consumer, ()).spawn(|(), number, _| panic!("{number}")).unwrap();
    let stopper = worker.stopper();
    let _ = producer.send(1);
    caught(|| worker.join().unwrap());
    stopper.stop();
    assert!(producer.send(2).is_err());
}
