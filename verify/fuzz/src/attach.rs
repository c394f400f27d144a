//! Memory and files of names that another process made, with anything in them; and rings into which another
//! process writes while they are used.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::sync::LazyLock;
use std::time::Duration;

use annulus::shm::{Directory, NameError, RingInfo, Shared, WhenGone, broadcast, bytes, spsc};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

use crate::forged::{Fellows, Several, fellows, files, forged, number, several};

/// The first byte says what the others are: memory, changes of the memory of a ring, the file of a name, what
/// happens to a live ring, or a ring that is forged.
pub fn attach(bytes: &[u8]) {
    let Some((&kind, bytes)) = bytes.split_first() else { return };
    match kind % 5 {
        0 => memory(bytes),
        1 => memory(&changed(bytes)),
        2 => name(bytes),
        3 => live(bytes),
        _ => forged(bytes),
    }
}

/// Whatever is in the memory: an error, or a ring that lies within it.
fn memory(bytes: &[u8]) {
    let fd = memfd_create("annulus fuzz", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
    let mut file = File::from(fd);
    file.write_all(bytes).unwrap();
    fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW).unwrap();
    match RingInfo::of(&file) {
        Ok(info) => {
            let slots = info.capacity().checked_mul(info.slot_bytes()).unwrap();
            assert!(512 + slots <= bytes.len(), "{info:?} in {} bytes", bytes.len());
            assert!(info.payload_bytes() <= info.slot_bytes() && info.slot_bytes() > 0);
            assert!(info.payload_alignment().is_power_of_two());
            match info.schema() {
                Ok(Some(schema)) => {
                    assert_eq!(
                        (schema.size(), schema.fingerprint()),
                        (info.payload_bytes(), info.fingerprint())
                    );
                }
                Ok(None) => assert_eq!(info.fingerprint().to_u64(), 0),
                Err(error) => drop(error.to_string()),
            }
        }
        // It says so in words.
        Err(error) => drop(error.to_string()),
    }
}

/// A ring with changes of ten bytes each: where in its header or its schema, how many bytes, and these. Last,
/// how long it is.
fn changed(bytes: &[u8]) -> Vec<u8> {
    const SLOTS: u64 = 64;
    const SCHEMA: &str = "order{at:u64,side:enum u8{buy=0},name:text 5}";
    let mut ring = vec![0; 640 + 16 * SLOTS as usize];
    let mut put = |at: usize, bytes: &[u8]| ring[at..][..bytes.len()].copy_from_slice(bytes);
    put(0, b"ANNULUS\0");
    put(8, &0x0102_0304_u32.to_ne_bytes());
    put(12, &3_u32.to_ne_bytes());
    put(16, &1_u32.to_ne_bytes());
    for (at, number) in [(24, 640 + 16 * SLOTS), (40, 640), (48, 16), (56, SLOTS), (64, 16), (72, 8)] {
        put(at, &number.to_ne_bytes());
    }
    let schema: annulus::schema::Schema = SCHEMA.parse().unwrap();
    assert_eq!(schema.size(), 16);
    put(80, &schema.fingerprint().to_u64().to_ne_bytes());
    put(108, &(SCHEMA.len() as u32).to_ne_bytes());
    put(512, SCHEMA.as_bytes());
    let (changes, rest) = bytes.as_chunks::<10>();
    for change in changes {
        let (at, len) = (usize::from(change[0] % 120), usize::from(change[1] % 9));
        let at = if change[1] < 128 { at } else { 512 + usize::from(change[0]) % SCHEMA.len() };
        put(at, &change[2..][..len]);
    }
    if let [low, high, ..] = *rest {
        ring.truncate(usize::from(u16::from_le_bytes([low, high])) % (ring.len() + 1));
    }
    ring
}

