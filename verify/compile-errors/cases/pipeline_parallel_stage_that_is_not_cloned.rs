// errors: 1
// says: the trait bound `Total: Clone` is not satisfied
// at: let _stages = stages.then_parallel(

use annulus::pipeline::Pipeline;

struct Total(u64);

impl Total {
    fn add(&mut self, number: u64) -> u64 {
        self.0 += number;
        self.0
    }
}

fn main() {
    let (_input, stages) = Pipeline::builder().input::<u64>();
    let mut total = Total(0);
    let _stages = stages.then_parallel(2, move |x| total.add(x));
}
