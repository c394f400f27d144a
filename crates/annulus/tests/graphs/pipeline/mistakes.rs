//! What the builder says where an end is lost, kept, or put where it does not belong: an error, and neither a
//! panic nor a standstill.

use std::cell::Cell;
use std::fmt::{self, Write};
use std::sync::{Arc, Mutex};

use annulus::pipeline::{BuildError, Node, Pipeline, Stages};

use crate::support::never_drop;

/// An end of a branch that has none.
const NONE: Vec<Stages<u64>> = Vec::new();

/// The error of a build with a branch of which `lose` makes nothing. The graph is drawn at each step.
fn lost(lose: impl FnOnce(Stages<u64>)) -> String {
    let (_input, stages) = Pipeline::builder().capacity(4).input::<u64>();
    let fork = stages.then(|x| x).name("before").fork(
        |stages| {
            lose(stages);
            NONE
        },
        |stages| stages.then(|x| x),
    );
    let _ = format!("{fork:?}");
    match fork.try_build() {
        Err(BuildError::Unconnected { stage }) => stage,
        built => panic!("{built:?}"),
    }
}

#[test]
fn end_that_is_lost_is_missed() {
    assert_eq!(lost(drop), "before");
    assert_eq!(lost(never_drop), "before");
    assert_eq!(lost(|s| drop(s.then(|x| x).name("lost"))), "lost");
    assert_eq!(lost(|s| drop(s.then_parallel(2, |x| x).name("lost"))), "lost");
    assert_eq!(lost(|s| drop(s.then_unordered(2, |x| x).name("lost"))), "lost");
    assert_eq!(lost(|s| drop(s.then(|x| x).name("lost").lossy())), "lost");
    assert_eq!(lost(|s| drop(s.fan_out(|x| x, |x| x).zip())), "then 2");
    assert_eq!(lost(|s| drop(s.fan_out(|x| x, |x| x).merge())), "then 2");
    assert_eq!(lost(|s| drop(s.branches(2, |_, s| s))), "forward 1");
    assert_eq!(lost(|s| drop(s.fork_cloned(2, |_, s| s))), "forward 1");
    assert_eq!(lost(|s| drop(s.branches_lossy(2, |_, _| NONE))), "forward 1");
    // In a function of the same pipeline.
    assert_eq!(
        lost(|s| drop(s.fork(
            |kept| {
                drop(kept.then(|x| x));
                NONE
            },
            |s| s
        ))),
        "then 2"
    );

    let (_input, stages) = Pipeline::builder().input::<u64>();
    let error = stages.branches(2, |_, _| NONE).try_build().unwrap_err();
    assert_eq!(
        error.to_string(),
        "nothing receives what \"input\" sends: an end behind it was dropped, or is not a part of what is built"
    );
    let (_producer, consumer) = annulus::spsc::channel::<u64>(4);
    let error = Pipeline::builder().source(consumer).branches(2, |_, _| NONE).try_build().unwrap_err();
    assert!(matches!(error, BuildError::Unconnected { stage } if stage == "forward 0"));
}

/// An end in a function of a stage of its own pipeline.
#[test]
fn end_in_a_function_is_missed() {
    let (_input, stages) = Pipeline::builder().input::<u64>();
    let kept = Cell::new(None);
    let fork = stages.fork(
        |s| {
            kept.set(Some(s));
            NONE
        },
        |s| {
            let kept = Mutex::new(kept.take());
            s.then(move |x| (x, &kept).0)
        },
    );
    assert!(matches!(fork.try_build(), Err(BuildError::Unconnected { .. })));
}

/// Two forks whose ends are in step with messages of their own: a pair would wait for ever.
#[test]
fn ends_of_two_forks_are_not_zipped() {
    let begin = || Pipeline::builder().capacity(4).input::<u64>().1;
    let kept = Cell::new(None);
    let keep = |s: Stages<u64>| {
        kept.set(Some(s));
        NONE
    };
    // All other ends are sinks, so this is the only mistake.
    let outer = |s: Stages<u64>| {
        drop(s.sink(drop));
        kept.take().unwrap()
    };
    let filter = |x: u64| (x > 10).then_some(x);
    let pairs = begin().fork(keep, |s| s.filter_map(filter).fork(outer, |s| s.then(|x| x)).zip());
    let error = pairs.try_build().unwrap_err();
    assert!(matches!(error, BuildError::AnotherFork), "{error:?}");
    assert_eq!(error.to_string(), "a zip is for the branches of one fork, and got an end of another");
    let pairs = begin().fork(keep, |s| s.filter_map(filter).fork(|s| s, |s| outer(s).then(|x| x)).zip());
    assert!(matches!(pairs.try_build(), Err(BuildError::AnotherFork)));
    let rows = begin().fork(keep, |s| {
        s.filter_map(filter).branches(3, |i, s| if i == 1 { outer(s) } else { s }).zip().then(|row| row.len())
    });
    assert!(matches!(rows.try_build(), Err(BuildError::AnotherFork)));
    // What comes out of a zip is in step with the outer fork, and no more with the inner one.
    let sum = |(x, y): (u64, u64)| x + y;
    let pairs = begin().fork(keep, |s| {
        s.filter_map(filter).fork(|s| outer(s).fan_out(|x| x, |x| x).zip().then(sum), |s| s).zip()
    });
    assert!(matches!(pairs.try_build(), Err(BuildError::AnotherFork)));
}

