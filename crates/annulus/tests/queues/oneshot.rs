//! Channels for one value: what both sides see of each other, and that nothing is lost or dropped twice.

#![allow(clippy::disallowed_types, reason = "what the tests count is none of the library's atomics")]

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use annulus::{RecvError, RecvTimeoutError, TryRecvError, WaitStrategy, oneshot};

/// Counts its drops.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Each order in which both sides can end: the value is dropped once.
#[test]
fn value_is_dropped_once() {
    let drops = Arc::<AtomicUsize>::default();
    let value = || Counted(Arc::clone(&drops));
    let dropped = |count| assert_eq!(drops.swap(0, Ordering::Relaxed), count);

    let (sender, receiver) = oneshot::channel();
    assert!(sender.send(value()).is_ok());
    assert!(receiver.recv().is_ok()); // and both go
    dropped(1);

    let (sender, mut receiver) = oneshot::channel();
    assert!(sender.send(value()).is_ok());
    assert!(receiver.try_recv().is_ok()); // and goes
    dropped(1);
    assert!(receiver.try_recv().is_err());
    assert_eq!(receiver.recv().err(), Some(RecvError::CLOSED), "it was received");
    dropped(0);

    let (sender, receiver) = oneshot::channel();
    assert!(sender.send(value()).is_ok());
    drop(receiver);
    dropped(1);

    let (sender, receiver) = oneshot::channel();
    drop(receiver);
    let back = sender.send(value()).unwrap_err();
    dropped(0);
    drop(back);
    dropped(1);

    let (sender, receiver) = oneshot::channel();
    receiver.close();
    receiver.close();
    assert!(sender.send(value()).is_err());
    dropped(1);
    assert_eq!(receiver.recv().err(), Some(RecvError::CLOSED));

    let (sender, receiver) = oneshot::channel();
    assert!(sender.send(value()).is_ok());
    receiver.close();
    assert!(receiver.recv().is_ok(), "what was sent before the close is there");
    dropped(1);
}

#[test]
fn sides_see_the_end_of_each_other() {
    let (sender, mut receiver) = oneshot::channel::<u64>();
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(receiver.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout));
    assert!(!sender.is_closed() && !receiver.is_closed());
    drop(sender);
    assert!(receiver.is_closed());
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
    assert_eq!(receiver.recv_timeout(Duration::MAX), Err(RecvTimeoutError::Closed));
    assert_eq!(receiver.recv(), Err(RecvError::CLOSED));

    let (sender, receiver) = oneshot::channel::<u64>();
    receiver.close();
    assert!(sender.is_closed());
    assert_eq!(receiver.recv(), Err(RecvError::CLOSED), "nobody waits for a value that would be refused");

    let (sender, mut receiver) = oneshot::channel();
    sender.send(5).unwrap();
    assert!(!receiver.is_closed(), "the value is still there");
    assert_eq!(receiver.try_recv(), Ok(5));
    assert!(receiver.is_closed());
}

/// A value of any size and alignment, and one that is no data at all.
#[test]
fn value_of_any_type_comes_as_it_was_sent() {
    #[repr(align(128))]
    #[derive(Debug, PartialEq)]
    struct Aligned([u8; 300]);

    let (sender, receiver) = oneshot::channel();
    sender.send(Aligned([7; 300])).unwrap();
    assert_eq!(receiver.recv(), Ok(Aligned([7; 300])));

    let (sender, receiver) = oneshot::channel();
    sender.send(()).unwrap();
    assert_eq!(receiver.recv(), Ok(()));

    let (sender, receiver) = oneshot::channel();
    sender.send(Some(Box::new(1))).unwrap();
    assert_eq!(receiver.recv(), Ok(Some(Box::new(1))));
}

/// A destructor that panics leaves nothing behind: the sender sees the end.
#[test]
fn value_whose_drop_panics() {
    struct Panics;

    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("on purpose");
        }
    }

    let (sender, receiver) = oneshot::channel();
    assert!(sender.send(Panics).is_ok());
    assert!(std::panic::catch_unwind(move || drop(receiver)).is_err());
}

/// Replies from another thread, by each strategy, to a receiver that waits, and to one that comes late.
#[test]
fn replies_come_from_another_thread() {
    const REPLIES: u64 = if cfg!(miri) { 20 } else { 2_000 };
    for strategy in [WaitStrategy::default(), WaitStrategy::PauseSpin, WaitStrategy::Monitor] {
        let (mut questions, mut asked) = annulus::spsc::channel::<(u64, oneshot::Sender<u64>)>(4);
        let answers = std::thread::spawn(move || {
            for (number, reply) in &mut asked {
                if number % 5 == 0 {
                    drop(reply);
                } else {
                    reply.send(number * 3).unwrap();
                }
            }
        });
        for number in 0..REPLIES {
            let (reply, mut answer) = oneshot::channel();
            questions.send((number, reply)).unwrap();
            let expected = if number % 5 == 0 { Err(RecvTimeoutError::Closed) } else { Ok(number * 3) };
            assert_eq!(answer.recv_until(strategy), expected);
        }
        drop(questions);
        answers.join().unwrap();
    }
}

