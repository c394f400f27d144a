//! Rings between processes whose messages have a size that is known at run time: for the library in C.
//!
//! They are the same rings, byte for byte: the process on the other side may know the type. A slot of a queue
//! is one byte of a message here, and the handles are used to send and receive whole messages only.
// Decision 0129: what is converted, and where.

use super::broadcast::{Accepted, AcceptedLossless};
use super::error::{AttachError, ShareError};
use super::invitation::Invitation;
use super::kind::ShmKind;
use super::mpsc::Builder;
use super::numbering::Numbering;
use super::places::{Places, join_as_consumer, join_as_producer};
use super::queue::{Peer, create_queue, join};
use super::shared::{Shared, WhenGone};
use super::{mpmc, watch};
use crate::broadcast;
use crate::broadcast::{FellowPublisher, Lossless};
use crate::message::Message;
use crate::queue::across::{BlocksAcross, ManyBlocksAcross};
use crate::settings::Settings;
use crate::wait::WaitStrategy;

pub use super::message_type::MessageType;
pub use crate::queue::across::{BlocksAcross as OneProducer, ManyBlocksAcross as ManyProducers};
pub use crate::ring::message_block::{Block, LARGE_BYTES};

/// A block of the largest class.
pub type AnyBlock = Block<512, true>;

/// `classes!(bytes, WORDS, LARGE => expression)`: the expression, with the constants of the smallest block
/// that holds a message of so many bytes; `None` if no block does.
#[doc(hidden)]
#[macro_export]
macro_rules! block_classes {
    ($bytes:expr, $WORDS:ident, $LARGE:ident => $make:expr) => {
        $crate::block_classes!(@ $bytes, $WORDS, $LARGE => $make,
            false 1 2 4 8 16 32, true 32 64 128 256 512)
    };
    (@ $bytes:expr, $WORDS:ident, $LARGE:ident => $make:expr, $($large:literal $($class:literal)+),+) => {
        'found: {
            let bytes: usize = $bytes;
            let (words, is_large) = (bytes.div_ceil(8), bytes >= $crate::shm::blocks::LARGE_BYTES);
            $($(
                if words <= $class && is_large == $large {
                    const $WORDS: usize = $class;
                    const $LARGE: bool = $large;
                    break 'found Some($make);
                }
            )+)+
            None
        }
    };
}
pub use crate::block_classes as classes;

/// As [`spsc::producer`](super::spsc::producer).
///
/// # Errors
///
/// The errors of that function.
pub fn spsc_producer(
    builder: crate::Settings,
    of: &MessageType,
    policy: WhenGone,
) -> Result<Shared<crate::queue::Producer<u8, BlocksAcross>, Peer>, ShareError> {
    create_queue(builder, ShmKind::Spsc, of, 0, policy)
}

/// As [`spsc::consumer`](super::spsc::consumer).
///
/// # Errors
///
/// The errors of that function.
pub fn spsc_consumer(
    invitation: &Invitation,
    of: &MessageType,
    strategy: WaitStrategy,
) -> Result<(crate::queue::Consumer<u8, BlocksAcross>, Peer), AttachError> {
    let (consumer, peer, _) = join(invitation, ShmKind::Spsc, of, strategy, |_, _| None)?;
    Ok((consumer, peer))
}

/// As [`mpsc::Builder::build`](super::mpsc::Builder::build).
///
/// # Errors
///
/// The errors of that function.
pub fn mpsc_consumer(
    builder: Builder,
    of: &MessageType,
) -> Result<Shared<crate::queue::Consumer<u8, ManyBlocksAcross>, Places>, ShareError> {
    builder.build_for(of)
}

/// As [`mpsc::producer`](super::mpsc::producer).
///
/// # Errors
///
/// The errors of that function.
pub fn mpsc_producer(
    invitation: &Invitation,
    of: &MessageType,
    strategy: WaitStrategy,
) -> Result<(crate::queue::Producer<u8, ManyBlocksAcross>, Peer), AttachError> {
    join_as_producer(invitation, of, strategy)
}

