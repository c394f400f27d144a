//! Owned values go exactly once, whichever handle goes last, and whatever panics on the way.

#![allow(clippy::disallowed_types, reason = "what the test counts is none of the library's atomics")]

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use annulus::oneshot;
use annulus::queue::kind::AnyKind;
use annulus::queue::{Consumer, Producer};

use crate::every::join;

/// How many values were made, and how many are gone.
#[derive(Default)]
struct Count {
    made: AtomicUsize,
    gone: AtomicUsize,
}

impl Count {
    fn alive(&self) -> usize {
        self.made.load(Ordering::Relaxed) - self.gone.load(Ordering::Relaxed)
    }
}

/// A value that counts. What it owns would be freed twice, or never, where the count is wrong.
struct Counted {
    count: Arc<Count>,
    text: String,
    here: bool,
}

impl Counted {
    fn new(count: &Arc<Count>) -> Self {
        count.made.fetch_add(1, Ordering::Relaxed);
        Self { count: Arc::clone(count), text: String::new(), here: true }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        assert!(std::mem::replace(&mut self.here, false), "dropped twice");
        self.count.gone.fetch_add(1, Ordering::Relaxed);
    }
}

/// A factory of such values.
fn factory(count: &Arc<Count>) -> impl Fn() -> Counted + Send + Sync + use<> {
    let count = Arc::clone(count);
    move || Counted::new(&count)
}

#[test]
fn last_handle_takes_the_events_with_it() {
    for last in 0..3 {
        let count = Arc::default();
        let (mut publisher, subscribable) = annulus::event::channel(5, factory(&count));
        let subscriber = subscribable.subscribe();
        (0..5).for_each(|number| publisher.publish(|event| event.text = number.to_string()).unwrap());
        assert_eq!(count.alive(), 5);
        let mut handles: [Box<dyn Send>; 3] =
            [Box::new(publisher), Box::new(subscribable), Box::new(subscriber)];
        handles.rotate_left(last);
        for (left, handle) in (0..3).rev().zip(handles) {
            drop(handle);
            assert_eq!(count.alive(), if left == 0 { 0 } else { 5 });
        }
        assert_eq!(count.made.load(Ordering::Relaxed), 5);
    }
}

/// Each of many publishers has an event of its own, which goes with it; swapping loses none.
#[test]
fn spares_go_with_their_publishers() {
    let count = Arc::default();
    let (publisher, subscribable) = annulus::event::mp_channel(5, factory(&count));
    let mut subscriber = subscribable.subscribe();
    assert_eq!(count.alive(), 6);
    let publishers: Vec<_> = (0..3).map(|_| publisher.clone()).collect();
    assert_eq!(count.alive(), 9);
    let threads: Vec<_> = publishers
        .into_iter()
        .map(|mut publisher| {
            thread::spawn(move || {
                (0..50)
                    .for_each(|number| publisher.publish(|event| event.text = number.to_string()).unwrap());
            })
        })
        .collect();
    drop(publisher);
    let mut received = 0;
    while let Ok(length) = subscriber.process(|event| event.text.len()) {
        assert!(length > 0);
        received += 1;
    }
    join(threads);
    assert_eq!((received, count.alive()), (150, 5));
    drop((subscriber, subscribable));
    assert_eq!((count.alive(), count.made.load(Ordering::Relaxed)), (0, 9));
}

