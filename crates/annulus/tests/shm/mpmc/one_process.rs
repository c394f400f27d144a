//! All sides in one process.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use annulus::pipeline::Pipeline;
use annulus::shm::mpmc;
use annulus::shm::{AttachError, Directory, PeerState, RingObserver, ShareError, WhenGone};
use annulus::{
    Notifier, Readiness, Receive, RecvTimeoutError, Select, SendTimeoutError, Transmit, TryRecvError,
    TrySendError, WaitStrategy, Waitable, Worker,
};

use super::{Job, LONG, consumer, job, made, of_slots, producer, read};

/// A consumer that has just come looks at all slots, and finds nothing there: that is no message.
#[test]
fn new_consumer_of_empty_queue_is_not_ready() {
    let (_queue, invitation) = made(of_slots(4));
    let mut producer = producer(&invitation);
    producer.send(job(0, 0)).unwrap();
    assert_eq!(consumer(&invitation).recv(), Ok(job(0, 0)));
    let mut notifier = Notifier::new(consumer(&invitation)).unwrap();
    assert_eq!(notifier.arm(), Readiness::Armed);
    producer.send(job(0, 1)).unwrap();
    assert_eq!(notifier.arm(), Readiness::Ready);
    let given_back = notifier.get_mut().claim().unwrap();
    drop(given_back);
    assert_eq!(notifier.arm(), Readiness::Ready, "it was given again");
    assert_eq!(notifier.get_mut().recv(), Ok(job(0, 1)));
    assert_eq!(notifier.arm(), Readiness::Armed);
}

/// Several producers and consumers, some of which claim and give back: each message is received once, and the
/// messages of one producer that are given once come in order.
#[test]
fn message_is_received_once() {
    const COUNT: u64 = if cfg!(debug_assertions) { 20_000 } else { 200_000 };
    for slots in [1, 2, 3, 16] {
        for strategy in [WaitStrategy::default(), WaitStrategy::block_after(0, 0)] {
            let builder = mpmc::Builder::new(annulus::Settings::new(slots).wait_strategy(strategy));
            let builder = builder.producers(3).consumers(3).when_no_producer(WhenGone::Close);
            let (queue, invitation) = made(builder);
            let all = Mutex::new(BTreeSet::new());
            let given_back = Mutex::new(0);
            let per_producer = COUNT / 20;
            // All before the first message: the queue ends with its last producer.
            let producers = [(); 3].map(|()| producer(&invitation));
            let consumers = [(); 3].map(|()| consumer(&invitation));
            thread::scope(|scope| {
                for (number, mut consumer) in consumers.into_iter().enumerate() {
                    let (all, given_back) = (&all, &given_back);
                    scope.spawn(move || {
                        let (mut last, mut count) = ([None; 3], 0_u64);
                        loop {
                            let Ok(claimed) = consumer.claim() else { break };
                            let (from, value) = read(&claimed);
                            count += 1;
                            if number == 0 && count % 7 == 0 && claimed.given_before() < 3 {
                                *given_back.lock().unwrap() += 1;
                                drop(claimed);
                                continue;
                            }
                            if claimed.given_before() == 0 {
                                assert!(last[from as usize].replace(value) < Some(value), "in order");
                            }
                            claimed.done();
                            assert!(all.lock().unwrap().insert((from, value)), "twice");
                        }
                    });
                }
                for (number, mut producer) in (0..).zip(producers) {
                    scope.spawn(move || {
                        (0..per_producer).for_each(|value| producer.send(job(number, value)).unwrap());
                    });
                }
            });
            assert_eq!(all.into_inner().unwrap().len() as u64, 3 * per_producer);
            assert_eq!((queue.given_again(), queue.dropped()), (given_back.into_inner().unwrap(), 0));
            assert_eq!((queue.len(), queue.is_closed()), (0, true));
            assert_eq!((queue.consumers().joined(), queue.consumers().died()), (3, 0));
        }
    }
}

