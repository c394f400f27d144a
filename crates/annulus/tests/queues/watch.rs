//! The newest value: which receiver sees which one, what tells it of a change and of the end, and how it
//! waits for them.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use annulus::{
    Receive, RecvError, RecvTimeoutError, Select, SendError, Shutdown, TryRecvError, WaitStrategy, Worker,
    select, select_biased, watch,
};
use proptest::prelude::*;

use crate::support::STUCK;

/// Any type: no `Clone`, no `Copy`, and it is dropped once.
struct Plain(Arc<()>);

#[test]
fn value_of_any_type_is_dropped_once() {
    let count = Arc::new(());
    let value = || Plain(Arc::clone(&count));
    let live = || Arc::strong_count(&count) - 1;
    let (sender, mut receiver) = watch::channel(value());
    assert_eq!(live(), 1);
    assert!(sender.send(value()).is_ok());
    assert_eq!(live(), 1, "the one before is gone");
    drop(sender.send_replace(value()));
    assert_eq!(live(), 1);
    assert_eq!(receiver.changed(), Ok(()));
    assert!(Arc::ptr_eq(&receiver.borrow().0, &count));
    drop(receiver);
    let back = sender.send(value()).unwrap_err();
    assert_eq!(live(), 2);
    drop(back.into_inner());
    drop(sender);
    assert_eq!(live(), 0);
}

#[test]
fn receiver_gets_each_new_value_once() {
    let (sender, mut receiver) = watch::channel(0);
    assert_eq!(receiver.has_changed(), Ok(false), "the first one is seen");
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    (1..4).for_each(|n| sender.send(n).unwrap());
    assert_eq!(receiver.has_changed(), Ok(true));
    assert_eq!(*receiver.borrow(), 3);
    assert_eq!(receiver.has_changed(), Ok(true), "a borrow is no look");
    let late = receiver.clone();
    assert_eq!(receiver.recv(), Ok(3));
    assert_eq!(receiver.has_changed(), Ok(false));
    assert_eq!(late.has_changed(), Ok(true), "a clone has seen what the original had");
    receiver.mark_changed();
    assert_eq!(receiver.try_recv(), Ok(3));
    sender.send(3).unwrap();
    assert_eq!(receiver.has_changed(), Ok(true), "values are not compared");
    receiver.mark_unchanged();
    assert_eq!(receiver.has_changed(), Ok(false));
}

#[test]
fn send_if_modified_notifies_only_of_changes() {
    let (sender, mut receiver) = watch::channel(1);
    assert!(!sender.send_if_modified(|value| {
        *value = 2;
        false
    }));
    assert_eq!((receiver.has_changed(), *receiver.borrow()), (Ok(false), 2));
    sender.send_modify(|value| *value *= 5);
    assert_eq!(receiver.try_recv(), Ok(10));
    assert_eq!(sender.send_replace(11), 10);
    assert_eq!((*sender.borrow(), sender.borrow().has_changed()), (11, false));
    assert!(receiver.borrow_and_update().has_changed());
}

#[test]
fn sides_see_the_end_of_each_other() {
    let (sender, mut receiver) = watch::channel(1);
    let other = sender.clone();
    assert_eq!((sender.sender_count(), sender.receiver_count()), (2, 1));
    drop(sender);
    assert!(!receiver.is_closed());
    other.send(2).unwrap();
    drop(other);
    assert!(!receiver.is_closed(), "there is one more");
    assert_eq!((receiver.changed(), receiver.changed()), (Ok(()), Err(RecvError::CLOSED)));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
    assert_eq!(receiver.changed_timeout(Duration::MAX), Err(RecvTimeoutError::Closed));
    assert_eq!(receiver.wait_for(|value| *value > 2).err(), Some(RecvError::CLOSED));
    assert_eq!(*receiver.wait_for(|value| *value == 2).unwrap(), 2);

    let (sender, receiver) = watch::channel(1);
    assert!(!sender.is_closed());
    drop(receiver);
    assert!(sender.is_closed());
    assert_eq!(sender.send(2), Err(SendError(2)));
    assert_eq!(*sender.borrow(), 1);
    sender.send_modify(|value| *value = 3);
    let mut receiver = sender.subscribe();
    assert_eq!((receiver.try_recv(), *receiver.borrow()), (Err(TryRecvError::Empty), 3));
    sender.send(4).unwrap();
    assert_eq!(receiver.try_recv(), Ok(4));
}

