//! Ten thousand pipelines that are built, or nearly, and dropped: no thread is left, and no memory.
#![cfg(all(feature = "std", not(any(miri, annulus_loom))))]

use crate::counting::bytes_of_all;
use crate::support::threads::{soon, threads};
use annulus::pipeline::{BuildError, Pipeline};

/// Builds and drops a pipeline with a message of its own memory in it.
fn build_and_drop(round: usize) {
    let (mut input, stages) = Pipeline::builder().capacity(4).input::<Vec<u64>>();
    let source = [round as u64; 16];
    let stages = stages
        .then(move |message: Vec<u64>| [message.as_slice(), &source].concat())
        .name("memory")
        .fork_cloned(2, |_, stages| stages.then(|message| message).name("memory"))
        .zip();
    if round % 5 == 0 {
        return; // not built
    }
    let core = (round % 5 == 1).then_some(100_000);
    let stages = stages.then(|rows| rows.len()).name("memory").core(core);
    let (output, pipeline) = match stages.try_build() {
        Err(BuildError::Core { error, .. }) if error.cpus() == [100_000] => return, // nearly built
        built => built.unwrap(),
    };
    for _ in 0..3 {
        input.send(vec![1, 2, 3]).unwrap();
    }
    match round % 5 {
        2 => drop((pipeline, input, output)),
        3 => {
            pipeline.abort();
            pipeline.join().unwrap();
        }
        _ => {
            pipeline.shutdown();
            pipeline.join().unwrap();
            assert_eq!(output.into_iter().collect::<Vec<_>>(), [2, 2, 2]);
        }
    }
}

/// How many bytes are in use when `count` pipelines have come and gone.
fn bytes_after(count: usize) -> usize {
    // All of the process: a thread that has just begun has no name of its own yet.
    let others = threads("");
    (0..count).for_each(build_and_drop);
    soon(|| threads("") == others);
    bytes_of_all()
}

#[test]
fn pipelines_leave_no_thread_and_no_memory() {
    // Without optimization it runs on emulated machines, too.
    const PIPELINES: usize = if cfg!(debug_assertions) { 1_000 } else { 10_000 };
    crate::support::alone!();
    // What is made once for all is made now.
    let before = bytes_after(100);
    // The bound is for what the standard library may do once in a while. It is less than a byte for each.
    let left = bytes_after(PIPELINES).saturating_sub(before);
    assert!(left < 1_000, "{left} bytes are left of {PIPELINES} pipelines");
}
