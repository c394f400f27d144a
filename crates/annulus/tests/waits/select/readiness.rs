//! `Select` on handles of every kind, beside sends, receives and ends in random order: a handle is ready just
//! where its own verb would not say "empty" or "full", and asking takes nothing.

use annulus::queue::ordered;
use annulus::{
    LossyTryRecvError, Select, TryRecvError, TrySendError, Waitable, WaitsForRoom, broadcast, event, mpmc,
    mpsc, spmc, spsc,
};
use proptest::prelude::*;

/// An end of a ring.
trait End {
    fn is_ready(&mut self) -> bool;

    /// Calls the verb that does not wait. False where it says "empty", or "full".
    fn try_it(&mut self) -> bool;
}

struct Receiver<H, F>(H, F);

impl<H: Waitable, F: FnMut(&mut H) -> bool> End for Receiver<H, F> {
    fn is_ready(&mut self) -> bool {
        let mut select = Select::new();
        select.recv(&mut self.0);
        let is_ready = select.try_ready().is_some();
        assert_eq!(select.try_ready().is_some(), is_ready, "it takes nothing");
        is_ready
    }

    fn try_it(&mut self) -> bool {
        (self.1)(&mut self.0)
    }
}

struct Sender<H, F>(H, F);

impl<H: WaitsForRoom, F: FnMut(&mut H) -> bool> End for Sender<H, F> {
    fn is_ready(&mut self) -> bool {
        let mut select = Select::new();
        select.send(&mut self.0);
        let is_ready = select.try_ready().is_some();
        assert_eq!(select.try_ready().is_some(), is_ready, "it claims nothing");
        is_ready
    }

    fn try_it(&mut self) -> bool {
        (self.1)(&mut self.0)
    }
}

/// A publisher that waits for nobody.
struct AlwaysReady<F>(F);

impl<F: FnMut()> End for AlwaysReady<F> {
    fn is_ready(&mut self) -> bool {
        true
    }

    fn try_it(&mut self) -> bool {
        (self.0)();
        true
    }
}

/// Both sides of a ring. `None`: it is gone.
struct Ring {
    name: &'static str,
    sides: [Vec<Option<Box<dyn End>>>; 2],
}

impl Ring {
    fn new<const R: usize>(name: &'static str, sender: Box<dyn End>, receivers: [Box<dyn End>; R]) -> Self {
        Self { name, sides: [vec![Some(sender)], receivers.map(Some).into()] }
    }

    /// Does what `action` says to one end of it.
    fn act(&mut self, Action { to_sender, which, goes }: Action) {
        let side = &mut self.sides[usize::from(!to_sender)];
        let which = which % side.len();
        let Some(end) = &mut side[which] else { return };
        if goes {
            side[which] = None;
            return;
        }
        let is_ready = end.is_ready();
        assert_eq!(end.try_it(), is_ready, "{}, {}", self.name, if to_sender { "send" } else { "receive" });
    }
}

/// What happens to one end of a ring.
#[derive(Clone, Copy, Debug)]
struct Action {
    to_sender: bool,
    which: usize,
    goes: bool,
}

fn receives<H: Waitable + 'static, T>(
    handle: H,
    mut receive: impl FnMut(&mut H) -> Result<T, TryRecvError> + 'static,
) -> Box<dyn End> {
    Box::new(Receiver(handle, move |handle: &mut H| !matches!(receive(handle), Err(TryRecvError::Empty))))
}

fn receives_or_lags<H: Waitable + 'static, T>(
    handle: H,
    mut receive: impl FnMut(&mut H) -> Result<T, LossyTryRecvError> + 'static,
) -> Box<dyn End> {
    Box::new(Receiver(handle, move |handle: &mut H| {
        !matches!(receive(handle), Err(LossyTryRecvError::Empty))
    }))
}

fn sends<H: WaitsForRoom + 'static>(
    handle: H,
    mut send: impl FnMut(&mut H) -> Result<(), TrySendError<u64>> + 'static,
) -> Box<dyn End> {
    Box::new(Sender(handle, move |handle: &mut H| !matches!(send(handle), Err(TrySendError::Full(_)))))
}