#[test]
fn channel_that_is_closed_from_elsewhere() {
    let (sender, mut receiver) = watch::channel(1);
    let shutdown = Shutdown::new();
    shutdown.attach(receiver.closer());
    sender.send(2).unwrap();
    shutdown.trigger();
    assert!(sender.is_closed());
    assert_eq!(sender.send(3), Err(SendError(3)));
    assert_eq!(sender.send_replace(4), 2, "nobody is told of this one");
    assert_eq!((receiver.recv(), receiver.recv()), (Ok(4), Err(RecvError::CLOSED)));
}

/// Where a destructor panics, or a closure, the channel goes on.
#[test]
fn panics_of_others() {
    struct Bomb(u32);
    impl Drop for Bomb {
        fn drop(&mut self) {
            if self.0 == 1 {
                resume_unwind(Box::new("dropped"));
            }
        }
    }
    let (sender, mut receiver) = watch::channel(Bomb(1));
    assert!(catch_unwind(AssertUnwindSafe(|| sender.send(Bomb(2)).is_ok())).is_err());
    assert_eq!((receiver.changed(), receiver.borrow().0), (Ok(()), 2));
    let modify = |value: &mut Bomb| {
        value.0 = 3;
        resume_unwind(Box::new("modified"))
    };
    assert!(catch_unwind(AssertUnwindSafe(|| sender.send_modify(modify))).is_err());
    assert_eq!((receiver.has_changed(), receiver.borrow().0), (Ok(false), 3));
    let asks = |_: &Bomb| -> bool { resume_unwind(Box::new("asked")) };
    assert!(catch_unwind(AssertUnwindSafe(|| receiver.wait_for(asks).is_ok())).is_err());
    sender.send_modify(|value| value.0 = 4);
    assert_eq!((receiver.changed(), receiver.borrow().0), (Ok(()), 4));
}

#[test]
fn wait_ends_at_its_timeout() {
    let (_sender, mut receiver) = watch::channel(1);
    let soon = Duration::from_millis(1);
    assert_eq!(receiver.changed_timeout(soon), Err(RecvTimeoutError::Timeout));
    assert_eq!(receiver.changed_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout));
    assert_eq!(receiver.recv_timeout(soon), Err(RecvTimeoutError::Timeout));
    let now = std::time::Instant::now();
    assert_eq!(receiver.changed_until(now), Err(RecvTimeoutError::Timeout));
    assert_eq!(receiver.recv_until(now), Err(RecvTimeoutError::Timeout));
    assert_eq!(receiver.wait_for_timeout(soon, |n| *n > 1).err(), Some(RecvTimeoutError::Timeout));
    assert_eq!(*receiver.wait_for_timeout(Duration::ZERO, |n| *n == 1).unwrap(), 1);
}

/// Many readers, by each strategy, see values that only grow, and all of them the last one.
#[test]
fn sender_waits_for_the_end_of_the_receivers() {
    for is_closed in [false, true] {
        let (sender, receiver) = watch::channel(1);
        assert!(!sender.closed_timeout(Duration::from_millis(1)));
        assert!(!sender.closed_until(std::time::Instant::now()));
        let closer = sender.closer();
        let reader = thread::spawn(move || {
            if is_closed {
                closer.close();
                return Some(receiver);
            }
            drop(receiver);
            None
        });
        sender.closed();
        assert!(sender.closed_timeout(Duration::ZERO));
        drop(reader.join().unwrap());
    }
}

/// The structs have no bounds: a type that has handles needs none either.
#[test]
fn handles_are_fields_of_types_without_bounds() {
    #[derive(Clone, Debug)]
    struct Sees<T> {
        config: watch::Sender<T>,
        seen: watch::Receiver<T>,
    }

    let (config, seen) = watch::channel(1);
    let mut sees: Sees<u64> = Sees { config, seen }.clone();
    assert!(format!("{sees:?}").contains("Sees"));
    sees.config.send(7).unwrap();
    assert_eq!(sees.seen.recv(), Ok(7));
}

