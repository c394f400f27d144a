//! What the handles of a channel for the newest value say of themselves, and as what they are taken.

use annulus::{RecvTimeoutError, WaitStrategy, Waitable, watch};

/// Clones and later receivers are of one channel, whatever others have the same value.
#[test]
fn handles_of_one_channel_know_each_other() {
    let (sender, receiver) = watch::channel(1);
    let (other, of_other) = watch::channel(1);
    assert!(sender.same_channel(&sender.clone()) && !sender.same_channel(&other));
    let receivers = [receiver.clone(), sender.subscribe()];
    assert!(receivers.iter().all(|other| receiver.same_channel(other)));
    assert!(!receiver.same_channel(&of_other));
}

/// A sender alone has the default value.
#[test]
fn debug_output_names_value_and_state() {
    let sender = watch::Sender::<u64>::default();
    let mut receiver = sender.subscribe();
    assert_eq!((*receiver.borrow(), format!("{:?}", receiver.borrow())), (0, "0".to_owned()));
    let said = format!("{receiver:?}");
    assert!(said.contains("watch") && said.contains("changed: false, closed: false"), "{said}");
    sender.send(5).unwrap();
    assert!(format!("{receiver:?}").contains("changed: true, closed: false"));
    let said = format!("{sender:?}");
    assert!(said.contains("watch") && said.contains("receivers: 1, closed: false"), "{said}");
    assert_eq!(receiver.recv_until(WaitStrategy::BusySpin), Ok(5));
    let closer = sender.closer();
    assert!(!closer.is_closed() && !is_over(&receiver));
    closer.close();
    assert!(closer.is_closed() && is_over(&receiver) && sender.is_closed());
    assert_eq!(receiver.recv_until(WaitStrategy::BusySpin), Err(RecvTimeoutError::Closed));
}

/// As any code asks that takes a handle to wait for.
fn is_over(handle: &impl Waitable) -> bool {
    handle.is_closed()
}

/// A value that changed before the pipeline began is in it.
#[cfg(not(annulus_loom))]
#[test]
fn pipeline_behind_a_receiver() {
    let (sender, receiver) = watch::channel(0);
    sender.send(6).unwrap();
    let builder = annulus::pipeline::Pipeline::builder().capacity(4);
    let (output, pipeline) = builder.source(receiver).then(|number: u64| 2 * number).build();
    drop(sender);
    assert_eq!(output.into_iter().collect::<Vec<_>>(), [12]);
    pipeline.join().unwrap();
}
