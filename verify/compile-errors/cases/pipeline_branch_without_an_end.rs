// errors: 1
// says: a branch ends in messages, a sink, or branches of its own, and not in `()`
// at: let _fork = stages.fork(

use annulus::pipeline::Pipeline;

fn main() {
    let (_input, stages) = Pipeline::builder().input::<u64>();
    let _fork = stages.fork(|s| s.then(|x| x), |s| {
        let _ = s.then(|x| x);
    });
}