#[test]
fn readers_see_the_last_value() {
    const VALUES: u64 = if cfg!(miri) { 20 } else { 5_000 };
    for strategy in [WaitStrategy::default(), WaitStrategy::PauseSpin, WaitStrategy::Monitor] {
        let (sender, receiver) = watch::channel([0; 4]);
        let readers: Vec<_> = (0..3)
            .map(|_| {
                let mut receiver = receiver.clone();
                thread::spawn(move || {
                    let (mut last, mut count) = (0, 0);
                    while receiver.changed_until(strategy).is_ok() {
                        let value = receiver.borrow_and_update();
                        assert_eq!([value[0]; 4], *value, "half of a change");
                        assert!(value[0] >= last);
                        (last, count) = (value[0], count + 1);
                    }
                    (last, count)
                })
            })
            .collect();
        for number in 1..=VALUES {
            sender.send_modify(|value| value.iter_mut().for_each(|word| *word = number));
        }
        drop(sender);
        for reader in readers {
            let (last, count) = reader.join().unwrap();
            assert_eq!(last, VALUES);
            assert!((1..=VALUES).contains(&count));
        }
    }
}

/// Two threads that answer each other: each waits for the other's value.
#[test]
fn value_that_is_waited_for() {
    const TURNS: u64 = if cfg!(miri) { 10 } else { 1_000 };
    let (sender, receiver) = watch::channel(0_u64);
    let sender = Arc::new(sender);
    let plays = |side: u64| {
        let (sender, mut receiver) = (Arc::clone(&sender), receiver.clone());
        thread::spawn(move || {
            for _ in 0..TURNS {
                let value = *receiver.wait_for(|value| value % 2 == side).unwrap();
                sender.send(value + 1).unwrap();
            }
        })
    };
    for player in [plays(0), plays(1)] {
        player.join().unwrap();
    }
    assert_eq!(*receiver.borrow(), 2 * TURNS);
}

#[test]
fn receiver_in_a_select() {
    let (sender, mut state) = watch::channel(String::new());
    let (_producer, mut consumer) = annulus::spsc::channel::<u64>(4);
    sender.send_modify(|text| text.push('a'));
    let seen = select! {
        recv(consumer) -> message => format!("{message:?}"),
        recv(state) -> text => text.unwrap(),
    };
    assert_eq!(seen, "a");
    sender.send_modify(|text| text.push('b'));
    select_biased! {
        wait(state) -> changed => assert_eq!(changed, Ok(())),
        recv(consumer) -> message => panic!("{message:?}"),
    }
    assert_eq!(*state.borrow(), "ab");
    select_biased! {
        wait(state) -> changed => panic!("{changed:?}"),
        default(Duration::from_millis(1)) => {}
    }
    let writer = thread::spawn(move || sender.send_modify(|text| text.push('c')));
    let mut select = Select::new();
    assert_eq!((select.recv(&mut state), select.ready()), (0, 0));
    drop(select);
    writer.join().unwrap();
    assert_eq!((state.recv().as_deref(), state.recv()), (Ok("abc"), Err(RecvError::CLOSED)));
}

/// The loop handles values that it finds, and after a stop the last of them.
#[test]
fn worker_sees_the_last_value() {
    let (sender, receiver) = watch::channel(0);
    let seen = Worker::builder(receiver, Vec::new()).spawn(|seen, n: u32, _| seen.push(n)).unwrap();
    (1..100).for_each(|n| sender.send(n).unwrap());
    seen.stop();
    let seen = seen.join().unwrap().context;
    assert!(seen.is_sorted());
    assert_eq!(seen.last(), Some(&99));
    assert_eq!(sender.send(100), Err(SendError(100)), "the loop has dropped its receiver");
}

/// Any code that takes a receiving handle.
#[test]
fn receiver_is_a_receiving_handle() {
    fn takes(_: &impl Receive<Item = String>) {}
    let (_sender, receiver) = watch::channel(String::new());
    takes(&receiver);
}

#[test]
#[cfg(feature = "async")]
fn tasks_wait() {
    use crate::support::tasks::block_on;
    let (sender, mut receiver) = watch::channel(0);
    let mut other = receiver.clone();
    let writer = thread::spawn(move || {
        (1..=3).for_each(|n| sender.send(n).unwrap());
        sender
    });
    assert_eq!(block_on(async { receiver.wait_for_async(|n| *n == 3).await.map(|n| *n) }), Ok(3));
    assert!(block_on(other.recv_async()).unwrap() > 0);
    let sender = writer.join().unwrap();
    let reader = thread::spawn(move || drop((receiver, other)));
    block_on(sender.closed_async());
    reader.join().unwrap();
    let mut receiver = sender.subscribe();
    drop(sender);
    assert_eq!(block_on(receiver.changed_async()), Err(RecvError::CLOSED));
}

