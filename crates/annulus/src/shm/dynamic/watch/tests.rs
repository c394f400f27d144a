//! The ends of [`dynamic::watch`](super), with typed ones on the other side.

use super::*;
use crate::message::Message;
use crate::schema::Schema;
use crate::shm::dynamic::LONGEST;
use crate::shm::{AttachError, ShareError, ShmKind};
use crate::{Notifier, Readiness};
use bytemuck::Pod;
use rustix::event::{PollFd, PollFlags, poll};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::string::ToString;
use std::vec;
use std::vec::Vec;

const BLOCK: WaitStrategy = WaitStrategy::Block { spin_iters: 0, pause_iters: 0 };

fn settings(cells: usize) -> Settings {
    Settings::new(cells).wait_strategy(BLOCK).first(0)
}

/// A value of so many bytes, each of which follows from the number.
fn numbered(number: u64, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (number as u8).wrapping_mul(3).wrapping_add(at as u8)).collect()
}

/// What lies behind the header: cells, keys and notices.
fn memory_of(invitation: &Invitation) -> Vec<u8> {
    let file = File::from(invitation.ring.try_clone().unwrap());
    let length = file.metadata().unwrap().len() as usize;
    let mut bytes = vec![0; length - 512];
    file.read_exact_at(&mut bytes, 512).unwrap();
    bytes
}

/// The bytes in memory are those of the type, and so is what each end makes of the other's.
fn both_ways<T: Message + Pod + PartialEq + fmt::Debug>() {
    let (of, bytes) = (MessageType::of::<T>(), size_of::<T>());
    let value = |number| bytemuck::pod_read_unaligned::<T>(&numbered(number, bytes));
    let Shared { handle: mut typed, invitation: of_typed, .. } = typed::table::<T>(settings(3)).unwrap();
    let Shared { handle: mut sender, invitation: of_bytes, .. } = table(settings(3), &of).unwrap();
    let typed_reader = of_bytes.accept_watch::<T>().unwrap();
    let reader = AcceptedWatch::accept(&of_typed, &of, BLOCK).unwrap();
    let (mut typed_changes, mut changes) = (typed_reader.changes(), reader.changes());
    let mut one = reader.changes_of(1).unwrap();
    assert_eq!((sender.message_bytes(), reader.message_bytes(), reader.cells()), (bytes, bytes, 3));
    assert_eq!((typed.cell("one"), sender.cell("one")), (Ok(0), Ok(0)));
    assert_eq!((typed.cell("two"), sender.cell("two")), (Ok(1), Ok(1)));
    let mut found = vec![0; bytes];
    assert_eq!(reader.get(0, &mut found), Err(GetError::Empty));
    assert!(!sender.get(0, &mut found));
    for number in 0..23 {
        let cell = number as usize % 2;
        typed.send_to(cell, value(number)).unwrap();
        sender.send_to(cell, &numbered(number, bytes)).unwrap();
        assert_eq!((typed_reader.get(cell), typed.get(cell)), (Ok(value(number)), Some(value(number))));
        assert_eq!(typed_changes.try_recv(), Ok(Change { cell, value: value(number) }));
        reader.get(cell, &mut found).unwrap();
        assert_eq!(found, numbered(number, bytes));
        assert!(sender.get(cell, &mut found) && found == numbered(number, bytes));
        found.fill(0xEE);
        assert_eq!((changes.recv(&mut found), &found), (Ok(cell), &numbered(number, bytes)));
        if cell == 1 {
            assert_eq!((one.try_recv(&mut found), &found), (Ok(1), &numbered(number, bytes)));
        }
        assert_eq!(one.try_recv(&mut found), Err(TryRecvError::Empty));
    }
    assert!(memory_of(&of_typed) == memory_of(&of_bytes), "{bytes} bytes");
    for keys in [reader.keys().collect::<Vec<_>>(), typed_reader.keys().collect()] {
        let keys: Vec<_> = keys.into_iter().map(|(cell, key)| (cell, key.to_string())).collect();
        assert_eq!(keys, [(0, "one".into()), (1, "two".into())]);
    }
    assert_eq!((reader.cell("two"), reader.cell("no"), reader.key(2)), (Some(1), None, None));
}

