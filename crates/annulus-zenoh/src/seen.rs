//! [`Seen`]: how a bridge is seen by others: in a ring of this machine, and by the facade `metrics`.
//!
//! Decision 0154: a ring with a schema, and not a file or a port.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use annulus::Settings;
use annulus::broadcast::Publisher;
use annulus::schema::Fingerprint;
use annulus::shm::{Directory, PublishedName, RingInfo, Shared, broadcast};
use annulus::{Message, Text};
use metrics::{counter, gauge};
use zenoh::query::{Query, Queryable};
use zenoh::{Session, Wait};

use crate::bridge::of_the_user;
use crate::counters::{Counters, Direction, Route, RouteState};
use crate::keys;

/// The time between two rounds, each of which has all routes.
const INTERVAL: Duration = Duration::from_secs(1);

/// So many routes can be seen: the ring has room for no more messages of one round.
const MOST_ROUTES: usize = 1024;

/// So many bridges of one machine have a ring.
const MOST_BRIDGES: usize = 16;

/// What a bridge says of a route, once a second. The README has its schema, for others: `annulus top` knows
/// such a ring by the name.
#[derive(Clone, Copy, Message)]
#[message(packed)]
struct BridgeRoute {
    /// Which one of this round it is.
    index: u32,
    /// How many there are in this round.
    routes: u32,
    direction: Way,
    state: State,
    /// The host where the ring is published.
    host: Text<64>,
    name: Text<200>,
    /// Why the ring is not carried.
    refused: Text<160>,
    messages_per_second: f64,
    messages: u64,
    samples: u64,
    bytes: u64,
    /// Messages that were sent once more.
    again: u64,
    /// Bridges that get a ring without loss that goes out.
    readers: u64,
    /// Messages that one of these bridges may not have.
    kept: u64,
    lagged: u64,
    corrupt: u64,
    /// Questions of a service that got no answer.
    unanswered: u64,
    /// The number of the next message.
    next: u64,
    /// To the host where the ring is published, and back.
    round_trip_ns: Option<u64>,
}

#[derive(Clone, Copy, Message)]
#[repr(u8)]
enum Way {
    Out,
    In,
}

#[derive(Clone, Copy, Message)]
#[repr(u8)]
enum State {
    Asking,
    Open,
    Down,
    Ended,
    Refused,
}

impl BridgeRoute {
    fn of(route: &Route, (index, routes): (usize, usize), messages_per_second: f64) -> Self {
        let (state, refused) = match &route.state {
            RouteState::Asking => (State::Asking, ""),
            RouteState::Open => (State::Open, ""),
            RouteState::Down => (State::Down, ""),
            RouteState::Ended => (State::Ended, ""),
            RouteState::Refused(why) => (State::Refused, why.as_str()),
        };
        Self {
            index: index as u32,
            routes: routes as u32,
            direction: if route.direction == Direction::Out { Way::Out } else { Way::In },
            state,
            host: Text::truncated(&route.host),
            name: Text::truncated(&route.name),
            refused: Text::truncated(refused),
            messages_per_second,
            messages: route.messages,
            samples: route.samples,
            bytes: route.bytes,
            again: route.again,
            readers: route.readers,
            kept: route.kept,
            lagged: route.lagged,
            corrupt: route.corrupt,
            unanswered: route.unanswered,
            next: route.next,
            round_trip_ns: route.round_trip_ns,
        }
    }
}

/// Shows a bridge's routes.
pub(crate) struct Seen {
    /// The ring behind its name, which goes first. `None` where the ring has no name, or can't be made.
    ring: Option<(PublishedName, Publisher<BridgeRoute>)>,
    session: Session,
    /// Answers those that measure the way here and back.
    _echo: Option<Queryable<()>>,
    /// How long the way to a host and back took, in nanoseconds.
    round_trips: Arc<Mutex<HashMap<String, u64>>>,
    /// When the last round was, and how many messages each route had carried then.
    last: Instant,
    messages: HashMap<(Direction, String, String), u64>,
}

