//! Rings that are carried without loss: what is lost on the way is sent again, and publishers wait.

mod common;

use std::thread;
use std::time::Duration;

use annulus::Settings;
use annulus::broadcast::{Awaited, Lossless, Publisher, Subscriber};
use annulus::shm::{Invitation, PublishedName, Shared, ShmKind, broadcast};
use annulus::{RecvTimeoutError, SendTimeoutError, TrySendError};
use annulus_zenoh::{Bridge, Config, Direction, Route, RouteState, WhenDown};
use common::{Link, Machine, PATIENCE, Tick, is_open, listens_at, read_to_the_end, route, tick, until};

/// Two machines, a link between them, and a bridge for all rings on each: the first one sends without loss.
struct Pair {
    a: Machine,
    b: Machine,
    link: Link,
    near: Bridge,
    far: Bridge,
}

impl Pair {
    fn new(configure: impl FnOnce(Config) -> Config) -> Self {
        let (a, b) = (Machine::new("a"), Machine::new("b"));
        let config = a.config().carry("*").listen("tcp/127.0.0.1:0").reliable(true);
        let near = Bridge::open(configure(config)).unwrap();
        let link = Link::to(listens_at(&near));
        let far = Self::far(&b, &link);
        Self { a, b, link, near, far }
    }

    /// It waits for one subscriber.
    fn far(b: &Machine, link: &Link) -> Bridge {
        let config = b.config().carry("*").connect(&format!("tcp/{}", link.address));
        Bridge::open(config.subscribers(1)).unwrap()
    }

    fn out(&self) -> Route {
        route(&self.near, Direction::Out, "quotes").unwrap()
    }

    /// A lossless ring of 64 messages, and the subscriber of it on the other machine. Both are waited for.
    fn lossless(&self) -> (Publisher<Tick, Lossless>, PublishedName, Subscriber<Tick, Awaited>) {
        let Shared { handle: publisher, invitation, .. } =
            broadcast::lossless::<Tick>(Settings::new(64), 4).unwrap();
        let name = invitation.publish(&self.a.directory(), "quotes").unwrap();
        let subscriber = subscribe(&self.b);
        assert!(publisher.wait_for_subscribers_timeout(1, PATIENCE), "the bridge");
        (publisher, name, subscriber)
    }

    /// Cuts the link, until both know.
    fn cut(&self) {
        self.link.cut();
        until("it is seen", || !is_open(&self.far, Direction::In, "quotes"));
    }

    fn mend(&self) {
        self.link.mend();
        until("it goes on", || is_open(&self.far, Direction::In, "quotes"));
    }
}

fn subscribe(machine: &Machine) -> Subscriber<Tick, Awaited> {
    let invitation = Invitation::wait_for(&machine.directory(), "quotes", Some(PATIENCE)).unwrap();
    assert_eq!(invitation.info().unwrap().kind(), ShmKind::Lossless);
    invitation.accept_lossless::<Tick>().unwrap().subscribe_from_oldest().unwrap()
}

/// The next one is the message of that number.
fn receive(subscriber: &mut Subscriber<Tick, Awaited>, number: u64) {
    assert_eq!(subscriber.recv_timeout(PATIENCE), Ok(tick(number)));
}

/// More of them outside of the gate.
fn cuts() -> u64 {
    std::env::var("ANNULUS_ZENOH_CUTS").map_or(10, |cuts| cuts.parse().unwrap())
}

