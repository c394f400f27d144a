//! Two rings in one worker: `epoll` says at which of them something is to be received.
//!
//! `cargo run --release -p annulus --example notifier`

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("This example needs Linux: `Notifier` makes an eventfd readable.");
}

#[cfg(target_os = "linux")]
fn main() -> std::io::Result<()> {
    use annulus::{LossyTryRecvError, Notifier, Readiness, TryRecvError};
    use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};

    let (mut quotes, subscribable) = annulus::broadcast::lossy::<u64>(1024);
    let (mut orders, consumer) = annulus::spsc::channel::<String>(64);
    let mut from_quotes = Notifier::new(subscribable.subscribe())?;
    let mut from_orders = Notifier::new(consumer)?;

    // Descriptors of the program's own (sockets, timers, …) would be here, too.
    let epoll = epoll::create(CreateFlags::CLOEXEC)?;
    epoll::add(&epoll, &from_quotes, EventData::new_u64(0), EventFlags::IN)?;
    epoll::add(&epoll, &from_orders, EventData::new_u64(1), EventFlags::IN)?;

    let writers = [
        std::thread::spawn(move || (0..1000).for_each(|price| quotes.publish(price))),
        std::thread::spawn(move || (0..10).for_each(|id| orders.send(format!("order {id}")).unwrap())),
    ];

    let (mut prices, mut texts, mut open) = (0, Vec::new(), [true; 2]);
    while open != [false; 2] {
        // Where it is not armed, because something is there, the descriptor would not tell: so receive first.
        while open[0] && from_quotes.arm() == Readiness::Ready {
            open[0] = loop {
                match from_quotes.get_mut().try_recv_or_lag() {
                    Ok(_price) => prices += 1,
                    Err(LossyTryRecvError::Lagged { skipped }) => prices += skipped,
                    Err(error) => break error == LossyTryRecvError::Empty,
                }
            };
        }
        while open[1] && from_orders.arm() == Readiness::Ready {
            open[1] = loop {
                match from_orders.get_mut().try_recv() {
                    Ok(text) => texts.push(text),
                    Err(error) => break error == TryRecvError::Empty,
                }
            };
        }
        if open != [false; 2] {
            let mut events = Vec::with_capacity(2);
            epoll::wait(&epoll, rustix::buffer::spare_capacity(&mut events), None)?;
        }
    }
    assert_eq!((prices, texts.len()), (1000, 10));
    println!("1,000 quotes and {} orders, in one loop", texts.len());
    assert!(writers.into_iter().all(|writer| writer.join().is_ok()));
    Ok(())
}
