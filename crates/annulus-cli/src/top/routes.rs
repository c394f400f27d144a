//! What bridges say of the rings that they carry from machine to machine, as text.

use super::figures::short;
use super::rows::{NONE, Row};
use crate::rings::bridges::{BridgeRoute, Direction, RouteState};
use crate::text::{counted, duration, grouped, printable};

/// The titles of what [`cells`] says. Those that are numbers end, rather than begin, in one line.
pub(super) const TITLES: [(&str, bool); 9] = [
    ("BRIDGED", false),
    ("WAY", false),
    ("STATE", false),
    ("RATE/S", true),
    ("LAGGED", true),
    ("AGAIN", true),
    ("KEPT", true),
    ("TRIP", true),
    ("BRIDGE", false),
];

/// What is known of a route.
pub(super) fn cells(route: &BridgeRoute) -> [String; 9] {
    let is_open = route.state == RouteState::Open;
    // Nothing is kept for others where nobody asks for what was lost.
    let is_kept = route.direction == Direction::Out && (route.readers > 0 || route.kept > 0);
    [
        printable(&route.name),
        route.way(),
        route.state.text().into(),
        if is_open { short(route.messages_per_second) } else { NONE.into() },
        grouped(route.lagged),
        if route.direction == Direction::Out { grouped(route.again) } else { NONE.into() },
        if is_kept { grouped(route.kept) } else { NONE.into() },
        route.round_trip_ns.map_or(NONE.into(), duration),
        printable(&route.bridge),
    ]
}

/// Whether a route is to be looked at.
pub(super) fn is_in_trouble(route: &BridgeRoute) -> bool {
    matches!(route.state, RouteState::Down | RouteState::Refused)
}

/// Of a ring's page: how it fares on its way, in words.
pub(super) fn words(route: &BridgeRoute) -> String {
    if route.state == RouteState::Refused {
        return format!("{}: not carried: {}", route.way(), printable(&route.refused));
    }
    let mut parts = vec![route.state.text().to_string(), format!("{} lagged", grouped(route.lagged))];
    if route.corrupt > 0 {
        parts.push(format!("{} corrupt", grouped(route.corrupt)));
    }
    if route.unanswered > 0 {
        parts.push(format!("{} unanswered", grouped(route.unanswered)));
    }
    if route.direction == Direction::Out && route.readers > 0 {
        parts.push(format!("{} once more", grouped(route.again)));
        parts.push(format!("{} kept for {}", grouped(route.kept), counted(route.readers, "bridge")));
    }
    if let Some(trip) = route.round_trip_ns {
        parts.push(format!("there and back in {}", duration(trip)));
    }
    format!("{}: {}", route.way(), parts.join(", "))
}

/// The routes of a ring.
pub(super) fn of_ring<'s>(row: &Row<'s>, routes: &'s [BridgeRoute]) -> Vec<&'s BridgeRoute> {
    routes.iter().filter(|route| route.name == row.ring.name).collect()
}

/// Routes for tests.
#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// One of each direction, and one that is not carried.
    pub(in crate::top) fn three() -> Vec<BridgeRoute> {
        let route = |name: &str, direction, state| BridgeRoute {
            bridge: "bridge@here".into(),
            name: name.into(),
            host: if direction == Direction::In { "feed-1" } else { "here" }.into(),
            direction,
            state,
            messages_per_second: 1234.0,
            messages: 70_000,
            samples: 900,
            ..BridgeRoute::default()
        };
        vec![
            BridgeRoute {
                refused: "the name is taken".into(),
                ..route("closed", Direction::In, RouteState::Refused)
            },
            BridgeRoute {
                readers: 2,
                kept: 17,
                again: 1_005,
                ..route("orders", Direction::Out, RouteState::Open)
            },
            BridgeRoute {
                lagged: 3,
                corrupt: 1,
                unanswered: 4,
                round_trip_ns: Some(1_200_000),
                ..route("ticks", Direction::In, RouteState::Down)
            },
        ]
    }

    #[test]
    fn route_is_told_in_words() {
        let words: Vec<_> = three().iter().map(words).collect();
        assert_eq!(
            words,
            [
                "← feed-1: not carried: the name is taken",
                "→ network: open, 0 lagged, 1,005 once more, 17 kept for 2 bridges",
                "← feed-1: down, 3 lagged, 1 corrupt, 4 unanswered, there and back in 1.20 ms",
            ]
        );
    }

    #[test]
    fn route_has_its_cells() {
        let cells: Vec<_> = three().iter().map(|route| cells(route).join("|")).collect();
        assert_eq!(
            cells,
            [
                "closed|← feed-1|refused|–|0|–|–|–|bridge@here",
                "orders|→ network|open|1.23k|0|1,005|17|–|bridge@here",
                "ticks|← feed-1|down|–|3|–|–|1.20 ms|bridge@here",
            ]
        );
    }
}
