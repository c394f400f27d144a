//! Two machines and more, each with a bridge: what comes, under which number, and what is told of the rest.

mod common;

use std::os::unix::net::UnixListener;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use annulus::shm::{
    Directory, Invitation, NamedSubscriber, PeerState, Received, RingObserver, Shared, ShmKind, WhenGone,
};
use annulus_zenoh::{Bridge, Config, Direction, Error, Route, RouteState};
use common::{Link, Machine, PATIENCE, Tick, is_open, read_to_the_end, route, tick, until};
use zenoh::Wait;

#[test]
fn ring_is_there_on_the_other_machine() {
    let (a, b) = (Machine::new("a"), Machine::new("b"));
    let (near, at) = a.listening();
    let far = b.connected(at);
    let (mut publisher, name) = a.publish("quotes", 256);
    (0..10).for_each(|number| publisher.publish(tick(number)));
    let (mut subscriber, ring) = b.subscribe("quotes");
    let invitation = Invitation::find(&b.directory().find("quotes").unwrap()).unwrap();
    let info = invitation.info().unwrap();
    assert_eq!((info.kind(), info.capacity(), info.payload_bytes()), (ShmKind::Lossy, 256, 24));
    assert_eq!(info.schema().unwrap().unwrap().to_string(), "[u64;3]");
    let start = subscriber.cursor();
    assert!(start <= 10, "{start}");
    for number in 10..100 {
        publisher.publish(tick(number));
        thread::sleep(Duration::from_micros(100));
    }
    publisher.close();
    drop(name);
    let (received, lagged) = read_to_the_end(&mut subscriber);
    assert_eq!(received + lagged, 100 - start);
    assert_eq!(ring.state(), PeerState::Closed);
    until("both know", || {
        [(&near, Direction::Out), (&far, Direction::In)].into_iter().all(|(bridge, direction)| {
            route(bridge, direction, "quotes").is_some_and(|route| route.state == RouteState::Ended)
        })
    });
    let counted = route(&far, Direction::In, "quotes").unwrap();
    assert_eq!((counted.messages, counted.lagged, counted.next), (received, lagged, 100));
    assert!(b.directory().find("quotes").is_err(), "the name went with the ring");
}

/// In a ring of its own, which stays on its machine, and has the schema that the README tells others.
#[test]
fn bridge_publishes_its_routes_in_a_ring() {
    let (a, b) = (Machine::new("a"), Machine::new("b"));
    let (near, at) = a.listening();
    let far = b.connected(at);
    let (mut publisher, _name) = a.publish("quotes", 256);
    (0..10).for_each(|number| publisher.publish(tick(number)));
    until("the way there and back is known", || {
        route(&far, Direction::In, "quotes").is_some_and(|route| route.round_trip_ns.is_some())
    });
    for (machine, name) in [(&a, "bridge@a"), (&b, "bridge@b")] {
        let ring = RingObserver::of(&machine.directory().find(name).unwrap()).unwrap();
        let schema = ring.info().schema().unwrap().unwrap().to_string();
        let readme = include_str!("../README.md");
        assert!(readme.contains(&format!("\n{schema}\n")), "not in the README:\n{schema}");
        let mut bytes = Vec::new();
        until("it says so", || {
            let newest = ring.numbers().unwrap().published.checked_sub(1);
            newest.is_some_and(|newest| ring.read(newest, &mut bytes)) && {
                let text = String::from_utf8_lossy(&bytes);
                // The only one: the ring of the bridge is no route.
                bytes[..8] == [0, 0, 0, 0, 1, 0, 0, 0] && text.contains("quotes")
            }
        });
    }
    assert!(near.routes().iter().chain(&far.routes()).all(|route| route.name == "quotes"));
}