/// A consumer that holds messages holds up neither the producer nor another consumer, as long as there is
/// another slot.
#[test]
fn held_message_holds_up_nobody() {
    let (queue, invitation) = made(of_slots(3));
    let (mut producer, mut slow, mut other) =
        (producer(&invitation), consumer(&invitation), consumer(&invitation));
    producer.send(job(0, 0)).unwrap();
    producer.send(job(0, 1)).unwrap();
    let held = [slow.claim().unwrap(), slow.claim().unwrap()];
    for number in 2..50 {
        producer.send_timeout(job(0, number), LONG).unwrap();
        assert_eq!(producer.try_send(job(9, 9)), Err(TrySendError::Full(job(9, 9))), "{number}");
        assert_eq!(other.recv_timeout(LONG), Ok(job(0, number)));
    }
    // All slots are held: there is no room.
    producer.send(job(0, 50)).unwrap();
    let last = other.claim().unwrap();
    assert_eq!(producer.send_timeout(job(0, 51), Duration::ZERO), Err(SendTimeoutError::Timeout(job(0, 51))));
    assert_eq!(last.done(), job(0, 50));
    producer.try_send(job(0, 51)).unwrap();
    let [first, second] = held;
    drop(first);
    assert_eq!(other.try_recv(), Ok(job(0, 0)), "it comes first");
    assert_eq!(other.try_recv(), Ok(job(0, 51)));
    assert_eq!(second.done(), job(0, 1));
    assert_eq!(other.try_recv(), Err(TryRecvError::Empty));
    assert_eq!((queue.given_again(), queue.len()), (1, 0));
}

/// A claimed message may be done by another thread, after its consumer was dropped, which has its place until
/// then.
#[test]
fn claimed_message_outlives_its_consumer() {
    let (queue, invitation) = made(of_slots(4).consumers(1));
    let (mut producer, mut first) = (producer(&invitation), consumer(&invitation));
    (0..2).for_each(|number| producer.send(job(0, number)).unwrap());
    let (one, two) = (first.claim().unwrap(), first.claim().unwrap());
    drop(first);
    let refused = mpmc::consumer::<Job>(&invitation).map(drop).unwrap_err();
    assert!(matches!(refused, AttachError::NoPlace { places: 1 }));
    thread::spawn(move || one.done()).join().unwrap();
    drop(two);
    let mut next = consumer(&invitation);
    let again = next.claim().unwrap();
    assert_eq!((*again, again.given_before(), again.producer()), (job(0, 1), 1, 0));
    again.done();
    assert_eq!((queue.given_again(), queue.consumers().died(), next.place()), (1, 0, 0));
}

/// In a panic, the message is given back.
#[test]
fn panic_gives_the_message_back() {
    let (_queue, invitation) = made(of_slots(4));
    let (mut producer, mut first, mut second) =
        (producer(&invitation), consumer(&invitation), consumer(&invitation));
    producer.send(job(0, 7)).unwrap();
    let worker = thread::spawn(move || {
        let _job = first.claim().unwrap();
        panic!("on purpose");
    });
    assert!(worker.join().is_err());
    assert_eq!(second.recv_timeout(LONG), Ok(job(0, 7)));
}

/// How often a message was given is counted up to 15.
#[test]
fn given_before_is_bounded() {
    let (queue, invitation) = made(of_slots(1));
    let (mut producer, mut consumer) = (producer(&invitation), consumer(&invitation));
    producer.send(job(0, 7)).unwrap();
    for round in 0..40 {
        let claimed = consumer.try_claim().unwrap();
        assert_eq!((*claimed, claimed.given_before()), (job(0, 7), round.min(15)));
    }
    assert_eq!(queue.given_again(), 40);
    assert_eq!(consumer.recv(), Ok(job(0, 7)));
    producer.send(job(0, 8)).unwrap();
    assert_eq!(consumer.claim().unwrap().given_before(), 0);
}

