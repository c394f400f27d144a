//! Waking a worker by the descriptor of a notifier.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use annulus::broadcast::{Publisher, Subscriber};
use annulus::{Notifier, Readiness};
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{EventfdFlags, eventfd};

use super::wake_up::wake_up;
use crate::contenders::{Annulus, Named};
use crate::hand_over::{HandOver, Sleeper, Waker};
use crate::row::{Entry, Kind, Row};

pub fn row() -> Row {
    const EVENTFD: &str = "a bare eventfd";
    Row::new(
        "notifier, wake-up latency",
        "u64, from the publish to its receipt by a subscriber on the other core whose thread sleeps in `epoll_wait`, at the descriptor of \
         a `Notifier`; the median of a run",
        64,
        200,
    )
    .on_two_cores()
    .entries([Entry { name: Annulus::NAME, kind: Kind::Ours, run: wake_up::<Notified> }])
    .floor(EVENTFD, wake_up::<BareEventFd>)
    .target(EVENTFD, 1.3)
}

/// An `epoll` of one descriptor.
struct Loop(OwnedFd);

impl Loop {
    fn of(fd: impl AsFd) -> Self {
        let epoll = epoll::create(CreateFlags::CLOEXEC).expect("an epoll is to be had");
        epoll::add(&epoll, fd, EventData::new_u64(0), EventFlags::IN).expect("a descriptor of ours");
        Self(epoll)
    }

    fn wait(&self) {
        let mut events = Vec::with_capacity(1);
        // It fails for a signal: the thread that waits looks again.
        _ = epoll::wait(&self.0, spare_capacity(&mut events), None);
    }
}

struct Notified;

struct NotifiedLoop {
    notifier: Notifier<Subscriber<u64>>,
    epoll: Loop,
}

impl HandOver for Notified {
    type Waker = Publisher<u64>;
    type Sleeper = NotifiedLoop;

    fn pair() -> (Self::Waker, Self::Sleeper) {
        let (publisher, subscribable) = annulus::broadcast::lossy(64);
        let notifier = Notifier::new(subscribable.subscribe()).expect("a descriptor is to be had");
        let epoll = Loop::of(&notifier);
        (publisher, NotifiedLoop { notifier, epoll })
    }
}

impl Sleeper for NotifiedLoop {
    fn sleep(&mut self) -> u64 {
        loop {
            if let Ok(value) = self.notifier.get_mut().try_recv() {
                return value;
            }
            if self.notifier.arm() == Readiness::Armed {
                self.epoll.wait();
            }
        }
    }
}

/// An eventfd, and what is handed over beside it.
struct BareEventFd;

struct Signal {
    fd: OwnedFd,
    value: AtomicU64,
}

struct BareLoop {
    signal: Arc<Signal>,
    epoll: Loop,
}

impl HandOver for BareEventFd {
    type Waker = Arc<Signal>;
    type Sleeper = BareLoop;

    fn pair() -> (Self::Waker, Self::Sleeper) {
        let fd = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC).expect("an eventfd is to be had");
        let epoll = Loop::of(&fd);
        let signal = Arc::new(Signal { fd, value: AtomicU64::new(0) });
        (signal.clone(), BareLoop { signal, epoll })
    }
}

impl Waker for Arc<Signal> {
    fn wake(&mut self, value: u64) {
        self.value.store(value, Ordering::Release);
        rustix::io::write(&self.fd, &1_u64.to_ne_bytes()).expect("the counter is not full");
    }
}

impl Sleeper for BareLoop {
    fn sleep(&mut self) -> u64 {
        // It fails where the counter is 0.
        while rustix::io::read(&self.signal.fd, &mut [0; 8]).is_err() {
            self.epoll.wait();
        }
        self.signal.value.load(Ordering::Acquire)
    }
}