/// Whatever is lost is counted, by its number; and the last messages, too.
#[test]
fn message_comes_or_is_counted_although_the_link_is_cut() {
    let (a, b) = (Machine::new("a"), Machine::new("b"));
    let (near, at) = a.listening();
    let link = Link::to(at);
    let far = b.connected(link.address);
    let (mut publisher, name) = a.publish("quotes", 64);
    publisher.publish(tick(0));
    let (mut subscriber, _ring) = b.subscribe("quotes");
    let start = subscriber.cursor();
    let reader = thread::spawn(move || read_to_the_end(&mut subscriber));
    let mut next = 1;
    // More of them outside of the gate.
    let cuts = std::env::var("ANNULUS_ZENOH_CUTS").map_or(10, |cuts| cuts.parse().unwrap());
    for _ in 0..cuts {
        for _ in 0..200 {
            publisher.publish(tick(next));
            next += 1;
            if next % 16 == 0 {
                thread::sleep(Duration::from_millis(1));
            }
        }
        link.cut();
        for _ in 0..100 {
            publisher.publish(tick(next));
            next += 1;
        }
        until("it is seen", || !is_open(&far, Direction::In, "quotes"));
        link.mend();
        until("it goes on", || is_open(&far, Direction::In, "quotes"));
    }
    // Also where a cut link took the word that a bridge has made it.
    assert!(route(&far, Direction::Out, "quotes").is_none(), "its own ring does not go out");
    drop(name);
    publisher.close();
    let (received, lagged) = reader.join().unwrap();
    assert_eq!(received + lagged, next - start, "{received} {lagged}");
    println!("{cuts} cuts: {received} received, {lagged} lagged");
    assert!(lagged >= cuts * 36, "a hundred at once in a ring of 64: {lagged}");
    assert!(received > 0);
    drop(near);
}

#[test]
fn publisher_that_begins_anew_does_so_there_too() {
    let (a, b) = (Machine::new("a"), Machine::new("b"));
    let (_near, at) = a.listening();
    let _far = b.connected(at);
    let mut subscriber = NamedSubscriber::<Tick>::new(&b.directory(), "quotes").unwrap().begin_with_oldest();
    for life in 0..3 {
        let (mut publisher, name) = a.publish("quotes", 64);
        let began = subscriber.recv_timeout(PATIENCE).unwrap().unwrap();
        assert!(matches!(began, Received::Began { .. }), "{life}: {began:?}");
        publisher.publish(tick(life));
        let mut told = subscriber.recv_timeout(PATIENCE).unwrap().unwrap();
        assert!(matches!(told, Received::Message(message) if message == tick(life)), "{life}: {told:?}");
        publisher.close();
        drop(name);
        told = subscriber.recv_timeout(PATIENCE).unwrap().unwrap();
        assert!(matches!(told, Received::Ended { state: PeerState::Closed, .. }), "{life}: {told:?}");
    }
}

#[test]
fn bridge_that_begins_anew_goes_on() {
    let (a, b) = (Machine::new("a"), Machine::new("b"));
    let (near, at) = a.listening();
    let far = b.connected(at);
    let (mut publisher, name) = a.publish("quotes", 64);
    publisher.publish(tick(0));
    let (mut subscriber, ring) = b.subscribe("quotes");
    let start = subscriber.cursor();
    drop(near);
    until("it is seen", || route(&far, Direction::In, "quotes").unwrap().state == RouteState::Down);
    (1..=100).for_each(|number| publisher.publish(tick(number)));
    let listen = format!("tcp/{at}");
    let near = Bridge::open(a.config().carry("*").listen(&listen)).unwrap();
    until("it goes on", || is_open(&far, Direction::In, "quotes"));
    assert_eq!(ring.state(), PeerState::Alive);
    drop(name);
    publisher.close();
    let (received, lagged) = read_to_the_end(&mut subscriber);
    assert_eq!(received + lagged, 101 - start);
    assert!(received >= 60, "the ring had 64 of them: {received}");
    drop(near);
}

/// Each of three machines carries all rings, and is connected with both others.
#[test]
fn no_message_goes_round() {
    let (a, b, c) = (Machine::new("a"), Machine::new("b"), Machine::new("c"));
    let (near, at) = a.listening();
    let (middle, middle_at) = {
        let config = b.config().carry("*").connect(&format!("tcp/{at}")).listen("tcp/127.0.0.1:0");
        let bridge = Bridge::open(config).unwrap();
        let at = common::listens_at(&bridge);
        (bridge, at)
    };
    let config = c.config().carry("*").connect(&format!("tcp/{at}"));
    let far = Bridge::open(config.connect(&format!("tcp/{middle_at}"))).unwrap();
    // On the machine b is a second bridge, of another process as far as the first one can tell.
    let second = Bridge::open(b.config().host("b2").send("*").connect(&format!("tcp/{middle_at}"))).unwrap();
    let (mut publisher, name) = a.publish("quotes", 1024);
    let mut subscribers = [&b, &c].map(|machine| machine.subscribe("quotes"));
    let starts = subscribers.each_ref().map(|(subscriber, _)| subscriber.cursor());
    for number in 0..500 {
        publisher.publish(tick(number));
    }
    thread::sleep(Duration::from_millis(300));
    for bridge in [&middle, &far, &second] {
        // (The second bridge on b may find the ring before it hears that a bridge has made it.)
        until("it is not sent", || route(bridge, Direction::Out, "quotes").is_none());
    }
    assert!(!is_open(&near, Direction::In, "quotes"));
    publisher.close();
    drop(name);
    for ((subscriber, _), start) in subscribers.iter_mut().zip(starts) {
        let (received, lagged) = read_to_the_end(subscriber);
        assert_eq!(received + lagged, 500 - start);
    }
}

