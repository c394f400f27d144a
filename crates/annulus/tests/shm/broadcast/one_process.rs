//! Two mappings of one ring in one process: what goes in through one comes out through the other, as
//! without them.

use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use annulus::Message;
use annulus::Settings;
use annulus::broadcast::{Publisher, Subscribable};
use annulus::shm::{Accepted, AttachError, Invitation, PeerState, ShareError, Shared, ShmKind, broadcast};
use annulus::stats::Stats;
use annulus::{CapacityError, LossyRecvError, LossyTryRecvError, RecvError, TryRecvError, WaitStrategy};
use bytemuck::Pod;
use proptest::prelude::*;

use crate::support::sleeping;

/// A ring, and what another process would have of it.
pub(crate) fn ring<T: Message + Pod>(capacity: usize) -> (Publisher<T>, Subscribable<T>, Accepted<T>) {
    let Shared { handle: publisher, peers: subscribable, invitation, .. } =
        broadcast::lossy(Settings::new(capacity)).unwrap();
    let accepted = invitation.accept().unwrap();
    (publisher, subscribable, accepted)
}

#[test]
fn placement_says_memory_is_shared() {
    let (publisher, subscribable, accepted) = ring::<u64>(64);
    let placement = publisher.placement();
    assert_eq!(placement.to_string(), "1024 bytes in memory that processes share");
    assert!(placement.is_shared() && placement.refusals().count() == 0);
    assert_eq!(
        (subscribable.placement(), accepted.subscribable().placement()),
        (placement.clone(), placement)
    );
    assert!(!annulus::broadcast::lossy::<u64>(64).0.placement().is_shared());
}

/// The publisher is counted by the other process, too, until it has ended the ring.
#[test]
fn publisher_is_counted_until_the_ring_has_ended() {
    let counts = |stats: Stats| (stats.writers.now, stats.writers.joined, stats.closed);
    for is_dropped in [true, false] {
        let (mut publisher, _local, shared) = ring::<u64>(8);
        let mut subscriber = shared.subscribable().subscribe();
        publisher.publish(7);
        assert_eq!((subscriber.recv(), counts(subscriber.stats())), (Ok(7), (1, 1, false)));
        let another = shared.subscribable().subscribe();
        assert_eq!(counts(another.observer().stats().unwrap()), (1, 1, false));
        if is_dropped {
            drop(publisher);
        } else {
            publisher.close();
            assert_eq!(counts(publisher.stats()), (1, 1, true));
        }
        assert_eq!((subscriber.recv(), counts(subscriber.stats())), (Err(RecvError::CLOSED), (0, 1, true)));
        assert_eq!(counts(another.observer().stats().unwrap()), (0, 1, true));
    }

    let Shared { handle: publisher, invitation, .. } =
        broadcast::lossless::<u64>(Settings::new(8), 1).unwrap();
    let mut subscriber = invitation.accept_lossless::<u64>().unwrap().subscribe().unwrap();
    assert_eq!(counts(subscriber.stats()), (1, 1, false));
    drop(publisher);
    assert_eq!((subscriber.recv(), counts(subscriber.stats())), (Err(RecvError::CLOSED), (0, 1, true)));
}

/// What is done to two rings, which must say the same.
#[derive(Clone, Debug)]
enum Step {
    Publish(u8),
    LeaveOut(u8),
    TryRecv,
    Latest,
    Skip,
    Pending,
    Join(bool),
    Close,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (1..40u8).prop_map(Step::Publish),
        2 => (0..40u8).prop_map(Step::LeaveOut),
        12 => Just(Step::TryRecv),
        2 => Just(Step::Latest),
        1 => Just(Step::Skip),
        3 => Just(Step::Pending),
        1 => any::<bool>().prop_map(Step::Join),
        1 => Just(Step::Close),
    ];
    prop::collection::vec(step, 1..60)
}

