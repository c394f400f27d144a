// errors: 1
// says: the trait bound `File: Clone` is not satisfied
// at: let _fork = stages.fork_cloned(

use annulus::pipeline::Pipeline;

struct File;

fn main() {
    let (_input, stages) = Pipeline::builder().input::<File>();
    let _fork = stages.fork_cloned(2, |_, s| s.then(drop));
}
