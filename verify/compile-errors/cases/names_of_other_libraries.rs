// errors: 6
// says: pub use Consumer as Receiver; // here it is called `Consumer`
// says: pub use Producer as Sender; // here it is called `Producer`
// says: pub use Subscriber as Receiver; // here it is called `Subscriber`
// says: // `queue::ordered::channel`; with one consumer `mpsc::channel`
// says: pub use spsc::channel as RingBuffer; // `spsc::channel`
// at: use annulus::mpsc::{Receiver, Sender};
// at: use annulus::broadcast::Receiver as Subscriber;
// at: use annulus::RingBuffer;
// at: let _ends = annulus::bounded(64);

use annulus::RingBuffer;
use annulus::broadcast::Receiver as Subscriber;
use annulus::mpsc::{Receiver, Sender};

fn read(_: annulus::spsc::Receiver<u64>) {}

fn main() {
    let _ends = annulus::bounded(64);
    // The compiler itself knows the other names of a function.
    let _ends = annulus::mpmc::bounded(64);
}