/// A value that a closure replaces goes at once; panics on either side lose none and free none twice.
#[test]
fn panics_lose_nothing_and_free_nothing_twice() {
    let count = Arc::default();
    let make = factory(&count);
    {
        let (mut publisher, subscribable) = annulus::event::channel(3, &make);
        let mut subscriber = subscribable.subscribe();
        publisher.publish(|event| *event = make()).unwrap();
        assert_eq!(count.alive(), 3);
        let panicking = |event: &mut Counted| {
            *event = make();
            resume_unwind(Box::new("on purpose"))
        };
        catch_unwind(AssertUnwindSafe(|| publisher.publish(panicking).unwrap())).unwrap_err();
        let process = || subscriber.process(|_| resume_unwind(Box::new("on purpose")));
        catch_unwind(AssertUnwindSafe(process)).unwrap_err();
        assert_eq!(count.alive(), 3);
    }
    assert_eq!(count.alive(), 0);
    {
        let (mut publisher, subscribable) = annulus::event::mp_channel(3, factory(&count));
        let _subscriber = subscribable.subscribe();
        let panicking = |_: &mut Counted| resume_unwind(Box::new("on purpose"));
        catch_unwind(AssertUnwindSafe(|| publisher.publish(panicking).unwrap())).unwrap_err();
        (0..3).for_each(|_| publisher.publish(|_| ()).unwrap());
        assert!(publisher.try_publish(|_| ()).is_err());
        assert_eq!(count.alive(), 4);
    }
    assert_eq!(count.alive(), 0);
}

/// Makes `most` values, then panics.
fn until(count: &Arc<Count>, most: usize) -> impl Fn() -> Counted + Send + Sync + use<> {
    let count = Arc::clone(count);
    move || {
        if count.made.load(Ordering::Relaxed) == most {
            resume_unwind(Box::new("on purpose"));
        }
        Counted::new(&count)
    }
}

/// A factory that panics: no ring, nothing left behind; a clone that can't be made leaves the original as it
/// was.
#[test]
fn factory_that_panics_leaves_nothing_behind() {
    let count = Arc::default();
    catch_unwind(|| drop(annulus::event::channel(5, until(&count, 3)))).unwrap_err();
    assert_eq!(count.alive(), 0);
    for most in [8, 10] {
        // In the middle of the slots, and at the publisher's own event.
        let most = count.made.load(Ordering::Relaxed) + most - 5;
        catch_unwind(|| drop(annulus::event::mp_channel(5, until(&count, most)))).unwrap_err();
        assert_eq!(count.alive(), 0);
    }
    let most = count.made.load(Ordering::Relaxed) + 6;
    let (mut publisher, subscribable) = annulus::event::mp_channel(5, until(&count, most));
    let mut subscriber = subscribable.subscribe();
    catch_unwind(AssertUnwindSafe(|| drop(publisher.clone()))).unwrap_err();
    assert!(!subscriber.is_closed());
    publisher.publish(|event| event.text.push('a')).unwrap();
    assert_eq!(subscriber.try_process(|event| event.text.len()), Ok(1));
    drop(publisher);
    assert!(subscriber.is_closed(), "the clone that was not made counts for nothing");
    drop((subscriber, subscribable));
    assert_eq!(count.alive(), 0);
}

/// A value whose destructor may panic, with its number.
pub(super) struct Grumpy {
    number: usize,
    panics: bool,
    _counted: Counted,
    /// Somebody waits to hear of this value.
    _asker: Mutex<oneshot::Sender<()>>,
}

impl Drop for Grumpy {
    fn drop(&mut self) {
        if self.panics {
            resume_unwind(Box::new(self.number));
        }
    }
}

/// Makes such values. The destructors of those panic whose number has a bit in the mask.
#[derive(Clone)]
pub(super) struct Maker {
    count: Arc<Count>,
    asked: Arc<Mutex<Vec<oneshot::Receiver<()>>>>,
    pub(super) mask: u32,
}

impl Maker {
    pub(super) fn new(mask: u32) -> Self {
        Self { count: Arc::default(), asked: Arc::default(), mask }
    }

    pub(super) fn make(&self) -> Grumpy {
        let number = self.count.made.load(Ordering::Relaxed);
        let (asker, asked) = oneshot::channel();
        self.asked.lock().unwrap().push(asked);
        let panics = self.mask >> number & 1 != 0;
        Grumpy { number, panics, _counted: Counted::new(&self.count), _asker: Mutex::new(asker) }
    }

    /// How many were made.
    pub(super) fn made(&self) -> usize {
        self.count.made.load(Ordering::Relaxed)
    }