/// As [`mpsc::consumer`](super::mpsc::consumer).
///
/// # Errors
///
/// The errors of that function.
pub fn mpsc_next_consumer(
    invitation: &Invitation,
    of: &MessageType,
    strategy: WaitStrategy,
) -> Result<(crate::queue::Consumer<u8, ManyBlocksAcross>, Places), AttachError> {
    join_as_consumer(invitation, of, strategy)
}

type Publisher<const WORDS: usize, const LARGE: bool> = broadcast::Publisher<Block<WORDS, LARGE>>;
type Subscribable<const WORDS: usize, const LARGE: bool> = broadcast::Subscribable<Block<WORDS, LARGE>>;

/// As [`broadcast::lossy`](super::broadcast::lossy). The messages fit into the blocks, and are as large as
/// these say.
///
/// # Errors
///
/// The errors of that function.
pub fn lossy<const WORDS: usize, const LARGE: bool>(
    settings: Settings,
    of: &MessageType,
) -> Result<Shared<Publisher<WORDS, LARGE>, Subscribable<WORDS, LARGE>>, ShareError> {
    fits::<WORDS, LARGE>(of);
    super::broadcast::create_lossy(settings, of)
}

/// The settings of a [`lossy`] or a [`lossless`] ring that goes on with the numbering. (Other rings take no
/// notice.)
pub fn continued(numbering: Numbering, settings: Settings) -> Settings {
    numbering.continued(settings)
}

/// As [`Invitation::accept`].
///
/// # Errors
///
/// The errors of that function.
pub fn accept<const WORDS: usize, const LARGE: bool>(
    invitation: &Invitation,
    of: &MessageType,
    strategy: WaitStrategy,
) -> Result<Accepted<Block<WORDS, LARGE>>, AttachError> {
    fits::<WORDS, LARGE>(of);
    super::broadcast::accept(invitation, &[ShmKind::Lossy, ShmKind::MpLossy], of, strategy, || false)
}

/// As [`broadcast::lossless`](super::broadcast::lossless).
///
/// # Errors
///
/// The errors of that function.
pub fn lossless<const WORDS: usize, const LARGE: bool>(
    settings: Settings,
    of: &MessageType,
    seats: usize,
) -> Result<Shared<broadcast::Publisher<Block<WORDS, LARGE>, Lossless>>, ShareError> {
    fits::<WORDS, LARGE>(of);
    super::broadcast::create_ring_with_seats(settings, of, seats)
}

/// As [`Invitation::accept_lossless`].
///
/// # Errors
///
/// The errors of that function.
pub fn accept_lossless<const WORDS: usize, const LARGE: bool>(
    invitation: &Invitation,
    of: &MessageType,
    strategy: WaitStrategy,
) -> Result<AcceptedLossless<Block<WORDS, LARGE>>, AttachError> {
    fits::<WORDS, LARGE>(of);
    super::broadcast::accept_for(invitation, of, strategy)
}

/// Makes lossy subscribers of such a ring: the publisher does not wait for them.
#[must_use]
pub fn subscribable_of<T: Message>(
    ring: &AcceptedLossless<T>,
) -> &broadcast::Subscribable<T, broadcast::Foreign> {
    ring.subscribable()
}

/// As [`mp_broadcast::Builder::build`](super::mp_broadcast::Builder::build).
///
/// # Errors
///
/// The errors of that function.
pub fn mp_lossy<const WORDS: usize, const LARGE: bool>(
    builder: super::mp_broadcast::Builder,
    of: &MessageType,
) -> Result<Shared<FellowPublisher<Block<WORDS, LARGE>>, Places>, ShareError> {
    fits::<WORDS, LARGE>(of);
    builder.build_for(of)
}

/// As [`mp_broadcast::publisher`](super::mp_broadcast::publisher).
///
/// # Errors
///
/// The errors of that function.
pub fn mp_lossy_publisher<const WORDS: usize, const LARGE: bool>(
    invitation: &Invitation,
    of: &MessageType,
    strategy: WaitStrategy,
) -> Result<FellowPublisher<Block<WORDS, LARGE>>, AttachError> {
    fits::<WORDS, LARGE>(of);
    super::mp_broadcast::join(invitation, of, strategy)
}

