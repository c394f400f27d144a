//! Instructions of a publisher to a ring between processes, alone and while an observer looks at it.
//! The observer maps the ring read-only, and its publisher does not know of it: `ci/instructions` asks for
//! equal counts.

#[allow(dead_code, reason = "nothing is received here")]
mod common;

use annulus::Settings;
use annulus::broadcast::{Lossless, Lossy, Publisher};
use annulus::shm::{Directory, PublishedName, RingObserver, Shared, broadcast};
use common::{CAPACITY, MESSAGES, at_most, message};
use gungraun::prelude::*;

/// A publisher, and the observer, if there is one. (With the name, and its directory, which is removed.)
struct Looked<M: annulus::broadcast::Mode> {
    publisher: Publisher<u64, M>,
    _observer: Option<RingObserver>,
    _name: PublishedName,
    _folder: Folder,
}

struct Folder(std::path::PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// As it is one lap later than at first, and was looked at meanwhile if somebody looks.
fn looked<M: annulus::broadcast::Mode, P>(
    Shared { handle: mut publisher, invitation, .. }: Shared<Publisher<u64, M>, P>,
    mut publish: impl FnMut(&mut Publisher<u64, M>, u64),
    is_observed: bool,
) -> Looked<M> {
    let folder = Folder(std::env::temp_dir().join(format!("annulus-observed-{}", std::process::id())));
    let directory = Directory::open(&folder.0).expect("it can be made");
    let name = invitation.publish(&directory, "ring").expect("the name is free");
    let observer = is_observed
        .then(|| RingObserver::of(&directory.find("ring").expect("it is there")).expect("it is a ring"));
    for number in 0..=CAPACITY as u64 {
        publish(&mut publisher, number);
        let seen = observer.as_ref().map(|observer| observer.numbers().expect("it is known").published);
        assert!(seen.is_none_or(|seen| seen == number + 1));
    }
    Looked { publisher, _observer: observer, _name: name, _folder: folder }
}

fn lossy(is_observed: bool) -> Looked<Lossy> {
    let ring = broadcast::lossy(Settings::new(CAPACITY)).expect("there is memory");
    looked(ring, |publisher, number| publisher.publish(number), is_observed)
}

fn lossless(is_observed: bool) -> Looked<Lossless> {
    let ring = broadcast::lossless(Settings::new(CAPACITY), 4).expect("there is memory");
    looked(ring, |publisher, number| publisher.publish(number).expect("it is open"), is_observed)
}

#[library_benchmark(config = at_most(45_200))]
#[bench::alone(args = [false], setup = lossy)]
#[bench::observed(args = [true], setup = lossy)]
fn publish_shared(mut ring: Looked<Lossy>) -> Looked<Lossy> {
    (0..MESSAGES).for_each(|number| ring.publisher.publish(message(number)));
    ring
}

#[library_benchmark(config = at_most(53_500))]
#[bench::alone(args = [false], setup = lossless)]
#[bench::observed(args = [true], setup = lossless)]
fn publish_shared_lossless(mut ring: Looked<Lossless>) -> Looked<Lossless> {
    (0..MESSAGES).for_each(|number| assert!(ring.publisher.publish(message(number)).is_ok()));
    ring
}

library_benchmark_group!(name = observed, benchmarks = [publish_shared, publish_shared_lossless]);
main!(library_benchmark_groups = observed);
