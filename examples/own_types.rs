//! Messages of one's own: a struct, an enum with data, text, and what would have padding.
//!
//! `cargo run --release -p annulus --features derive --example own_types`

use annulus::{Message, Text, broadcast};

/// No padding (a text of 6 bytes takes 8): it lies in the ring as it is.
#[derive(Clone, Copy, Debug, PartialEq, Message)]
struct Quote {
    symbol: Text<6>,
    price: f64,
    size: u64,
}

/// With padding, and an option: it goes without what is between its fields.
#[derive(Clone, Copy, Debug, PartialEq, Message)]
#[message(packed)]
struct Fill {
    order: u64,
    price: Option<f64>,
    side: Side,
}

#[derive(Clone, Copy, Debug, PartialEq, Message)]
enum Side {
    Buy,
    Sell,
}

/// One ring for all that happens.
#[derive(Clone, Copy, Debug, PartialEq, Message)]
enum Event {
    Quote(Quote),
    Fill(Fill),
    Halted { symbol: Text<6> },
}

fn main() -> Result<(), annulus::TooLong> {
    let (mut publisher, subscribable) = broadcast::lossless::<Event>(64);
    let mut subscriber = subscribable.subscribe();
    let symbol = Text::try_from("ACME")?;

    let events = [
        Event::Quote(Quote { symbol, price: 101.5, size: 300 }),
        Event::Fill(Fill { order: 7, price: Some(101.5), side: Side::Buy }),
        Event::Fill(Fill { order: 8, price: None, side: Side::Sell }),
        Event::Halted { symbol },
    ];
    publisher.publish_batch(&events).expect("somebody listens");
    drop(publisher);
    for (event, sent) in subscriber.iter().zip(events) {
        assert_eq!(event, sent);
        println!("{event:?}");
    }

    let error = Text::<6>::try_from("a name that is too long").unwrap_err();
    println!("{error}");
    Ok(())
}