/// The end: what was sent is received, what another one holds is waited for, and what is held by oneself is
/// not.
#[test]
fn end_comes_behind_held_messages() {
    let (_queue, invitation) = made(of_slots(4).when_no_producer(WhenGone::Close));
    let (mut producer, mut first, mut second) =
        (producer(&invitation), consumer(&invitation), consumer(&invitation));
    (0..2).for_each(|number| producer.send(job(0, number)).unwrap());
    drop(producer);
    let held = first.claim().unwrap();
    assert_eq!(second.recv(), Ok(job(0, 1)));
    assert_eq!(second.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout));
    assert_eq!(first.try_recv(), Err(TryRecvError::Closed), "it holds the last one itself");
    let waiting = thread::spawn(move || (second.recv(), second));
    drop(held);
    let (again, mut second) = waiting.join().unwrap();
    // (The first one may have been faster: nobody else is there.)
    assert_eq!(again, Ok(job(0, 0)));
    assert_eq!(second.try_recv(), Err(TryRecvError::Closed));
    assert!(second.is_closed());
}

/// A message that comes back while another consumer looks for the end is not missed, also if the one that had
/// it leaves at once.
#[test]
fn end_comes_behind_what_is_given_back_beside_it() {
    for round in 0..if cfg!(debug_assertions) { 500 } else { 5_000 } {
        let (_queue, invitation) = made(of_slots(4).when_no_producer(WhenGone::Close));
        let (mut producer, mut first, mut second) =
            (producer(&invitation), consumer(&invitation), consumer(&invitation));
        producer.send(job(0, round)).unwrap();
        let held = first.claim().unwrap();
        drop(producer);
        let waiting = thread::spawn(move || (second.recv(), second.try_recv()));
        for _ in 0..round % 64 {
            thread::yield_now();
        }
        drop((held, first));
        assert_eq!(waiting.join().unwrap(), (Ok(job(0, round)), Err(TryRecvError::Closed)), "{round}");
    }
}

/// Which sides may close, and when a side that is gone does.
#[test]
fn closes() {
    let (queue, invitation) = made(of_slots(2).when_no_consumer(WhenGone::Close));
    let mut sender = producer(&invitation);
    sender.send(job(0, 0)).unwrap();
    assert_eq!(queue.consumers().state(), PeerState::NotYet);
    let states = [PeerState::NotYet, PeerState::Alive, PeerState::Closed, PeerState::Dead];
    assert_eq!(states.map(|state| state.to_string()), ["not there yet", "alive", "closed", "dead"]);
    drop(consumer(&invitation));
    assert!(queue.is_closed());
    assert_eq!(sender.send(job(0, 1)).unwrap_err().0, job(0, 1));
    assert!(matches!(mpmc::producer::<Job>(&invitation).unwrap_err(), AttachError::Closed));
    let mut late = consumer(&invitation);
    assert_eq!((late.recv(), late.recv().is_err()), (Ok(job(0, 0)), true));

    let (queue, invitation) = made(of_slots(1));
    let (mut sender, mut receiver) = (producer(&invitation), consumer(&invitation));
    sender.send(job(0, 0)).unwrap();
    let waiting = thread::spawn(move || sender.send(job(0, 1)));
    let other = consumer(&invitation);
    other.close();
    let told = waiting.join().unwrap();
    assert_eq!(receiver.recv(), Ok(job(0, 0)));
    assert_eq!(receiver.try_recv().is_ok(), told.is_ok());
    assert!(receiver.recv().is_err() && queue.is_closed());
}

