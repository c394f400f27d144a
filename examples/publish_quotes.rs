//! Publishes quotes under a name, for the examples of `bindings/python`: so many seconds, or one. A process
//! in any language finds them there, and learns from the ring what they are.
//!
//! `cargo run --release -p annulus --features derive,shm --example publish_quotes -- 60`

use std::error::Error;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use annulus::{Message, Settings, Text, shm};

#[derive(Clone, Copy, Message)]
#[message(packed, name = "quote")]
struct Quote {
    #[message(unit = "ns")]
    time: u64,
    bid: f64,
    ask: f64,
    symbol: Text<8>,
    side: Side,
}

#[derive(Clone, Copy, Message)]
enum Side {
    Buy,
    Sell,
}

fn main() -> Result<(), Box<dyn Error>> {
    let seconds = std::env::args().nth(1).map_or(Ok(1.0), |text| text.parse())?;
    let (mut quotes, _name) = shm::publish::<Quote>("quotes", Settings::new(1 << 14))?;
    let mut prices = [("EURUSD", 1.09), ("EURCHF", 0.94)];
    let begun = Instant::now();
    let mut number = 0_u32;
    while begun.elapsed() < Duration::try_from_secs_f64(seconds)? {
        for (symbol, price) in &mut prices {
            number += 1;
            // Up and down, by what a hash of the number says.
            let is_up = number.wrapping_mul(0x9E37_79B9).count_ones() % 2 == 0;
            *price *= if is_up { 1.0 + 5e-5 } else { 1.0 - 5e-5 };
            let time = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos();
            quotes.publish(Quote {
                time: time.try_into()?,
                bid: *price,
                ask: *price * 1.0001,
                symbol: Text::try_from(*symbol)?,
                side: if is_up { Side::Buy } else { Side::Sell },
            });
        }
        sleep(Duration::from_millis(2));
    }
    println!("published {number} quotes");
    Ok(())
}