proptest! {
    /// As the ring in one process, step by step.
    #[test]
    fn ring_behaves_as_without_the_mapping(capacity in 2..20usize, steps in steps()) {
        let (mut here, _local, shared) = ring::<u64>(capacity);
        let (mut model, subscribable) = annulus::broadcast::lossy::<u64>(capacity);
        let mut seen = shared.subscribable().subscribe();
        let mut expected = subscribable.subscribe();
        let mut next = 0;
        for step in steps {
            match step {
                Step::Publish(count) => for _ in 0..count {
                    here.publish(next);
                    model.publish(next);
                    next += 1;
                },
                Step::LeaveOut(count) => {
                    let to = model.published() + u64::from(count);
                    prop_assert_eq!(here.skip_to(to), model.skip_to(to));
                }
                // One of the two verbs, and the other one.
                Step::TryRecv if seen.total_received().is_multiple_of(2) => {
                    prop_assert_eq!(seen.try_recv_or_lag(), expected.try_recv_or_lag().map_err(Into::into));
                }
                Step::TryRecv => prop_assert_eq!(seen.try_recv(), expected.try_recv()),
                Step::Latest => prop_assert_eq!(seen.latest(), expected.latest()),
                Step::Skip => prop_assert_eq!(seen.skip_to_latest(), expected.skip_to_latest()),
                Step::Pending => prop_assert_eq!(seen.len(), expected.len()),
                Step::Join(oldest) => (seen, expected) = if oldest {
                    (shared.subscribable().subscribe_from_oldest(), subscribable.subscribe_from_oldest())
                } else {
                    (shared.subscribable().subscribe(), subscribable.subscribe())
                },
                Step::Close => {
                    here.close();
                    model.close();
                }
            }
            prop_assert_eq!(seen.cursor(), expected.cursor());
            prop_assert_eq!(seen.total_lagged(), expected.total_lagged());
            prop_assert_eq!(seen.is_closed(), expected.is_closed());
        }
    }
}

/// Another process is told of each number that is left out, through the mapping alone, and one that sleeps is
/// woken for it.
#[test]
fn numbers_left_out_are_lag_elsewhere() {
    for (capacity, gap) in [2, 8, 21].into_iter().flat_map(|capacity| {
        [1, capacity - 1, capacity, capacity + 1, 10 * capacity].map(|gap| (capacity, gap as u64))
    }) {
        let (mut publisher, _local, shared) = ring::<u64>(capacity);
        let mut seen = shared.subscribable().subscribe();
        publisher.publish(0);
        assert_eq!(
            (publisher.skip_to(1 + gap), shared.subscribable().subscribe().cursor()),
            (Ok(gap), 1 + gap)
        );
        publisher.publish(1 + gap);
        let mut newest = seen.clone();
        let (mut received, mut lagged) = (vec![], 0);
        loop {
            match seen.try_recv_or_lag() {
                Ok(number) => received.push(number),
                Err(LossyTryRecvError::Lagged { skipped }) => lagged += skipped,
                Err(_) => break,
            }
        }
        // Message 0 stands where its slot was not needed.
        let stands = 2 + gap <= capacity as u64;
        assert_eq!(received, if stands { vec![0, 1 + gap] } else { vec![1 + gap] });
        assert_eq!((lagged, seen.cursor()), (2 + gap - received.len() as u64, 2 + gap));
        assert_eq!((newest.latest(), newest.cursor()), (Some(1 + gap), 2 + gap));
    }
    let (mut publisher, _local, shared) = ring::<u64>(8);
    let mut seen = shared.subscribable().subscribe();
    let (reader, sleeper) = sleeping::spawn(move || (seen.recv_or_lag(), seen.recv_or_lag(), seen.cursor()));
    sleeper.await_sleep();
    publisher.skip_to(5).unwrap();
    drop(publisher);
    let told = (Err(LossyRecvError::Lagged { skipped: 5 }), Err(LossyRecvError::Closed), 5);
    assert_eq!(reader.join().unwrap(), told);
}

#[test]
fn payloads_of_any_size() {
    fn of<const N: usize>()
    where
        [u8; N]: Pod,
    {
        let (mut publisher, local, shared) = ring::<[u8; N]>(4);
        let mut seen = shared.subscribable().subscribe();
        let mut here = local.subscribe();
        for lap in 0..9 {
            publisher.publish([lap; N]);
            assert_eq!(seen.try_recv(), Ok([lap; N]));
            assert_eq!(here.try_recv(), Ok([lap; N]));
        }
    }
    of::<0>();
    of::<1>();
    of::<7>();
    of::<8>();
    of::<64>();
    of::<256>();
    of::<4096>();
}

/// A late subscriber finds what is in the ring, and what was lost is counted.
#[test]
fn late_subscriber_finds_the_rest_and_counts_the_loss() {
    let Shared { handle: mut publisher, invitation, .. } = broadcast::lossy::<u64>(Settings::new(8)).unwrap();
    (0..1000).for_each(|number| publisher.publish(number));
    let shared = invitation.accept::<u64>().unwrap();
    let mut oldest = shared.subscribable().subscribe_from_oldest();
    let mut newest = shared.subscribable().subscribe();
    assert_eq!(oldest.try_recv(), Ok(992));
    assert_eq!(newest.try_recv(), Err(TryRecvError::Empty));
    (1000..1020).for_each(|number| publisher.publish(number));
    assert_eq!(oldest.try_recv_or_lag(), Err(LossyTryRecvError::Lagged { skipped: 19 }));
    assert_eq!(oldest.try_recv(), Ok(1012));
    assert_eq!(newest.try_recv_or_lag(), Err(LossyTryRecvError::Lagged { skipped: 12 }));
    drop(publisher);
    assert_eq!(newest.try_iter().count(), 8);
    assert_eq!(newest.try_recv(), Err(TryRecvError::Closed));
}