/// A receiver is an arm of a select beside others.
#[cfg(feature = "std")]
#[test]
fn receiver_in_a_select() {
    let (_producer, mut consumer) = annulus::spsc::channel::<u64>(4);
    let (sender, mut receiver) = oneshot::channel();
    let writer = std::thread::spawn(move || sender.send(9).unwrap());
    let found = annulus::select! {
        recv(consumer) -> _ => panic!("nobody sends"),
        recv(receiver) -> value => value,
    };
    assert_eq!(found, Ok(9));
    writer.join().unwrap();
}

/// A worker handles the value, and ends.
#[cfg(feature = "std")]
#[test]
fn worker_of_a_receiver() {
    let (sender, receiver) = oneshot::channel();
    let seen = Arc::<AtomicUsize>::default();
    let of_worker = Arc::clone(&seen);
    let handler = move |value: usize| {
        of_worker.store(value, Ordering::Relaxed);
    };
    let reader = annulus::Worker::builder(receiver, ()).spawn(move |(), value, _| handler(value)).unwrap();
    sender.send(6).unwrap();
    reader.join().unwrap();
    assert_eq!(seen.load(Ordering::Relaxed), 6);
}

/// A worker that is stopped takes a value that is there, and no later one: the sender gets that back.
#[cfg(feature = "std")]
#[test]
fn worker_that_is_stopped() {
    let (sender, receiver) = oneshot::channel::<u64>();
    let reader = annulus::Worker::builder(receiver, ()).spawn(|(), value, _| panic!("{value}")).unwrap();
    reader.stop();
    reader.join().unwrap();
    assert!(sender.is_closed());
    assert_eq!(sender.send(6), Err(annulus::SendError(6)));
}

#[cfg(feature = "async")]
#[test]
fn future_shows_its_receiver() {
    let (_sender, receiver) = oneshot::channel::<u32>();
    let said = format!("RecvFuture {{ receiver: {receiver:?}, .. }}");
    assert_eq!(format!("{:?}", std::future::IntoFuture::into_future(receiver)), said);
}

/// The pipeline ends behind the one value, as behind the last one of any ring.
#[cfg(all(feature = "std", not(annulus_loom)))]
#[test]
fn pipeline_behind_a_receiver() {
    let (sender, receiver) = oneshot::channel();
    let builder = annulus::pipeline::Pipeline::builder().capacity(4);
    let (output, pipeline) = builder.source(receiver).then(|number: u64| 2 * number).build();
    sender.send(6).unwrap();
    assert_eq!(output.into_iter().collect::<Vec<_>>(), [12]);
    pipeline.join().unwrap();
}

/// Any code that takes a receiving handle; and code that only asks whether something is there.
#[cfg(feature = "std")]
#[test]
fn receiver_is_a_receiving_handle() {
    fn is_over(handle: &impl annulus::Waitable) -> bool {
        handle.is_closed()
    }
    for is_sent in [true, false] {
        let (sender, mut receiver) = oneshot::channel();
        let mut select = annulus::Select::new();
        assert_eq!((select.recv(&mut receiver), select.try_ready()), (0, None));
        if is_sent {
            sender.send(5).unwrap();
        } else {
            drop(sender);
        }
        assert_eq!(select.try_ready(), Some(0));
        drop(select);
        assert_eq!(is_over(&receiver), !is_sent);
        assert_eq!(receiver.try_recv().ok(), is_sent.then_some(5));
        assert!(is_over(&receiver));
    }
}

#[cfg(feature = "std")]
#[test]
fn receive_ends_at_its_deadline() {
    let (sender, mut receiver) = oneshot::channel();
    let past = std::time::Instant::now();
    assert_eq!(receiver.recv_until(past), Err(RecvTimeoutError::Timeout));
    sender.send(5).unwrap();
    assert_eq!(receiver.recv_until(past), Ok(5), "what is there is there");
    assert_eq!(receiver.recv_until(past), Err(RecvTimeoutError::Closed));
}

