// errors: 1
// says: `String` cannot be copied to the branches of a pipeline: it is not an `annulus::Message`
// says: `fork_cloned` gives each branch a clone of any message that is `Clone`
// at: let _fork = stages.fan_out(

use annulus::pipeline::Pipeline;

fn main() {
    let (_input, stages) = Pipeline::builder().input::<String>();
    let _fork = stages.fan_out(|text| text.len(), |text| text.to_uppercase());
}
