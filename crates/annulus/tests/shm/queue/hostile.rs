//! Memory in which another process writes what it likes: no crash, no endless loop, no slot but those of the
//! queue.

use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use annulus::Settings;
use annulus::shm::WhenGone;
use annulus::shm::spsc::{self, Consumer, Producer};
use annulus::shm::{AttachError, Invitation, Shared, recv_fd, send_fd};
use proptest::prelude::*;
use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags, fallocate, fcntl_add_seals, memfd_create};

use crate::scribbler::Scribbler;
use crate::slots_of;

const CAPACITY: usize = 6;

/// A queue, and the file that all its numbers lie in.
fn open_queue() -> (Producer<u64>, Consumer<u64>, File, Invitation) {
    let Shared { handle: producer, invitation, .. } =
        spsc::producer::<u64>(Settings::new(CAPACITY), WhenGone::Close).unwrap();
    let (here, there) = UnixStream::pair().unwrap();
    invitation.send(&here).unwrap();
    let file = File::from(recv_fd(&there).unwrap());
    let (consumer, _) = spsc::consumer::<u64>(&invitation).unwrap();
    (producer, consumer, file, invitation)
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

/// The words of the numbers: tail, head, how many have joined, the close, the end.
const WORDS: [u64; 5] = [128, 256, 264, 384, 392];

/// Every verb returns, and what is there is never more than there are slots.
fn verbs(producer: &mut Producer<u64>, consumer: &mut Consumer<u64>) {
    let begun = Instant::now();
    let _ = (producer.try_send(1), producer.try_send_batch(&[2; 3 * CAPACITY]), producer.is_closed());
    assert!(producer.len() <= CAPACITY, "{}", producer.len());
    let _ = producer.send_timeout(3, Duration::ZERO);
    if let Ok(slots) = producer.reserve_timeout(3 * CAPACITY, Duration::ZERO) {
        assert!(slots.len() <= CAPACITY);
        let _ = slots.write_iter(4..6);
    }
    let readable = consumer.readable_shared().len();
    assert!(readable <= CAPACITY && consumer.readable_shared().is_empty() == (readable == 0));
    consumer.advance(readable.min(1));
    let mut batch = [0; 3 * CAPACITY];
    assert!(consumer.try_recv_batch(&mut batch) <= CAPACITY);
    assert!(consumer.consume(usize::MAX, drop) <= CAPACITY);
    let _ = (consumer.try_recv(), consumer.is_closed(), consumer.is_fully_drained(), consumer.stats());
    let _ = consumer.recv_timeout(Duration::ZERO);
    assert!(consumer.len() <= CAPACITY, "{}", consumer.len());
    assert!(begun.elapsed() < Duration::from_secs(60));
}

proptest! {
    #[test]
    fn words_of_any_value_do_no_harm(writes in prop::collection::vec((0..WORDS.len(), number()), 0..20)) {
        let (mut producer, mut consumer, file, _invitation) = open_queue();
        for (word, number) in writes {
            file.write_all_at(&number.to_ne_bytes(), WORDS[word]).unwrap();
            verbs(&mut producer, &mut consumer);
        }
    }

    /// A consumer that comes to such a queue.
    #[test]
    fn late_consumer_finds_words_of_any_kind(writes in prop::collection::vec((0..WORDS.len(), number()), 1..6)) {
        let (mut producer, consumer, file, invitation) = open_queue();
        drop(consumer);
        for (word, number) in writes {
            file.write_all_at(&number.to_ne_bytes(), WORDS[word]).unwrap();
        }
        let (mut consumer, _) = spsc::consumer::<u64>(&invitation).unwrap();
        verbs(&mut producer, &mut consumer);
    }

    /// Any bytes in the header: a queue, or an error.
    #[test]
    fn header_of_any_bytes_does_no_harm(writes in prop::collection::vec((0..16u64, number()), 1..6)) {
        let (_producer, consumer, file, invitation) = open_queue();
        drop(consumer);
        for (word, number) in writes {
            file.write_all_at(&number.to_ne_bytes(), 8 * word).unwrap();
        }
        if let Ok((mut consumer, _)) = spsc::consumer::<u64>(&invitation) {
            let _ = (consumer.try_recv(), consumer.len());
        }
    }
}

/// What was copied of a message stays as it was, and what is shown is what is there now.
#[test]
fn message_that_is_changed_while_it_is_shown() {
    let (mut producer, mut consumer, file, _invitation) = open_queue();
    producer.try_send_batch(&[1, 2, 3]).unwrap();
    let shown = consumer.wait_readable_shared().unwrap();
    let copy = shown.to_vec();
    file.write_all_at(&7_u64.to_ne_bytes(), slots_of(&file) + 8).unwrap();
    assert_eq!((copy, shown.get(1), shown.iter().collect()), (vec![1, 2, 3], Some(7), vec![1, 7, 3]));
    // In a reservation: it is sent as it is then.
    let mut room = producer.try_reserve(1).unwrap();
    // SAFETY: a slot of the reservation.
    unsafe { room.as_mut_ptr().write(4) };
    file.write_all_at(&8_u64.to_ne_bytes(), slots_of(&file) + 24).unwrap();
    // SAFETY: any bytes are a message.
    assert_eq!(unsafe { room.commit(1) }, 1);
    consumer.advance(3);
    assert_eq!(consumer.wait_readable_shared_timeout(Duration::ZERO).unwrap().to_vec(), [8]);
}

/// Somebody scribbles all the time: calls return, and deadlines are kept.
#[test]
fn calls_beside_a_scribbler_return() {
    let (mut producer, mut consumer, file, _invitation) = open_queue();
    let scribbler = Scribbler::new(move |number| {
        let at = 128 + (number >> 32) % (slots_of(&file) - 136);
        file.write_all_at(&(number >> (number % 64)).to_ne_bytes(), at & !7).unwrap();
    });
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(1) {
        let _ = producer.send_timeout(1, Duration::from_millis(1));
        let _ = consumer.recv_timeout(Duration::from_millis(1));
        verbs(&mut producer, &mut consumer);
    }
    drop(scribbler);
}

/// An end that lies before messages which a tail had promised, and which were received: the queue is over.
#[test]
fn an_end_behind_the_head() {
    let (mut producer, mut consumer, file, _invitation) = open_queue();
    producer.try_send_batch(&[1, 2, 3]).unwrap();
    assert_eq!(consumer.try_recv(), Ok(1));
    file.write_all_at(&1_u64.to_ne_bytes(), 392).unwrap();
    consumer.close();
    for _ in 0..10 {
        verbs(&mut producer, &mut consumer);
    }
    assert!(consumer.is_fully_drained() && consumer.is_empty());
}

/// Slots that were found free stay free, and messages that were found stay there, whatever the other process
/// writes then: a second look takes nothing back.
#[test]
fn second_look_takes_nothing_back() {
    let (tail, head) = (WORDS[0], WORDS[1]);
    for number in [u64::MAX, 1 << 63, u64::MAX - 2, 100, 0] {
        let (mut producer, mut consumer, file, _invitation) = open_queue();
        let put = |at, number: u64| file.write_all_at(&number.to_ne_bytes(), at).unwrap();
        producer.try_send_batch(&[1, 2, 3]).unwrap();
        assert_eq!(consumer.readable_shared().to_vec(), [1, 2, 3]);
        put(head, number);
        // More than are known to be free, so it looks again.
        let slots = producer.reserve(CAPACITY).unwrap();
        assert!(slots.len() >= CAPACITY - 3, "{number}: {slots:?}");
        drop(slots);
        let left =
            producer.try_send_batch(&[4; CAPACITY]).map_or_else(|error| error.into_inner().len(), |()| 0);
        assert!(left <= 3, "{number}");
        put(tail, number);
        let mut batch = [0; CAPACITY + 1];
        assert!(consumer.try_recv_batch(&mut batch) >= 3, "{number}");
        assert_eq!(batch[..3], [1, 2, 3]);
    }
}

/// Headers that could be, of queues that this library does not make.
#[test]
fn header_of_another_queue() {
    let (_producer, consumer, good, invitation) = open_queue();
    drop(consumer);
    let (here, there) = UnixStream::pair().unwrap();
    invitation.send(&here).unwrap();
    let _ring = recv_fd(&there).unwrap();
    let page = recv_fd(&there).unwrap();
    let begin = slots_of(&good);
    let mut header = vec![0; begin as usize];
    good.read_exact_at(&mut header, 0).unwrap();
    // So many slots of so many bytes, in a file that is no longer than these.
    let refused = |slots: u64, slot_bytes: u64| {
        let len = begin + slots * slot_bytes;
        let fd = memfd_create("annulus test", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
        fallocate(&fd, FallocateFlags::empty(), 0, len).unwrap();
        fcntl_add_seals(&fd, SealFlags::SHRINK | SealFlags::GROW).unwrap();
        let file = File::from(fd);
        file.write_all_at(&header, 0).unwrap();
        for (at, number) in [(24, len), (48, slot_bytes), (56, slots)] {
            file.write_all_at(&number.to_ne_bytes(), at).unwrap();
        }
        send_fd(&here, file.as_fd()).unwrap();
        send_fd(&here, page.as_fd()).unwrap();
        let invitation = Invitation::receive(&there).unwrap();
        spsc::consumer::<u64>(&invitation).map(drop).unwrap_err()
    };
    // Whole lines of 128 bytes are taken for slots.
    let error = refused(7, 8);
    assert!(matches!(error, AttachError::Length { found: 696, needed: 768 }), "{error}");
    let error = refused(8, 16);
    assert!(matches!(error, AttachError::Damaged { field: "the slots' size", value: 16 }), "{error}");
}
