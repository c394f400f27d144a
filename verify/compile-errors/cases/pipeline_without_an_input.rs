// errors: 1
// says: no method named `build`
// says: Builder
// at: let _pipeline = builder.build()

use annulus::pipeline::Pipeline;

fn main() {
    let builder = Pipeline::builder().capacity(64);
    let _pipeline = builder.build();
}