#[test]
fn lossy_ring_loses_nothing_on_the_way() {
    let pair = Pair::new(|config| config);
    let (mut publisher, name) = pair.a.publish("quotes", 4096);
    let (mut subscriber, _ring) = pair.b.subscribe("quotes");
    let start = subscriber.cursor();
    let reader = thread::spawn(move || read_to_the_end(&mut subscriber));
    let mut next = 0;
    let mut publish = |count: u64| {
        for _ in 0..count {
            publisher.publish(tick(next));
            next += 1;
        }
        // (Lost before the bridge has read it is lost.)
        until("it is sent", || pair.out().next == next);
        next
    };
    let mut published = 0;
    for _ in 0..cuts() {
        (0..2).for_each(|_| _ = publish(100));
        pair.link.cut();
        publish(100);
        until("it is seen", || !is_open(&pair.far, Direction::In, "quotes"));
        published = publish(100);
        pair.mend();
    }
    drop(name);
    publisher.close();
    assert_eq!(reader.join().unwrap(), (published - start, 0));
    until("all is known to have come", || pair.out().kept == 0);
    let sent = pair.out();
    assert_eq!(sent.lagged, 0);
    assert!(sent.again >= 100 * cuts(), "{}", sent.again);
}

/// What was published before the far bridge was there.
#[test]
fn messages_before_the_far_bridge_come_too() {
    let (a, b) = (Machine::new("a"), Machine::new("b"));
    let near = Bridge::open(a.config().carry("*").listen("tcp/127.0.0.1:0").reliable(true)).unwrap();
    let (mut publisher, name) = a.publish("quotes", 64);
    (0..10).for_each(|number| publisher.publish(tick(number)));
    until("it is there", || is_open(&near, Direction::Out, "quotes"));
    let _far = b.connected(listens_at(&near));
    let (mut subscriber, _ring) = b.subscribe("quotes");
    assert_eq!(subscriber.cursor(), 0);
    publisher.close();
    drop(name);
    assert_eq!(read_to_the_end(&mut subscriber), (10, 0));
}

#[test]
fn lossless_ring_stays_one() {
    let pair = Pair::new(|config| config.batch_bytes(24 * 16));
    let (mut publisher, name, mut subscriber) = pair.lossless();
    let count = 300 * cuts();
    let reader = thread::spawn(move || {
        for number in 0..count {
            receive(&mut subscriber, number);
            if number % 100 == 0 {
                thread::sleep(Duration::from_millis(5));
            }
        }
        assert_eq!(subscriber.recv_timeout(PATIENCE), Err(RecvTimeoutError::Closed));
        assert_eq!(subscriber.total_lagged(), 0);
    });
    for number in 0..count {
        publisher.publish(tick(number)).unwrap();
        match number % 300 {
            200 => pair.cut(),
            250 => pair.mend(),
            _ => {}
        }
    }
    drop((publisher, name));
    reader.join().unwrap();
    until("all is known to have come", || pair.out().kept == 0);
    until("it has ended", || route(&pair.far, Direction::In, "quotes").unwrap().state == RouteState::Ended);
    assert_eq!(route(&pair.far, Direction::In, "quotes").unwrap().messages, count);
}

/// A lossless ring of 64 on each side, between them what one window has, which is one sample.
#[test]
fn publisher_waits_for_the_slowest_subscriber_there() {
    let pair = Pair::new(|config| config.batch_bytes(24 * 10).window_bytes(1));
    let (mut publisher, _name, mut subscriber) = pair.lossless();
    let mut published = 0;
    while publisher.publish_timeout(tick(published), Duration::from_secs(1)).is_ok() {
        published += 1;
    }
    assert!((64..=64 + 10 + 64 + 10).contains(&published), "{published}");
    (0..published).for_each(|number| receive(&mut subscriber, number));
    publisher.publish(tick(published)).unwrap();
    receive(&mut subscriber, published);
}

/// Publishes until the ring is full. Returns the number of the message that found no room.
fn fill(publisher: &mut Publisher<Tick, Lossless>) -> u64 {
    loop {
        let number = publisher.published();
        match publisher.publish_timeout(tick(number), Duration::from_millis(500)) {
            Ok(()) => {}
            Err(SendTimeoutError::Timeout(_)) => return number,
            Err(error) => panic!("{error}"),
        }
    }
}

