//! Several values of the user's that lie in one place of the library's, and whose destructors panic: a batch
//! of a stage, what a stage never built has in it, the handler of a worker and its context. All go, the
//! process goes on, and the first panic is told where panics are told.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::channel;
use std::time::Duration;

use annulus::pipeline::{Input, JoinError, Pipeline, Stages};
use annulus::{Worker, event, spsc};

use super::drops::{Grumpy, MASKS, Maker};
use crate::every::without_standing_still;

/// A number of a core that no machine has.
const NO_CORE: usize = 1_000_000;

fn panics() -> ! {
    resume_unwind(Box::new("on purpose"))
}

/// What is behind: the destructor of one of the values has panicked, if any does.
#[track_caller]
fn assert_told<T, E>(ended: &Result<T, E>, maker: &Maker) {
    assert_eq!(ended.is_err(), maker.has_made_grumpy(), "{:b}", maker.mask);
}

/// A drop that may panic, and goes on in the test.
fn drop_caught<T>(value: T) -> std::thread::Result<()> {
    catch_unwind(AssertUnwindSafe(|| drop(value)))
}

/// What fills the first `count` of a batch that has so many messages, once.
fn fill(maker: &Maker, count: usize) -> impl FnMut(&mut [Option<Grumpy>]) -> bool + Send + 'static {
    let (maker, mut is_done) = (maker.clone(), false);
    move |messages| {
        let fills = messages.len() >= count && !is_done;
        if fills {
            messages[..count].fill_with(|| Some(maker.make()));
            is_done = true;
        }
        fills
    }
}

/// Runs a pipeline whose function says when it has done what it was to do.
fn run(
    build: impl FnOnce(Stages<Option<Grumpy>>, Box<dyn Fn() + Send>) -> Pipeline,
) -> Result<(), JoinError> {
    let (mut input, stages) = Pipeline::builder().capacity(256).input();
    let (tell, told) = channel();
    let pipeline = build(stages, Box::new(move || _ = tell.send(())));
    // A batch begins with one message, and grows where there are more.
    while told.try_recv().is_err() && input.send(None).is_ok() {}
    drop(input);
    pipeline.join()
}

