// errors: 1
// says: `Rc<u64>` cannot be sent between threads safely
// at: let _stages = stages.then(

use annulus::pipeline::Pipeline;

fn main() {
    let (_input, stages) = Pipeline::builder().input::<u64>();
    let _stages = stages.then(|x| std::rc::Rc::new(x));
}
