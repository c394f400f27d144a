//! Sequences of verbs, against a plain hash map.

use std::collections::HashMap;

use annulus::broadcast::Subscriber;
use annulus::bus::{Bus, RemoveError, TopicError, TopicPublisher};
use proptest::prelude::*;

/// What is to be known of a topic.
#[derive(Default)]
struct Topic {
    published: u64,
    is_closed: bool,
    publisher: Option<TopicPublisher<u64>>,
    /// Each with the next number that it is to receive, and where it ends.
    subscribers: Vec<(Subscriber<u64>, u64)>,
}

#[derive(Clone, Debug)]
enum Step {
    TakePublisher(u8),
    GiveBack(u8),
    Publish(u8),
    Close(u8),
    Subscribe(u8),
    Unsubscribe(u8),
    Remove(u8),
}

fn step() -> impl Strategy<Value = Step> {
    (0_u8..7, 0_u8..6).prop_map(|(verb, topic)| match verb {
        0 => Step::TakePublisher(topic),
        1 => Step::GiveBack(topic),
        2 => Step::Publish(topic),
        3 => Step::Close(topic),
        4 => Step::Subscribe(topic),
        5 => Step::Unsubscribe(topic),
        _ => Step::Remove(topic),
    })
}

fn name(topic: u8) -> String {
    format!("topic.{topic}")
}

/// Everything that was published since it subscribed, and then the end if the topic is closed.
fn drain(subscriber: &mut Subscriber<u64>, from: &mut u64, published: u64) {
    let received: Vec<_> = subscriber.try_iter().collect();
    assert_eq!(received, (*from..published).collect::<Vec<_>>());
    *from = published;
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 5 } else { 1_000 }))]
    #[test]
    fn bus_agrees_with_a_hash_map(steps in prop::collection::vec(step(), 0..60)) {
        let bus = Bus::<u64>::new(64);
        let mut model: HashMap<String, Topic> = HashMap::new();
        for step in steps {
            match step {
                Step::TakePublisher(topic) => {
                    let topic = name(topic);
                    let known = model.entry(topic.clone()).or_default();
                    match bus.try_publisher(&topic) {
                        Ok(publisher) => {
                            prop_assert!(!known.is_closed && known.publisher.is_none());
                            prop_assert_eq!(publisher.publisher().published(), known.published);
                            known.publisher = Some(publisher);
                        }
                        Err(TopicError::Closed { topic: closed }) => {
                            prop_assert!(known.is_closed && closed == topic);
                        }
                        Err(TopicError::Taken { topic: taken }) => {
                            prop_assert!(!known.is_closed && known.publisher.is_some() && taken == topic);
                        }
                        Err(error) => prop_assert!(false, "{}", error),
                    }
                }
                Step::GiveBack(topic) => {
                    model.get_mut(&name(topic)).map(|known| known.publisher.take());
                }
                Step::Publish(topic) => {
                    if let Some(Topic { publisher: Some(publisher), published, is_closed: false, .. }) = model.get_mut(&name(topic)) {
                        publisher.publish(*published);
                        *published += 1;
                    }
                }
                Step::Close(topic) => {
                    if let Some(Topic { publisher: Some(publisher), is_closed, .. }) = model.get_mut(&name(topic)) {
                        publisher.close();
                        *is_closed = true;
                    }
                }
                Step::Subscribe(topic) => {
                    let topic = name(topic);
                    let known = model.entry(topic.clone()).or_default();
                    let subscriber = bus.subscribe(&topic);
                    prop_assert_eq!(subscriber.cursor(), known.published);
                    known.subscribers.push((subscriber, known.published));
                }
                Step::Unsubscribe(topic) => {
                    model.get_mut(&name(topic)).map(|known| known.subscribers.pop());
                }
                Step::Remove(topic) => {
                    let topic = name(topic);
                    let removed = bus.remove(&topic);
                    match model.get(&topic) {
                        None => prop_assert_eq!(removed, Err(RemoveError::Unknown { topic })),
                        Some(known) => {
                            let (publishers, receivers) = (usize::from(known.publisher.is_some()), known.subscribers.len());
                            if known.is_closed || publishers + receivers == 0 {
                                prop_assert_eq!(removed, Ok(()));
                                let mut gone = model.remove(&topic).unwrap();
                                drop(gone.publisher);
                                for (subscriber, from) in &mut gone.subscribers {
                                    drain(subscriber, from, gone.published);
                                    prop_assert!(subscriber.is_closed());
                                }
                            } else {
                                prop_assert_eq!(removed, Err(RemoveError::InUse { topic, publishers, receivers }));
                            }
                        }
                    }
                }
            }
            let mut names: Vec<_> = model.keys().cloned().collect();
            names.sort();
            prop_assert_eq!(bus.topics().into_iter().map(|topic| topic.name).collect::<Vec<_>>(), names);
        }
        drop(bus);
        for (_, mut known) in model {
            drop(known.publisher.take());
            for (subscriber, from) in &mut known.subscribers {
                drain(subscriber, from, known.published);
                prop_assert!(subscriber.is_closed(), "nobody publishes, and the bus is gone");
            }
        }
    }
}