/// A place, and what puts values there that are dropped before it returns.
type Place = (&'static str, fn(&Maker));

const IN_STAGES: [Place; 8] = [
    ("a batch behind its function", |maker| {
        let mut fill = fill(maker, 3);
        let ended = run(|stages, tell| {
            stages
                .sink_batch(move |messages| {
                    if fill(messages) {
                        tell();
                    }
                })
                .build()
        });
        assert_told(&ended, maker);
    }),
    ("a batch whose function panics", |maker| {
        let mut fill = fill(maker, 3);
        let ended = run(|stages, _| {
            stages
                .sink_batch(move |messages| {
                    if fill(messages) {
                        panics();
                    }
                })
                .build()
        });
        assert_eq!(ended.unwrap_err().panics()[0].message, "on purpose");
    }),
    ("results of a batch that nothing receives", |maker| {
        let make = maker.clone();
        let (mut input, stages) = Pipeline::builder().input();
        let (output, pipeline) = stages
            .then_batch(move |_: &mut [()], results| results.extend((0..3).map(|_| make.make())))
            .build();
        drop(output);
        // It ends also where it has noticed the end of the output before.
        _ = input.send(());
        drop(input);
        assert_told(&pipeline.join(), maker);
    }),
    ("results that nothing receives, behind a panic", |maker| {
        let (make, (go, goes)) = (maker.clone(), channel::<()>());
        let (mut input, stages) = Pipeline::builder().input();
        let (output, pipeline) = stages
            .then_batch(move |_: &mut [()], results| {
                goes.recv().unwrap();
                results.extend((0..3).map(|_| make.make()));
                panics()
            })
            .build();
        input.send(()).unwrap();
        drop(output);
        _ = go.send(());
        drop(input);
        let ended = pipeline.join();
        assert!(maker.made() == 0 || ended.unwrap_err().panics()[0].message == "on purpose");
    }),
    ("results of one message that nothing receives", |maker| {
        let make = maker.clone();
        let (mut input, stages) = Pipeline::builder().input();
        let (output, pipeline) = stages.flat_map(move |()| [make.make(), make.make()]).build();
        drop(output);
        _ = input.send(());
        drop(input);
        assert_told(&pipeline.join(), maker);
    }),
    ("rows that lack one", |maker| {
        let maker = maker.clone();
        let (mut input, stages) = Pipeline::builder().input();
        let (output, pipeline) = stages
            .branches(3, |branch, stages| {
                let maker = maker.clone();
                stages.then(move |_: u8| if branch == 2 { panics() } else { maker.make() })
            })
            .zip()
            .build();
        _ = input.send(0).and_then(|()| input.send(1));
        drop(input);
        assert!(pipeline.join().is_err());
        drop(output);
    }),
    ("pairs that lack one", |maker| {
        let maker = maker.clone();
        let (mut input, stages) = Pipeline::builder().input();
        let (output, pipeline) =
            stages.fan_out(move |_: u8| maker.make(), |_| -> Grumpy { panics() }).zip().build();
        _ = input.send(0).and_then(|()| input.send(1));
        drop(input);
        assert!(pipeline.join().is_err());
        drop(output);
    }),
    ("a message whose clone panics", |maker| {
        struct NoClone(#[allow(dead_code, reason = "it is dropped")] Grumpy);
        impl Clone for NoClone {
            fn clone(&self) -> Self {
                panics()
            }
        }
        let (mut input, stages) = Pipeline::builder().input();
        let (outputs, pipeline) = stages.then(|message| message).fork_cloned(2, |_, stages| stages).build();
        _ = input.send(NoClone(maker.make()));
        drop(input);
        assert_eq!(pipeline.join().unwrap_err().panics()[0].message, "on purpose");
        drop(outputs);
    }),
];

/// A function whose second clone panics. Each clone has a value of its own.
struct Clones(Maker, #[allow(dead_code, reason = "it is dropped")] Grumpy);

impl Clone for Clones {
    fn clone(&self) -> Self {
        if self.0.made() == 2 {
            panics();
        }
        Self(self.0.clone(), self.0.make())
    }
}

/// Adds a stage of several threads, which panics.
fn add_cloned<E>(maker: &Maker, add: impl FnOnce(Stages<u8>, Clones) -> E) {
    let (input, stages) = input();
    let function = Clones(maker.clone(), maker.make());
    let added = catch_unwind(AssertUnwindSafe(|| drop(add(stages, function))));
    assert_eq!(added.unwrap_err().downcast_ref(), Some(&"on purpose"));
    drop(input);
}

/// A function that holds a value.
fn holds(maker: &Maker) -> impl FnMut(u8) -> u8 + Send + 'static {
    let held = maker.make();
    move |x| (&held, x).1
}

fn input<T: Send + 'static>() -> (Input<T>, Stages<T>) {
    Pipeline::builder().capacity(8).input()
}

const NOT_BUILT: [Place; 7] = [
    ("what does not fit into the ring of an input", |maker| {
        let (mut input, stages) = input();
        (0..8).for_each(|_| input.send(maker.make()).map_err(drop).unwrap());
        let built = drop_caught_error(|| stages.capacity(2).sink(drop).try_build());
        let dropped = drop_caught(input);
        assert_eq!(built.is_err() || dropped.is_err(), maker.has_made_grumpy());
    }),
    ("stages", |maker| {
        let (input, stages) = input();
        let stages = stages.then(holds(maker)).then(holds(maker)).then(holds(maker));
        let dropped = drop_caught(stages);
        drop(input);
        assert_told(&dropped, maker);
    }),
    ("a stage in front of which messages wait", |maker| {
        let (mut input, stages) = input();
        (0..3).for_each(|_| input.send(Some(maker.make())).map_err(drop).unwrap());
        let held = maker.make();
        let stages = stages.then(move |message| (&held, message).1).then(|message| message);
        let dropped = drop_caught(stages);
        drop(input);
        assert_told(&dropped, maker);
    }),
    ("branches", |maker| {
        let (input, stages) = input();
        let fork = stages.fan_out(holds(maker), holds(maker));
        let dropped = drop_caught(fork);
        drop(input);
        assert_told(&dropped, maker);
    }),
    ("stages one of whose threads can't begin", |maker| {
        let (input, stages) = input();
        let stages = stages.then(holds(maker)).core(NO_CORE).then(holds(maker)).then(holds(maker));
        // Some destructors run on threads that end without a word.
        _ = drop_caught_error(|| stages.sink(drop).try_build());
        drop(input);
    }),
    ("clones of the function of a parallel stage", |maker| {
        add_cloned(maker, |stages, clones| stages.then_parallel(3, move |x| (&clones, x).1));
    }),
    ("clones of the function of an unordered stage", |maker| {
        add_cloned(maker, |stages, clones| stages.then_unordered(3, move |x| (&clones, x).1));
    }),
];

/// Calls what fails, and drops the error.
fn drop_caught_error<T, E>(fails: impl FnOnce() -> Result<T, E>) -> std::thread::Result<()> {
    catch_unwind(AssertUnwindSafe(|| assert!(fails().is_err(), "it can't be built")))
}

const IN_WORKERS: [Place; 4] = [
    ("the handler and the idle callback", |maker| {
        let (producer, consumer) = spsc::channel::<u8>(4);
        let (idle, mut handler) = (maker.make(), holds(maker));
        let worker = Worker::builder(consumer, ())
            .on_idle(Duration::from_secs(3600), move |()| _ = &idle)
            .spawn(move |(), message, _| _ = handler(message))
            .unwrap();
        drop(producer);
        assert_told(&worker.join(), maker);
    }),
    ("the context of a handler that panics", |maker| {
        let (mut producer, consumer) = spsc::channel(4);
        let mut handler = holds(maker);
        let worker = Worker::builder(consumer, maker.make())
            .spawn(move |_, message, _| {
                handler(message);
                panics()
            })
            .unwrap();
        producer.send(0).unwrap();
        drop(producer);
        let panic = worker.join().map(drop).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"on purpose"));
    }),
    ("a builder", |maker| {
        let (_producer, consumer) = spsc::channel::<u8>(4);
        let idle = maker.make();
        let builder =
            Worker::builder(consumer, maker.make()).on_idle(Duration::from_secs(3600), move |_| _ = &idle);
        assert_told(&drop_caught(builder), maker);
    }),
    ("an error that has the builder", |maker| {
        let (_producer, consumer) = spsc::channel::<u8>(4);
        let mut handler = holds(maker);
        let failed = Worker::builder(consumer, maker.make())
            .core(NO_CORE)
            .spawn(move |_, message, _| _ = handler(message));
        let Err(error) = failed else { panic!("there is such a core") };
        assert_told(&drop_caught(error), maker);
    }),
];

