//! Tests that the format is what its page says: a program in C reads a live ring, and the page's tables are
//! the constants of the code.

use alloc::string::{String, ToString};
use std::format;
use std::fs;
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;
use std::process::Command;
use std::vec::Vec;

use super::format::{
    self, CELL_BYTES, CELLS_OFFSET, CONSUMER_OFFSET, HEADER_BYTES, Identity, Layout, PRODUCER_OFFSET,
    WAKE_OFFSET, offset,
};
use super::kind::ShmKind;
use super::message_type::MessageType;
use super::process::ProcessId;
use super::shared::Shared;
use crate::os::shared_memory::{Access, SharedMemory};
use crate::settings::Settings;

#[test]
fn program_in_c_reads_a_ring_by_its_offsets() {
    let schema = "quote@1{bid:f64,ask:f64,rest:[u64;4]}";
    let (payload, text) = MessageType::described(schema.parse().unwrap(), 16).written().unwrap();
    let layout = Layout {
        kind: ShmKind::Lossy,
        payload,
        slot_bytes: 64,
        capacity: 1000,
        cells: 3,
        start: 1 << 40,
        creator: ProcessId::current().unwrap(),
        identity: Identity::of_number(0xFEDC_BA98_7654_3210),
    };
    let slots = layout.slots_offset().unwrap();
    let last_slot = slots + 999 * 64;
    let last_cell = CELLS_OFFSET + 2 * CELL_BYTES;
    let memory =
        SharedMemory::create("annulus test", layout.total_bytes().unwrap(), Access::CreatorAlone).unwrap();
    layout.write(&memory, &text).unwrap();
    let marks = [PRODUCER_OFFSET, CONSUMER_OFFSET, WAKE_OFFSET, CELLS_OFFSET, last_cell, slots, last_slot];
    for (mark, offset) in (1..).zip(marks) {
        assert!(offset < memory.len());
        // SAFETY: within the memory, and nobody else has it yet.
        unsafe { memory.base().add(offset).write_volatile(mark) };
    }

    let Some(said) = said_by_c("read_header", &memory) else {
        return;
    };
    let expected = format!(
        "version 3\nkind 3\nrequired 0\ntotal size {}\ncells 3\nslots offset {slots}\nslot size 64\ncapacity 1000\n\
         payload size 48\npayload alignment 16\nfingerprint {}\nstart sequence {}\ncreator's start {}\n\
         creator's pid {}\nschema {schema}\nidentity fedcba9876543210\nproducer 1\nconsumer 2\nwake 3\nfirst cell 4\nlast cell 5\nfirst slot 6\nlast slot 7\n",
        memory.len(),
        layout.payload.fingerprint,
        layout.start,
        layout.creator.start_time(),
        std::process::id(),
    );
    assert_eq!(said, expected);
}

/// Live rings, over the end of their slots: the messages that are there, and no others.
#[test]
fn program_in_c_reads_the_messages() {
    let builder = crate::Settings::new(4);
    let Shared { handle: mut publisher, invitation, .. } = super::broadcast::lossy::<u64>(builder).unwrap();
    let Some(said) = said_by_c("read_ring", &invitation.ring) else {
        return;
    };
    assert_eq!(said, "next 0\nend 0\n");
    (0..6).for_each(|number| publisher.publish(100 + number));
    let messages = "message 2: 102\nmessage 3: 103\nmessage 4: 104\nmessage 5: 105\n";
    assert_eq!(said_by_c("read_ring", &invitation.ring).unwrap(), format!("next 6\nend 0\n{messages}"));
    publisher.skip_to(8).unwrap();
    let messages = "message 4: 104\nmessage 5: 105\nleft out 6\nleft out 7\n";
    assert_eq!(said_by_c("read_ring", &invitation.ring).unwrap(), format!("next 8\nend 0\n{messages}"));
    publisher.close();
    assert_eq!(said_by_c("read_ring", &invitation.ring).unwrap(), format!("next 8\nend 9\n{messages}"));

    let builder = crate::Settings::new(3);
    let Shared { handle: mut producer, invitation, .. } =
        super::spsc::producer::<u64>(builder, super::WhenGone::Close).unwrap();
    let (mut consumer, _) = super::spsc::consumer::<u64>(&invitation).unwrap();
    producer.send_batch(&[100, 101, 102]).unwrap();
    assert_eq!((consumer.recv(), consumer.recv()), (Ok(100), Ok(101)));
    producer.send(103).unwrap();
    let said = said_by_c("read_ring", &invitation.ring).unwrap();
    assert_eq!(said, "consumers 1\nclosed 0\nmessage 2: 102\nmessage 3: 103\n");
    drop(producer);
    let said = said_by_c("read_ring", &invitation.ring).unwrap();
    assert_eq!(said, "consumers 1\nclosed 1\nmessage 2: 102\nmessage 3: 103\n");

    let builder = super::mpsc::Builder::new(Settings::new(3)).producers(2);
    let builder = builder.when_no_producer(super::WhenGone::Close);
    let Shared { handle: mut consumer, invitation, .. } = builder.build::<u64>().unwrap();
    let mut producers = [(); 2].map(|()| super::mpsc::producer::<u64>(&invitation).unwrap().0);
    producers[0].send_batch(&[100, 101, 102]).unwrap();
    assert_eq!((consumer.recv(), consumer.recv()), (Ok(100), Ok(101)));
    producers[0].send(103).unwrap();
    producers[1].send(200).unwrap();
    let [first, _second] = producers;
    drop(first);
    let said = said_by_c("read_ring", &invitation.ring).unwrap();
    let first = "place 0: 1 came, 1 left\nmessage 2: 102\nmessage 3: 103\n";
    let second = "place 1: 1 came, 0 left\nmessage 0: 200\n";
    assert_eq!(said, format!("policies 1\nconsumers 1\nclosed 0\n{first}{second}"));

    let builder = crate::Settings::new(64);
    let Shared { handle: mut producer, invitation, .. } =
        super::bytes::producer(builder, super::WhenGone::Close).unwrap();
    let (mut consumer, _) = super::bytes::consumer(&invitation).unwrap();
    // Words 0 to 2, 3 and 4, and 5 to 7 of 9. The next record finds one word, which is passed over.
    for record in ["of any length", "one", "and another"] {
        producer.write(record.as_bytes()).unwrap();
    }
    drop(consumer.read().unwrap());
    producer.write(b"first").unwrap();
    let said = said_by_c("read_ring", &invitation.ring).unwrap();
    let records = "record at 3: one\nrecord at 5: and another\nrecord at 9: first\n";
    assert_eq!(said, format!("bytes 64\n{records}"));
}

