//! What a recorder of the facade `metrics` is told of rings with a name.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use annulus::Settings;
use annulus::broadcast;
use annulus::{Observer, metrics as exported, mpsc, spsc};
use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit,
};

/// A recorder that remembers the last number of each key.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<BTreeMap<String, f64>>>);

/// One number of it.
struct Note {
    notes: Notes,
    key: String,
}

impl CounterFn for Note {
    fn increment(&self, _: u64) {
        panic!("counters are absolute");
    }

    #[expect(clippy::cast_precision_loss, reason = "they are small")]
    fn absolute(&self, value: u64) {
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
        self.notes.0.lock().unwrap().insert(self.key.clone(), value);
    }
}

impl Notes {
    fn note(&self, key: &Key) -> Arc<Note> {
        let labels: Vec<_> = key.labels().map(|label| format!("{}={}", label.key(), label.value())).collect();
        Arc::new(Note { notes: self.clone(), key: format!("{} {}", key.name(), labels.join(",")) })
    }

    /// What it knows of the rings of that name, after a refresh.
    fn refreshed(&self, name: &str) -> BTreeMap<String, f64> {
        metrics::with_local_recorder(self, exported::refresh);
        let label = format!(" ring={name}");
        let notes = self.0.lock().unwrap();
        let of_name = |(key, value): (&String, &f64)| Some((key.strip_suffix(&label)?.to_owned(), *value));
        notes.iter().filter_map(of_name).collect()
    }
}

impl Recorder for Notes {
    fn describe_counter(&self, key: KeyName, _: Option<Unit>, _: SharedString) {
        self.0.lock().unwrap().insert(format!("{} counter", key.as_str()), 0.0);
    }