    /// Whether one was made whose destructor panics.
    pub(super) fn has_made_grumpy(&self) -> bool {
        (0..self.made()).any(|number| self.mask >> number & 1 != 0)
    }

    /// All values are gone, each once, and each waiter was told.
    pub(super) fn assert_all_gone(&self, ring: &str) {
        assert_eq!(self.count.alive(), 0, "{ring}, {:b}", self.mask);
        for asked in &mut *self.asked.lock().unwrap() {
            assert_eq!(asked.try_recv(), Err(annulus::TryRecvError::Closed), "{ring}, {:b}", self.mask);
        }
    }
}

/// The handles of a ring with values in it: first those that write, then those that read.
type Handles = [Vec<Box<dyn Any>>; 2];

/// The slots of each ring.
const ROOM: usize = 5;

fn boxed<H: 'static>(handles: impl IntoIterator<Item = H>) -> Vec<Box<dyn Any>> {
    handles.into_iter().map(|handle| Box::new(handle) as Box<dyn Any>).collect()
}

/// Fills the rings of all `producers`. The messages lie around the end of the storage.
fn filled<K: AnyKind>(
    mut producers: Vec<Producer<Option<Grumpy>, K>>,
    mut consumer: Consumer<Option<Grumpy>, K>,
    another: impl Fn(&Consumer<Option<Grumpy>, K>) -> Option<Consumer<Option<Grumpy>, K>>,
    maker: &Maker,
) -> Handles {
    for producer in &mut producers {
        (0..3).for_each(|_| producer.try_send(None).map_err(drop).unwrap());
    }
    while consumer.try_recv().is_ok() {}
    for producer in &mut producers {
        (0..ROOM).for_each(|_| producer.try_send(Some(maker.make())).map_err(drop).unwrap());
    }
    let other = another(&consumer);
    [boxed(producers), boxed(other.into_iter().chain([consumer]))]
}

/// What makes a ring with values.
type Fill = fn(&Maker) -> Handles;

/// Each ring that owns values, and what fills it; whether it drops them with the last handle that reads.
const RINGS: [(&str, bool, Fill); 8] = [
    ("spsc", true, |maker| {
        let (producer, consumer) = annulus::spsc::channel(ROOM);
        filled(vec![producer], consumer, |_| None, maker)
    }),
    ("mpsc with one producer", true, |maker| {
        let (producer, consumer) = annulus::mpsc::channel(ROOM);
        filled(vec![producer], consumer, |_| None, maker)
    }),
    ("mpsc", true, |maker| {
        let (producer, consumer) = annulus::mpsc::channel(ROOM);
        filled(vec![producer.clone(), producer.clone(), producer], consumer, |_| None, maker)
    }),
    ("spmc", true, |maker| {
        let (producer, consumer) = annulus::spmc::channel(ROOM);
        filled(vec![producer], consumer, |consumer| Some(consumer.clone()), maker)
    }),
    ("mpmc", true, |maker| {
        let (producer, consumer) = annulus::mpmc::channel(ROOM);
        let producers = vec![producer.clone(), producer.clone(), producer];
        filled(producers, consumer, |consumer| Some(consumer.clone()), maker)
    }),
    ("ordered", true, |maker| {
        let (sender, receiver) = annulus::queue::ordered::channel(ROOM);
        (0..ROOM).for_each(|_| sender.try_send(maker.make()).map_err(drop).unwrap());
        [boxed([sender.clone(), sender]), boxed([receiver.clone(), receiver])]
    }),
    ("events", false, |maker| {
        let (publisher, source) = annulus::event::channel(ROOM, || maker.make());
        let subscriber = source.subscribe();
        [boxed([publisher]), boxed([source]).into_iter().chain(boxed([subscriber])).collect()]
    }),
    ("events of many publishers", false, |maker| {
        let maker = maker.clone();
        let (publisher, source) = annulus::event::mp_channel(ROOM, move || maker.make());
        let subscriber = source.subscribe();
        let publishers = boxed([publisher.clone(), publisher]);
        [publishers, boxed([source]).into_iter().chain(boxed([subscriber])).collect()]
    }),
];

