// errors: 1
// says: no method named `then_a`
// at: let _stages = stages.then_a(

use annulus::pipeline::Pipeline;

fn main() {
    let (_input, stages) = Pipeline::builder().input::<u64>();
    let _stages = stages.then_a(|x| x + 1);
}