impl Seen {
    /// Of the bridge of this host.
    pub(crate) fn begin(session: &Session, directory: &Directory, host: &str) -> Self {
        let answer = |query: Query| _ = query.reply(query.key_expr().clone(), Vec::<u8>::new()).wait();
        let echo = session.declare_queryable(keys::echo(host)).callback(answer).wait();
        Self {
            ring: ring(directory, host),
            session: session.clone(),
            // (It fails where the session is closed.)
            _echo: echo.ok(),
            round_trips: Arc::default(),
            last: Instant::now(),
            messages: HashMap::new(),
        }
    }

    /// To this host and back, in nanoseconds, if that is known.
    pub(crate) fn round_trip_ns(&self, host: &str) -> Option<u64> {
        locked(&self.round_trips).get(host).copied()
    }

    /// Tells how the routes are, if it is time to.
    pub(crate) fn tell(&mut self, routes: &[Route]) {
        let elapsed = self.last.elapsed();
        if elapsed < INTERVAL {
            return;
        }
        self.last = Instant::now();
        let before = std::mem::take(&mut self.messages);
        let shown = &routes[..routes.len().min(MOST_ROUTES)];
        let mut round = Vec::with_capacity(shown.len());
        for (index, route) in shown.iter().enumerate() {
            let key = (route.direction, route.host.clone(), route.name.clone());
            // (A ring of the same name that began anew counts from 0.)
            let new = route.messages.saturating_sub(before.get(&key).copied().unwrap_or(route.messages));
            self.messages.insert(key, route.messages);
            #[expect(clippy::cast_precision_loss, reason = "a rate")]
            let rate = new as f64 / elapsed.as_secs_f64();
            round.push(BridgeRoute::of(route, (index, shown.len()), rate));
            of_the_user(|| measure(route));
        }
        if let Some((_, publisher)) = &mut self.ring {
            if round.is_empty() {
                // Or the round before, with routes that are gone, would stay the last one.
                let none = Counters::new(Direction::Out, "", "", RouteState::Ended).route();
                round.push(BridgeRoute::of(&none, (0, 0), 0.0));
            }
            publisher.publish_batch(&round);
        }
        self.ask_hosts(routes);
    }

    /// Measures the way to each host from which rings come, and back.
    fn ask_hosts(&self, routes: &[Route]) {
        let is_there = |route: &&Route| route.direction == Direction::In && route.state == RouteState::Open;
        let mut hosts: Vec<_> = routes.iter().filter(is_there).map(|route| &route.host).collect();
        hosts.dedup();
        locked(&self.round_trips).retain(|host, _| hosts.contains(&host));
        for host in hosts {
            let (asked, host, round_trips) = (Instant::now(), host.clone(), Arc::clone(&self.round_trips));
            let key = keys::echo(&host);
            let told = move |_| {
                let took = u64::try_from(asked.elapsed().as_nanos()).unwrap_or(u64::MAX);
                locked(&round_trips).insert(host.clone(), took);
            };
            _ = self.session.get(key).timeout(INTERVAL).callback(told).wait();
        }
    }
}

fn locked(round_trips: &Mutex<HashMap<String, u64>>) -> MutexGuard<'_, HashMap<String, u64>> {
    round_trips.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether it is the ring of a bridge, which stays on its machine.
pub(crate) fn is_of_bridge(info: &RingInfo) -> bool {
    info.fingerprint() == Fingerprint::of::<BridgeRoute>()
}

/// The ring of the bridge of this host, by the first name that is free.
fn ring(directory: &Directory, host: &str) -> Option<(PublishedName, Publisher<BridgeRoute>)> {
    let Shared { handle: publisher, invitation, .. } = broadcast::lossy(Settings::new(MOST_ROUTES)).ok()?;
    let host = host.replace('/', "_");
    let mut names = (1..=MOST_BRIDGES).map(|number| match number {
        1 => format!("bridge@{host}"),
        number => format!("bridge@{host}.{number}"),
    });
    let name = names.find_map(|name| invitation.publish(directory, &name).ok())?;
    Some((name, publisher))
}