/// Beside a close, a message that was sent is received, and one that was given back is not.
#[test]
fn close_beside_sends() {
    for round in 0..200_u64 {
        let (queue, invitation) = made(of_slots(4).producers(2).consumers(2));
        let senders: Vec<_> = (0..2)
            .map(|number| {
                let mut sender = producer(&invitation);
                thread::spawn(move || {
                    (0..u64::MAX).take_while(|&value| sender.send(job(number, value)).is_ok()).count()
                })
            })
            .collect();
        let receivers = [(); 2].map(|()| {
            let receiver = consumer(&invitation);
            thread::spawn(move || receiver.into_iter().count())
        });
        thread::sleep(Duration::from_micros(round * 37 % 500));
        queue.close();
        let sent: usize = senders.into_iter().map(|sender| sender.join().unwrap()).sum();
        let received: usize = receivers.into_iter().map(|receiver| receiver.join().unwrap()).sum();
        assert_eq!(sent, received);
    }
}

/// The next producer of a place sends behind the messages of the one before.
#[test]
fn place_has_one_producer_after_another() {
    let (queue, invitation) = made(of_slots(4).producers(1));
    let mut receiver = consumer(&invitation);
    for round in 0..20 {
        let mut sender = producer(&invitation);
        assert!(matches!(
            mpmc::producer::<Job>(&invitation).unwrap_err(),
            AttachError::NoPlace { places: 1 }
        ));
        sender.send(job(0, round)).unwrap();
        sender.send(job(1, round)).unwrap();
        assert_eq!((sender.place(), sender.capacity(), sender.len()), (0, 4, 2 + usize::from(round > 0)));
        drop(sender);
        let taken = if round == 0 { 1 } else { 2 };
        for _ in 0..taken {
            read(&receiver.recv().unwrap());
        }
    }
    assert_eq!((queue.producers().joined(), queue.len(), receiver.len()), (20, 1, 1));
}

/// By the traits, in a select, and in tasks.
#[test]
fn handles_work_as_others_do() {
    let (_queue, invitation) = made(of_slots(2));
    let (mut sender, mut receiver) = (producer(&invitation), consumer(&invitation));
    Transmit::send(&mut sender, job(0, 1)).unwrap();
    assert_eq!(Receive::recv(&mut receiver), Ok(job(0, 1)));
    sender.send(job(0, 2)).unwrap();
    let mut boxed: Box<dyn Receive<Item = Job>> = Box::new(receiver);
    assert_eq!(boxed.recv(), Ok(job(0, 2)));
    let feeding = thread::spawn(move || {
        thread::sleep(Duration::from_millis(5));
        sender.send(job(0, 3)).unwrap();
        sender
    });
    let mut select = Select::new();
    let at = select.recv(&mut boxed);
    assert_eq!(select.ready_timeout(LONG), Some(at));
    drop(select);
    assert_eq!(boxed.try_recv(), Ok(job(0, 3)));
    drop(feeding.join().unwrap());
}

/// In front of a worker: its stop comes after what was sent before, however many are in hand.
#[test]
fn worker_handles_what_was_sent_before_its_stop() {
    let (queue, invitation) = made(of_slots(8));
    let (mut sender, receiver) = (producer(&invitation), consumer(&invitation));
    let (begun, begins) = std::sync::mpsc::channel();
    let (go_on, gate) = std::sync::mpsc::channel::<()>();
    let handler = move |seen: &mut Vec<u64>, message: Job, _: bool| {
        seen.push(read(&message).1);
        begun.send(()).unwrap();
        _ = gate.recv();
    };
    let worker = Worker::builder(receiver, Vec::new()).spawn(handler).unwrap();
    (0..5).for_each(|number| sender.send(job(0, number)).unwrap());
    begins.recv().unwrap();
    worker.stop();
    drop(go_on);
    assert_eq!(worker.join().unwrap().context, [0, 1, 2, 3, 4]);
    assert_eq!((queue.len(), queue.is_closed()), (0, false));
}