/// Two machines that are connected with a third one only.
#[test]
fn bridge_also_carries_for_others() {
    let (a, b, c) = (Machine::new("a"), Machine::new("b"), Machine::new("c"));
    let (middle, at) = a.listening();
    let bridges = [&b, &c].map(|machine| machine.connected(at));
    let (mut publisher, _name) = b.publish("quotes", 64);
    let (mut subscriber, _ring) = c.subscribe("quotes");
    until("it comes", || {
        publisher.publish(tick(publisher.published()));
        subscriber.try_recv().is_ok()
    });
    assert_eq!((middle.connections(), bridges.each_ref().map(Bridge::connections)), (2, [1, 1]));
}

#[test]
fn names_are_carried_where_they_are_allowed() {
    let (a, b) = (Machine::new("a"), Machine::new("b"));
    let config = a.config().send("out-*").listen("tcp/127.0.0.1:0");
    let near = Bridge::open(config).unwrap();
    let at = common::listens_at(&near);
    let config = b.config().receive("a/out-1").receive("x/*").receive("secret").connect(&format!("tcp/{at}"));
    let far = Bridge::open(config).unwrap();
    let _rings = ["out-1", "out-2", "secret"].map(|name| a.publish(name, 64));
    let _there = b.subscribe("out-1");
    until("both go out", || near.routes().len() == 2);
    assert!(near.routes().iter().all(|route| route.name.starts_with("out-")));
    until("one comes in", || far.routes().len() == 1);
    assert_eq!(far.routes()[0].name, "out-1");
    assert!(["out-2", "secret"].iter().all(|name| b.directory().find(name).is_err()));
}

#[test]
fn name_that_is_taken_is_left_alone() {
    let (a, b) = (Machine::new("a"), Machine::new("b"));
    let (_near, at) = a.listening();
    let far = Bridge::open(b.config().receive("*").connect(&format!("tcp/{at}"))).unwrap();
    let (_own, own_name) = b.publish("quotes", 64);
    let (mut publisher, _name) = a.publish("quotes", 64);
    let why = || match route(&far, Direction::In, "quotes")?.state {
        RouteState::Refused(why) => Some(why),
        _ => None,
    };
    until("it is refused", || why().is_some());
    assert!(why().unwrap().contains("quotes"), "{:?}", why());
    drop(own_name);
    until("it comes in when the name is free", || is_open(&far, Direction::In, "quotes"));
    let (mut subscriber, _ring) = b.subscribe("quotes");
    publisher.publish(tick(0));
    assert_eq!(subscriber.recv_timeout(PATIENCE), Ok(tick(0)));
}

/// The bridge is lapped while messages wait for others, to travel with them.
#[test]
fn message_has_its_number_also_where_it_waits_for_others() {
    let (a, b) = (Machine::new("a"), Machine::new("b"));
    let config = a.config().carry("*").listen("tcp/127.0.0.1:0").linger(Duration::from_millis(2));
    let near = Bridge::open(config).unwrap();
    let _far = b.connected(common::listens_at(&near));
    let (mut publisher, name) = a.publish("quotes", 64);
    let (mut subscriber, _ring) = b.subscribe("quotes");
    let start = subscriber.cursor();
    let reader = thread::spawn(move || read_to_the_end(&mut subscriber));
    for number in 0..50_000 {
        publisher.publish(tick(number));
        if number % 100 == 0 {
            thread::sleep(Duration::from_micros(100));
        }
    }
    drop(name);
    publisher.close();
    let (received, lagged) = reader.join().unwrap();
    assert_eq!(received + lagged, 50_000 - start);
    until("it has ended", || {
        route(&near, Direction::Out, "quotes").is_some_and(|route| route.state == RouteState::Ended)
    });
    let counted = route(&near, Direction::Out, "quotes").unwrap();
    assert_eq!(counted.messages + counted.lagged, 50_000, "{counted:?}");
    assert!(counted.lagged > 0 && counted.samples < counted.messages, "{counted:?}");
}

