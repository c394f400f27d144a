//! Which cores the threads of a stage run on.

use annulus::pipeline::{BuildError, Pipeline};
use annulus::{WaitStrategy, spmc};

use crate::support::threads::{soon, threads};

#[test]
#[cfg(all(target_os = "linux", not(miri)))]
fn threads_run_on_their_cores() {
    use rustix::thread::{CpuSet, sched_getaffinity};
    let cores = || {
        let allowed = sched_getaffinity(None).unwrap();
        (0..CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core)).collect::<Vec<_>>()
    };
    let all = cores();
    let (first, last) = (all[0], all[all.len() - 1]);
    let (seen, sunk) = std::sync::mpsc::channel();
    let (mut input, stages) = Pipeline::builder().capacity(8).input::<Vec<Vec<usize>>>();
    let see = move |mut lists: Vec<Vec<usize>>| {
        lists.push(cores());
        lists
    };
    let pipeline = stages
        .then(see)
        .core(last)
        .then(see)
        .core(None)
        .then_parallel(2, see)
        .cores([first, last])
        .sink(move |lists| seen.send((lists, cores())).unwrap())
        .core(first)
        .build();
    input.send(Vec::new()).unwrap();
    input.send(Vec::new()).unwrap();
    // They take turns.
    assert_eq!(sunk.recv(), Ok((vec![vec![last], all.clone(), vec![first]], vec![first])));
    assert_eq!(sunk.recv(), Ok((vec![vec![last], all.clone(), vec![last]], vec![first])));
    assert_eq!(cores(), all, "this thread runs where it ran");
    let text = pipeline.describe().to_string();
    for name in [
        format!("input -> then 0 (core {last}): spsc, 8 slots\n"),
        format!("then 0 (core {last}) -> then 1: spsc, 8 slots\n"),
        format!("then 1 -> parallel 2 (2 threads, cores [{first}, {last}]): "),
        format!("parallel 2 (2 threads, cores [{first}, {last}]) -> sink 3 (core {first}): "),
    ] {
        assert!(text.contains(&name), "{name} is not in {text}");
    }
    let given: Vec<_> = pipeline.describe().stages.iter().map(|stage| stage.cores.clone()).collect();
    assert_eq!(given, [vec![last], vec![], vec![first, last], vec![first]]);
    drop(input);
    pipeline.join().unwrap();
}

/// No thread is left, nothing was taken from the source, and the error names the core.
#[test]
fn a_core_that_is_not_there_fails_the_build() {
    for core in [100_000, 1023] {
        let (mut producer, consumer) = spmc::channel::<u64>(8);
        let mut other = consumer.clone();
        (0..8).for_each(|x| producer.send(x).unwrap());
        let (held, gate) = std::sync::mpsc::channel::<()>();
        let error = Pipeline::builder()
            .wait_strategy(WaitStrategy::block())
            .source(consumer)
            .then(move |x| (x, &held).0)
            .name("uncored")
            .then_unordered(2, |x| x)
            .name("uncored 2")
            .then(|x| x)
            .name("cored")
            .core(core)
            .try_build()
            .unwrap_err();
        soon(|| threads("uncored") == 0);
        assert_eq!(gate.try_recv(), Err(std::sync::mpsc::TryRecvError::Disconnected));
        let text = error.to_string();
        assert!(text.starts_with(&format!("can't run the stage \"cored\" on CPU {core}: ")), "{text}");
        let is_linux = cfg!(all(target_os = "linux", not(miri)));
        assert!(!is_linux || text.contains(" (this thread may run on [0"), "{text}");
        let BuildError::Core { stage, error } = error else { panic!("{error}") };
        assert_eq!((stage.as_str(), error.cpus()), ("cored", &[core][..]));
        drop(producer);
        assert_eq!(other.iter().collect::<Vec<_>>(), (0..8).collect::<Vec<_>>());
    }
}

/// One of several threads.
#[test]
fn one_missing_core_of_several_fails_the_build() {
    let (mut input, stages) = Pipeline::builder().input::<u64>();
    let stages = stages.then_unordered(2, |x| x).name("both").cores([0, 100_000]);
    let error = stages.try_build().unwrap_err();
    let BuildError::Core { error, .. } = error else { panic!("{error}") };
    assert!(matches!(error.cpus(), [100_000 | 0]), "{error}");
    soon(|| threads("both") == 0);
    assert!(input.send(1).is_err());
}

#[test]
fn cores_are_for_a_stage_and_as_many_as_its_threads() {
    let (_input, stages) = Pipeline::builder().input::<u64>();
    let error = stages.core(3).then(|x| x).try_build().unwrap_err().to_string();
    assert_eq!(error, "`core(3)` is for no stage: it follows the verb that adds one");

    let (_input, stages) = Pipeline::builder().input::<u64>();
    let error = stages.fan_out(|x| x, |x| x).merge().cores([1, 2]).try_build().unwrap_err().to_string();
    assert_eq!(error, "`cores([1, 2])` is for no stage: it follows the verb that adds one");

    let (_input, stages) = Pipeline::builder().input::<u64>();
    let error = stages.then_unordered(3, |x| x).core(0).try_build().unwrap_err().to_string();
    assert_eq!(
        error,
        "the stage \"unordered 0\" needs a core for each of its 3 threads, or none, and got [0]"
    );
}