fn publishes<H: WaitsForRoom + 'static>(
    handle: H,
    mut publish: impl FnMut(&mut H) -> Result<(), TrySendError<u64>> + 'static,
) -> Box<dyn End> {
    Box::new(Sender(handle, move |handle: &mut H| !matches!(publish(handle), Err(TrySendError::Full(_)))))
}

/// One of each kind, with few slots.
fn rings() -> Vec<Ring> {
    let (mut lossy, from_lossy) = broadcast::lossy(2);
    let (lossless, from_lossless) = broadcast::lossless(2);
    let (mp_lossless, from_mp_lossless) = broadcast::mp_lossless(2);
    let (events, from_events) = event::channel(2, || 0_u64);
    let (mp_events, from_mp_events) = event::mp_channel(2, || 0_u64);
    let (one, from_one) = spsc::channel(2);
    let (many, from_many) = mpsc::channel(2);
    let (divided, from_divided) = spmc::channel(2);
    let (both, from_both) = mpmc::channel(2);
    let (sender, receiver) = ordered::channel(2);
    let first = from_lossless.subscribe_tracked();
    let second = from_lossless.subscribe().after(&[&first]);
    let lossless_ends = [
        receives(first, annulus::broadcast::Subscriber::try_recv),
        receives(second, annulus::broadcast::Subscriber::try_recv),
        receives(from_lossless.subscribe_group::<2>(), annulus::broadcast::SubscriberGroup::try_recv),
        receives(from_lossless.subscribe(), annulus::broadcast::Subscriber::try_recv),
    ];
    let lossy_ends = [
        receives_or_lags(from_lossy.subscribe(), annulus::broadcast::Subscriber::try_recv_or_lag),
        receives(from_lossy.subscribe_group::<2>(), annulus::broadcast::SubscriberGroup::try_recv),
    ];
    let event_ends = [
        receives(from_events.subscribe(), annulus::event::Subscriber::try_recv),
        receives(from_events.subscribe(), |subscriber| subscriber.try_process(|event| *event)),
    ];
    let shared_ends = [receiver.clone(), receiver].map(|receiver| receives(receiver, |end| end.try_recv()));
    let divided_ends =
        [from_divided.clone(), from_divided].map(|end| receives(end, annulus::queue::Consumer::try_recv));
    let both_ends =
        [from_both.clone(), from_both].map(|end| receives(end, annulus::queue::Consumer::try_recv));
    vec![
        Ring::new("lossy", Box::new(AlwaysReady(move || lossy.publish(1_u64))), lossy_ends),
        Ring::new("lossless", publishes(lossless, |publisher| publisher.try_publish(1)), lossless_ends),
        Ring::new(
            "lossless of many",
            publishes(mp_lossless, |publisher| publisher.try_publish(1)),
            [receives(from_mp_lossless.subscribe(), annulus::broadcast::Subscriber::try_recv)],
        ),
        Ring::new("events", publishes(events, |publisher| publisher.try_send(1)), event_ends),
        Ring::new(
            "events of many",
            publishes(mp_events, |publisher| publisher.try_send(1)),
            [receives(from_mp_events.subscribe(), annulus::event::Subscriber::try_recv)],
        ),
        Ring::new(
            "spsc",
            sends(one, |end| end.try_send(1)),
            [receives(from_one, annulus::queue::Consumer::try_recv)],
        ),
        Ring::new(
            "mpsc",
            sends(many, |end| end.try_send(1)),
            [receives(from_many, annulus::queue::Consumer::try_recv)],
        ),
        Ring::new("spmc", sends(divided, |end| end.try_send(1)), divided_ends),
        Ring::new("mpmc", sends(both, |end| end.try_send(1)), both_ends),
        Ring::new("shared", sends(sender, |end| end.try_send(1)), shared_ends),
    ]
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let action = (any::<bool>(), 0..4_usize, 0..40_u32);
    let action = action.prop_map(|(to_sender, which, dice)| Action { to_sender, which, goes: dice == 0 });
    prop::collection::vec(action, 0..80)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 2 } else { 300 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn ready_is_what_does_not_find_nothing(actions in actions()) {
        for mut ring in rings() {
            for &action in &actions {
                ring.act(action);
            }
        }
    }
}