#[test]
fn consumer_feeds_a_pipeline() {
    let (_queue, invitation) = made(of_slots(8).when_no_producer(WhenGone::Close));
    let (mut sender, receiver) = (producer(&invitation), consumer(&invitation));
    let (output, pipeline) = Pipeline::builder().source(receiver).then(|job: Job| job[1]).build();
    (0..20).for_each(|number| sender.send(job(0, number)).unwrap());
    drop(sender);
    assert_eq!(output.into_iter().collect::<Vec<_>>(), (0..20).collect::<Vec<_>>());
    let statistics = pipeline.stats();
    assert_eq!((statistics.edges[0].received, statistics.edges[0].depth), (20, 0));
    pipeline.join().unwrap();
}

/// A run that finds too little room is sent in part, and the rest comes back.
#[test]
fn batch_gives_back_the_rest() {
    let (queue, invitation) = made(of_slots(3));
    let (mut sender, mut receiver) = (producer(&invitation), consumer(&invitation));
    let jobs: Vec<Job> = (0..5).map(|number| job(0, number)).collect();
    assert_eq!(sender.try_send_batch(&jobs[..2]), Ok(()));
    assert_eq!(sender.try_send_batch(&jobs[2..]), Err(TrySendError::Full(&jobs[3..])));
    assert_eq!(receiver.recv(), Ok(jobs[0]));
    queue.close();
    assert_eq!(sender.try_send_batch(&jobs[3..]), Err(TrySendError::Closed(&jobs[3..])));
    assert_eq!(sender.try_send_batch(&[]), Ok(()));
    assert_eq!(receiver.iter().collect::<Vec<_>>(), jobs[1..3]);
}

/// A claim that waits has a deadline, and a select waits for room as for a message.
#[test]
fn claims_and_sends_wait_in_time() {
    let (_queue, invitation) = made(of_slots(1));
    let (mut sender, mut receiver) = (producer(&invitation), consumer(&invitation));
    assert_eq!(receiver.claim_until(Duration::ZERO).unwrap_err(), RecvTimeoutError::Timeout);
    sender.send(job(0, 0)).unwrap();
    let feeding = thread::spawn(move || {
        let mut select = Select::new();
        let at = select.send(&mut sender);
        assert_eq!(select.ready_timeout(LONG), Some(at));
        drop(select);
        annulus::select! { send(sender, job(0, 1)) -> sent => sent.unwrap() };
        annulus::select! { send(sender, job(0, 2)) -> sent => sent.unwrap() };
        sender
    });
    let claimed = receiver.claim_until(LONG).unwrap();
    assert_eq!(claimed.done(), job(0, 0));
    assert_eq!(receiver.recv_timeout(LONG), Ok(job(0, 1)));
    assert_eq!(receiver.recv_timeout(LONG), Ok(job(0, 2)));
    let mut sender = feeding.join().unwrap();
    sender.close();
    annulus::select! { send(sender, job(0, 3)) -> sent => assert_eq!(sent.unwrap_err().0, job(0, 3)) };
    assert_eq!(receiver.claim_until(LONG).unwrap_err(), RecvTimeoutError::Closed);
}

/// Each handle has a closer, which ends the queue for all, and does not keep a place.
#[test]
fn closers_of_each_handle() {
    fn is_over(handle: &impl Waitable) -> bool {
        handle.is_closed()
    }
    for which in 0..3 {
        let (queue, invitation) = made(of_slots(2));
        let (mut sender, receiver) = (producer(&invitation), consumer(&invitation));
        let closer = [queue.closer(), sender.closer(), receiver.closer()].into_iter().nth(which).unwrap();
        assert!(!queue.is_closed() && !is_over(&receiver));
        closer.close();
        assert!(queue.is_closed() && is_over(&receiver));
        assert_eq!(sender.try_send(job(0, 0)), Err(TrySendError::Closed(job(0, 0))));
    }
}