/// Also of a ring with seats, one of which was left.
#[test]
fn program_in_c_reads_the_seats() {
    let builder = crate::Settings::new(4).headroom(1);
    let Shared { handle: mut publisher, invitation, .. } =
        super::broadcast::lossless::<u64>(builder, 2).unwrap();
    let ring = invitation.accept_lossless::<u64>().unwrap();
    let (mut one, other) = (ring.subscribe().unwrap(), ring.subscribe().unwrap());
    (0..3).for_each(|number| publisher.publish(100 + number).unwrap());
    assert_eq!([one.recv(), one.recv()], [Ok(100), Ok(101)]);
    drop(other);
    let Some(said) = said_by_c_with("read_ring", &invitation.ring, Some(&invitation.sleepers)) else {
        return;
    };
    let seats = "headroom 1\nscanned 2\nseat 0: 2\nseat 1: free\n";
    let messages = "message 0: 100\nmessage 1: 101\nmessage 2: 102\n";
    assert_eq!(said, format!("{seats}next 3\nend 0\n{messages}"));
}

/// A ring of 8 words and 2 slots: the third record takes the words of the first, and goes round the end of
/// the area.
#[test]
fn program_in_c_reads_records_of_a_lossless_ring() {
    let Shared { handle: mut publisher, invitation, .. } =
        super::broadcast::bytes::lossless(Settings::new(64), 2).unwrap();
    let ring = invitation.accept_lossless_bytes().unwrap();
    let (mut subscriber, mut buffer) = (ring.subscribe().unwrap(), Vec::new());
    publisher.publish(b"the first record, of 28 byte").unwrap();
    publisher.publish(b"another one, of 23 byte").unwrap();
    assert_eq!(subscriber.recv(&mut buffer), Ok(28));
    publisher.publish(b"of 32, round the end of the area").unwrap();
    let Some(said) = said_by_c_with("read_ring", &invitation.ring, Some(&invitation.sleepers)) else {
        return;
    };
    let records = "record 1 at 4: another one, of 23 byte\nrecord 2 at 7: of 32, round the end of the area\n";
    let seats = "headroom 0\nscanned 2\nseat 0: 1\nseat 1: free\nfloor 1\n";
    assert_eq!(said, format!("{seats}bytes 64\noverwritten 3\n{records}"));
}

fn said_by_c(name: &str, ring: &impl AsFd) -> Option<String> {
    said_by_c_with(name, ring, None)
}