/// The numbers of a route, for the program's recorder. (Without one this does nothing.)
fn measure(route: &Route) {
    let labels = [
        ("direction", if route.direction == Direction::Out { "out" } else { "in" }.to_string()),
        ("host", route.host.clone()),
        ("ring", route.name.clone()),
    ];
    counter!("annulus_bridge_messages_total", &labels).absolute(route.messages);
    counter!("annulus_bridge_samples_total", &labels).absolute(route.samples);
    counter!("annulus_bridge_bytes_total", &labels).absolute(route.bytes);
    counter!("annulus_bridge_again_total", &labels).absolute(route.again);
    counter!("annulus_bridge_lagged_total", &labels).absolute(route.lagged);
    counter!("annulus_bridge_corrupt_total", &labels).absolute(route.corrupt);
    counter!("annulus_bridge_unanswered_total", &labels).absolute(route.unanswered);
    gauge!("annulus_bridge_open", &labels).set(f64::from(u8::from(route.state == RouteState::Open)));
    #[expect(clippy::cast_precision_loss, reason = "amounts to look at")]
    {
        gauge!("annulus_bridge_readers", &labels).set(route.readers as f64);
        gauge!("annulus_bridge_kept", &labels).set(route.kept as f64);
        if let Some(took) = route.round_trip_ns {
            gauge!("annulus_bridge_round_trip_seconds", &labels).set(took as f64 / 1e9);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use metrics::{
        Counter, CounterFn, Gauge, GaugeFn, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit,
    };

    use super::*;

    /// A recorder that knows the last number of each key.
    #[derive(Clone, Default)]
    struct Notes(Arc<Mutex<BTreeMap<String, f64>>>);

    struct Note(Notes, String);

    impl CounterFn for Note {
        fn increment(&self, _: u64) {
            panic!("counters are absolute");
        }

        fn absolute(&self, value: u64) {
            #[expect(clippy::cast_precision_loss, reason = "they are small")]
            self.set(value as f64);
        }
    }

    impl GaugeFn for Note {
        fn increment(&self, _: f64) {
            panic!("gauges are set");
        }

        fn decrement(&self, _: f64) {
            panic!("gauges are set");
        }

        fn set(&self, value: f64) {
            self.0.0.lock().unwrap().insert(self.1.clone(), value);
        }
    }

    impl Notes {
        fn note(&self, key: &Key) -> Arc<Note> {
            let labels = key.labels().map(|label| format!(" {}={}", label.key(), label.value()));
            Arc::new(Note(self.clone(), key.name().to_string() + &labels.collect::<String>()))
        }
    }

    impl Recorder for Notes {
        fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

        fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

        fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

        fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
            Counter::from_arc(self.note(key))
        }

        fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
            Gauge::from_arc(self.note(key))
        }

        fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
            panic!("there is none");
        }
    }

    #[test]
    fn recorder_is_told_all_numbers() {
        let counters = Counters::new(Direction::In, "feed", "quotes", RouteState::Open);
        counters.carried(7, 56);
        counters.sent_again(2);
        counters.keeps(3, 4);
        counters.lagged(5);
        counters.corrupt();
        (0..8).for_each(|_| counters.unanswered());
        let route = Route { round_trip_ns: Some(1_500_000), ..counters.route() };
        let notes = Notes::default();
        metrics::with_local_recorder(&notes, || measure(&route));
        let all = notes.0.lock().unwrap();
        let told: Vec<_> = all.iter().map(|(key, value)| format!("{key} {value}")).collect();
        let expected = [
            ("again_total", "2"),
            ("bytes_total", "56"),
            ("corrupt_total", "1"),
            ("kept", "3"),
            ("lagged_total", "5"),
            ("messages_total", "7"),
            ("open", "1"),
            ("readers", "4"),
            ("round_trip_seconds", "0.0015"),
            ("samples_total", "1"),
            ("unanswered_total", "8"),
        ];
        let labels = "direction=in host=feed ring=quotes";
        assert_eq!(told, expected.map(|(name, value)| format!("annulus_bridge_{name} {labels} {value}")));
    }
}
