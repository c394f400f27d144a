//! A pipeline: stages on threads of their own, with the rings between them. It drains when it is shut down,
//! and says which stage panicked.
//!
//! `cargo run --release -p annulus --example pipeline`

use annulus::pipeline::Pipeline;

fn main() {
    let (mut input, stages) = Pipeline::builder().capacity(64).input::<String>();
    let (output, pipeline) = stages
        .filter_map(|line| line.parse::<i64>().ok())
        .name("parse")
        .then_parallel(2, |number| number * number) // by two threads, in order
        .name("square")
        .then(|square| {
            assert!(square != 49, "seven is not allowed");
            square
        })
        .name("check")
        .build();
    println!("{}", pipeline.describe());

    for line in ["1", "two", "3", "4", "5"] {
        input.send(line.to_owned()).expect("the stages are there");
    }
    pipeline.shutdown(); // what was sent is worked on
    assert!(input.send("6".to_owned()).is_err());
    let squares: Vec<i64> = output.into_iter().collect();
    for stage in pipeline.stats().stages {
        println!("{}: {} in, {} out", stage.name, stage.received, stage.sent);
    }
    pipeline.join().expect("no stage panicked");
    println!("{squares:?}");
    assert_eq!(squares, [1, 9, 16, 25]);

    // The same with a stage that panics: what came before it comes out, and the pipeline ends.
    let (mut input, stages) = Pipeline::builder().capacity(64).input::<i64>();
    let (output, pipeline) =
        stages.then(|x| if x == 7 { panic!("seven is not allowed") } else { x }).name("check").build();
    let _ = (5..9).try_for_each(|number| input.send(number)); // given back once the stage is gone
    drop(input);
    assert_eq!(output.into_iter().collect::<Vec<_>>(), [5, 6]);
    let error = pipeline.join().expect_err("a stage panicked");
    println!("{error}");
    assert_eq!(error.panics()[0].stage, "check");
}