/// What a program in C prints of a ring, and of its sleepers' page; `None` where there is no compiler.
fn said_by_c_with(name: &str, ring: &impl AsFd, page: Option<&dyn AsFd>) -> Option<String> {
    let path = |file: &dyn AsFd| format!("/proc/{}/fd/{}", std::process::id(), file.as_fd().as_raw_fd());
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/shm/shared/{name}.c"));
    let program = std::env::temp_dir().join(format!(
        "annulus-{name}-{}-{}",
        std::process::id(),
        ring.as_fd().as_raw_fd()
    ));
    let compiled = Command::new("cc").args(["-Wall", "-Werror", "-o"]).arg(&program).arg(&source).output();
    let Ok(compiled) = compiled else {
        std::eprintln!("skipped: there is no C compiler here (`cc`)");
        return None;
    };
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let output = Command::new(&program).arg(path(ring)).args(page.map(path)).output().unwrap();
    fs::remove_file(&program).unwrap();
    assert!(output.status.success(), "{output:?}");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
#[allow(clippy::too_many_lines, reason = "a row for each field")]
fn page_has_the_codes_offsets() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/SHM-FORMAT.md");
    let Ok(page) = fs::read_to_string(path) else {
        std::eprintln!("skipped: the package comes without the pages");
        return;
    };
    let fields = [
        (offset::MAGIC, 8, "magic"),
        (offset::ENDIAN_MARK, 4, "endianness mark"),
        (offset::VERSION, 4, "version"),
        (offset::KIND, 4, "kind"),
        (offset::REQUIRED, 4, "required"),
        (offset::TOTAL_BYTES, 8, "total size"),
        (offset::CELLS, 8, "cells"),
        (offset::SLOTS_OFFSET, 8, "slots offset"),
        (offset::SLOT_BYTES, 8, "slot size"),
        (offset::CAPACITY, 8, "capacity"),
        (offset::PAYLOAD_BYTES, 8, "payload size"),
        (offset::PAYLOAD_ALIGNMENT, 8, "payload alignment"),
        (offset::FINGERPRINT, 8, "fingerprint"),
        (offset::START, 8, "start sequence"),
        (offset::CREATOR_START, 8, "creator's start"),
        (offset::CREATOR_PID, 4, "creator's pid"),
        (offset::SCHEMA_BYTES, 4, "schema length"),
        (offset::IDENTITY, 8, "identity"),
        (offset::DEADLINE, 8, "deadline"),
    ];
    let rows = |heading: &str| {
        let table = page.split(heading).nth(1).unwrap().split("\n|").take_while(|row| !row.contains("\n\n"));
        table.map(ToString::to_string).collect::<Vec<_>>()
    };
    let header = rows("## The header");
    for (offset, length, field) in fields {
        let row = format!(" {offset} | {length} | {field} |");
        assert!(header.iter().any(|found| found.starts_with(&row)), "no row {row:?}");
    }
    let mut next = 0;
    for (offset, length, field) in fields {
        assert_eq!(offset, next, "{field} begins where the one before ends");
        next = offset + length;
    }
    assert_eq!(next, HEADER_BYTES);

    let section = |heading: &str| {
        let section = page.split(heading).nth(1).unwrap().split("\n#").next().unwrap();
        section.lines().filter_map(|row| row.strip_prefix('|')).collect::<Vec<_>>()
    };
    let queue = section("## A queue of one producer");
    let many = section("## A queue of several producers");
    let in_cells = |offset| offset - format::PRODUCER_OFFSET;
    let broadcast = section("## A lossy broadcast ring");
    let lossless = section("## A lossless broadcast ring");
    let records = section("## A lossless broadcast ring of records");
    let page_rows = section("### The sleepers' page");
    for (rows, offset, length, what) in [
        (&queue, format::queue::TAIL, 8, "tail"),
        (&queue, format::queue::HEAD, 8, "head"),
        (&queue, format::queue::JOINED, 8, "how many consumers"),
        (&queue, format::queue::CLOSED, 8, "0 while the queue is open"),
        (&queue, format::queue::END, 8, "end"),
        (&many, format::queue::DETAIL, 8, "policies"),
        (&many, format::queue::USED, 8, "used"),
        (&many, format::queue::JOINED, 8, "how many consumers"),
        (&many, format::queue::CLOSED, 8, "as in a queue"),
        (&many, in_cells(format::queue::TAIL), 8, "tail"),
        (&many, in_cells(format::queue::CAME), 8, "came"),
        (&many, in_cells(format::queue::LEFT), 8, "left"),
        (&many, in_cells(format::queue::HEAD), 8, "head"),
        (&many, in_cells(format::queue::END), 8, "end"),
        (&broadcast, format::broadcast::BOUND, 8, "bound"),
        (&broadcast, format::broadcast::END, 8, "end"),
        (&lossless, format::broadcast::HEADROOM, 8, "headroom"),
        (&lossless, format::broadcast::SEATS, 8, "seats"),
        (&lossless, format::page::SCANNED, 8, "scanned"),
        (&records, format::page::FLOOR, 8, "floor"),
        (&page_rows, format::page::MAGIC, 4, "the bytes"),
        (&page_rows, format::page::FENCES, 4, "fences"),
        (&page_rows, format::page::IDENTITY, 8, "identity"),
        (&page_rows, format::page::WORDS[0], 4, "the word"),
        (&page_rows, format::page::WORDS[1], 4, "the same"),
    ] {
        let row = format!(" {offset} | {length} | {what}");
        assert!(rows.iter().any(|found| found.starts_with(&row)), "no row {row:?}");
    }

    for kind in ShmKind::ALL {
        let row = format!("| {} | {kind} ", kind.number());
        assert!(page.contains(&row), "no row {row:?}");
    }
}
