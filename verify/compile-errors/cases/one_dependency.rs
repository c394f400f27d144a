// errors: 0

// This program's manifest names `annulus` with its feature `derive`, and nothing else.
#![allow(dead_code)]

use annulus::{Message, Text, broadcast, event, mpsc};

/// It lies in the ring as it is.
#[derive(Clone, Copy, Message)]
struct Order {
    id: u64,
    price: f64,
}

/// It has data, and another message in it.
#[derive(Clone, Copy, Message)]
enum Event {
    Placed(Order),
    Renamed { from: Text<12>, to: Text<12> },
    Cancelled,
}

/// It would have padding.
#[derive(Clone, Copy, Message)]
#[message(packed)]
struct Fill {
    number: u8,
    price: Option<f64>,
    place: (u16, Side),
    sizes: [u32; 3],
    text: Text<8>,
}

#[derive(Clone, Copy, Message)]
#[repr(u8)]
enum Side {
    Buy,
    Sell,
}

fn send<M: Message>(message: M) {
    let (mut publisher, subscribable) = broadcast::lossy::<M>(8);
    let mut subscriber = subscribable.subscribe();
    publisher.publish(message);
    assert!(subscriber.recv().is_ok());
}

fn main() {
    send(Order { id: 1, price: 1.5 });
    send(Event::Placed(Order { id: 2, price: 2.5 }));
    send(Event::Renamed { from: Text::default(), to: Text::default() });
    send(Event::Cancelled);
    send(Fill { number: 1, price: None, place: (7, Side::Buy), sizes: [1, 2, 3], text: Text::default() });
    let _lossless = broadcast::lossless::<Event>(8);
    let _many_publishers = broadcast::mp_lossless::<Fill>(8);
    let _events = event::channel(8, String::new);
    let _queue = mpsc::channel::<Order>(8);
}
