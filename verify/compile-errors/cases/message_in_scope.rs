// errors: 0

// The trait brings no verb along: a program's own trait may call one as it likes.
use annulus::Message;

trait ToBytes {
    fn encode(&self) -> u8;
    fn is_value() -> bool {
        true
    }
}

#[derive(Clone, Copy, Message)]
#[message(packed)]
struct Order {
    side: u8,
    price: f64,
}

impl ToBytes for Order {
    fn encode(&self) -> u8 {
        self.side
    }
}

fn main() {
    let order = Order { side: 1, price: 1.5 };
    assert!(Order::is_value() && order.encode() == 1 && order.price > 1.0);
}