#[test]
fn tables_of_bytes_and_of_the_type_are_the_same() {
    both_ways::<u8>();
    both_ways::<[u8; 7]>();
    both_ways::<u64>();
    both_ways::<[u32; 3]>();
    both_ways::<[u64; 3]>();
    both_ways::<[u64; 7]>();
    both_ways::<[u64; 8]>();
    both_ways::<[u8; 200]>();
    both_ways::<[u64; 32]>();
    both_ways::<[u8; 300]>();
    both_ways::<[u64; 512]>();
}

fn quotes() -> MessageType {
    MessageType::described("[u32;3]".parse().unwrap(), 4)
}

#[test]
fn table_that_does_not_fit_is_refused() {
    let Shared { handle: sender, invitation, .. } = table(settings(3), &quotes()).unwrap();
    let accept = |of: &MessageType| AcceptedWatch::accept(&invitation, of, BLOCK);
    let other: Schema = "{a:u32,b:u32,c:u32}".parse().unwrap();
    let refused = accept(&MessageType::described(other, 4)).unwrap_err();
    assert!(matches!(refused, OpenError::Attach(AttachError::Type { .. })), "{refused:?}");
    let refused = accept(&MessageType::of_bytes(8, 4)).unwrap_err();
    assert!(matches!(refused, OpenError::Attach(AttachError::PayloadSize { .. })), "{refused:?}");
    let refused = accept(&MessageType::of_bytes(LONGEST + 8, 8)).unwrap_err();
    assert!(matches!(refused, OpenError::TooLong { bytes: 4104 }), "{refused:?}");
    assert!(accept(&MessageType::of_bytes(12, 4)).is_ok() && accept(&MessageType::of::<[u32; 3]>()).is_ok());
    let refused = invitation.accept_watch::<[f32; 3]>().unwrap_err();
    assert!(matches!(refused, AttachError::Type { .. }), "{refused:?}");
    drop(sender);

    let refused = table(settings(3), &MessageType::of_bytes(LONGEST + 1, 1)).unwrap_err();
    assert!(matches!(refused, OpenError::TooLong { bytes: 4097 }), "{refused:?}");
    let refused = table(settings((1 << 20) + 1), &quotes()).unwrap_err();
    assert!(matches!(refused, OpenError::Share(ShareError::Cells { .. })), "{refused:?}");
    let Shared { handle: _ring, invitation, .. } =
        crate::shm::dynamic::Sender::lossy(Settings::new(8), &quotes()).unwrap();
    let refused = AcceptedWatch::accept(&invitation, &quotes(), BLOCK).unwrap_err();
    let wanted = AttachError::Kind { found: ShmKind::Lossy, wanted: ShmKind::Watch };
    assert_eq!(refused.to_string(), wanted.to_string());
}

/// Values that came before the end are received, then the end; they stay. No cell is another one.
#[test]
fn changes_end_when_the_table_does() {
    let Shared { handle: mut sender, invitation, .. } = table(settings(3), &quotes()).unwrap();
    let reader = AcceptedWatch::accept(&invitation, &quotes(), BLOCK).unwrap();
    let (mut any, mut one, mut value) = (reader.changes(), reader.changes_of(2).unwrap(), [0; 12]);
    let soon = Duration::from_millis(1);
    assert!(reader.changes_of(3).is_none());
    assert_eq!(reader.get(3, &mut value), Err(GetError::NoCell { cell: 3, cells: 3 }));
    for changes in [&mut any, &mut one] {
        assert_eq!(changes.recv_timeout(&mut value, soon), Err(RecvTimeoutError::Timeout));
        assert!(!changes.wait_timeout(soon) && !Waitable::is_closed(changes));
        assert_eq!(changes.table().state(), PeerState::Alive);
    }
    sender.send(&[5; 12]).unwrap();
    assert!(any.wait_timeout(Duration::from_secs(60)) && !one.wait_timeout(soon));
    sender.send_to(2, &[6; 12]).unwrap();
    assert!(one.wait_timeout(Duration::from_secs(60)));
    let closer = sender.closer();
    closer.close();
    assert!(sender.is_closed());
    assert_eq!(sender.send(&[7; 12]), Err(SendError(())));
    assert_eq!((one.recv_timeout(&mut value, soon), value), (Ok(2), [6; 12]));
    assert_eq!((any.recv(&mut value), value), (Ok(0), [5; 12]));
    assert_eq!((any.recv(&mut value), value), (Ok(2), [6; 12]));
    for changes in [&mut any, &mut one] {
        assert!(changes.wait_timeout(Duration::ZERO), "the end is something to receive");
        assert_eq!(changes.recv(&mut value), Err(RecvError::CLOSED));
        assert_eq!(changes.try_recv(&mut value), Err(TryRecvError::Closed));
        assert_eq!(changes.recv_timeout(&mut value, soon), Err(RecvTimeoutError::Closed));
    }
    assert_eq!((reader.get(0, &mut value), value, reader.state()), (Ok(()), [5; 12], PeerState::Closed));
}