/// Nothing comes through for a while, or only in one direction: the far bridge is the one that connects.
#[test]
fn link_that_stands_still_is_waited_for() {
    let pair = Pair::new(|config| config.batch_bytes(24 * 10).window_bytes(16 * 1024));
    let (mut publisher, _name, mut subscriber) = pair.lossless();
    let mut begin = 0;
    for directions in [[false, true], [true, false], [true, true]] {
        pair.link.stand_still(directions);
        // Full, although the subscriber takes what comes.
        let mut end = begin;
        let mut timeouts = 0;
        while timeouts < 10 {
            let full = publisher.publish_timeout(tick(end), Duration::from_millis(50)).is_err();
            (timeouts, end) = if full { (timeouts + 1, end) } else { (0, end + 1) };
            while let Ok(message) = subscriber.try_recv() {
                assert_eq!(message, tick(begin));
                begin += 1;
            }
        }
        assert!(end - begin >= 64, "{directions:?}: {begin} {end}");
        pair.link.stand_still([false; 2]);
        (begin..end).for_each(|number| receive(&mut subscriber, number));
        begin = end;
    }
}

/// And is cut in the middle of what it has read.
#[test]
fn messages_are_complete_on_a_link_that_delays_and_halves() {
    let pair = Pair::new(|config| config.batch_bytes(24 * 10));
    let (mut publisher, _name, mut subscriber) = pair.lossless();
    pair.link.delay(2);
    let publishing = thread::spawn(move || {
        (0..1_000).for_each(|number| publisher.publish(tick(number)).unwrap());
        publisher
    });
    for number in 0..1_000 {
        receive(&mut subscriber, number);
        if number % 250 == 249 {
            pair.cut();
            pair.mend();
        }
    }
    drop(publishing.join().unwrap());
}

/// A bridge is taken to be down soon.
const IMPATIENT: Duration = Duration::from_millis(2500);

/// A window of one sample.
fn impatient(when_down: WhenDown) -> Pair {
    Pair::new(|config| config.window_bytes(1).patience(IMPATIENT).when_down(when_down))
}

#[test]
fn ring_is_held_until_the_link_is_back() {
    let pair = impatient(WhenDown::Hold);
    let (mut publisher, _name, mut subscriber) = pair.lossless();
    publisher.publish(tick(0)).unwrap();
    receive(&mut subscriber, 0);
    pair.cut();
    let full = fill(&mut publisher);
    // Longer than the patience of one that does not hold.
    thread::sleep(IMPATIENT + Duration::from_millis(500));
    assert!(matches!(publisher.try_publish(tick(full)), Err(TrySendError::Full(_))));
    assert_eq!(pair.out().readers, 1);
    pair.mend();
    (1..full).for_each(|number| receive(&mut subscriber, number));
    publisher.publish(tick(full)).unwrap();
    receive(&mut subscriber, full);
}

#[test]
fn ring_goes_on_without_a_bridge_that_is_down() {
    let pair = impatient(WhenDown::Drop);
    let (mut publisher, _name, mut subscriber) = pair.lossless();
    publisher.publish(tick(0)).unwrap();
    receive(&mut subscriber, 0);
    pair.cut();
    fill(&mut publisher);
    until("nobody is waited for", || pair.out().readers == 0);
    for _ in 0..1000 {
        publisher.publish(tick(publisher.published())).unwrap();
    }
    pair.link.mend();
    // A ring without loss can't go on behind a gap.
    let received = std::iter::from_fn(|| match subscriber.recv_timeout(PATIENCE) {
        Ok([number, ..]) => Some(number),
        Err(RecvTimeoutError::Closed) => None,
        Err(error) => panic!("{error}"),
    });
    let next = received.last().map_or(1, |number| number + 1);
    drop(subscriber);
    let mut subscriber = subscribe(&pair.b);
    let begin = subscriber.cursor();
    assert!(begin > next, "{begin} {next}");
    let end = publisher.published();
    publisher.publish(tick(end)).unwrap();
    (begin..=end).for_each(|number| receive(&mut subscriber, number));
    until("the gap is counted", || route(&pair.far, Direction::In, "quotes").unwrap().lagged == begin - next);
}

