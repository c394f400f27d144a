//! What is read, and what a reader is told.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use annulus::pipeline::Pipeline;
use annulus::shm::watch::{Change, GetError, KeyError};
use annulus::shm::{
    AttachError, Directory, Invitation, PeerState, RingObserver, ShareError, Shared, ShmKind, watch,
};
use annulus::{Receive, RecvError, RecvTimeoutError, SendError, Settings, TryRecvError, Worker, select};

use super::{Large, number_of, table, value};

#[test]
fn reader_that_joins_has_the_newest_at_once() {
    let Shared { handle: mut sender, invitation, .. } = watch::sender(1_u64).unwrap();
    assert_eq!(invitation.info().unwrap().kind(), ShmKind::Watch);
    for number in 1..20 {
        sender.send(number).unwrap();
        let reader = invitation.accept_watch::<u64>().unwrap();
        assert_eq!((reader.get(0), reader.cells(), sender.get(0)), (Ok(number), 1, Some(number)));
        let mut receiver = reader.receiver();
        assert_eq!((receiver.get(), receiver.has_changed()), (Ok(number), Ok(true)));
        assert_eq!((receiver.try_recv(), receiver.try_recv()), (Ok(number), Err(TryRecvError::Empty)));
    }
}

#[test]
fn slow_receiver_has_the_newest_and_the_last() {
    let Shared { handle: mut sender, invitation, .. } = watch::sender(0_u64).unwrap();
    let reader = invitation.accept_watch::<u64>().unwrap();
    let mut receiver = reader.receiver();
    receiver.mark_unchanged();
    assert_eq!((receiver.has_changed(), receiver.is_closed()), (Ok(false), false));
    let mut clone = receiver.clone();
    // More than notices are kept.
    (1..=1000).for_each(|number| sender.send(number).unwrap());
    assert_eq!((receiver.recv(), receiver.has_changed()), (Ok(1000), Ok(false)));
    receiver.mark_changed();
    assert_eq!((receiver.changed(), receiver.has_changed()), (Ok(()), Ok(false)));
    sender.update(0, |value| value.unwrap() + 1).unwrap();
    sender.close();
    assert_eq!((sender.send(7), sender.is_closed()), (Err(SendError(7)), true));
    assert_eq!((receiver.has_changed(), receiver.recv()), (Ok(true), Ok(1001)));
    assert_eq!(receiver.recv(), Err(RecvError::CLOSED));
    assert_eq!((receiver.get(), receiver.is_closed(), reader.get(0)), (Ok(1001), true, Ok(1001)));
    assert_eq!((clone.recv(), clone.changed()), (Ok(1001), Err(RecvError::CLOSED)));
    assert_eq!(reader.state(), PeerState::Closed);
    drop(sender);
    assert_eq!(receiver.get(), Ok(1001));
    // The one that comes afterwards, too.
    let late = invitation.accept_watch::<u64>().unwrap();
    assert_eq!((late.receiver().recv(), late.changes().recv().unwrap().value), (Ok(1001), 1001));
}

#[test]
fn receiver_waits_for_what_it_wants() {
    let Shared { handle: mut sender, invitation, .. } = watch::sender(0_u64).unwrap();
    let mut receiver = invitation.accept_watch::<u64>().unwrap().receiver();
    let timeout = Duration::from_millis(1);
    assert_eq!(receiver.wait_for(|&number| number == 0), Ok(0), "the value of this moment");
    assert_eq!(receiver.wait_for_until(timeout, |&number| number > 0), Err(RecvTimeoutError::Timeout));
    assert_eq!(receiver.changed_until(timeout), Err(RecvTimeoutError::Timeout));
    assert_eq!(receiver.recv_timeout(timeout), Err(RecvTimeoutError::Timeout));
    let reader = thread::spawn(move || {
        let found = receiver.wait_for(|&number| number >= 50).unwrap();
        (found, receiver.wait_for(|&number| number > 100))
    });
    for number in 1..=100 {
        sender.send(number).unwrap();
        thread::yield_now();
    }
    drop(sender);
    let (found, end) = reader.join().unwrap();
    assert!((50..=100).contains(&found) && end == Err(RecvError::CLOSED), "{found} {end:?}");
}