/// A loop that polls descriptors waits for one cell, or for all.
#[test]
fn notifier_takes_changes() {
    let Shared { handle: mut sender, invitation, .. } = table(settings(2), &quotes()).unwrap();
    let reader = AcceptedWatch::accept(&invitation, &quotes(), BLOCK).unwrap();
    for changes in [reader.changes(), reader.changes_of(1).unwrap()] {
        let (mut notifier, mut value) = (Notifier::new(changes).unwrap(), [0; 12]);
        while notifier.get_mut().try_recv(&mut value).is_ok() {}
        assert_eq!(notifier.arm(), Readiness::Armed);
        let sent = std::thread::spawn(move || sender.send_to(1, &[3; 12]).map(|()| sender).unwrap());
        let mut waited = [PollFd::new(&notifier, PollFlags::IN)];
        let timeout = rustix::fs::Timespec { tv_sec: 60, tv_nsec: 0 };
        assert_eq!(poll(&mut waited, Some(&timeout)), Ok(1));
        assert_eq!((notifier.get_mut().recv(&mut value), value), (Ok(1), [3; 12]));
        sender = sent.join().unwrap();
    }
}

/// Values whose words are all the same number, read while they are written: none is a mixture of two.
#[test]
fn values_are_whole() {
    const ROUNDS: u64 = 20_000;
    for bytes in [16, 24, 200, 304, LONGEST] {
        let of = &MessageType::of_bytes(bytes, 8);
        let Shared { handle: mut sender, invitation, .. } = table(settings(2), of).unwrap();
        let reader = AcceptedWatch::accept(&invitation, of, BLOCK).unwrap();
        let whole = |value: &[u8]| {
            let words: Vec<u64> = value.chunks_exact(8).map(bytemuck::pod_read_unaligned).collect();
            assert!(words.iter().all(|word| *word == words[0]), "{bytes} bytes: torn");
            words[0]
        };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let (mut last, mut value) = (0, vec![0; bytes]);
                while last < ROUNDS {
                    // (A thread that has lost the processor may be overtaken.)
                    let Ok(()) = reader.get(1, &mut value) else { continue };
                    let number = whole(&value);
                    assert!(number >= last);
                    last = number;
                }
            });
            scope.spawn(|| {
                let (mut changes, mut value, mut last) = (reader.changes(), vec![0; bytes], 0);
                while changes.recv(&mut value).is_ok() {
                    let number = whole(&value);
                    assert!(number > last);
                    last = number;
                }
                assert_eq!(last, ROUNDS);
            });
            for number in 1..=ROUNDS {
                let value: Vec<u8> = number.to_ne_bytes().repeat(bytes / 8);
                sender.send_to(1, &value).unwrap();
            }
            sender.closer().close();
        });
    }
}

#[test]
#[should_panic(expected = "a value has the size of its schema")]
fn value_of_another_size_panics() {
    let mut sender = table(settings(1), &quotes()).unwrap().handle;
    let _ = sender.send(&[0; 8]);
}

#[test]
#[should_panic(expected = "there is no cell 3: there are 2")]
fn value_of_no_cell_panics() {
    let mut sender = table(settings(2), &quotes()).unwrap().handle;
    let _ = sender.send_to(3, &[0; 12]);
}
