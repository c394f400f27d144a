//! Memory in which another process writes what it likes: no crash, no endless loop, no slot but those of the
//! queue.

use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use annulus::shm::mpsc::{self, Consumer, Places, Producer};
use annulus::shm::{AttachError, Invitation, Shared, recv_fd, send_fd};
use proptest::prelude::*;
use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags, fallocate, fcntl_add_seals, memfd_create};

use crate::mpsc::{ending, joined};
use crate::scribbler::Scribbler;

const SLOTS: usize = 6;
const PLACES: usize = 3;
/// All that one place can have at one moment.
const ALL: usize = SLOTS * PLACES;

struct Open {
    producers: Vec<Producer<u64>>,
    consumer: Consumer<u64>,
    places: Places,
    /// That of all numbers, and that of the sleepers.
    files: [File; 2],
    invitation: Invitation,
}

/// A queue with a free place.
fn open_queue() -> Open {
    let Shared { handle: consumer, peers: places, invitation, .. } =
        ending(SLOTS, PLACES).build::<u64>().unwrap();
    let (here, there) = UnixStream::pair().unwrap();
    invitation.send(&here).unwrap();
    let files = [(); 2].map(|()| File::from(recv_fd(&there).unwrap()));
    let producers = (1..PLACES).map(|_| joined(&invitation)).collect();
    Open { producers, consumer, places, files, invitation }
}

/// Numbers at the edges, and any.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(0),
        Just(u64::MAX),
        Just(1 << 63),
        (0..40u64),
        (0..40u64).prop_map(|back| u64::MAX - back),
        any::<u64>(),
    ]
}

/// The words of the queue: its policies, how many places were used, how many consumers have come, the close.
/// And those of its lanes: tail, how many came and left, head, end.
fn words() -> Vec<u64> {
    let of_lane = |lane: u64| [0, 16, 24, 128, 264].map(|word| 512 + 384 * lane + word);
    [136, 160, 264, 384].into_iter().chain((0..PLACES as u64).flat_map(of_lane)).collect()
}