/// Whatever is in the file of a name that nobody has locked: it is a dead one.
fn name(bytes: &[u8]) {
    static DIRECTORY: LazyLock<Directory> = LazyLock::new(|| {
        let path = std::env::temp_dir().join(format!("annulus-fuzz-{}", std::process::id()));
        Directory::open(path).unwrap()
    });
    fs::write(DIRECTORY.path().join("a.ring"), bytes).unwrap();
    assert_eq!(DIRECTORY.list().unwrap().len(), 1);
    match DIRECTORY.find("a") {
        Err(NameError::Dead { .. }) => {}
        // The last line says that it was taken back.
        Err(NameError::NotFound { .. }) if bytes.windows(6).any(|word| word == b"closed") => {}
        told => panic!("{told:?}"),
    }
}

/// A live ring: what another process writes there, ten bytes each, and what is done then.
fn live(bytes: &[u8]) {
    let Some((&ring, bytes)) = bytes.split_first() else { return };
    let changes = bytes.as_chunks::<10>().0.iter().take(30);
    match ring % 4 {
        // (It came later: the cases that are kept mean what they meant before.)
        _ if ring > 223 => claims(changes),
        0 => queue(changes),
        1 => records(changes),
        2 => seats(changes),
        _ => places(changes),
    }
}

/// Where the slots of a ring begin, as its header says.
fn slots_of(ring: &File) -> u64 {
    let mut offset = [0; 8];
    ring.read_exact_at(&mut offset, 40).unwrap();
    u64::from_ne_bytes(offset)
}

/// Changes a number of a queue, or its slots.
fn write(file: &File, change: &[u8; 10], words: u64) {
    let word = u64::from(change[1]) % words;
    let at = if word < 48 { 128 + 8 * word } else { slots_of(file) + 8 * (word - 48) };
    file.write_all_at(&number(change), at).unwrap();
}

fn queue<'a>(changes: impl Iterator<Item = &'a [u8; 10]>) {
    let settings = annulus::Settings::new(6);
    let Shared { handle: mut producer, invitation, .. } =
        spsc::producer::<u64>(settings, WhenGone::Close).unwrap();
    let (mut consumer, _) = spsc::consumer::<u64>(&invitation).unwrap();
    let [file, _] = files(&invitation);
    for change in changes {
        write(&file, change, 54);
        match change[0] % 6 {
            0 => drop(producer.try_send(1)),
            1 => {
                let left =
                    producer.try_send_batch(&[2; 20]).map_or_else(|error| error.into_inner().len(), |()| 0);
                assert!(20 - left <= 6);
            }
            2 => drop(consumer.try_recv()),
            3 => assert!(consumer.consume(usize::MAX, drop) <= 6),
            4 => assert!(producer.try_reserve(20).map_or(true, |room| room.len() <= 6)),
            _ => assert!(consumer.readable_shared().len() <= 6),
        }
        assert!(producer.len() <= 6 && consumer.len() <= 6);
    }
}

fn records<'a>(changes: impl Iterator<Item = &'a [u8; 10]>) {
    let settings = annulus::Settings::new(64);
    let Shared { handle: mut producer, invitation, .. } = bytes::producer(settings, WhenGone::Close).unwrap();
    let (mut consumer, _) = bytes::consumer(&invitation).unwrap();
    let [file, _] = files(&invitation);
    for change in changes {
        write(&file, change, 57);
        if change[0] % 2 == 0 {
            let _ = producer.try_write(&change[..usize::from(change[0] % 10)]);
        } else if let Ok(record) = consumer.try_read() {
            assert!(record.len() <= 9 * 8);
            // All its bytes are there.
            assert_eq!(record.to_vec().len(), record.len());
        }
    }
}

