// errors: 1
// says: only branches that have messages of one type can be merged
// says: Sunk
// at: let _stages = fork.merge()

use annulus::pipeline::Pipeline;

fn main() {
    let (_input, stages) = Pipeline::builder().input::<u64>();
    let fork = stages.fork(|s| s.then(|x| x), |s| s.sink(drop));
    let _stages = fork.merge();
}
