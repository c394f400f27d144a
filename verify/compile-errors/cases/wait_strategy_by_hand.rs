// errors: 1
// says: cannot create non-exhaustive variant
// at: let _at_once = WaitStrategy::Block { spin_iters: 0, pause_iters: 0 };

use annulus::WaitStrategy;

fn main() {
    let _at_once = WaitStrategy::block_after(0, 0);
    let _at_once = WaitStrategy::Block { spin_iters: 0, pause_iters: 0 };
}