/// Each cell that has changed is told of, once, with its newest value: whether the notices of that were
/// received or lost.
#[test]
fn changes_are_told_exactly() {
    const CELLS: usize = 20;
    let (mut sender, reader, _invitation) = table(CELLS);
    sender.send_to(7, value(1)).unwrap();
    let mut changes = reader.changes();
    let (mut newest, mut told) = ([0; CELLS], [0; CELLS]);
    newest[7] = 1;
    let mut random = 1_u64;
    for round in 0..400 {
        // In some rounds more than notices are kept.
        for number in 0..[1, 3, 30, 200][round % 4] {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let cell = (random >> 33) as usize % if round % 3 == 0 { 3 } else { CELLS };
            newest[cell] = 1000 * round as u64 + number + 2;
            sender.send_to(cell, value(newest[cell])).unwrap();
        }
        let mut seen = [false; CELLS];
        while let Ok(Change { cell, value }) = changes.try_recv() {
            assert!(!seen[cell], "{round}: cell {cell} twice");
            seen[cell] = true;
            assert_ne!(told[cell], newest[cell], "{round}: it has not changed");
            told[cell] = number_of(&value);
        }
        assert_eq!(told, newest, "{round}");
    }
    drop(sender);
    assert_eq!(changes.try_recv(), Err(TryRecvError::Closed));
    assert_eq!(changes.total_corrupt(), 0);
}

/// A receiver of one cell is told of no other.
#[test]
fn receiver_is_told_of_its_cell_alone() {
    let (mut sender, reader, _invitation) = table(3);
    let mut receivers = [0, 1, 2].map(|cell| reader.receiver_of(cell).unwrap());
    assert!(reader.receiver_of(3).is_none());
    assert_eq!(reader.get(3), Err(GetError::NoCell { cell: 3, cells: 3 }));
    assert_eq!((receivers[1].get(), receivers[1].cell()), (Err(GetError::Empty), 1));
    for round in 1..200 {
        sender.send_to(1, value(round)).unwrap();
        (0..round).for_each(|number| sender.send_to(2, value(number)).unwrap());
        assert_eq!(receivers[0].try_recv(), Err(TryRecvError::Empty));
        assert_eq!(receivers[1].try_recv(), Ok(value(round)));
        assert_eq!(receivers[1].try_recv(), Err(TryRecvError::Empty));
        assert_eq!(receivers[2].try_recv(), Ok(value(round - 1)));
    }
    sender.send_to(0, value(5)).unwrap();
    drop(sender);
    assert_eq!(receivers.map(|mut receiver| receiver.iter().count()), [1, 0, 0]);
}