/// A zip is an end of the fork that is around it.
#[test]
fn forks_in_forks_are_zipped() {
    let (mut input, stages) = Pipeline::builder().capacity(4).input::<u64>();
    let inner = |s: Stages<u64>| s.fork(|s| s.fan_out(|x| x, |x| x * 2).zip(), |s| s.then(|x| x * 3)).zip();
    let rows = |s: Stages<u64>| s.branches(3, |_, s| s.fork_cloned(2, |_, s| s).zip()).zip();
    let (mut output, pipeline) = stages.then_parallel(2, |x| x + 1).fork(inner, rows).zip().build();
    for x in 1..20 {
        input.send(x - 1).unwrap();
        assert_eq!(output.recv(), Ok((((x, 2 * x), 3 * x), vec![vec![x, x]; 3])));
    }
    drop(input);
    pipeline.join().unwrap();
}

#[test]
fn end_of_another_pipeline_is_refused_in_both() {
    for joins in 0..4 {
        let (mut input, stages) = Pipeline::builder().capacity(4).input::<u64>();
        let (mut other_input, others) = Pipeline::builder().capacity(4).input::<u64>();
        let kept = Cell::new(None);
        let keep = |s: Stages<u64>| {
            kept.set(Some(s));
            NONE
        };
        // Its edges and stages have numbers that the other pipeline does not have.
        let rest = others.then(|x| x).then(|x| x).fork(keep, |s| s.then(|x| x));
        let fork = stages.fork(
            |s| s.then(|x| x),
            |s| {
                drop(s.sink(drop));
                kept.take().unwrap()
            },
        );
        let error = match joins {
            0 => fork.zip().then(|(x, y)| x + y).name("sum").core(0).try_build().unwrap_err(),
            1 => fork.merge().then_unordered(2, |x| x).lossy().try_build().unwrap_err(),
            2 => fork.then_b(|x| x).then_a(|x| x).zip().fork_cloned(2, |_, s| s).try_build().unwrap_err(),
            _ => fork.try_build().unwrap_err(),
        };
        assert!(matches!(error, BuildError::AnotherPipeline), "{error}");
        let _ = format!("{rest:?}");
        assert!(matches!(rest.try_build(), Err(BuildError::AnotherPipeline)));
        assert!(input.send(1).is_err() && other_input.send(1).is_err());
    }
}

/// What comes of an end that is used after the build, by any verb.
#[test]
fn end_is_used_after_the_build() {
    type Verb = fn(Stages<u64>) -> Option<BuildError>;
    let verbs: [Verb; 12] = [
        |s| s.try_build().err(),
        |s| s.then(|x| x).name("late").core(0).try_build().err(),
        |s| s.filter_map(Some).try_build().err(),
        |s| s.then_batch(|_, _: &mut Vec<u64>| {}).try_build().err(),
        |s| s.sink(drop).name("late").core(None).try_build().err(),
        |s| s.then_parallel(2, |x| x).cores([0]).try_build().err(),
        |s| s.then_unordered(2, |x| x).try_build().err(),
        |s| s.lossy().try_build().err(),
        |s| s.fan_out(|x| x, |x| x).then_a(|x| x).zip().try_build().err(),
        |s| s.branches(2, |_, s| s).merge().try_build().err(),
        |s| s.fork_cloned(2, |_, s| s.then(|x| x)).zip().try_build().err(),
        |s| s.branches_lossy(0, |_, s| s).try_build().err(),
    ];
    for verb in verbs {
        for is_built_inside in [false, true] {
            let (_input, stages) = Pipeline::builder().capacity(4).input::<u64>();
            let kept = Cell::new(None);
            let fork = stages.then(|x| x).fork(
                |s| {
                    kept.set(Some(s));
                    NONE
                },
                |s| {
                    if is_built_inside {
                        let error = s.then(|x| x).try_build().unwrap_err();
                        assert!(matches!(error, BuildError::Unconnected { .. }), "{error}");
                        return NONE;
                    }
                    vec![s]
                },
            );
            let built = fork.try_build();
            assert_eq!(matches!(built, Err(BuildError::AlreadyBuilt)), is_built_inside, "{built:?}");
            let late = kept.take().unwrap();
            let _ = format!("{late:?}");
            let error = verb(late);
            assert!(matches!(error, Some(BuildError::AlreadyBuilt)), "{error:?}");
        }
    }
}