const IN_RINGS_OF_EVENTS: [Place; 3] = [
    ("a publisher and what the factory holds", |maker| {
        let (held, make) = (maker.make(), maker.clone());
        let (publisher, source) = event::mp_channel(4, move || (&held, make.make()).1);
        assert_told(&drop_caught((source, publisher)), maker);
    }),
    ("a factory of many publishers that panics", |maker| {
        let (held, make) = (maker.make(), maker.clone());
        let factory = move || if make.made() == 3 { panics() } else { (&held, make.make()).1 };
        let ring = catch_unwind(AssertUnwindSafe(|| drop(event::mp_channel(4, factory))));
        assert_eq!(ring.unwrap_err().downcast_ref(), Some(&"on purpose"));
    }),
    ("a factory that panics", |maker| {
        let (held, make) = (maker.make(), maker.clone());
        let factory = move || if make.made() == 3 { panics() } else { (&held, make.make()).1 };
        let ring = catch_unwind(AssertUnwindSafe(|| drop(event::channel(4, factory))));
        assert_eq!(ring.unwrap_err().downcast_ref(), Some(&"on purpose"));
    }),
];

#[track_caller]
fn assert_all_go(places: &[Place]) {
    for &(place, fill) in places {
        for mask in MASKS {
            without_standing_still(move || {
                let maker = Maker::new(mask);
                fill(&maker);
                maker.assert_all_gone(place);
            });
        }
    }
}

#[test]
fn destructors_that_panic_keep_no_other_value_of_a_stage() {
    assert_all_go(&IN_STAGES);
}

#[test]
fn destructors_that_panic_keep_no_other_value_of_what_is_not_built() {
    assert_all_go(&NOT_BUILT);
}

#[test]
fn destructors_that_panic_keep_no_other_value_of_a_worker() {
    assert_all_go(&IN_WORKERS);
}

#[test]
fn destructors_that_panic_keep_no_other_value_of_a_publisher_of_events() {
    assert_all_go(&IN_RINGS_OF_EVENTS);
}
