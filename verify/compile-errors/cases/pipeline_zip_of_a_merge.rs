// errors: 1
// says: a branch can be zipped only if it makes one result of each message, in order
// at: let _stages = fork.zip()

use annulus::pipeline::Pipeline;

fn main() {
    let (_input, stages) = Pipeline::builder().input::<u64>();
    let fork = stages.branches(3, |_, s| s.then_unordered(2, |x| x));
    let _stages = fork.zip();
}