/// A build in a closure takes all that is there, if nothing is missing. The outer one is too late.
#[test]
fn build_in_a_closure_is_the_only_one() {
    let (mut input, stages) = Pipeline::builder().capacity(4).input::<u64>();
    let pipeline = Cell::new(None);
    let fork = stages.fork(
        |s| s.sink(drop),
        |s| {
            pipeline.set(Some(s.sink(drop).build()));
            NONE
        },
    );
    let error = fork.try_build().unwrap_err();
    assert!(matches!(error, BuildError::AlreadyBuilt), "{error:?}");
    assert_eq!(error.to_string(), "the pipeline of this end was built before, or its build failed");
    input.send(1).unwrap();
    drop(input);
    pipeline.take().unwrap().join().unwrap();

    // And one of another pipeline is nothing to this one.
    let (mut input, stages) = Pipeline::builder().capacity(4).input::<u64>();
    let (mut output, pipeline) = stages
        .fork(
            |s| {
                let (mut input, stages) = Pipeline::builder().input::<u64>();
                let (mut output, pipeline) = stages.fan_out(|x| x, |x| x).zip().build();
                input.send(1).unwrap();
                drop(input);
                assert_eq!(output.recv(), Ok((1, 1)));
                pipeline.join().unwrap();
                s
            },
            |s| s,
        )
        .zip()
        .build();
    input.send(5).unwrap();
    assert_eq!(output.recv(), Ok((5, 5)));
    drop(input);
    pipeline.join().unwrap();
}

/// An end that functions of the user's look at, wherever the builder calls them.
#[derive(Clone)]
struct Looked(Arc<Mutex<Option<Stages<u64>>>>);

impl Looked {
    fn look(&self) {
        let end = self.0.lock().unwrap();
        let _ = format!("{end:?}");
    }
}

struct InClone(Looked);

impl Clone for InClone {
    fn clone(&self) -> Self {
        self.0.look();
        Self(self.0.clone())
    }
}

impl Drop for InClone {
    fn drop(&mut self) {
        self.0.look();
    }
}

impl From<InClone> for Option<usize> {
    fn from(looked: InClone) -> Self {
        looked.0.look();
        None
    }
}

struct InWrite<'l>(&'l Looked);

impl Write for InWrite<'_> {
    fn write_str(&mut self, _: &str) -> fmt::Result {
        self.0.look();
        Ok(())
    }
}

/// A `Clone`, a conversion, an iterator, a destructor or a writer may look at any end.
#[test]
fn functions_of_the_users_may_look_at_ends() {
    let (_input, stages) = Pipeline::builder().capacity(4).input::<u64>();
    let looked = Looked(Arc::new(Mutex::new(None)));
    let fork = stages.fork(
        |s| {
            *looked.0.lock().unwrap() = Some(s);
            NONE
        },
        |s| {
            let held = || InClone(looked.clone());
            let in_clone = held();
            let s = s.then_parallel(3, move |x| (x, &in_clone).0);
            let in_clone = held();
            let s = s.then_unordered(3, move |x| (x, &in_clone).0);
            let s = s.cores(std::iter::from_fn(|| held().into()));
            let in_clone = held();
            let s = s.then(move |x| (x, &in_clone).0).core(held());
            write!(InWrite(&looked), "{s:?}").unwrap();
            let sunk = s.sink(drop).core(held());
            write!(InWrite(&looked), "{sunk:?}").unwrap();
            sunk
        },
    );
    write!(InWrite(&looked), "{fork:?}").unwrap();
    assert!(matches!(fork.try_build(), Err(BuildError::Unconnected { .. })));
    // Else it would hold itself.
    *looked.0.lock().unwrap() = None;
}

/// A graph is a value that any code may change.
#[test]
fn graph_with_other_numbers_is_drawn() {
    let (_input, stages) = Pipeline::builder().capacity(4).input::<u64>();
    let (_output, pipeline) = stages.then(|x| x).build();
    let mut graph = pipeline.describe().clone();
    graph.edges[0].to = Node::Stage(usize::MAX);
    graph.edges[1].from = Node::Stage(7);
    assert!(graph.to_string().ends_with("stage 7 -> output: spsc, 4 slots\n"), "{graph}");
    assert!(
        graph.mermaid().contains("stage7[\"stage 7\"]") && graph.graphviz().contains("stage7 -> output0")
    );
}