/// None, some and all of the first, and those of one lane only.
pub(super) const MASKS: [u32; 7] = [0, 0b1, 0b100, 0b11000, 0b1110_0000, 0x5555_5555, !0];

/// Destructors that panic keep no other value: neither in a ring whose readers are gone, nor in one that
/// goes. The first panic goes on.
#[test]
fn destructors_that_panic_keep_no_other_value() {
    for (ring, with_readers, fill) in RINGS {
        for mask in MASKS {
            for readers_first in [true, false] {
                let maker = Maker::new(mask);
                let mut handles = fill(&maker);
                if readers_first {
                    handles.reverse();
                }
                let mut panics = Vec::new();
                for (turn, side) in handles.into_iter().enumerate() {
                    let drop_one = |handle| catch_unwind(AssertUnwindSafe(|| drop::<Box<dyn Any>>(handle)));
                    panics.extend(side.into_iter().filter_map(|handle| drop_one(handle).err()));
                    if with_readers && (readers_first || turn == 1) {
                        maker.assert_all_gone(ring);
                    }
                }
                maker.assert_all_gone(ring);
                let panicked = |number: &usize| mask >> number & 1 != 0;
                assert_eq!(panics.is_empty(), !maker.has_made_grumpy(), "{ring}, {mask:b}");
                for panic in panics {
                    assert!(
                        panicked(panic.downcast_ref().unwrap()),
                        "{ring}, {mask:b}: the panic of another"
                    );
                }
            }
        }
    }
}

/// A thread that panics and has the handles of a ring drops its values, and ends by its own panic.
#[test]
fn destructors_that_panic_in_a_panic_are_passed_over() {
    for (ring, _, fill) in RINGS {
        // (Not those of the events that the publishers have by themselves.)
        let maker = Maker::new(0b11011);
        let panic = catch_unwind(AssertUnwindSafe(|| {
            let _handles = fill(&maker);
            resume_unwind(Box::new("on purpose"))
        }));
        assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"on purpose"), "{ring}");
        maker.assert_all_gone(ring);
    }
}

/// What is written in a reservation and can't be sent, and what a consumer passes over.
#[test]
fn destructors_that_panic_keep_no_other_value_of_a_batch() {
    for mask in MASKS {
        let maker = Maker::new(mask);
        let (mut producer, consumer) = annulus::spsc::channel(ROOM);
        let reservation = producer.try_reserve(ROOM).unwrap();
        drop(consumer);
        let values = (0..ROOM).map(|_| maker.make());
        let unsent = catch_unwind(AssertUnwindSafe(|| assert_eq!(reservation.write_iter(values), 0)));
        assert_eq!(unsent.is_err(), mask & 0b11111 != 0);
        maker.assert_all_gone("a reservation in a closed queue");

        let maker = Maker::new(mask);
        let (mut producer, _consumer) = annulus::spsc::channel(ROOM);
        let reservation = producer.try_reserve(ROOM).unwrap();
        let values =
            (0..ROOM).map(|number| if number < 3 { maker.make() } else { resume_unwind(Box::new("made")) });
        let panic = catch_unwind(AssertUnwindSafe(|| reservation.write_iter(values)));
        assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"made"));
        maker.assert_all_gone("a reservation whose iterator panics");

        let maker = Maker::new(mask);
        let (mut producer, mut consumer) = annulus::spsc::channel(ROOM);
        (0..ROOM).for_each(|_| producer.try_send(maker.make()).map_err(drop).unwrap());
        assert_eq!(consumer.readable().len(), ROOM);
        let passed = catch_unwind(AssertUnwindSafe(|| consumer.advance(3)));
        assert_eq!(passed.is_err(), mask & 0b111 != 0);
        assert_eq!((maker.count.alive(), consumer.len()), (2, 2));
        catch_unwind(AssertUnwindSafe(|| drop(consumer))).ok();
        maker.assert_all_gone("messages that are passed over");
    }
}