impl Open {
    /// Every verb returns, and what is there is never more than there are slots.
    fn verbs(&mut self) {
        let begun = Instant::now();
        let Self { producers, consumer, places, invitation, .. } = self;
        for producer in producers {
            let _ = (producer.try_send(1), producer.try_send_batch(&[2; 3 * SLOTS]), producer.is_closed());
            assert!(producer.len() <= SLOTS, "{}", producer.len());
            let _ = producer.send_timeout(3, Duration::ZERO);
            let _ = producer.try_reserve(9).map(|slots| slots.write_iter(0..));
        }
        let mut batch = [0; 3 * ALL];
        let _ = consumer.try_recv_batch(&mut batch);
        assert!(consumer.consume(usize::MAX, drop) <= ALL);
        let _ = (consumer.try_recv(), consumer.is_closed(), consumer.is_fully_drained(), consumer.stats());
        let _ = consumer.recv_timeout(Duration::ZERO);
        let there = consumer.readable_shared().len();
        assert!(there <= SLOTS, "{there}");
        consumer.advance(there);
        assert!(consumer.len() <= ALL, "{}", consumer.len());
        let _ = (places.taken(), places.joined(), places.died());
        // It joins, or there is an error; and it leaves.
        if let Ok((mut producer, peer)) = mpsc::producer::<u64>(invitation) {
            let _ = (producer.try_send(4), producer.stats(), peer.state());
        }
        assert!(begun.elapsed() < Duration::from_secs(60));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn words_of_any_value_do_no_harm(writes in prop::collection::vec((0..words().len(), number()), 0..20)) {
        let mut open = open_queue();
        for (word, number) in writes {
            open.files[0].write_all_at(&number.to_ne_bytes(), words()[word]).unwrap();
            open.verbs();
        }
    }

    /// A consumer that comes to such a queue.
    #[test]
    fn late_consumer_finds_words_of_any_kind(writes in prop::collection::vec((0..words().len(), number()), 1..6)) {
        let mut open = open_queue();
        let Shared { handle: other, peers: places, .. } = ending(SLOTS, PLACES).build::<u64>().unwrap();
        drop((std::mem::replace(&mut open.consumer, other), std::mem::replace(&mut open.places, places)));
        for (word, number) in writes {
            open.files[0].write_all_at(&number.to_ne_bytes(), words()[word]).unwrap();
        }
        match mpsc::consumer::<u64>(&open.invitation) {
            Ok((consumer, places)) => (open.consumer, open.places) = (consumer, places),
            Err(error) => {
                let is_damage = matches!(error, AttachError::Damaged { field: "the policies", .. });
                prop_assert!(is_damage, "{error}");
            }
        }
        open.verbs();
    }

    /// Any bytes in the header: a queue, or an error.
    #[test]
    fn header_of_any_bytes_does_no_harm(writes in prop::collection::vec((0..16u64, number()), 1..6)) {
        let open = open_queue();
        drop(open.consumer);
        for (word, number) in writes {
            open.files[0].write_all_at(&number.to_ne_bytes(), 8 * word).unwrap();
        }
        if let Ok((mut consumer, places)) = mpsc::consumer::<u64>(&open.invitation) {
            let _ = (consumer.try_recv(), consumer.len(), places.taken());
        }
        if let Ok((mut producer, _)) = mpsc::producer::<u64>(&open.invitation) {
            let _ = producer.try_send(1);
        }
    }
}

/// Somebody scribbles all the time: calls return, and deadlines are kept.
#[test]
fn calls_beside_a_scribbler_return() {
    let mut open = open_queue();
    let [ring, page] = open.files.each_ref().map(|file| file.try_clone().unwrap());
    let scribbler = Scribbler::new(move |number| {
        let value = (number >> (number % 64)).to_ne_bytes();
        let at = (number >> 32) % (384 * (1 + PLACES as u64) - 8);
        ring.write_all_at(&value, (128 + at) & !7).unwrap();
        let at = (number >> 40) % (128 * PLACES as u64 + 120);
        page.write_all_at(&value, (128 + at) & !7).unwrap();
    });
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(1) {
        let _ = open.producers[0].send_timeout(1, Duration::from_millis(1));
        let _ = open.consumer.recv_timeout(Duration::from_millis(1));
        open.verbs();
    }
    // They are dropped beside it, too.
    drop((open.producers, open.consumer));
    drop(scribbler);
}

/// An end that lies before messages which a tail had promised, and which were received: the queue is over.
#[test]
fn an_end_behind_the_head() {
    let mut open = open_queue();
    open.producers[1].try_send_batch(&[1, 2, 3]).unwrap();
    assert_eq!(open.consumer.try_recv(), Ok(1));
    open.files[0].write_all_at(&1_u64.to_ne_bytes(), 512 + 384 + 264).unwrap();
    open.consumer.close();
    for _ in 0..10 {
        open.verbs();
    }
    assert!(open.consumer.is_fully_drained() && open.consumer.is_empty());
}

/// A consumer that comes after another one's end goes by that: what lies behind it is not received.
#[test]
fn next_consumer_keeps_to_the_end() {
    let mut open = open_queue();
    open.producers[0].try_send_batch(&[1, 2]).unwrap();
    open.producers[1].try_send_batch(&[3, 4, 5]).unwrap();
    let ring = &open.files[0];
    // As if the one before had closed the queue, found two messages in lane 1, and died.
    ring.write_all_at(&3_u64.to_ne_bytes(), 512 + 384 + 264).unwrap();
    ring.write_all_at(&1_u64.to_ne_bytes(), 384).unwrap();
    let heads: Vec<_> = [512 + 128, 512 + 384 + 128]
        .into_iter()
        .map(|at| {
            (at, {
                let mut word = [0; 8];
                ring.read_exact_at(&mut word, at).unwrap();
                word
            })
        })
        .collect();
    drop(open.consumer);
    for (at, word) in heads {
        ring.write_all_at(&word, at).unwrap();
    }
    // (The drop has ended lane 0.)
    let (mut next, _) = mpsc::consumer::<u64>(&open.invitation).unwrap();
    let mut all: Vec<_> = next.try_iter().collect();
    all.sort_unstable();
    assert_eq!(all, [1, 2, 3, 4]);
}

/// Messages that were found stay there, whatever another process writes then: a second look takes nothing
/// back.
#[test]
fn second_look_takes_nothing_back() {
    for number in [u64::MAX, 1 << 63, u64::MAX - 2, 100, 0] {
        let mut open = open_queue();
        open.producers[0].try_send_batch(&[1, 2, 3]).unwrap();
        assert_eq!(open.consumer.wait_readable_shared().unwrap().to_vec(), [1, 2, 3]);
        open.files[0].write_all_at(&number.to_ne_bytes(), words()[4]).unwrap();
        assert_eq!(open.consumer.readable_shared().get(0), Some(1), "{number}");
        open.consumer.advance(3);
        // Nor does it take back slots.
        open.files[0].write_all_at(&number.to_ne_bytes(), words()[7]).unwrap();
        assert!(open.producers[0].reserve(SLOTS).unwrap().len() >= SLOTS - 3, "{number}");
    }
}

/// Headers that could be, of queues that this library does not make.
#[test]
fn header_of_another_queue() {
    let open = open_queue();
    let (here, there) = UnixStream::pair().unwrap();
    // Its schema lies behind the cells.
    let mut header = vec![0; 512];
    open.files[0].read_exact_at(&mut header, 0).unwrap();
    let page = &open.files[1];
    // So many cells and slots, in a file that is long enough for all that follows from these.
    let joins = |cells: u64, slots: u64, slot_bytes: u64, page: &File| {
        let schema_offset = 512 + 128 * cells;
        let offset = (schema_offset + 3).next_multiple_of(128);
        let total = offset + slots * slot_bytes;
        let fd = memfd_create("annulus test", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
        fallocate(&fd, FallocateFlags::empty(), 0, total).unwrap();
        fcntl_add_seals(&fd, SealFlags::SHRINK | SealFlags::GROW).unwrap();
        let file = File::from(fd);
        file.write_all_at(&header, 0).unwrap();
        file.write_all_at(b"u64", schema_offset).unwrap();
        for (at, number) in [(24, total), (32, cells), (40, offset), (48, slot_bytes), (56, slots)] {
            file.write_all_at(&number.to_ne_bytes(), at).unwrap();
        }
        send_fd(&here, file.as_fd()).unwrap();
        send_fd(&here, page.as_fd()).unwrap();
        let invitation = Invitation::receive(&there).unwrap();
        mpsc::producer::<u64>(&invitation).map(drop)
    };
    joins(9, 48, 8, page).unwrap();
    for cells in [0, 1, 2, 4, 3 * 1024 + 1, 3 * 1025] {
        let error = joins(cells, 16, 8, page).unwrap_err();
        assert!(
            matches!(error, AttachError::Damaged { field: "the number of cells", value } if value == cells),
            "{error}"
        );
    }
    let error = joins(9, 47, 8, page).unwrap_err();
    assert!(matches!(error, AttachError::Damaged { field: "the capacity", value: 47 }), "{error}");
    let error = joins(9, 48, 16, page).unwrap_err();
    assert!(matches!(error, AttachError::Damaged { field: "the slots' size", value: 16 }), "{error}");
    // Each lane begins with a line of its own: 18 slots need three, which is more than their bytes.
    let error = joins(9, 18, 8, page).unwrap_err();
    assert!(matches!(error, AttachError::Length { found: 1936, needed: 2176 }), "{error}");
    // The page of a queue with fewer places.
    let error = joins(12, 64, 8, page).unwrap_err();
    assert!(matches!(error, AttachError::Length { found: 768, needed: 896 }), "{error}");
}