    fn describe_gauge(&self, key: KeyName, _: Option<Unit>, _: SharedString) {
        self.0.lock().unwrap().insert(format!("{} gauge", key.as_str()), 0.0);
    }

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {
        panic!("there is none");
    }

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
fn a_ring_with_a_name_is_exported_once() {
    let notes = Notes::default();
    let (mut producer, mut consumer) =
        mpsc::with::<u64>(Settings::new(8).name("orders").statistics(true)).unwrap();
    assert!(exported::export(&consumer.observer()));
    assert!(exported::export(&producer.observer()), "the same ring");
    producer.send_batch(&[1, 2, 3]).unwrap();
    assert_eq!(producer.stats().pending, Some(3));
    consumer.recv().unwrap();
    let orders = notes.refreshed("orders");
    let expected = [
        ("annulus_high_water", 3.0),
        ("annulus_lagged_total", 0.0),
        ("annulus_pending", 2.0),
        ("annulus_published_total", 3.0),
        ("annulus_readers", 1.0),
        ("annulus_readers_joined_total", 1.0),
        ("annulus_received_total", 1.0),
        ("annulus_rests_total", 0.0),
        ("annulus_rings", 1.0),
        ("annulus_sleeps_total", 0.0),
        ("annulus_wake_ups_total", 0.0),
        ("annulus_writers", 1.0),
        ("annulus_writers_joined_total", 1.0),
    ];
    assert_eq!(orders, expected.map(|(key, value)| (key.to_owned(), value)).into());
    // All of them are described.
    metrics::with_local_recorder(&notes, exported::describe);
    for (key, _) in expected {
        let kind = if key.ends_with("_total") { "counter" } else { "gauge" };
        assert!(notes.0.lock().unwrap().contains_key(&format!("{key} {kind}")), "{key}");
    }
}

#[test]
fn ring_without_a_name_is_not_exported() {
    let (producer, consumer) = spsc::channel::<u64>(8);
    let observer = consumer.observer();
    assert!(!exported::export(&observer));
    let (publisher, subscribable) = broadcast::lossy_with::<u64>(Settings::new(8).name("gone")).unwrap();
    let gone = subscribable.observer();
    drop((publisher, subscribable, producer, consumer));
    assert!(!exported::export(&gone) && !exported::export(&observer));
    assert!(Notes::default().refreshed("gone").is_empty());
}

/// Rings of one name add up, and what the ones did that are gone stays counted.
#[test]
fn rings_of_one_name_add_up() {
    let notes = Notes::default();
    let ring = || broadcast::lossless_with::<u64>(Settings::new(8).name("prices")).unwrap();
    let ((mut first, first_source), (mut second, second_source)) = (ring(), ring());
    let (reader, mut other) = (first_source.subscribe(), second_source.subscribe());
    assert!(exported::export(&first.observer()) && exported::export(&second.observer()));
    first.publish_batch(&[1, 2, 3]).unwrap();
    second.publish_batch(&[1, 2]).unwrap();
    other.recv().unwrap();
    let numbers = |notes: &Notes| {
        let prices = notes.refreshed("prices");
        assert!(!prices.contains_key("annulus_sleeps_total"), "not asked for");
        ["published_total", "received_total", "pending", "rings", "readers"]
            .map(|key| prices[&format!("annulus_{key}")].to_string())
            .join(" ")
    };
    assert_eq!(numbers(&notes), "5 1 4 2 2");
    drop((second, second_source, other));
    assert_eq!(numbers(&notes), "5 1 3 1 1");
    first.publish(4).unwrap();
    assert_eq!(numbers(&notes), "6 1 4 1 1");
    drop((first, first_source, reader));
    assert_eq!(numbers(&notes), "6 1 0 0 0");
    assert_eq!(numbers(&notes), "6 1 0 0 0", "once");
}

/// What both count is added, and the higher of two marks is the mark.
#[test]
fn counts_of_one_name_add_up() {
    let notes = Notes::default();
    let ring = || broadcast::lossy_with::<u64>(Settings::new(4).name("both").statistics(true)).unwrap();
    let ((mut first, first_source), (mut second, second_source)) = (ring(), ring());
    let (mut reader, mut other) = (first_source.subscribe(), second_source.subscribe());
    assert!(exported::export(&first.observer()) && exported::export(&second.observer()));
    (0..9).for_each(|number| first.publish(number));
    (0..6).for_each(|number| second.publish(number));
    assert_eq!((reader.try_recv(), other.try_recv()), (Ok(5), Ok(2)));
    let both = notes.refreshed("both");
    let lagged = (reader.total_lagged() + other.total_lagged()).to_string();
    assert_eq!(
        (both["annulus_lagged_total"].to_string(), both["annulus_rings"].to_string()),
        (lagged, "2".into())
    );
    let highest = [first.stats(), second.stats()].map(|stats| stats.counted.unwrap().high_water);
    assert_eq!(both["annulus_high_water"].to_string(), highest.iter().max().unwrap().to_string());
    for nothing in ["sleeps", "wake_ups", "rests"] {
        assert_eq!(both[&format!("annulus_{nothing}_total")].to_string(), "0", "{nothing}");
    }
}

#[test]
fn topic_is_exported_by_its_name() {
    let notes = Notes::default();
    let bus = annulus::bus::Bus::<u64>::new(8);
    let name = format!("prices of {}", std::process::id());
    let subscriber = bus.subscribe(&name);
    assert!(exported::export(&subscriber.observer()));
    bus.publisher(&name).publish(1);
    assert_eq!(notes.refreshed(&name)["annulus_published_total"].to_string(), "1");
}

/// Whether its observer comes from a handle or from the list, a ring is one ring.
#[test]
fn ring_of_the_list_is_exported_once() {
    let notes = Notes::default();
    let (mut producer, consumer) = mpsc::with::<u64>(Settings::new(8).name("listed")).unwrap();
    let listed = || Observer::named("listed").pop().unwrap();
    assert!(exported::export(&listed()) && exported::export(&listed()));
    assert!(exported::export(&consumer.observer()) && exported::export(&producer.observer()));
    producer.send(1).unwrap();
    let numbers = notes.refreshed("listed");
    assert_eq!(
        numbers["annulus_rings"].to_string() + " " + &numbers["annulus_published_total"].to_string(),
        "1 1"
    );
    // The other way round.
    let (other, _consumer) = mpsc::with::<u64>(Settings::new(8).name("held")).unwrap();
    let held = Observer::named("held").pop().unwrap();
    assert!(exported::export(&other.observer()) && exported::export(&held));
    assert_eq!(notes.refreshed("held")["annulus_rings"].to_string(), "1");
}