#[test]
fn cells_have_keys() {
    let (mut sender, reader, invitation) = table(3);
    assert_eq!((reader.keys().count(), reader.cell("EURUSD"), reader.key(0)), (0, None, None));
    let long = "x".repeat(64);
    assert_eq!((sender.cell("EURUSD"), sender.cell(&long), sender.cell("EURUSD")), (Ok(0), Ok(1), Ok(0)));
    assert_eq!((reader.cell("EURUSD"), reader.cell(&long), reader.cell("EUR")), (Some(0), Some(1), None));
    assert_eq!(sender.cell("größe"), Ok(2));
    let keys: Vec<_> = reader.keys().map(|(cell, key)| (cell, key.to_string())).collect();
    assert_eq!(keys, [(0, "EURUSD".into()), (1, long), (2, "größe".into())]);
    for (key, said) in [
        ("", "is empty"),
        ("a\0b", r#"the key "a\0b" has a zero byte"#),
        (&"x".repeat(65), "65 bytes is too long: it can have 64"),
        ("more", "no cell is left for \"more\": all 3 have"),
    ] {
        let error = sender.cell(key).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
        assert_eq!(reader.cell(key), None);
    }
    assert_eq!(sender.cell("more"), Err(KeyError::Full { key: "more".into(), cells: 3 }));
    assert_eq!(invitation.accept_watch::<Large>().unwrap().keys().count(), 3);
}

/// Threads that read while values are written: each is whole, and none goes back.
#[test]
fn values_are_whole_and_never_older() {
    const ROUNDS: u64 = 30_000;
    let (mut sender, reader, _invitation) = table(2);
    sender.send_to(0, value(0)).unwrap();
    let written = AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut last = 0;
                while last < ROUNDS {
                    let before = written.load(Ordering::Acquire);
                    // (A thread that has lost the processor may be overtaken.)
                    let Ok(found) = reader.get(0) else { continue };
                    let number = number_of(&found);
                    assert!(number >= before && number >= last, "{number} after {last} and {before}");
                    last = number;
                }
            });
        }
        let mut receiver = reader.receiver();
        scope.spawn(move || {
            let mut last = None;
            while let Ok(found) = receiver.recv() {
                let number = number_of(&found);
                assert!(last.is_none_or(|last| last < number), "{number} after {last:?}");
                last = Some(number);
            }
            assert_eq!(last, Some(ROUNDS));
        });
        let mut changes = reader.changes();
        scope.spawn(move || {
            let mut last = [None; 2];
            while let Ok(Change { cell, value }) = changes.recv() {
                let number = number_of(&value);
                assert!(last[cell].is_none_or(|last| last < number), "{number} after {last:?}");
                last[cell] = Some(number);
            }
            assert_eq!(last, [Some(ROUNDS), Some(ROUNDS / 3)]);
        });
        for number in 1..=ROUNDS {
            sender.send_to(0, value(number)).unwrap();
            written.store(number, Ordering::Release);
            if number % 3 == 0 {
                sender.send_to(1, value(number / 3)).unwrap();
            }
        }
        drop(sender);
    });
}

/// Threads that sleep are woken: by a change, and by the end.
#[test]
fn sleepers_are_woken() {
    let (mut sender, reader, _invitation) = table(2);
    let (mut receiver, mut changes) = (reader.receiver_of(1).unwrap(), reader.changes());
    let (told_one, one) = std::sync::mpsc::channel();
    let (told_any, any) = std::sync::mpsc::channel();
    let threads = [
        thread::spawn(move || receiver.iter().for_each(|value| told_one.send(number_of(&value)).unwrap())),
        thread::spawn(move || changes.iter().for_each(|change| told_any.send(change.cell).unwrap())),
    ];
    for number in 0..4 {
        // They sleep by now, as a rule.
        thread::sleep(Duration::from_millis(10));
        sender.send_to(number % 2, value(number as u64)).unwrap();
        assert_eq!(any.recv(), Ok(number % 2));
        if number % 2 == 1 {
            assert_eq!(one.recv(), Ok(number as u64));
        }
    }
    thread::sleep(Duration::from_millis(10));
    sender.closer().close();
    for thread in threads {
        thread.join().unwrap();
    }
    assert!(one.recv().is_err() && any.recv().is_err());
}

/// In a select, and in a task.
#[test]
fn receivers_wait_as_any_handle() {
    let (mut sender, reader, _invitation) = table(2);
    let (mut receiver, mut changes) = (reader.receiver(), reader.changes());
    sender.send_to(1, value(3)).unwrap();
    let found = select! {
        recv(receiver) -> found => found.map(|value| (0, value)),
        recv(changes) -> found => found.map(|change| (change.cell, change.value)),
    };
    assert_eq!(found, Ok((1, value(3))));
    let writer = thread::spawn(move || {
        thread::sleep(Duration::from_millis(10));
        sender.send(value(4)).unwrap();
        sender
    });
    let found = select! {
        recv(receiver) -> found => found,
    };
    assert_eq!(found, Ok(value(4)));
    drop(writer.join().unwrap());
    let found = select! {
        recv(receiver) -> found => found,
    };
    assert_eq!(found, Err(RecvError::CLOSED));
    assert_eq!(changes.try_recv(), Ok(Change { cell: 0, value: value(4) }));
}