/// Of a lossless ring, whose publisher does not wait for the bridge, and of one of several publishers.
#[test]
fn rings_of_other_kinds_come_as_lossy_ones() {
    let (a, b) = (Machine::new("a"), Machine::new("b"));
    let (near, at) = a.listening();
    let _far = b.connected(at);
    let settings = annulus::Settings::new(64);
    let Shared { handle: mut lossless, invitation, .. } =
        annulus::shm::broadcast::lossless::<Tick>(settings.clone(), 4).unwrap();
    let lossless_name = invitation.publish(&a.directory(), "lossless").unwrap();
    let many = annulus::shm::mp_broadcast::Builder::new(settings)
        .publishers(2)
        .when_no_publisher(annulus::shm::WhenGone::Close);
    let Shared { handle: mut several, invitation, .. } = many.build::<Tick>().unwrap();
    let several_name = invitation.publish(&a.directory(), "several").unwrap();
    let mut rings = ["lossless", "several"].map(|name| b.subscribe(name));
    let starts = rings.each_ref().map(|(subscriber, _)| subscriber.cursor());
    for number in 0..500 {
        lossless.publish(tick(number)).unwrap();
        several.publish(tick(number));
    }
    drop((lossless_name, several_name));
    lossless.close();
    drop(several);
    for ((subscriber, _), start) in rings.iter_mut().zip(starts) {
        let (received, lagged) = read_to_the_end(subscriber);
        assert_eq!(received + lagged, 500 - start);
    }
    drop(near);
}

#[test]
fn ring_that_cannot_be_carried_is_reported() {
    let a = Machine::new("a");
    let (near, _) = a.listening();
    let Shared { handle: _producer, invitation, .. } =
        annulus::shm::spsc::producer::<u64>(annulus::Settings::new(8), WhenGone::Close).unwrap();
    let _name = invitation.publish(&a.directory(), "orders").unwrap();
    until("it is refused", || {
        route(&near, Direction::Out, "orders").is_some_and(
            |route| matches!(route.state, RouteState::Refused(why) if why.contains("queue of one producer")),
        )
    });
}

/// A name of a process in another container, whose socket answers nothing. Others wait for no answer of it.
#[test]
fn ring_that_cannot_be_had_is_reported() {
    let a = Machine::new("a");
    let directory = Directory::with_mode(&a.path, 0o750).unwrap();
    let (_publisher, name) = a.publish("far", 64);
    let file = a.path.join("far.ring");
    let text = std::fs::read_to_string(&file).unwrap();
    drop(name);
    let namespace = text.lines().find(|line| line.starts_with("namespace ")).unwrap();
    std::fs::write(&file, text.replace(namespace, "namespace 1")).unwrap();
    let lock = std::fs::File::open(&file).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let socket = UnixListener::bind(a.path.join(".far.socket")).unwrap();
    let told = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&told);
    let tell = move |route: &Route| heard.lock().unwrap().push((route.name.clone(), route.state.clone()));
    let config = Config::new().host("a").directory(directory).carry("*").listen("tcp/127.0.0.1:0");
    let near = Bridge::open(config.on_change(tell)).unwrap();
    let (_publisher, _name) = a.publish("near", 64);
    until("it is refused", || {
        route(&near, Direction::Out, "far").is_some_and(
            |route| matches!(route.state, RouteState::Refused(why) if why.contains("has not answered")),
        )
    });
    // It is asked again, and that is told once.
    let _asked = [(); 2].map(|()| socket.accept().unwrap());
    drop(near);
    let told = told.lock().unwrap();
    let names: Vec<_> = told.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["near", "far"], "{told:?}");
}

/// Code of the user that panics ends nothing of the bridge.
#[test]
fn bridge_carries_on_where_the_code_that_is_told_panics() {
    let (a, b) = (Machine::new("a"), Machine::new("b"));
    let (_near, at) = a.listening();
    let config = b.config().carry("*").connect(&format!("tcp/{at}"));
    let far = Bridge::open(config.on_change(|_| panic!("on purpose"))).unwrap();
    for name in ["first", "second"] {
        let (_publisher, _name) = a.publish(name, 64);
        until("it comes", || is_open(&far, Direction::In, name));
    }
}

