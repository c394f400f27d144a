//! What a program may say of a handle without a bound on its messages.

use std::rc::Rc;

use annulus::queue::ordered::{Receiver, Sender};
use annulus::{mpmc, mpsc, spmc, spsc};

/// Handles in a structure of any `T`, which derives what handles have.
#[derive(Debug)]
struct App<T> {
    orders: mpsc::Consumer<T>,
    quotes: spmc::Producer<T>,
    sender: Sender<T>,
    receiver: Receiver<T>,
}

impl<T: Send> App<T> {
    fn forward(&mut self) {
        self.orders.try_iter().for_each(|order| drop(self.sender.try_send(order)));
        self.receiver.try_iter().for_each(|order| drop(self.quotes.try_send(order)));
    }
}

#[test]
fn structure_of_handles_needs_no_bound() {
    let (mut orders, there) = mpsc::channel(2);
    let (quotes, mut quoted) = spmc::channel(2);
    let (sender, receiver) = annulus::queue::ordered::channel(2);
    let mut app = App { orders: there, quotes, sender, receiver };
    orders.send("one").unwrap();
    app.forward();
    assert_eq!(quoted.recv(), Ok("one"));
    assert!(format!("{app:?}").contains("Receiver"));
}

/// Has one `proves` where `T` is not `Send`, and two, of which none can be chosen, where it is.
trait NotSend<A> {
    fn proves() {}
}
impl<T> NotSend<()> for T {}
impl<T: Send> NotSend<u8> for T {}

/// As above, of `Sync`.
trait NotSync<A> {
    fn proves() {}
}
impl<T> NotSync<()> for T {}
impl<T: Sync> NotSync<u8> for T {}

fn goes<H: Send + Sync + Unpin>() {}

fn all_go<T: Send>() {
    goes::<spsc::Producer<T>>();
    goes::<mpsc::Consumer<T>>();
    goes::<spmc::Producer<T>>();
    goes::<mpmc::Consumer<T>>();
}

/// That it compiles is the test.
#[test]
fn handle_is_sent_only_with_messages_that_may_be() {
    macro_rules! stay {
        ($($Handle:ty),* $(,)?) => {$(
            <$Handle as NotSend<_>>::proves();
            <$Handle as NotSync<_>>::proves();
        )*};
    }
    stay!(
        spsc::Producer<Rc<u8>>,
        spsc::Consumer<Rc<u8>>,
        mpsc::Producer<Rc<u8>>,
        mpsc::Consumer<Rc<u8>>,
        spmc::Producer<Rc<u8>>,
        spmc::Consumer<Rc<u8>>,
        mpmc::Producer<Rc<u8>>,
        mpmc::Consumer<Rc<u8>>,
        Sender<Rc<u8>>,
        Receiver<Rc<u8>>,
    );

    all_go::<std::cell::Cell<u8>>();
    goes::<Sender<std::cell::Cell<u8>>>();
    goes::<Receiver<std::cell::Cell<u8>>>();
}
