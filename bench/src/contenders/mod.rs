//! The rings under test, behind one interface, so that every one of them runs the same loops.
//!
//! The methods are what a user calls, inlined; an adapter that did anything of its own would be measured too.
//!
//! ```text
//! interface  what the loops call
//! ours       annulus by photon-ring's names
//! lossy      one publisher that waits for nobody
//! many_publishers  many publishers that wait for nobody
//! group      one subscriber for several consumers
//! tokio      a channel that waits for nobody
//! fan_out    lossy rings with several readers
//! topics     several lossy rings
//! called     any lossy ring, with its methods never inlined
//! lossless   a publisher that waits for its readers
//! waiting    the same, by verbs that wait; and libraries with such rings only
//! events     the same, with messages changed and read where they lie
//! disruptor  a library with such rings only
//! guests     programs in other languages
//! queues     each message reaches one consumer
//! select     several queues at once
//! tasks      channels whose ends wait in tasks
//! ends       producers and consumers of all of these, as `exchange` drives them
//! between    rings between two processes, and the same in one
//! bare       what two processes can do without a ring
//! iceoryx2   a library between processes, where it is built in
//! shaq       a queue over a file that two processes map
//! ringfire   a broadcast ring in a file, by its name
//! frames     frames of any size, likewise
//! questions  questions and answers, likewise
//! tables     the newest value, likewise
//! records    messages that lie where they are written, as that library's
//! broadcast_records  records that are copied, to subscribers that the publisher waits for
//! ```

pub mod bare;
pub mod between;
pub mod broadcast_records;
mod called;
mod disruptor;
pub mod ends;
mod events;
mod fan_out;
#[cfg(feature = "iceoryx2")]
pub mod frames;
mod group;
pub mod guests;
#[cfg(feature = "iceoryx2")]
pub mod iceoryx2;
mod interface;
mod lossless;
mod lossy;
mod many_publishers;
mod ours;
#[cfg(feature = "iceoryx2")]
pub mod questions;
mod queues;
#[cfg(feature = "iceoryx2")]
pub mod records;
pub mod ringfire;
mod select;
pub mod shaq;
#[cfg(feature = "iceoryx2")]
pub mod tables;
mod tasks;
mod tokio;
mod topics;
mod waiting;

pub use called::Called;
pub use disruptor::{Disruptor, DisruptorOfMany};
pub use events::{AnnulusEvents, AnnulusEventsWaiting, PhotonRingEvents};
pub use group::AnnulusGroup;
pub use interface::{
    BatchPublisher, BatchReader, Contender, FanOut, Gated, Look, Named, Payload, Publisher, Reader,
    Subscriber, Tried, Waiting,
};
pub use lossless::{AnnulusLossless, PhotonRingBounded};
pub use lossy::{Annulus, PhotonRing};
pub use many_publishers::{AnnulusPublishers, PhotonRingPublishers};
pub use queues::{
    AnnulusCopied, AnnulusInPlace, AnnulusMany, AnnulusManyToMany, AnnulusOneOrder, AnnulusQueue,
    AnnulusTried, AsyncChannel, BatchReceiver, BatchSender, Crossbeam, CrossbeamTried, Crossfire,
    CrossfireMany, CrossfireOne, Flume, Kanal, KanalTried, Looking, Queue, Receiver, Rtrb, RtrbCopied,
    RtrbInPlace, Sender, StdSync, StdUnbounded,
};
pub use select::{RINGS, Selecting};
pub use tasks::{
    AnnulusBroadcastTasks, AnnulusMpmcTasks, AnnulusMpscTasks, AnnulusOrderedTasks, AnnulusSpscTasks,
    AsyncBroadcastTasks, AsyncChannelTasks, CrossfireOneTasks, CrossfireTasks, FlumeTasks, KanalTasks,
    TaskChannel, TaskReceiver, TaskSender, TokioBroadcastTasks, TokioTasks,
};
pub use tokio::{Tokio, TokioWaiting};
pub use topics::{TOPICS, Topics};
pub use waiting::{
    AnnulusLosslessWaiting, AnnulusLossyWaiting, AsyncBroadcast, AsyncBroadcastWaiting, Bus, BusWaiting,
    PhotonRingBoundedWaiting,
};

/// All the libraries here but the standard one.
const PACKAGES: [&str; 14] = [
    Annulus::NAME,
    PhotonRing::NAME,
    Disruptor::NAME,
    Rtrb::NAME,
    Crossbeam::NAME,
    Kanal::NAME,
    Crossfire::NAME,
    Flume::NAME,
    AsyncChannel::NAME,
    Tokio::NAME,
    Bus::NAME,
    AsyncBroadcast::NAME,
    shaq::Shaq::<1>::NAME,
    ringfire::Ringfire::<1, true>::NAME,
];