/// A program that knows nothing of bridges reads the messages, and what they are made of; and one that is
/// hostile harms nobody.
#[test]
fn programs_on_the_network_read_and_do_no_harm() {
    let (a, b) = (Machine::new("a"), Machine::new("b"));
    let (_near, at) = a.listening();
    let far = b.connected(at);
    let (mut publisher, _name) = a.publish("quotes", 1024);
    let (mut subscriber, _ring) = b.subscribe("quotes");
    let mut config = zenoh::Config::default();
    config.insert_json5("mode", r#""client""#).unwrap();
    config.insert_json5("scouting/multicast/enabled", "false").unwrap();
    config.insert_json5("listen/endpoints", "[]").unwrap();
    config.insert_json5("connect/endpoints", &format!("[\"tcp/{at}\"]")).unwrap();
    let session = zenoh::open(config).wait().unwrap();
    let plain = session.declare_subscriber("annulus/a/quotes").wait().unwrap();
    let described = || session.get("annulus/a/quotes/@ring").wait().unwrap().recv().ok();
    until("it answers", || described().is_some());
    let reply = described().unwrap().into_result().unwrap();
    let text = String::from_utf8(reply.payload().to_bytes().into_owned()).unwrap();
    let said: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&said["schema"], &said["bytes"], &said["kind"]),
        (&"[u64;3]".into(), &24.into(), &"lossy".into())
    );

    until("it comes", || {
        publisher.publish(tick(publisher.published()));
        plain.try_recv().is_ok_and(|sample| sample.is_some_and(|sample| !sample.payload().is_empty()))
    });
    publisher.publish(tick(publisher.published()));
    let sample = plain.recv().unwrap();
    let attachment = sample.attachment().unwrap().to_bytes().into_owned();
    let first = u64::from_le_bytes(attachment[16..24].try_into().unwrap());
    let payload = sample.payload().to_bytes().into_owned();
    assert_eq!(payload.len() % 24, 0);
    for (message, number) in payload.chunks(24).zip(first..) {
        assert_eq!(message, bytemuck::bytes_of(&tick(number)));
    }

    // Now the hostile one. It knows the epoch.
    let corrupt = || route(&far, Direction::In, "quotes").unwrap().corrupt;
    let before = corrupt();
    let put = |payload: &[u8], attachment: &[u8], encoding: &zenoh::bytes::Encoding| {
        let put = session.put("annulus/a/quotes", payload).encoding(encoding.clone());
        put.attachment(attachment).wait().unwrap();
    };
    let encoding = sample.encoding();
    put(&payload[..24], &attachment, &zenoh::bytes::Encoding::TEXT_PLAIN);
    put(&payload[..23], &attachment, encoding);
    put(&payload[..24], &attachment[..10], encoding);
    put(&payload[..24], b"", encoding);
    let mut absurd = attachment.clone();
    absurd[16..24].copy_from_slice(&u64::MAX.to_le_bytes());
    put(&payload[..24], &absurd, encoding);
    session.put("annulus/a/quotes", "no attachment").wait().unwrap();
    session.delete("annulus/a/quotes").wait().unwrap();
    let counted = Instant::now();
    until("each is counted", || {
        assert!(counted.elapsed() < Duration::from_secs(10), "{}", corrupt() - before);
        corrupt() >= before + 7
    });
    // Tokens of rings that nobody has, and words that are no description.
    let liar = session.declare_queryable("annulus/liar/*/@ring");
    let _liar = liar
        .callback(|query| _ = query.reply(query.key_expr().clone(), vec![b'['; 100_000]).wait())
        .wait()
        .unwrap();
    let tokens: Vec<_> = (0..300)
        .map(|number| format!("annulus/liar/ring{number}/@live/{number:016x}"))
        .map(|key| session.liveliness().declare_token(key).wait().unwrap())
        .collect();
    until("no more than 256 are looked at", || {
        far.routes().iter().filter(|route| matches!(&route.state, RouteState::Refused(_))).count() >= 256
    });
    assert!(far.routes().len() <= 2 * 256);
    drop(tokens);
    // What they took is free again.
    let (mut other, _other_name) = a.publish("orders", 64);
    let (mut others, _others_ring) = b.subscribe("orders");
    until("another ring comes", || {
        other.publish(tick(other.published()));
        others.try_recv().is_ok()
    });
    // The ring goes on.
    until("it goes on", || {
        publisher.publish(tick(publisher.published()));
        let last = std::iter::from_fn(|| subscriber.try_recv().ok()).last();
        last.is_some_and(|message| message == tick(message[0]))
    });
}

#[test]
fn wrong_configurations_are_refused() {
    let a = Machine::new("a");
    let error = Bridge::open(a.config().listen("tcp:7447")).map(drop).unwrap_err();
    assert!(matches!(&error, Error::Network(why) if why.contains("tcp/192.168.1.7:7447")), "{error}");
    let error = Bridge::open(a.config().host("")).map(drop).unwrap_err();
    assert!(error.to_string().contains("--host"), "{error}");
    let error = Bridge::open(a.config().zenoh_file("/nowhere.json5")).map(drop).unwrap_err();
    assert!(error.to_string().contains("/nowhere.json5"), "{error}");
}