#[cfg(feature = "std")]
#[test]
fn sender_waits_for_the_end_of_receiver() {
    for is_dropped in [true, false] {
        let (sender, receiver) = oneshot::channel::<u64>();
        assert!(!sender.closed_timeout(Duration::from_millis(1)));
        assert!(!sender.closed_until(std::time::Instant::now()));
        let asker = std::thread::spawn(move || {
            if is_dropped {
                drop(receiver);
                return None;
            }
            receiver.close();
            Some(receiver)
        });
        sender.closed();
        assert!(sender.closed_until(WaitStrategy::PauseSpin) && sender.closed_timeout(Duration::ZERO));
        drop(asker.join().unwrap());
    }
}

/// The structs have no bounds: a type that has handles needs none either.
#[test]
fn handles_are_fields_of_types_without_bounds() {
    #[derive(Debug)]
    struct Asks<T> {
        reply: oneshot::Sender<T>,
        answer: oneshot::Receiver<T>,
    }

    let (reply, answer) = oneshot::channel();
    let asks: Asks<u64> = Asks { reply, answer };
    assert!(format!("{asks:?}").contains("Asks"));
    asks.reply.send(7).unwrap();
    assert_eq!(asks.answer.recv(), Ok(7));
}

#[test]
fn debug_output_says_whether_a_side_has_ended() {
    let (sender, receiver) = oneshot::channel::<u64>();
    assert!(format!("{sender:?}").contains("oneshot") && format!("{sender:?}").contains("closed: false"));
    assert!(format!("{receiver:?}").contains("oneshot") && format!("{receiver:?}").contains("closed: false"));
    drop(sender);
    assert!(format!("{receiver:?}").contains("closed: true"));
    let (sender, receiver) = oneshot::channel::<u64>();
    drop(receiver);
    assert!(format!("{sender:?}").contains("closed: true"));
}

/// Tasks of either side, which wait first and are woken once.
#[cfg(feature = "async")]
mod tasks {
    use std::future::{Future, IntoFuture};
    use std::pin::{Pin, pin};
    use std::sync::{Arc, Mutex};
    use std::task::{Context, Poll, RawWaker, RawWakerVTable, Wake, Waker};

    use annulus::{RecvError, oneshot};

    use crate::support::tasks::Counting;

    #[test]
    fn task_waits_for_the_value() {
        for is_sent in [true, false] {
            let (sender, mut receiver) = oneshot::channel();
            let woken = Counting::new();
            let waker = woken.waker();
            let mut context = Context::from_waker(&waker);
            let mut value = pin!(receiver.recv_async());
            assert!(value.as_mut().poll(&mut context).is_pending());
            if is_sent {
                sender.send(5).unwrap();
            } else {
                drop(sender);
            }
            assert_eq!(woken.wakes(), 1);
            let told = if is_sent { Ok(5) } else { Err(RecvError::CLOSED) };
            assert_eq!(value.as_mut().poll(&mut context), Poll::Ready(told));
        }
    }

    /// A poll by the same task changes nothing; a poll by another one is what counts from then on.
    #[test]
    fn last_task_that_polled_is_woken() {
        let (sender, mut receiver) = oneshot::channel();
        let mut value = pin!(receiver.recv_async());
        let (first, second) = (Counting::new(), Counting::new());
        let (one, other) = (first.waker(), second.waker());
        for waker in [&one, &one, &other, &other] {
            assert!(value.as_mut().poll(&mut Context::from_waker(waker)).is_pending());
        }
        assert_eq!((first.alive(), second.alive()), (1, 2), "wakers: ours, and the one in the channel");
        sender.send(5).unwrap();
        assert_eq!((first.wakes(), second.wakes()), (0, 1));
        assert_eq!(value.as_mut().poll(&mut Context::from_waker(&one)), Poll::Ready(Ok(5)));
    }

    /// A task that gives up leaves no waker behind, and the receiver can wait again.
    #[test]
    fn a_task_that_gives_up() {
        let (sender, mut receiver) = oneshot::channel();
        let woken = Counting::new();
        let waker = woken.waker();
        let mut context = Context::from_waker(&waker);
        assert!(pin!(receiver.recv_async()).poll(&mut context).is_pending());
        assert_eq!(woken.alive(), 1, "ours alone");
        let mut value = pin!(receiver.recv_async());
        assert!(value.as_mut().poll(&mut context).is_pending());
        sender.send(5).unwrap();
        assert_eq!(woken.wakes(), 1);
        assert_eq!(value.as_mut().poll(&mut context), Poll::Ready(Ok(5)));
    }