#[cfg(feature = "async")]
#[test]
fn tasks_wait() {
    let (mut sender, reader, _invitation) = table(2);
    let (mut receiver, mut changes) = (reader.receiver(), reader.changes());
    let writer = thread::spawn(move || {
        for number in 0..4 {
            thread::sleep(Duration::from_millis(10));
            sender.send_to(number % 2, value(number as u64)).unwrap();
        }
    });
    pollster::block_on(async {
        receiver.changed_async().await.unwrap();
        let mut newest = [None; 2];
        while let Ok(change) = changes.recv_async().await {
            newest[change.cell] = Some(number_of(&change.value));
        }
        assert_eq!(newest, [Some(2), Some(3)]);
    });
    assert_eq!(receiver.get().map(|value| number_of(&value)), Ok(2));
    writer.join().unwrap();
}

/// A worker that is stopped once all is handled has each change of before.
#[test]
fn worker_handles_each_change() {
    let (mut sender, reader, _invitation) = table(50);
    (0..50).for_each(|cell| sender.send_to(cell, value(cell as u64)).unwrap());
    let changes = reader.changes();
    let handler = |cells: &mut Vec<usize>, change: Change<Large>, _| cells.push(change.cell);
    let worker = Worker::builder(changes, Vec::new()).spawn(handler).unwrap();
    worker.stop();
    let cells = worker.join().unwrap().context;
    assert_eq!(cells, (0..50).collect::<Vec<_>>());
}

/// A worker that is stopped in a call has the value that came meanwhile, and none twice.
#[test]
fn worker_receives_the_newest_before_its_stop() {
    let (mut sender, reader, _invitation) = table(2);
    let (begun, begins) = std::sync::mpsc::channel();
    let (go_on, gate) = std::sync::mpsc::channel::<()>();
    let handler = move |seen: &mut Vec<u64>, found: Large, _: bool| {
        seen.push(number_of(&found));
        begun.send(()).unwrap();
        _ = gate.recv();
    };
    let worker = Worker::builder(reader.receiver(), Vec::new()).spawn(handler).unwrap();
    sender.send(value(1)).unwrap();
    begins.recv().unwrap();
    (2..5).for_each(|number| sender.send(value(number)).unwrap());
    worker.stop();
    drop(go_on);
    assert_eq!(worker.join().unwrap().context, [1, 4]);
}

#[test]
fn receiver_feeds_a_pipeline() {
    let (mut sender, reader, _invitation) = table(1);
    let (output, pipeline) =
        Pipeline::builder().source(reader.receiver()).then(|found: Large| number_of(&found)).build();
    sender.send(value(1)).unwrap();
    let mut output = output.into_iter();
    assert_eq!(output.next(), Some(1));
    sender.send(value(2)).unwrap();
    drop(sender);
    assert_eq!((output.next(), output.next()), (Some(2), None));
    let statistics = pipeline.stats();
    assert_eq!((statistics.edges[0].received, statistics.edges[0].depth), (2, 0));
    pipeline.join().unwrap();
}

/// More notices of one cell than a look takes: they are passed, and another cell's change behind them is
/// told.
#[test]
fn many_notices_of_one_change_are_passed() {
    let Shared { handle: mut sender, invitation, .. } = watch::table::<u64>(Settings::new(4000)).unwrap();
    let mut changes = invitation.accept_watch::<u64>().unwrap().changes();
    (1..=3500).for_each(|number| sender.send(number).unwrap());
    assert_eq!(changes.try_recv(), Ok(Change { cell: 0, value: 3500 }));
    sender.send_to(3999, 7).unwrap();
    assert_eq!(changes.try_recv(), Ok(Change { cell: 3999, value: 7 }));
    assert_eq!(changes.try_recv(), Err(TryRecvError::Empty));
}

