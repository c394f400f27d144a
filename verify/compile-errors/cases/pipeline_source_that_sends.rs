// errors: 1
// says: cannot receive messages by value
// at: let _stages = Pipeline::builder().source(producer)

use annulus::pipeline::Pipeline;

fn main() {
    let (producer, _consumer) = annulus::spsc::channel::<u64>(64);
    let _stages = Pipeline::builder().source(producer);
}
