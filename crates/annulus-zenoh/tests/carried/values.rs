//! Newest values: a late joiner has all, none goes back, and a table that is made anew replaces the old one.

use std::thread;

use annulus::Settings;
use annulus::shm::watch::{AcceptedWatch, GetError, Sender};
use annulus::shm::{Directory, Invitation, PeerState, PublishedName, Shared, frames, watch};
use annulus_zenoh::{Direction, RouteState};
use zenoh::Wait;
use zenoh::bytes::Encoding;

use crate::common::{Link, Machine, PATIENCE, is_open, until, until_route};
use crate::{child, plain_session};

type Value = [u64; 2];

/// Two halves that belong together.
fn value(number: u64) -> Value {
    [number, !number]
}

fn table(machine: &Machine, cells: usize) -> (Sender<Value>, PublishedName) {
    let Shared { handle, invitation, .. } = watch::table(Settings::new(cells)).unwrap();
    let name = invitation.publish(&machine.directory(), "prices").unwrap();
    (handle, name)
}

/// The table of that name, when there is one.
fn accept(machine: &Machine) -> AcceptedWatch<Value> {
    let invitation = Invitation::wait_for(&machine.directory(), "prices", Some(PATIENCE)).unwrap();
    invitation.accept_watch().unwrap()
}

#[test]
fn late_joiner_has_the_newest_value_of_each_cell() {
    let (a, b) = (Machine::new("a"), Machine::new("b"));
    let (near, at) = a.listening();
    let (mut sender, name) = table(&a, 8);
    let (euro, yen) = (sender.cell("EURUSD").unwrap(), sender.cell("USDJPY").unwrap());
    // (A key without a value, before cells that have one.)
    let franc = sender.cell("USDCHF").unwrap();
    let pound = sender.cell("GBPUSD").unwrap();
    (0..100).for_each(|number| sender.send_to(yen, value(number)).unwrap());
    sender.send_to(pound, value(7)).unwrap();
    sender.send_to(7, value(70)).unwrap();
    until("it goes out", || is_open(&near, Direction::Out, "prices"));

    let far = b.connected(at);
    let prices = accept(&b);
    assert_eq!(prices.cells(), 8);
    until("all have come", || {
        [yen, pound, 7].iter().all(|cell| prices.get(*cell).is_ok()) && prices.cell("GBPUSD").is_some()
    });
    let found = [yen, pound, 7].map(|cell| prices.get(cell).unwrap());
    assert_eq!(found, [value(99), value(7), value(70)]);
    // Under the same keys, in the same cells.
    let cells = ["EURUSD", "USDJPY", "USDCHF", "GBPUSD"].map(|key| prices.cell(key));
    assert_eq!(cells, [euro, yen, franc, pound].map(Some));
    assert_eq!((prices.get(euro), prices.key(7)), (Err(GetError::Empty), None));

    // Changes come, with a key that was added later; the last one too, and none goes back.
    let mut receiver = prices.receiver_of(yen).unwrap();
    for number in 100..20_000 {
        sender.send_to(yen, value(number)).unwrap();
    }
    let mut last = 0;
    while last < 19_999 {
        let found = receiver.recv_timeout(PATIENCE).unwrap();
        assert!(found == value(found[0]) && found[0] > last, "{found:?} after {last}");
        last = found[0];
    }
    let crown = sender.cell("USDSEK").unwrap();
    sender.send_to(crown, value(5)).unwrap();
    until("it comes", || prices.cell("USDSEK").is_some_and(|cell| prices.get(cell) == Ok(value(5))));

    // A second late joiner, by the way.
    let c = Machine::new("c");
    let _third = c.connected(at);
    let there = accept(&c);
    until("all have come there", || there.cell("USDSEK").is_some_and(|cell| there.get(cell) == Ok(value(5))));
    assert_eq!((there.get(yen), there.get(7)), (Ok(value(19_999)), Ok(value(70))));

    // The end, and the next table, whose values are older by their numbers.
    sender.send_to(yen, value(20_000)).unwrap();
    drop((sender, name));
    until("it ends there", || prices.state() == PeerState::Closed);
    assert_eq!(prices.get(yen), Ok(value(20_000)), "what was sent last");
    let (mut sender, _name) = table(&a, 4);
    let yen = sender.cell("USDJPY").unwrap();
    sender.send_to(yen, value(1)).unwrap();
    let prices = accept(&b);
    until("the next one's values come", || prices.cell("USDJPY").is_some() && prices.get(yen).is_ok());
    assert_eq!((prices.cells(), prices.get(yen)), (4, Ok(value(1))));
    until_route(&far, Direction::In, "prices", |route| route.kind == "watch" && route.corrupt == 0);
}