/// As [`watch::table`](super::watch::table). The values fit into the blocks, and are as large as these say.
///
/// # Errors
///
/// The errors of that function.
pub fn watch_table<const WORDS: usize, const LARGE: bool>(
    settings: Settings,
    of: &MessageType,
) -> Result<Shared<watch::Sender<Block<WORDS, LARGE>>>, ShareError> {
    fits::<WORDS, LARGE>(of);
    watch::create(settings, of)
}

/// As [`Invitation::accept_watch`].
///
/// # Errors
///
/// The errors of that function.
pub fn accept_watch<const WORDS: usize, const LARGE: bool>(
    invitation: &Invitation,
    of: &MessageType,
    strategy: WaitStrategy,
) -> Result<watch::AcceptedWatch<Block<WORDS, LARGE>>, AttachError> {
    fits::<WORDS, LARGE>(of);
    watch::accept(invitation, of, strategy)
}

/// As [`mp_broadcast::Builder::build_lossless`](super::mp_broadcast::Builder::build_lossless).
///
/// # Errors
///
/// The errors of that function.
#[allow(clippy::type_complexity, reason = "what makes a ring")]
pub fn mp_lossless<const WORDS: usize, const LARGE: bool>(
    builder: super::mp_broadcast::Builder,
    of: &MessageType,
    seats: usize,
) -> Result<Shared<FellowPublisher<Block<WORDS, LARGE>, Lossless>, Places>, ShareError> {
    fits::<WORDS, LARGE>(of);
    builder.build_lossless_for(of, seats)
}

/// As [`mp_broadcast::lossless_publisher`](super::mp_broadcast::lossless_publisher).
///
/// # Errors
///
/// The errors of that function.
pub fn mp_lossless_publisher<const WORDS: usize, const LARGE: bool>(
    invitation: &Invitation,
    of: &MessageType,
    strategy: WaitStrategy,
) -> Result<FellowPublisher<Block<WORDS, LARGE>, Lossless>, AttachError> {
    fits::<WORDS, LARGE>(of);
    super::mp_broadcast::join(invitation, of, strategy)
}

/// As [`mpmc::Builder::build`](mpmc::Builder::build). The queue neither sends nor receives, so one block is
/// for messages of all sizes.
///
/// # Errors
///
/// The errors of that function.
pub fn mpmc_queue(
    builder: mpmc::Builder,
    of: &MessageType,
) -> Result<Shared<mpmc::Queue<AnyBlock>>, ShareError> {
    builder.build_for(of)
}

/// As [`mpmc::queue`](mpmc::queue).
///
/// # Errors
///
/// The errors of that function.
pub fn mpmc_queue_of(
    invitation: &Invitation,
    of: &MessageType,
) -> Result<mpmc::Queue<AnyBlock>, AttachError> {
    mpmc::queue_of(invitation, of)
}

/// As [`mpmc::producer`](fn@mpmc::producer).
///
/// # Errors
///
/// The errors of that function.
pub fn mpmc_producer<const WORDS: usize, const LARGE: bool>(
    invitation: &Invitation,
    of: &MessageType,
    strategy: WaitStrategy,
) -> Result<mpmc::Producer<Block<WORDS, LARGE>>, AttachError> {
    fits::<WORDS, LARGE>(of);
    mpmc::Producer::join(invitation, of, strategy)
}

/// As [`mpmc::consumer`](fn@mpmc::consumer).
///
/// # Errors
///
/// The errors of that function.
pub fn mpmc_consumer<const WORDS: usize, const LARGE: bool>(
    invitation: &Invitation,
    of: &MessageType,
    strategy: WaitStrategy,
) -> Result<mpmc::Consumer<Block<WORDS, LARGE>>, AttachError> {
    fits::<WORDS, LARGE>(of);
    mpmc::Consumer::join(invitation, of, strategy)
}

/// The places of the other side, of a producer.
#[must_use]
pub fn consumers_of<T: Message>(producer: &mpmc::Producer<T>) -> Places {
    producer.consumers()
}