#[test]
fn ring_ends_when_a_bridge_is_down() {
    let pair = Pair::new(|config| config.patience(IMPATIENT).when_down(WhenDown::Close));
    let (mut publisher, _name, mut subscriber) = pair.lossless();
    publisher.publish(tick(0)).unwrap();
    receive(&mut subscriber, 0);
    pair.cut();
    publisher.publish(tick(1)).unwrap();
    until("it is kept", || pair.out().next == 2);
    let is_refused =
        || matches!(pair.out().state, RouteState::Refused(why) if why.contains("said nothing for 2.5s"));
    until("it is given up", is_refused);
    for _ in 0..1000 {
        publisher.publish(tick(publisher.published())).unwrap();
    }
    pair.link.mend();
    receive(&mut subscriber, 1);
    assert_eq!(subscriber.recv_timeout(PATIENCE), Err(RecvTimeoutError::Closed));
}

/// The publisher has ended while the link was down, and all that it published still comes.
#[test]
fn last_messages_come_when_the_link_is_back() {
    let pair = Pair::new(|config| config);
    let (mut publisher, name, mut subscriber) = pair.lossless();
    publisher.publish(tick(0)).unwrap();
    receive(&mut subscriber, 0);
    pair.cut();
    (1..1000).for_each(|number| publisher.publish(tick(number)).unwrap());
    drop((publisher, name));
    thread::sleep(Duration::from_millis(100));
    pair.link.mend();
    (1..1000).for_each(|number| receive(&mut subscriber, number));
    assert_eq!(subscriber.recv_timeout(PATIENCE), Err(RecvTimeoutError::Closed));
}

/// More than the window holds, while the link is down.
#[test]
fn messages_beyond_the_window_are_lagged() {
    let pair = Pair::new(|config| config.window_bytes(16 * 1024).batch_bytes(240));
    let (mut publisher, name) = pair.a.publish("quotes", 4096);
    publisher.publish(tick(0));
    let (mut subscriber, _ring) = pair.b.subscribe("quotes");
    let start = subscriber.cursor();
    pair.cut();
    for number in 1..=2000 {
        publisher.publish(tick(number));
    }
    until("it is sent", || pair.out().next == 2001);
    pair.mend();
    drop(name);
    publisher.close();
    let (received, lagged) = read_to_the_end(&mut subscriber);
    assert_eq!(received + lagged, 2001 - start);
    assert!((100..500).contains(&received), "{received} of those that a window of 16 KiB holds");
}

/// A bridge that ends in order says so, and nobody waits for it; the next one begins with what is kept.
#[test]
fn bridge_that_ends_is_not_waited_for() {
    let Pair { a: _a, b, link, near, far } = {
        let pair = Pair::new(|config| config.when_down(WhenDown::Hold));
        let (mut publisher, _name, mut subscriber) = pair.lossless();
        publisher.publish(tick(0)).unwrap();
        receive(&mut subscriber, 0);
        drop(pair.far);
        let out = || route(&pair.near, Direction::Out, "quotes").unwrap();
        until("it is known", || out().readers == 0);
        assert_eq!(subscriber.recv_timeout(PATIENCE), Err(RecvTimeoutError::Closed));
        (1..1000).for_each(|number| publisher.publish(tick(number)).unwrap());
        let far = Pair::far(&pair.b, &pair.link);
        drop(subscriber);
        let mut subscriber = subscribe(&pair.b);
        until("it is waited for", || out().readers == 1);
        publisher.publish(tick(1000)).unwrap();
        (subscriber.cursor()..=1000).for_each(|number| receive(&mut subscriber, number));
        Pair { far, ..pair }
    };
    until("the ring has ended", || !is_open(&far, Direction::In, "quotes"));
    drop((near, link, b));
}