#[test]
fn values_are_newest_after_the_link_was_cut_and_the_bridge_began_anew() {
    let (a, b) = (Machine::new("a"), Machine::new("b"));
    let (far, at) = b.listening();
    let link = Link::to(at);
    let near = a.connected(link.address);
    let (mut sender, name) = table(&a, 2);
    (1..=50).for_each(|number| sender.send_to(0, value(number)).unwrap());
    let prices = accept(&b);
    until("it comes", || prices.get(0) == Ok(value(50)));

    link.cut();
    until("it is seen", || !is_open(&far, Direction::In, "prices"));
    (51..=60).for_each(|number| sender.send_to(0, value(number)).unwrap());
    sender.send_to(1, value(1)).unwrap();
    link.mend();
    until("what was sent meanwhile comes", || {
        [prices.get(0), prices.get(1)] == [Ok(value(60)), Ok(value(1))]
    });

    // The bridge that sends counts nothing by itself: the next one's values are newer by the table's counts.
    drop(near);
    until_route(&far, Direction::In, "prices", |route| route.state == RouteState::Down);
    sender.send_to(0, value(61)).unwrap();
    let near = a.connected(at);
    until("it comes by the next bridge", || prices.get(0) == Ok(value(61)));
    sender.send_to(1, value(2)).unwrap();
    until("the table goes on", || prices.get(1) == Ok(value(2)));
    assert_eq!(prices.state(), PeerState::Alive, "the same table");
    drop((sender, name));
    until("it ends", || prices.state() == PeerState::Closed);
    drop((near, far));
}

const SEND_IN: &str = "ANNULUS_ZENOH_SEND_IN";

/// Not a test of its own: has a table and frames in the directory that the variable names, until it is
/// killed.
#[test]
fn sends_if_the_variable_is_set() {
    let Ok(path) = std::env::var(SEND_IN) else { return };
    let directory = Directory::open(path).unwrap();
    let mut prices = watch::table::<Value>(Settings::new(2)).unwrap();
    prices.handle.send(value(3)).unwrap();
    let mut images = frames::Builder::new(Settings::new(4), 100).build().unwrap();
    images.handle.publish(&[5; 50]).unwrap();
    let _names = [
        prices.invitation.publish(&directory, "prices").unwrap(),
        images.invitation.publish(&directory, "images").unwrap(),
    ];
    loop {
        thread::park();
    }
}

#[test]
fn table_and_frames_end_there_when_their_process_dies() {
    let (a, b) = (Machine::new("a"), Machine::new("b"));
    let (_far, at) = b.listening();
    let _near = a.connected(at);
    let sender = child("values::sends_if_the_variable_is_set", SEND_IN, &a);
    let prices = accept(&b);
    until("it comes", || prices.get(0) == Ok(value(3)));
    let images = Invitation::wait_for(&b.directory(), "images", Some(PATIENCE)).unwrap();
    let mut images = images.accept_frames().unwrap().subscribe_from_oldest().unwrap();
    assert_eq!(images.recv_timeout(PATIENCE).unwrap().to_vec(), [5; 50]);
    drop(sender);
    assert_eq!(images.recv_timeout(PATIENCE).unwrap_err(), frames::FrameError::Closed);
    until("the table ends, too", || prices.state() == PeerState::Closed);
    assert_eq!(prices.get(0), Ok(value(3)), "its values stay");
}