/// The places of the other side, of a consumer.
#[must_use]
pub fn producers_of<T: Message>(consumer: &mpmc::Consumer<T>) -> Places {
    consumer.producers()
}

/// The message fits, and lies in its slot where such a block does.
fn fits<const WORDS: usize, const LARGE: bool>(of: &MessageType) {
    assert!(of.bytes() <= size_of::<[u64; WORDS]>() && LARGE == (of.bytes() >= LARGE_BYTES));
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use bytemuck::Pod;
    use std::vec::Vec;

    const BLOCK: WaitStrategy = WaitStrategy::Block { spin_iters: 0, pause_iters: 0 };

    fn numbered<T: Pod>(number: u64) -> T {
        let mut message = T::zeroed();
        let bytes = bytemuck::bytes_of_mut(&mut message);
        bytes.iter_mut().enumerate().for_each(|(at, byte)| *byte = (number as u8).wrapping_add(at as u8));
        message
    }

    /// Several laps of a ring of odd length, from a first number whose followers wrap; one by one, and in
    /// batches of all that has room.
    fn both_ways<T: Message + Pod + PartialEq + core::fmt::Debug>() {
        let of = MessageType::of::<T>();
        let size = of.bytes();
        for first in [0, u64::MAX - 5] {
            let builder = crate::Settings::new(5).wait_strategy(BLOCK).first(first);
            let Shared { handle: mut typed, invitation, .. } =
                crate::shm::spsc::producer::<T>(builder.clone(), WhenGone::Close).unwrap();
            let (mut blocks, _) = spsc_consumer(&invitation, &of, BLOCK).unwrap();
            assert_eq!(blocks.capacity(), 5 * size);
            let mut seen = 0;
            for number in 0..40_u64 {
                typed.send(numbered(number)).unwrap();
                if number % 3 == 2 {
                    while seen <= number {
                        let there = blocks.readable_shared().to_vec();
                        assert_eq!(there.len() % size, 0);
                        for message in there.chunks_exact(size) {
                            assert_eq!(message, bytemuck::bytes_of(&numbered::<T>(seen)), "{size} bytes");
                            seen += 1;
                        }
                        blocks.advance(there.len());
                    }
                    assert_eq!(typed.len(), 0);
                }
            }
            drop(typed);
            assert_eq!(blocks.readable_shared().len(), size);
            drop(blocks);

            let Shared { handle: mut blocks, invitation, .. } =
                spsc_producer(builder, &of, WhenGone::Close).unwrap();
            let (mut typed, _) =
                crate::shm::spsc::consumer::<T>(&invitation.with_wait_strategy(BLOCK)).unwrap();
            for number in (0..40_u64).step_by(2) {
                let pair = [numbered::<T>(number), numbered(number + 1)];
                let bytes = bytemuck::bytes_of(&pair);
                let mut sent = 0;
                while sent < bytes.len() {
                    let slots = blocks.try_reserve(bytes.len() - sent).unwrap();
                    assert_eq!(slots.len() % size, 0);
                    sent += slots.write_slice(&bytes[sent..]);
                }
                assert_eq!([typed.recv().unwrap(), typed.recv().unwrap()], pair, "{size} bytes");
            }
            blocks.close();
            assert!(typed.recv().is_err());
        }
    }

    #[test]
    fn queue_of_blocks_is_one_of_the_type() {
        both_ways::<u8>();
        both_ways::<[u32; 3]>();
        both_ways::<[u64; 3]>();
        both_ways::<[u8; 7]>();
        both_ways::<[u64; 25]>();
    }

    #[test]
    fn lossless_and_mp_rings_of_blocks_match_the_type() {
        use crate::shm::{broadcast as typed, mp_broadcast};
        type Three = [u64; 3];
        let of = MessageType::of::<Three>();
        let builder = || Settings::new(4).wait_strategy(BLOCK);
        let block = |message: Three| Block::<4, false>([message[0], message[1], message[2], 0]);

        let Shared { handle: mut publisher, invitation, .. } =
            lossless::<4, false>(builder(), &of, 2).unwrap();
        let ring = invitation.accept_lossless::<Three>().unwrap();
        let mut subscriber = ring.subscribe().unwrap();
        publisher.publish(block([4, 5, 6])).unwrap();
        assert_eq!(subscriber.recv(), Ok([4, 5, 6]));

        let Shared { handle: mut publisher, invitation, .. } =
            typed::lossless::<Three>(builder(), 2).unwrap();
        let ring = accept_lossless::<4, false>(&invitation, &of, BLOCK).unwrap();
        let (mut subscriber, mut tap) = (ring.subscribe().unwrap(), subscribable_of(&ring).subscribe());
        publisher.publish([7, 8, 9]).unwrap();
        let received = [subscriber.recv().unwrap(), tap.recv().unwrap()];
        assert_eq!(received.map(|Block(words)| [words[0], words[1], words[2]]), [[7, 8, 9]; 2]);

        let Shared { handle: mut first, peers: places, invitation, .. } =
            mp_lossy::<4, false>(mp_broadcast::Builder::new(builder()), &of).unwrap();
        let mut second = mp_lossy_publisher::<4, false>(&invitation, &of, BLOCK).unwrap();
        let mut third = mp_broadcast::publisher::<Three>(&invitation).unwrap();
        assert_eq!(places.taken(), 3);
        let ring = accept::<4, false>(&invitation, &of, BLOCK).unwrap();
        let mut subscriber = ring.subscribable().subscribe();
        first.publish(block([1, 1, 1]));
        second.publish(block([2, 2, 2]));
        third.publish([3, 3, 3]);
        let received = [(); 3].map(|()| subscriber.recv().unwrap().0[0]);
        assert_eq!(received, [1, 2, 3]);
    }

    /// Each lane of such a type begins at a multiple of its alignment.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(C, align(256))]
    struct Wide([u64; 32]);

    // SAFETY: numbers, which fill it.
    unsafe impl bytemuck::Zeroable for Wide {}
    // SAFETY: as above.
    unsafe impl Pod for Wide {}
    // SAFETY: as above.
    unsafe impl crate::message::plain::Plain for Wide {
        const SCHEMA: &'static crate::schema::Schema = <[u64; 32] as Message>::SCHEMA;
        const ANY_BITS: bool = true;

        unsafe fn is_value(_: *const u8) -> bool {
            true
        }
    }

    /// Each producer is in another language.
    fn producers_of_both_kinds<T: Message + Pod + PartialEq + core::fmt::Debug>() {
        let of = MessageType::of::<T>();
        let builder = Builder::new(Settings::new(3).wait_strategy(BLOCK)).producers(2);
        let Shared { handle: mut consumer, peers: places, invitation, .. } =
            mpsc_consumer(builder, &of).unwrap();
        let (mut typed, _) = crate::shm::mpsc::producer::<T>(&invitation).unwrap();
        let (mut blocks, peer) = mpsc_producer(&invitation, &of, BLOCK).unwrap();
        assert_eq!(places.taken(), 2);
        for number in 0..20_u64 {
            typed.send(numbered(number)).unwrap();
            let slots = blocks.try_reserve(of.bytes()).unwrap();
            let message = numbered::<T>(number + 100);
            assert_eq!(slots.write_slice(bytemuck::bytes_of(&message)), of.bytes());
            let mut seen = Vec::new();
            while seen.len() < 2 {
                let there = consumer.readable_shared().to_vec();
                seen.extend(there.chunks_exact(of.bytes()).map(bytemuck::pod_read_unaligned::<T>));
                consumer.advance(there.len());
            }
            let wanted = [numbered(number), message];
            assert!(wanted.iter().all(|message| seen.contains(message)), "{seen:?}");
        }
        drop(consumer);
        assert_eq!(peer.state(), crate::shm::PeerState::Closed);
        let refused =
            mpsc_next_consumer(&invitation, &MessageType::of_bytes(of.bytes() + 4096, 8), BLOCK).map(drop);
        assert!(
            matches!(refused, Err(AttachError::PayloadSize { wanted, .. }) if wanted == of.bytes() + 4096)
        );
    }

    #[test]
    fn producers_of_both_kinds_share_a_queue() {
        producers_of_both_kinds::<[u32; 3]>();
        producers_of_both_kinds::<Wide>();
    }

    /// Each side is in another language, and both take from both.
    fn sides_of_both_kinds<
        T: Message + Pod + PartialEq + core::fmt::Debug,
        const WORDS: usize,
        const LARGE: bool,
    >() {
        let (of, bytes) = (MessageType::of::<T>(), size_of::<T>());
        let builder = mpmc::Builder::new(Settings::new(3).wait_strategy(BLOCK)).producers(2).consumers(2);
        let (typed_one, block_one) = (builder.clone().build::<T>().unwrap(), mpmc_queue(builder, &of));
        for invitation in [typed_one.invitation, block_one.unwrap().invitation] {
            let mut typed = mpmc::producer::<T>(&invitation).unwrap();
            let mut blocks = mpmc_producer::<WORDS, LARGE>(&invitation, &of, BLOCK).unwrap();
            let mut takes_typed = mpmc::consumer::<T>(&invitation).unwrap();
            let mut takes_blocks = mpmc_consumer::<WORDS, LARGE>(&invitation, &of, BLOCK).unwrap();
            for number in (0..20_u64).step_by(2) {
                let mut words = [0_u64; WORDS];
                bytemuck::bytes_of_mut(&mut words)[..bytes]
                    .copy_from_slice(bytemuck::bytes_of(&numbered::<T>(number)));
                blocks.send(Block(words)).unwrap();
                typed.send(numbered(number + 1)).unwrap();
                // (A turn of a ring has more messages than that.)
                let [first, second] = [takes_typed.recv().unwrap(), {
                    let Block(words) = takes_blocks.recv().unwrap();
                    let words: &[u8] = bytemuck::cast_slice(&words);
                    assert!(words[bytes..].iter().all(|byte| *byte == 0), "what a slot does not have is 0");
                    bytemuck::pod_read_unaligned::<T>(&words[..bytes])
                }];
                let wanted = [numbered::<T>(number), numbered(number + 1)];
                let came = wanted == [first, second] || wanted == [second, first];
                assert!(came, "{bytes} bytes, {first:?} and {second:?}");
            }
            let queue = mpmc_queue_of(&invitation, &of).unwrap();
            assert_eq!((queue.len(), queue.capacity(), queue.producers().taken()), (0, 3, 2));
            assert_eq!((consumers_of(&blocks).taken(), producers_of(&takes_blocks).taken()), (2, 2));
            blocks.closer().close();
            assert!(typed.is_closed() && takes_typed.recv().is_err() && takes_blocks.recv().is_err());
        }
    }

    #[test]
    fn shared_queue_of_blocks_is_one_of_the_type() {
        sides_of_both_kinds::<u8, 1, false>();
        sides_of_both_kinds::<[u32; 3], 2, false>();
        sides_of_both_kinds::<[u64; 3], 4, false>();
        sides_of_both_kinds::<[u8; 7], 1, false>();
        sides_of_both_kinds::<[u64; 25], 32, false>();
        sides_of_both_kinds::<[u64; 32], 32, true>();
        sides_of_both_kinds::<[u64; 512], 512, true>();
        sides_of_both_kinds::<Wide, 32, true>();
    }

    /// A process may know less of the alignment than the ring's maker; a type may not.
    #[test]
    fn shared_queue_goes_by_the_alignment_of_its_maker() {
        let aligned = MessageType::of_bytes(16, 16);
        let made = mpmc_queue(mpmc::Builder::new(Settings::new(3)), &aligned).unwrap();
        let less = MessageType::of_bytes(16, 1);
        let mut producer = mpmc_producer::<2, false>(&made.invitation, &less, BLOCK).unwrap();
        let mut consumer = mpmc_consumer::<2, false>(&made.invitation, &aligned, BLOCK).unwrap();
        (0..6).for_each(|number| {
            producer.send(Block([number, 1])).unwrap();
            assert_eq!(consumer.recv().unwrap().0, [number, 1]);
        });
        let shape = crate::lane::SlotShape::described;
        assert_eq!(shape(16, 16).unwrap().stride(), 32);
        assert_eq!([shape(12, 1), shape(12, 4)].map(|shape| shape.unwrap().stride()), [24, 24]);
        assert!([shape(12, 0), shape(12, 8), shape(usize::MAX - 3, 4)].iter().all(Option::is_none));

        let loose = MessageType::described(<u128 as Message>::SCHEMA.clone(), 8);
        let made = mpmc_queue(mpmc::Builder::new(Settings::new(3)), &loose).unwrap();
        let refused = mpmc::producer::<u128>(&made.invitation).unwrap_err();
        assert!(matches!(refused, AttachError::PayloadAlignment { found: 8, wanted: 16 }), "{refused:?}");
    }

    /// Several laps, in both directions; every message lies in its slot as the type's does.
    fn a_ring_both_ways<
        T: Message + Pod + PartialEq + core::fmt::Debug,
        const WORDS: usize,
        const LARGE: bool,
    >() {
        let of = MessageType::of::<T>();
        let block = |number: u64| {
            let mut words = [0_u64; WORDS];
            bytemuck::bytes_of_mut(&mut words)[..of.bytes()]
                .copy_from_slice(bytemuck::bytes_of(&numbered::<T>(number)));
            Block(words)
        };
        for first in [0, 1 << 20] {
            let settings = Settings::new(4).wait_strategy(BLOCK).first(first);
            let Shared { handle: mut typed, invitation, .. } =
                crate::shm::broadcast::lossy::<T>(settings.clone()).unwrap();
            let ring = accept::<WORDS, LARGE>(&invitation, &of, BLOCK).unwrap();
            let mut subscriber = ring.subscribable().subscribe();
            for number in 0..20 {
                typed.publish(numbered(number));
                assert_eq!(subscriber.try_recv().unwrap().0, block(number).0, "{} bytes", of.bytes());
            }
            typed.publish_batch(&[numbered(20), numbered(21), numbered(22)]);
            let mut run = [Block([0; WORDS]); 8];
            assert_eq!(subscriber.recv_batch(&mut run), Ok(3));
            assert!((20..).zip(&run[..3]).all(|(number, found)| found.0 == block(number).0));
            drop(typed);
            assert!(subscriber.recv().is_err());

            let Shared { handle: mut blocks, invitation, .. } = lossy::<WORDS, LARGE>(settings, &of).unwrap();
            let ring = invitation.accept::<T>().unwrap();
            let mut subscriber = ring.subscribable().subscribe();
            for number in 0..20 {
                blocks.publish(block(number));
                assert_eq!(subscriber.try_recv(), Ok(numbered(number)), "{} bytes", of.bytes());
            }
            drop(blocks);
            assert!(subscriber.recv().is_err());
        }
    }

    #[test]
    fn ring_of_blocks_is_one_of_the_type() {
        a_ring_both_ways::<u8, 1, false>();
        a_ring_both_ways::<[u32; 3], 2, false>();
        a_ring_both_ways::<[u64; 3], 4, false>();
        a_ring_both_ways::<[u8; 7], 1, false>();
        a_ring_both_ways::<[u64; 25], 32, false>();
        a_ring_both_ways::<[u8; 255], 32, false>();
        a_ring_both_ways::<[u64; 32], 32, true>();
        a_ring_both_ways::<[u64; 512], 512, true>();
    }

    #[test]
    fn message_types_that_can_be_are_known() {
        let of = MessageType::of::<[u32; 3]>();
        assert_eq!(MessageType::described("[u32;3]".parse().unwrap(), 4), of);
        assert!(of.can_be() && MessageType::of_bytes(1, 1).can_be());
        for (bytes, alignment) in [(0, 1), (12, 0), (12, 3), (12, 8), (8192, 8192)] {
            assert!(!MessageType::of_bytes(bytes, alignment).can_be(), "{bytes} {alignment}");
        }
    }
}