    /// The value comes after the task has looked, and before it has left its waker: as its waker is cloned.
    #[test]
    fn value_comes_while_a_task_goes_to_sleep() {
        type Sender = Mutex<Option<oneshot::Sender<u64>>>;
        const TABLE: RawWakerVTable = RawWakerVTable::new(
            |sender| {
                // SAFETY: it outlives its wakers.
                let place = unsafe { &*sender.cast::<Sender>() };
                if let Some(sender) = place.lock().unwrap().take() {
                    sender.send(5).unwrap();
                }
                RawWaker::new(sender, &TABLE)
            },
            |_| unreachable!("no waker was there yet"),
            |_| unreachable!("no waker was there yet"),
            |_| (),
        );
        let (sender, mut receiver) = oneshot::channel();
        let sender: Sender = Mutex::new(Some(sender));
        // SAFETY: the functions use the pointer as what it is, on any thread, and `sender` lives longer.
        let waker = unsafe { Waker::from_raw(RawWaker::new((&raw const sender).cast(), &TABLE)) };
        let value = pin!(receiver.recv_async()).poll(&mut Context::from_waker(&waker));
        assert_eq!(value, Poll::Ready(Ok(5)));
    }

    /// `receiver.await`: polled by two tasks, it wakes the second; dropped, it leaves no waker, and the value
    /// goes with it.
    #[test]
    fn awaited_receiver_is_used_up() {
        for is_dropped in [true, false] {
            let (sender, receiver) = oneshot::channel();
            let mut value = Box::pin(receiver.into_future());
            let (first, second) = (Counting::new(), Counting::new());
            for woken in [&first, &second] {
                let waker = woken.waker();
                assert!(value.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            }
            assert_eq!(first.alive(), 0, "the channel has the waker of the second alone");
            if is_dropped {
                drop(value);
                assert_eq!((first.alive(), second.alive()), (0, 0));
                assert!(sender.send(5).is_err());
                continue;
            }
            sender.send(5).unwrap();
            assert_eq!((first.wakes(), second.wakes()), (0, 1));
            let waker = first.waker();
            assert_eq!(value.as_mut().poll(&mut Context::from_waker(&waker)), Poll::Ready(Ok(5)));
        }
    }

    /// A receiver that wants no value says so by its drop, or by a close.
    #[test]
    fn task_waits_for_the_receiver_to_go() {
        for is_dropped in [true, false] {
            let (sender, receiver) = oneshot::channel::<u64>();
            let mut receiver = Some(receiver);
            let woken = Counting::new();
            let waker = woken.waker();
            let mut context = Context::from_waker(&waker);
            let mut closed = pin!(sender.closed_async());
            let mut beside = pin!(sender.closed_async());
            assert!(closed.as_mut().poll(&mut context).is_pending());
            assert!(beside.as_mut().poll(&mut context).is_pending());
            assert!(!sender.is_closed(), "the sender is free meanwhile");
            if is_dropped {
                receiver = None;
            } else {
                receiver.as_ref().unwrap().close();
            }
            assert_eq!(woken.wakes(), 2, "each of the two that wait");
            assert!(closed.as_mut().poll(&mut context).is_ready());
            assert!(beside.as_mut().poll(&mut context).is_ready());
            drop(receiver);
        }
    }

    type Task = Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>;

    /// Its task is dropped where it would be woken, as a runtime does at its end.
    struct Ends(Task);

    impl Wake for Ends {
        fn wake(self: Arc<Self>) {
            drop(self.0.lock().unwrap().take());
        }
    }

    /// So the receiver is gone before the sender has left the channel, which then frees it.
    #[test]
    fn task_that_ends_in_its_wake_up() {
        let (sender, receiver) = oneshot::channel::<Arc<()>>();
        let task = Box::pin(async move { drop(receiver.await) });
        let ends = Arc::new(Ends(Mutex::new(Some(task))));
        let waker = Waker::from(Arc::clone(&ends));
        let mut task = ends.0.lock().unwrap();
        let is_waiting = task.as_mut().unwrap().as_mut().poll(&mut Context::from_waker(&waker)).is_pending();
        drop(task);
        assert!(is_waiting);
        let value = Arc::new(());
        sender.send(Arc::clone(&value)).unwrap();
        assert!(ends.0.lock().unwrap().is_none(), "it was woken");
        assert_eq!(Arc::strong_count(&value), 1, "the value is dropped with its receiver");
    }
}

/// As the handles of other rings, both sides may go to another thread, whatever can.
#[test]
fn handles_are_send() {
    fn sends<T: Send + Sync>(_: &T) {}
    let (sender, receiver) = oneshot::channel::<std::cell::Cell<u64>>();
    sends(&sender);
    sends(&receiver);
    assert_eq!(Rc::strong_count(&Rc::new((sender, receiver))), 1);
}