/// Another program says that it is a bridge: its cells come in any order, with any counts, and some are none.
#[test]
fn value_with_a_smaller_count_is_not_taken() {
    let b = Machine::new("b");
    let (far, at) = b.listening();
    let session = plain_session(at);
    let encoding = Encoding::APPLICATION_OCTET_STREAM.with_schema("annulus=0000000000000000");
    let attachment = |cell: u32, count: u64, key: &str| {
        let numbers = [7_u64, count, 0].map(u64::to_le_bytes).concat();
        [b"anv1", &cell.to_le_bytes()[..], &numbers, key.as_bytes()].concat()
    };
    let description = r#"{"version":2,"epoch":"0000000000000007","kind":"watch","capacity":4,"bytes":16,
        "alignment":8,"schema":null,"fingerprint":"0000000000000000","next":0,"begin":0,"reliable":false,
        "ended":false}"#;
    let bytes = |number: u64| value(number).map(u64::to_ne_bytes).concat();
    let asked = session.declare_queryable("annulus/liar/prices/@ring");
    let _asked = asked
        .callback(move |query| _ = query.reply(query.key_expr().clone(), description).wait())
        .wait()
        .unwrap();
    let (of, answered) = (encoding.clone(), bytes(20));
    let asked = session.declare_queryable("annulus/liar/prices/*").callback(move |query| {
        for (cell, key) in [(2_u32, "c"), (1, "b"), (0, "a")] {
            let reply = query.reply(format!("annulus/liar/prices/{cell}"), answered.clone());
            _ = reply.encoding(of.clone()).attachment(attachment(cell, 20, key)).wait();
        }
    });
    let _values = asked.wait().unwrap();
    let token = session.liveliness().declare_token("annulus/liar/prices/@live/0000000000000007").wait();
    let invitation = Invitation::wait_for(&b.directory(), "prices", Some(PATIENCE)).unwrap();
    let of = annulus::shm::blocks::MessageType::of_bytes(16, 8);
    let prices = annulus::shm::dynamic::watch::AcceptedWatch::accept(
        &invitation,
        &of,
        annulus::WaitStrategy::default(),
    );
    let prices = prices.unwrap();
    let has = |key: &str| {
        let mut found = [0; 16];
        let cell = prices.cell(key)?;
        prices.get(cell, &mut found).ok()?;
        Some((cell, u64::from_ne_bytes(found[..8].try_into().unwrap())))
    };
    until("all come, in their cells", || {
        [has("a"), has("b"), has("c")] == [Some((0, 20)), Some((1, 20)), Some((2, 20))]
    });

    let put = |cell: u32, count: u64, key: &str, payload: Vec<u8>| {
        let put = session.put(format!("annulus/liar/prices/{cell}"), payload).encoding(encoding.clone());
        put.attachment(attachment(cell, count, key)).wait().unwrap();
    };
    put(1, 19, "b", bytes(19));
    put(1, 20, "b", bytes(18));
    put(2, 21, "c", bytes(21));
    until("the newer one comes", || has("c") == Some((2, 21)));
    assert_eq!(has("b"), Some((1, 20)), "the older ones came before that");
    // What is none, and a key that another cell has.
    put(4, 1, "", bytes(1));
    put(3, 1, "", vec![0; 15]);
    put(3, 0, "", Vec::new());
    put(3, 1, "a", bytes(1));
    session.put("annulus/liar/prices/3", bytes(1)).encoding(encoding.clone()).wait().unwrap();
    session.put("annulus/liar/prices/3", bytes(1)).attachment(attachment(3, 9, "")).wait().unwrap();
    until_route(&far, Direction::In, "prices", |route| route.corrupt == 6);
    assert_eq!(prices.key(3), None);
    drop(token.unwrap());
}