#[test]
fn end_either_way() {
    for closes in [true, false] {
        for published in [0, 1, 5, 64, 100] {
            let (mut publisher, local, shared) = ring::<u64>(64);
            let mut seen = shared.subscribable().subscribe_from_oldest();
            (0..published).for_each(|number| publisher.publish(number));
            assert_eq!(shared.state(), PeerState::Alive);
            assert!(!seen.is_closed());
            if closes {
                publisher.close();
            } else {
                drop(publisher);
            }
            assert_eq!(shared.state(), PeerState::Closed);
            assert!(seen.is_closed());
            let from = published.saturating_sub(64);
            let mut left = Vec::new();
            while let Ok(number) = seen.recv() {
                left.push(number);
            }
            assert_eq!(left, (from..published).collect::<Vec<_>>());
            assert_eq!(seen.recv(), Err(RecvError::CLOSED));
            assert!(local.subscribe().recv().is_err());
        }
    }
}

/// Nothing but a wake-up ends the sleep so early: without one, a thread looks again after 50 ms.
#[test]
fn message_wakes_and_so_does_the_end() {
    const SOON: Duration = Duration::from_millis(10);
    sleeping::once_in_less_than(SOON, || {
        let settings = Settings::new(8).statistics(true);
        let Shared { handle: mut publisher, invitation, .. } = broadcast::lossy::<u64>(settings).unwrap();
        let block = WaitStrategy::block_after(0, 0);
        let mut seen =
            invitation.with_wait_strategy(block).accept::<u64>().unwrap().subscribable().subscribe();
        let (says, came) = std::sync::mpsc::channel();
        let (reader, sleeper) = sleeping::spawn(move || {
            while seen.recv().is_ok() {
                says.send(Instant::now()).unwrap();
            }
            Instant::now()
        });
        let mut rounds = 0;
        sleeping::once_in_less_than(SOON, || {
            sleeper.await_sleep();
            let sent = Instant::now();
            publisher.publish(rounds);
            rounds += 1;
            came.recv().unwrap() - sent
        });
        let wake_ups = publisher.stats().counted.unwrap().wake_ups;
        assert!((1..=rounds).contains(&wake_ups), "{wake_ups} in {rounds}");
        sleeper.await_sleep();
        let ended = Instant::now();
        drop(publisher);
        reader.join().unwrap() - ended
    });
}

#[test]
fn timeout_is_kept() {
    let (publisher, _, shared) = ring::<u64>(8);
    let mut seen = shared.subscribable().subscribe();
    for timeout in [Duration::ZERO, Duration::from_millis(20), Duration::from_millis(130)] {
        let begun = Instant::now();
        assert!(seen.recv_timeout(timeout).is_err());
        let took = begun.elapsed();
        assert!(took >= timeout, "{took:?}");
    }
    drop(publisher);
}

/// How a type is aligned does not matter, up to what each ring's slots are.
#[cfg(feature = "derive")]
#[test]
fn packed_type_meets_a_plain_one() {
    use annulus::Message;

    #[derive(Clone, Copy, Debug, PartialEq, Message)]
    #[message(name = "level", packed)]
    struct Packed {
        price: u64,
        orders: [u32; 2],
    }
    #[derive(Clone, Copy, Debug, PartialEq, Message)]
    #[message(name = "level")]
    #[repr(C)]
    struct Plain {
        price: u64,
        orders: [u32; 2],
    }
    let (packed, plain) = (Packed { price: 7, orders: [8, 9] }, Plain { price: 7, orders: [8, 9] });
    let Shared { handle: mut publisher, invitation, .. } =
        broadcast::lossy::<Packed>(Settings::new(8)).unwrap();
    assert_eq!(invitation.info().unwrap().payload_alignment(), 1);
    publisher.publish(packed);
    let ring = invitation.accept::<Plain>().unwrap();
    assert_eq!(ring.subscribable().subscribe_from_oldest().try_recv(), Ok(plain));

    let (builder, policy) = (annulus::Settings::new(2), annulus::shm::WhenGone::Close);
    let Shared { handle: mut producer, invitation, .. } =
        annulus::shm::spsc::producer::<Packed>(builder, policy).unwrap();
    producer.send_batch(&[packed; 2]).unwrap();
    let (mut consumer, _) = annulus::shm::spsc::consumer::<Plain>(&invitation).unwrap();
    assert_eq!([consumer.try_recv(), consumer.try_recv()], [Ok(plain); 2]);
}