/// What a channel does, as one thread sees it.
#[derive(Clone, Copy, Debug)]
enum Step {
    Send(u8),
    Modify(u8, bool),
    Replace(u8),
    Subscribe,
    Clone(usize),
    Drop(usize),
    Receive(usize),
    Borrow(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        any::<u8>().prop_map(Step::Send),
        any::<(u8, bool)>().prop_map(|(n, is_told)| Step::Modify(n, is_told)),
        any::<u8>().prop_map(Step::Replace),
        Just(Step::Subscribe),
        (0..4usize).prop_map(Step::Clone),
        (0..4usize).prop_map(Step::Drop),
        (0..4usize).prop_map(Step::Receive),
        (0..4usize).prop_map(Step::Borrow),
    ];
    prop::collection::vec(step, 0..if cfg!(miri) { 10 } else { 60 })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 200 }))]

    #[test]
    fn channel_is_a_value_with_a_mark_for_each_reader(steps in steps()) {
        let sender = watch::Sender::new(0);
        let mut value = 0;
        // With each: whether there is a value that it has not seen.
        let mut receivers = vec![(sender.subscribe(), false)];
        for step in steps {
            let told = match step {
                Step::Send(n) if receivers.is_empty() => {
                    prop_assert_eq!(sender.send(n), Err(SendError(n)));
                    false
                }
                Step::Send(n) => {
                    sender.send(n).unwrap();
                    value = n;
                    true
                }
                Step::Modify(n, is_told) => {
                    value = n;
                    sender.send_if_modified(|place| {
                        *place = n;
                        is_told
                    })
                }
                Step::Replace(n) => {
                    prop_assert_eq!(sender.send_replace(n), value);
                    value = n;
                    true
                }
                Step::Subscribe => {
                    receivers.push((sender.subscribe(), false));
                    false
                }
                Step::Clone(index) => {
                    if let Some((receiver, is_new)) = receivers.get(index) {
                        receivers.push((receiver.clone(), *is_new));
                    }
                    false
                }
                Step::Drop(index) => {
                    if index < receivers.len() {
                        receivers.remove(index);
                    }
                    false
                }
                Step::Receive(index) => {
                    if let Some((receiver, is_new)) = receivers.get_mut(index) {
                        let expected = if *is_new { Ok(value) } else { Err(TryRecvError::Empty) };
                        prop_assert_eq!(receiver.try_recv(), expected);
                        *is_new = false;
                    }
                    false
                }
                Step::Borrow(index) => {
                    if let Some((receiver, is_new)) = receivers.get_mut(index) {
                        let borrowed = receiver.borrow_and_update();
                        prop_assert_eq!((*borrowed, borrowed.has_changed()), (value, *is_new));
                        drop(borrowed);
                        *is_new = false;
                    }
                    false
                }
            };
            for (receiver, is_new) in &mut receivers {
                *is_new |= told;
                prop_assert_eq!(receiver.has_changed(), Ok(*is_new));
            }
            prop_assert_eq!(sender.receiver_count(), receivers.len());
            prop_assert_eq!(sender.is_closed(), receivers.is_empty());
        }
    }
}

/// A borrow holds up a sender, and nobody else: another reader reads meanwhile.
#[test]
fn readers_do_not_hold_up_each_other() {
    let (sender, receiver) = watch::channel(1);
    let kept = receiver.borrow();
    let other = receiver.clone();
    assert_eq!(thread::spawn(move || *other.borrow()).join().unwrap(), 1);
    let sent = Mutex::new(false);
    thread::scope(|scope| {
        let (says, said) = std::sync::mpsc::channel();
        let (sender, sent) = (&sender, &sent);
        scope.spawn(move || {
            says.send(()).unwrap();
            sender.send(2).unwrap();
            *sent.lock().unwrap() = true;
        });
        said.recv_timeout(STUCK).unwrap();
        assert!(!*sent.lock().unwrap());
        assert_eq!(*kept, 1);
        drop(kept);
    });
    assert_eq!(*receiver.borrow(), 2);
}