/// Those of them that are built in.
pub fn packages() -> impl Iterator<Item = &'static str> {
    PACKAGES.into_iter().chain(cfg!(feature = "iceoryx2").then_some("iceoryx2"))
}

/// The version of `package` that this program was built with.
pub fn version_of(package: &str) -> &'static str {
    version_in(include_str!("../../Cargo.lock"), package).unwrap_or("?")
}

fn version_in<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name).skip(1);
    lines.next()?.strip_prefix("version = \"")?.strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::BATCH;

    #[test]
    fn lossy_rings_are_driven_by_the_same_code() {
        fn works<C: Contender>() {
            let (mut publisher, mut subscriber) = C::channel::<u64>(4);
            assert!(subscriber.try_recv().is_err());
            publisher.publish(7);
            assert_eq!(subscriber.try_recv().unwrap(), 7);
            assert_eq!(subscriber.cursor(), 1);
        }
        works::<Annulus>();
        works::<AnnulusPublishers>();
        works::<AnnulusGroup<10>>();
        works::<Tokio>();
        works::<PhotonRing>();
        works::<PhotonRingPublishers>();
        works::<Called<Annulus>>();
    }

    #[test]
    fn lossless_rings_are_driven_by_the_same_code() {
        fn works<C: Gated<READERS>, const READERS: usize>() {
            let (mut publisher, mut readers) = C::channel(4);
            for lap in 0..3 {
                (0..4).for_each(|i| publisher.publish(4 * lap + i));
                for reader in &mut readers {
                    let mut received = vec![];
                    while reader.poll(|message| received.push(message)) {}
                    assert_eq!(received, Vec::from_iter(4 * lap..4 * lap + 4));
                }
            }
        }
        works::<AnnulusLossless, 1>();
        works::<AnnulusLossless, 2>();
        works::<AnnulusEvents, 1>();
        works::<PhotonRingBounded, 1>();
        works::<PhotonRingBounded, 2>();
        works::<PhotonRingEvents, 1>();
        works::<Disruptor, 1>();
        works::<DisruptorOfMany, 2>();
        works::<Bus, 2>();
        works::<AsyncBroadcast, 2>();
    }

    #[test]
    fn rings_with_several_readers_are_driven_by_the_same_code() {
        fn works<C: FanOut<2>>() {
            let (mut publisher, mut readers) = C::channel(4);
            for message in 0..12 {
                publisher.publish(message);
                for reader in &mut readers {
                    assert!(reader.poll(|received| assert_eq!(received, message)));
                }
            }
        }
        works::<Annulus>();
        works::<PhotonRing>();
        works::<Tokio>();
        works::<AnnulusLosslessWaiting>();
        works::<PhotonRingBoundedWaiting>();
        works::<AnnulusEventsWaiting>();
        works::<AnnulusLossyWaiting>();
        works::<TokioWaiting>();
        works::<BusWaiting>();
        works::<AsyncBroadcastWaiting>();
    }

    #[test]
    fn topics_are_apart() {
        fn works<C: Topics>() {
            let mut topics = C::topics::<u64>(4);
            for (topic, (publisher, _)) in (0..).zip(&mut topics) {
                publisher.publish(topic);
            }
            for (topic, (_, subscriber)) in (0..).zip(&mut topics) {
                assert_eq!(subscriber.try_recv().unwrap(), topic);
                assert!(subscriber.try_recv().is_err());
            }
        }
        works::<Annulus>();
        works::<PhotonRing>();
        works::<Tokio>();
    }

    #[test]
    fn lost_messages_of_a_lossy_ring_are_counted() {
        fn works<C: Contender>() {
            let (mut publisher, mut subscriber) = C::channel::<u64>(4);
            (0..11).for_each(|message| publisher.publish(message));
            // (Rivals tell of the lag first.)
            let received = subscriber.try_recv().or_else(|_| subscriber.try_recv()).unwrap();
            assert!(received > 0);
            assert_eq!((subscriber.total_lagged(), subscriber.cursor()), (received, received + 1));
        }
        works::<Annulus>();
        works::<PhotonRing>();
        works::<Tokio>();
    }

    #[test]
    fn batches_arrive_whole_and_in_order() {
        fn works<C: Gated<1>>()
        where
            C::Publisher: BatchPublisher,
            C::Reader: BatchReader,
        {
            let (mut publisher, [mut reader]) = C::channel(2 * BATCH);
            let sent: [u64; BATCH] = std::array::from_fn(|i| i as u64);
            for _ in 0..4 {
                publisher.publish_batch(&sent);
                let (mut buffer, mut received) = ([0; BATCH], vec![]);
                while reader.poll_batch(&mut buffer, |message| received.push(message)) > 0 {}
                assert_eq!(received, sent);
            }
        }
        works::<AnnulusLossless>();
        works::<PhotonRingBounded>();
        works::<Disruptor>();
    }

    #[test]
    fn queues_are_driven_by_the_same_code() {
        fn works<Q: Queue<Sender: Sender, Receiver: Receiver>>() {
            let (mut sender, mut receiver) = Q::queue(4);
            for message in 0..12 {
                assert!(sender.send(message));
                assert_eq!(receiver.receive(), Some(message));
            }
        }
        works::<AnnulusTried>();
        works::<AnnulusQueue>();
        works::<AnnulusMany>();
        works::<AnnulusManyToMany>();
        works::<AnnulusOneOrder>();
        works::<Rtrb>();
        works::<CrossbeamTried>();
        works::<Crossbeam>();
        works::<KanalTried>();
        works::<Kanal>();
        works::<Crossfire>();
        works::<CrossfireOne>();
        works::<CrossfireMany>();
        works::<AsyncChannel>();
        works::<Flume>();
        works::<StdSync>();
        works::<StdUnbounded>();
    }

    #[test]
    fn selects_are_driven_by_the_same_code() {
        fn works<Q: Selecting<Sender: Sender>>() {
            let [a, b, c, d] = [(); RINGS].map(|()| Q::queue(4));
            let (mut senders, mut receivers) = ([a.0, b.0, c.0, d.0], [a.1, b.1, c.1, d.1]);
            for ring in [2, 0, 3, 1, 1] {
                assert!(senders[ring].send(7));
                assert_eq!(Q::select(&mut receivers), (ring, 7));
            }
        }
        works::<AnnulusQueue>();
        works::<Crossbeam>();
        works::<Flume>();
    }

    #[test]
    fn channels_of_tasks_are_driven_by_the_same_code() {
        fn works<C: TaskChannel>() {
            let executor = ::tokio::runtime::Builder::new_current_thread().build().unwrap();
            executor.block_on(async {
                let (mut sender, mut receiver) = C::channel(4);
                for message in 0..12 {
                    assert!(sender.send(message).await);
                    assert_eq!(receiver.receive().await, Some(message));
                }
                drop(sender);
                assert_eq!(receiver.receive().await, None);
            });
        }
        works::<AnnulusSpscTasks>();
        works::<AnnulusMpscTasks>();
        works::<AnnulusMpmcTasks>();
        works::<AnnulusOrderedTasks>();
        works::<AnnulusBroadcastTasks>();
        works::<TokioTasks>();
        works::<TokioBroadcastTasks>();
        works::<AsyncBroadcastTasks>();
        works::<FlumeTasks>();
        works::<KanalTasks>();
        works::<AsyncChannelTasks>();
        works::<CrossfireOneTasks>();
        works::<CrossfireTasks>();
    }

    #[test]
    fn queue_that_is_tried_says_that_it_is_full_or_empty() {
        fn works<Q: Queue<Sender: Sender, Receiver: Receiver>>() {
            let (mut sender, mut receiver) = Q::queue(1);
            assert_eq!(receiver.receive(), None);
            assert!(sender.send(1) && !sender.send(2));
            assert_eq!(receiver.receive(), Some(1));
        }
        works::<AnnulusTried>();
        works::<Rtrb>();
        works::<CrossbeamTried>();
        works::<KanalTried>();
    }

    #[test]
    fn batches_go_through_queues_whole_and_in_order() {
        fn works<Q: Queue<Sender: BatchSender, Receiver: BatchReceiver>>() {
            let (mut sender, mut receiver) = Q::queue(2 * BATCH);
            let sent: [u64; BATCH] = std::array::from_fn(|i| i as u64);
            for _ in 0..4 {
                sender.send_batch(&sent);
                let (mut buffer, mut received) = ([0; BATCH], vec![]);
                while receiver.receive_batch(&mut buffer, |message| received.push(message)) > 0 {}
                assert_eq!(received, sent);
            }
        }
        works::<AnnulusCopied>();
        works::<RtrbCopied>();
        works::<AnnulusInPlace>();
        works::<RtrbInPlace>();
    }

    #[test]
    fn versions_are_found_in_the_lock_file() {
        let lock = "[[package]]\nname = \"a-b\"\nversion = \"1.2.3\"\n\n[[package]]\nname = \"a\"\nversion = \"4.5.6\"\n";
        assert_eq!(version_in(lock, "a"), Some("4.5.6"));
        assert_eq!(version_in(lock, "b"), None);
        for package in packages() {
            assert_ne!(version_of(package), "?");
        }
    }
}
