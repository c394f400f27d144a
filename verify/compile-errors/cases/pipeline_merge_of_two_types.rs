// errors: 1
// says: only branches that have messages of one type can be merged
// says: let both end in messages of one type, of an enum for example; or `zip` them
// at: let _stages = fork.merge()

use annulus::pipeline::Pipeline;

fn main() {
    let (_input, stages) = Pipeline::builder().input::<u64>();
    let fork = stages.fan_out(|x| x + 1, |x| x.to_string());
    let _stages = fork.merge();
}
