// errors: 1
// says: a branch can be zipped only if it makes one result of each message, in order
// says: let the stage return an `Option`, zip, and filter the pairs; or `merge` the branches
// at: let _stages = fork.zip()

use annulus::pipeline::Pipeline;

fn main() {
    let (_input, stages) = Pipeline::builder().input::<u64>();
    let fork = stages.fork(|s| s.filter_map(|x| (x > 1).then_some(x)), |s| s.then(|x| x));
    let _stages = fork.zip();
}