/// A queue of several producers, some of which come and go: the numbers of all, those of each lane, slots,
/// and where they sleep.
fn places<'a>(changes: impl Iterator<Item = &'a [u8; 10]>) {
    /// What the queue has: policies, how many places were used, how many consumers have come, the close.
    const OF_ALL: [u64; 4] = [136, 160, 264, 384];
    /// What each lane has behind those: tail, how many came and left, head, end.
    const OF_LANE: [u64; 5] = [512, 528, 536, 640, 776];
    let Shared { handle: consumer, peers: places, invitation, .. } = several().build::<u64>().unwrap();
    let [ring, page] = files(&invitation);
    let slots = slots_of(&ring);
    let mut queue = Several::new(consumer, places);
    queue.verb(&invitation, 0);
    for change in changes {
        let which = u64::from(change[1]);
        let (file, at) = match which {
            // The words of threads that sleep.
            192.. => (&page, 128 * (which % 6)),
            // Slots.
            128.. => (&ring, slots + 8 * (which % 48)),
            _ => match OF_ALL.get(usize::from(change[1] % 32)) {
                Some(&at) => (&ring, at),
                None => (&ring, 384 * (which / 32 % 3) + OF_LANE[usize::from(change[1] % 32 % 5)]),
            },
        };
        file.write_all_at(&number(change), at).unwrap();
        queue.verb(&invitation, change[0]);
    }
}

/// A lossy ring of several publishers, some of which come and go: what is shown, the places, stamps, claims,
/// and where subscribers sleep.
fn claims<'a>(changes: impl Iterator<Item = &'a [u8; 10]>) {
    /// Head, policies, used, end; and of each place: intent, how many came and left.
    const SHOWN: [u64; 7] = [128, 136, 160, 256, 512, 528, 536];
    let Shared { handle: _own, peers: places, invitation, .. } = fellows().build::<u64>().unwrap();
    let [ring, page] = files(&invitation);
    let slots = slots_of(&ring);
    let mut fellows = Fellows::new(&invitation);
    fellows.verb(&invitation, 0);
    for change in changes {
        let which = u64::from(change[1]);
        let (file, at) = match which {
            // The word of threads that sleep.
            240.. => (&page, 128),
            // Slots of four words, of which the last one is the claim.
            128.. => (&ring, slots + 8 * (which % 24)),
            _ => {
                let shown = SHOWN[usize::from(change[1] % 7)];
                (&ring, if shown < 512 { shown } else { shown + 384 * (which / 7 % 3) })
            }
        };
        file.write_all_at(&number(change), at).unwrap();
        fellows.verb(&invitation, change[0]);
        assert!(places.taken() <= 3);
    }
}

/// A lossless ring, and what a subscriber can write: the page where the seats are, and where it sleeps. The
/// ring's own memory is the publisher's alone, so whatever is received is what was published, whole and in
/// order.
fn seats<'a>(changes: impl Iterator<Item = &'a [u8; 10]>) {
    let settings = annulus::Settings::new(8).headroom(2).statistics(true);
    let Shared { handle: mut publisher, invitation, .. } = broadcast::lossless::<u64>(settings, 2).unwrap();
    let [_, page] = files(&invitation);
    let ring = invitation.accept_lossless::<u64>().unwrap();
    let mut subscriber = ring.subscribe().ok();
    for change in changes {
        // What the page begins with, where sleepers are counted, what the publisher says, and the seats.
        let at = [0, 128, 192, 256, 384, 512, 520, 632][usize::from(change[1] % 8)];
        page.write_all_at(&number(change), at).unwrap();
        let next = publisher.published();
        match change[0] % 8 {
            0 => drop(publisher.try_publish(next)),
            1 => drop(publisher.publish_timeout(next, Duration::ZERO)),
            2 => {
                let batch: Vec<_> = (next..next + 20).collect();
                _ = publisher.publish_batch_timeout(&batch, Duration::ZERO).is_ok();
                assert!(publisher.published() <= next + 20);
            }
            3 => subscriber = None,
            4 => subscriber = ring.subscribe_from_oldest().ok(),
            5 => subscriber = ring.subscribe().ok(),
            _ => {
                let Some(subscriber) = &mut subscriber else { continue };
                let begun = subscriber.cursor();
                let mut expected = None;
                for number in subscriber.try_iter() {
                    assert!(number >= begun && expected.is_none_or(|expected| number >= expected));
                    assert!(number < publisher.published(), "{number} was not published");
                    expected = Some(number + 1);
                }
            }
        }
        _ = (publisher.stats(), publisher.is_closed());
    }
}