#[test]
fn handles_have_debug_forms() {
    let (mut sender, reader, _invitation) = table(3);
    assert_eq!(format!("{:?}", reader.clone()), "AcceptedWatch { cells: 3, .. }");
    assert_eq!(format!("{:?}", reader.receiver_of(2).unwrap()), "Receiver { cell: 2, .. }");
    assert_eq!(format!("{:?}", reader.changes()), "Changes { cells: 3, .. }");
    assert_eq!(format!("{sender:?}"), "Sender { cells: 3, closed: false, .. }");
    sender.cell("one").unwrap();
    sender.close();
    assert_eq!(format!("{sender:?}"), "Sender { cells: 3, closed: true, .. }");
    assert_eq!(reader.clone().cell("one"), Some(0), "a clone is of the same table");
}

#[test]
fn errors_say_why_there_is_no_value() {
    let (_sender, reader, _invitation) = table(3);
    for (error, said) in [
        (reader.get(1).unwrap_err(), "nothing was sent to this cell yet"),
        (reader.get(3).unwrap_err(), "there is no cell 3: there are 3, from 0 on"),
        (GetError::Overtaken, "the sender has replaced the value at each of 1,000 looks: try again"),
    ] {
        assert_eq!(error.to_string(), said);
    }
}

#[test]
fn tables_that_cant_be() {
    for cells in [0, (1 << 20) + 1, usize::MAX] {
        let error = watch::table::<u64>(Settings::new(cells)).map(drop).unwrap_err();
        assert!(matches!(error, ShareError::Cells { .. }), "{error}");
        assert!(error.to_string().contains(&format!("{cells} cells: take 1 to 1048576")), "{error}");
    }
    let headroom = watch::table::<u64>(Settings::new(4).headroom(1)).map(drop).unwrap_err();
    assert!(matches!(headroom, ShareError::Capacity(_)), "{headroom}");
    let (_sender, _reader, invitation) = table(4);
    let error = invitation.accept_watch::<u64>().map(drop).unwrap_err();
    assert!(matches!(error, AttachError::Type { .. }), "{error}");
    let error = invitation.accept::<Large>().map(drop).unwrap_err();
    assert!(matches!(error, AttachError::Kind { found: ShmKind::Watch, .. }), "{error}");
    let plain = annulus::shm::broadcast::lossy::<u64>(Settings::new(4)).unwrap();
    let error = plain.invitation.accept_watch::<u64>().map(drop).unwrap_err();
    assert!(matches!(error, AttachError::Kind { found: ShmKind::Lossy, .. }), "{error}");
}

#[test]
#[should_panic(expected = "there is no cell 4: there are 4")]
fn send_to_no_cell_panics() {
    let (mut sender, _reader, _invitation) = table(4);
    let _ = sender.send_to(4, value(1));
}

/// By a name, as rings: a process that may only read the memory. A new sender has the name anew.
#[test]
fn table_has_a_name() {
    let path = std::env::temp_dir().join(format!("annulus-watch-{}", std::process::id()));
    let directory = Directory::open(&path).unwrap();
    let find =
        || Invitation::find(&directory.find("config").unwrap()).unwrap().accept_watch::<u64>().unwrap();
    let Shared { handle: mut sender, invitation, .. } = watch::sender(1_u64).unwrap();
    let name = invitation.publish(&directory, "config").unwrap();
    let old = find();
    sender.send(2).unwrap();
    let mut receiver = old.receiver();
    assert_eq!(receiver.recv(), Ok(2));
    let observer = RingObserver::of(&directory.find("config").unwrap()).unwrap();
    assert_eq!((observer.state(), observer.numbers()), (PeerState::Alive, None));
    assert!(!observer.read(0, &mut Vec::new()));
    drop((name, sender, invitation));
    assert_eq!((receiver.recv(), observer.state()), (Err(RecvError::CLOSED), PeerState::Closed));
    let Shared { handle: _sender, invitation, .. } = watch::sender(7_u64).unwrap();
    let name = invitation.publish(&directory, "config").unwrap();
    assert_eq!((old.get(0), find().get(0)), (Ok(2), Ok(7)));
    drop(name);
    std::fs::remove_dir_all(path).unwrap();
}