/// Which program declares a type does not matter, only what it is: names, kinds and places of its fields.
#[cfg(feature = "derive")]
#[test]
fn types_with_the_same_fields_match() {
    mod here {
        #[derive(Clone, Copy, annulus::Message)]
        #[message(name = "quote", packed)]
        pub(super) struct Quote {
            pub(super) bid: f64,
            pub(super) live: bool,
        }
    }
    mod there {
        use annulus::Message;

        /// Of another program: its own layout in memory, its own comments.
        #[derive(Clone, Copy, Message)]
        #[message(name = "quote", packed)]
        #[repr(C, align(64))]
        pub(super) struct TopOfBook {
            /// Of the best.
            #[message(unit = "EUR")]
            pub(super) bid: f64,
            pub(super) live: bool,
        }

        #[derive(Clone, Copy, Message)]
        #[message(name = "quote", packed)]
        pub(super) struct Swapped {
            live: bool,
            bid: f64,
        }

        #[derive(Clone, Copy, Message)]
        #[message(name = "quote", packed)]
        pub(super) struct Narrow {
            bid: f32,
            live: bool,
        }

        #[derive(Clone, Copy, Message)]
        #[message(name = "trade", packed)]
        pub(super) struct Trade {
            bid: f64,
            live: bool,
        }
    }
    let Shared { handle: mut publisher, invitation, .. } =
        broadcast::lossy::<here::Quote>(Settings::new(8)).unwrap();
    publisher.publish(here::Quote { bid: 1.5, live: true });
    let ring = invitation.accept::<there::TopOfBook>().unwrap();
    let quote = ring.subscribable().subscribe_from_oldest().try_recv().unwrap();
    assert_eq!((quote.bid, quote.live), (1.5, true));

    let refused = [
        (
            invitation.accept::<there::Swapped>().map(drop),
            "bid: f64 at 0 / bid: f64 at 1; live: bool at 8 / live: bool at 0",
        ),
        (
            invitation.accept::<there::Narrow>().map(drop),
            "the size: 9 / the size: 5; bid: f64 at 0 / bid: f32 at 0; live: bool at 8 / live: bool at 4",
        ),
        (invitation.accept::<there::Trade>().map(drop), "the name: `quote` / the name: `trade`"),
    ];
    for (told, differences) in refused {
        let error = told.unwrap_err().to_string();
        assert!(error.ends_with(&format!("(the ring / this process): {differences}")), "{error}");
    }
}

#[test]
fn ring_of_another_type_is_refused() {
    let Shared { handle: _publisher, invitation, .. } = broadcast::lossy::<u64>(Settings::new(8)).unwrap();
    assert!(matches!(invitation.accept::<i64>(), Err(AttachError::Type { .. })));
    assert!(matches!(invitation.accept::<u32>(), Err(AttachError::Type { .. })));
    let info = invitation.info().unwrap();
    assert_eq!((info.kind(), info.capacity()), (ShmKind::Lossy, 8));

    let (here, there) = UnixStream::pair().unwrap();
    let no_ring = std::fs::File::open("/proc/self/exe").unwrap();
    for _ in 0..2 {
        annulus::shm::send_fd(&here, std::os::fd::AsFd::as_fd(&no_ring)).unwrap();
    }
    let invitation = Invitation::receive(&there).unwrap();
    assert!(matches!(invitation.accept::<u64>(), Err(AttachError::NotMemory)));
}

#[test]
fn rings_that_can_not_be() {
    let error = |settings: Settings| broadcast::lossy::<u64>(settings).map(drop).unwrap_err();
    for capacity in [0, 1] {
        assert!(matches!(
            error(Settings::new(capacity)),
            ShareError::Capacity(CapacityError::TooSmall { minimum: 2, .. })
        ));
    }
    assert!(matches!(error(Settings::new(usize::MAX)), ShareError::Capacity(CapacityError::TooLarge { .. })));
    assert!(matches!(error(Settings::new(1 << 45)), ShareError::System(_)), "no machine has so much memory");
    assert!(matches!(
        error(Settings::new(8).headroom(2)),
        ShareError::Capacity(CapacityError::NoHeadroom { headroom: 2 })
    ));
}
