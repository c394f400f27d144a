//! [`BridgeRoute`]: a ring that a bridge carries from machine to machine, as the bridge itself says.
//!
//! Once a second a bridge publishes a round of messages, one for each route, in a ring of its own, whose
//! messages are named [`MESSAGE`]. What is in them, the README of `annulus-zenoh` says.

use annulus::shm::RingObserver;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::messages::Decoder;

/// The name of what is in such a ring.
const MESSAGE: &str = "BridgeRoute";

/// More routes in a round than there can be: what says so is no bridge.
const MOST_ROUTES: u64 = 1 << 16;

/// A ring, and how it fares on its way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct BridgeRoute {
    /// The ring in which the bridge says it.
    pub(crate) bridge: String,
    pub(crate) direction: Direction,
    pub(crate) state: RouteState,
    /// The host where the ring is published.
    pub(crate) host: String,
    pub(crate) name: String,
    /// Why it is not carried; empty if it is.
    pub(crate) refused: String,
    pub(crate) messages_per_second: f64,
    pub(crate) messages: u64,
    pub(crate) samples: u64,
    pub(crate) bytes: u64,
    /// Messages that were sent once more.
    pub(crate) again: u64,
    /// Bridges that get a ring without loss that goes out, and messages that one of them may not have.
    pub(crate) readers: u64,
    pub(crate) kept: u64,
    pub(crate) lagged: u64,
    pub(crate) corrupt: u64,
    /// Questions of a service that got no answer.
    pub(crate) unanswered: u64,
    pub(crate) next: u64,
    /// To that host and back, in nanoseconds.
    pub(crate) round_trip_ns: Option<u64>,
}

/// Where the messages of a route go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all(serialize = "snake_case"))]
pub(crate) enum Direction {
    /// From this machine to the network.
    #[default]
    Out,
    /// From the network to this machine.
    In,
}

/// How a route is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all(serialize = "snake_case"))]
pub(crate) enum RouteState {
    #[default]
    Asking,
    Open,
    Down,
    Ended,
    Refused,
}

impl RouteState {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Asking => "asking",
            Self::Open => "open",
            Self::Down => "down",
            Self::Ended => "ended",
            Self::Refused => "refused",
        }
    }
}

impl BridgeRoute {
    /// Where its messages come from, or go to.
    pub(crate) fn way(&self) -> String {
        match self.direction {
            Direction::Out => "→ network".into(),
            Direction::In => format!("← {}", crate::text::printable(&self.host)),
        }
    }
}

/// Whether a ring with such messages may be a bridge's.
pub(crate) fn is_of_bridge(decoder: &Decoder) -> bool {
    decoder.schema().name == MESSAGE
}

/// The last whole round of the bridge that has the ring of this name; empty if there was none, or it can't be
/// read.
pub(crate) fn routes(name: &str, observer: &RingObserver, decoder: &Decoder) -> Vec<BridgeRoute> {
    let read = |number: u64| {
        let mut bytes = Vec::new();
        let is_read = observer.read(number, &mut bytes);
        is_read.then(|| decoder.decode(&bytes).ok()).flatten()
    };
    // Which message of its round it is, and how many these are.
    let place = |number: u64| {
        let object = read(number)?;
        Some((object.get("index")?.as_u64()?, object.get("routes")?.as_u64()?))
    };
    let last = || {
        let newest = observer.numbers()?.published.checked_sub(1)?;
        let (index, routes) = place(newest)?;
        // (A round without routes is one message that says so.)
        if routes == 0 || index.checked_add(1)? == routes {
            return Some((newest, routes));
        }
        // That round is being written.
        let before = newest.checked_sub(index + 1)?;
        Some((before, place(before)?.1))
    };
    let Some((last, count)) = last().filter(|(last, count)| *count <= MOST_ROUTES.min(last + 1)) else {
        return Vec::new();
    };
    let numbers = last + 1 - count..=last;
    let routes = numbers.filter_map(|number| serde_json::from_value(Value::Object(read(number)?)).ok());
    routes.map(|route| BridgeRoute { bridge: name.into(), ..route }).collect()
}