/// A process that only looks: by a handle of the queue, and by the name.
#[test]
fn queue_is_seen_from_outside() {
    let path = std::env::temp_dir().join(format!("annulus-mpmc-{}", std::process::id()));
    let directory = Directory::open(&path).unwrap();
    let (_queue, invitation) = made(of_slots(4).producers(3).consumers(2));
    let name = invitation.publish(&directory, "jobs").unwrap();
    let (mut one, mut other) = (producer(&invitation), producer(&invitation));
    let mut receiver = consumer(&invitation);
    (0..3).for_each(|number| one.send(job(0, number)).unwrap());
    other.send(job(1, 0)).unwrap();
    receiver.recv().unwrap();
    let queue = mpmc::queue::<Job>(&invitation).unwrap();
    assert_eq!((queue.len(), queue.capacity(), queue.given_again()), (3, 4, 0));
    let observer = RingObserver::of(&directory.find("jobs").unwrap()).unwrap();
    let numbers = observer.numbers().unwrap();
    assert_eq!((numbers.published, numbers.pending), (4, Some(3)));
    drop(name);
    std::fs::remove_dir_all(path).unwrap();
}

#[test]
fn handles_have_debug_forms() {
    let (queue, invitation) = made(of_slots(4));
    let (mut sender, mut receiver) = (producer(&invitation), consumer(&invitation));
    (0..2).for_each(|number| sender.send(job(0, number)).unwrap());
    drop(receiver.claim().unwrap());
    let claimed = receiver.claim().unwrap();
    let said = format!("Claimed {{ message: {:?}, given_before: 1, .. }}", job(0, 0));
    assert_eq!(format!("{claimed:?}"), said);
    let said = "Queue { len: 1, capacity: 4, given_again: 1, dropped: 0, closed: false, .. }";
    assert_eq!(format!("{queue:?}"), said);
    assert_eq!(format!("{sender:?}"), "Producer { len: 1, capacity: 4, closed: false, .. }");
    queue.close();
    assert_eq!(format!("{sender:?}"), "Producer { len: 1, capacity: 4, closed: true, .. }");
}

#[cfg(feature = "async")]
#[test]
fn tasks_wait() {
    let (_queue, invitation) = made(of_slots(1).when_no_producer(WhenGone::Close));
    let (mut sender, mut receiver) = (producer(&invitation), consumer(&invitation));
    let sending = thread::spawn(move || {
        for number in 0..50 {
            pollster::block_on(sender.send_async(job(0, number))).unwrap();
        }
    });
    for number in 0..50 {
        let claimed = pollster::block_on(receiver.claim_async()).unwrap();
        assert_eq!(claimed.done(), job(0, number));
    }
    assert!(pollster::block_on(receiver.recv_async()).is_err());
    sending.join().unwrap();

    // A task that waits for room learns of the end, and has its message back.
    let (queue, invitation) = made(of_slots(1));
    let (mut sender, _receiver) = (producer(&invitation), consumer(&invitation));
    sender.send(job(0, 0)).unwrap();
    queue.close();
    let refused = pollster::block_on(sender.send_async(job(0, 1))).unwrap_err();
    assert_eq!(refused.0, job(0, 1));
}

#[test]
fn refuses_what_cant_be() {
    for builder in [of_slots(4).producers(0), of_slots(4).consumers(1025)] {
        assert!(matches!(builder.build::<Job>().unwrap_err(), ShareError::Producers { most: 1024, .. }));
    }
    assert!(of_slots(0).build::<Job>().is_err() && of_slots(usize::MAX).build::<Job>().is_err());
    let (_queue, invitation) = made(of_slots(4));
    assert!(matches!(mpmc::producer::<[u64; 4]>(&invitation).unwrap_err(), AttachError::Type { .. }));
    let other = annulus::shm::mpsc::Builder::new(annulus::Settings::new(4)).build::<Job>().unwrap();
    assert!(matches!(mpmc::consumer::<Job>(&other.invitation).unwrap_err(), AttachError::Kind { .. }));
    assert_eq!(format!("{:?}", consumer(&invitation)), "Consumer { len: 0, closed: false, .. }");
}
