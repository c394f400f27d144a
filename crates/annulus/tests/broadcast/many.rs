//! More publishers than cores, and payloads that would show a torn read or a swapped one: every byte of a
//! message is told by its publisher and that one's count.

use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::support::{STUCK, join, sleeping, soak_time, time_on_a_core};
use annulus::broadcast::{Lossless, Lossy, Mode, MpPublisher, Subscriber};
use annulus::{SendError, Transmit};

/// Publishers, on machines of two cores and more.
const PUBLISHERS: usize = if cfg!(miri) { 3 } else { 8 };

/// The rings: down to two slots, where each publisher is in the next one's way.
const CAPACITIES: &[usize] = if cfg!(miri) { &[2, 4] } else { &[2, 4, 64, 4096] };

/// Messages of each publisher at most. Miri has no hurry: it counts messages instead of time.
const MESSAGES: u64 = if cfg!(miri) { 4 } else { u64::MAX };

/// How many sizes, times two for lossy and lossless, share the time.
const SIZES: u32 = 4;

/// How long each ring runs.
fn time() -> Duration {
    // In all: so many seconds as the soak takes, or a little more than one.
    let in_ci = Duration::from_millis(if cfg!(debug_assertions) { 2400 } else { 3200 });
    let rings = 2 * SIZES * CAPACITIES.len() as u32;
    if cfg!(miri) { Duration::from_secs(3600) } else { soak_time(in_ci) / rings }
}

/// The message of a publisher. Its publisher and its number are in the first eight bytes; the others follow
/// from these, each lane of eight in its own way, so that no part of one message fits into another.
fn message<const N: usize>(publisher: usize, count: u64) -> [u8; N] {
    let name = (publisher as u64) << 56 | count;
    let mix = name.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    std::array::from_fn(|place| match place {
        0..8 => name.to_le_bytes()[place],
        _ => (mix >> (8 * (place % 8))) as u8 ^ (place / 8) as u8 ^ name as u8,
    })
}

/// Its publisher and its number, if every byte is as it was.
fn read<const N: usize>(bytes: &[u8; N]) -> (usize, u64) {
    let name = u64::from_le_bytes(bytes[..8].try_into().unwrap());
    let (publisher, count) = ((name >> 56) as usize, name & (u64::MAX >> 8));
    assert!(publisher < PUBLISHERS, "{N} bytes: of nobody: {name:x}");
    assert!(*bytes == message::<N>(publisher, count), "{N} bytes: message {count} of {publisher} is torn");
    (publisher, count)
}

/// What a ring's publishers do, lossy or not.
trait Publishes<const N: usize>: Mode {
    fn publish(
        publisher: &mut MpPublisher<[u8; N], Self>,
        message: [u8; N],
    ) -> Result<(), SendError<[u8; N]>>
    where
        Self: Sized;
    fn try_publish(publisher: &mut MpPublisher<[u8; N], Self>, message: [u8; N]) -> bool
    where
        Self: Sized;
    fn publish_batch(publisher: &mut MpPublisher<[u8; N], Self>, messages: &[[u8; N]])
    where
        Self: Sized;
}

impl<const N: usize> Publishes<N> for Lossy {
    fn publish(publisher: &mut MpPublisher<[u8; N]>, message: [u8; N]) -> Result<(), SendError<[u8; N]>> {
        publisher.publish(message);
        Ok(())
    }

    fn try_publish(publisher: &mut MpPublisher<[u8; N]>, message: [u8; N]) -> bool {
        publisher.try_send(message).is_ok()
    }

    fn publish_batch(publisher: &mut MpPublisher<[u8; N]>, messages: &[[u8; N]]) {
        publisher.publish_batch(messages);
    }
}

impl<const N: usize> Publishes<N> for Lossless {
    fn publish(
        publisher: &mut MpPublisher<[u8; N], Self>,
        message: [u8; N],
    ) -> Result<(), SendError<[u8; N]>> {
        publisher.publish(message)
    }

    fn try_publish(publisher: &mut MpPublisher<[u8; N], Self>, message: [u8; N]) -> bool {
        publisher.try_publish(message).is_ok()
    }

    fn publish_batch(publisher: &mut MpPublisher<[u8; N], Self>, messages: &[[u8; N]]) {
        publisher.publish_batch(messages).unwrap();
    }
}

/// Publishes for a while: one by one, by trying, or in batches, depending on the publisher. Returns how many.
fn publish<const N: usize, M: Publishes<N>>(
    publisher: &mut MpPublisher<[u8; N], M>,
    id: usize,
    time: Duration,
) -> u64 {
    let begun = Instant::now();
    let mut count = 0;
    while count < MESSAGES && begun.elapsed() < time {
        match id % 3 {
            0 => M::publish(publisher, message(id, count)).unwrap(),
            1 => {
                if !M::try_publish(publisher, message(id, count)) {
                    thread::yield_now();
                    continue;
                }
            }
            _ => {
                let batch: Vec<[u8; N]> = (count..count + 3).map(|count| message(id, count)).collect();
                M::publish_batch(publisher, &batch);
                count += 2;
            }
        }
        count += 1;
    }
    count
}

/// Receives until the close. Every message is whole and follows its publisher's; returns how many of each
/// were received, and how many were lost in all.
fn subscribe<const N: usize, M: Mode>(
    mut subscriber: Subscriber<[u8; N], M>,
    lossless: bool,
) -> ([u64; PUBLISHERS], u64) {
    let mut received = [0; PUBLISHERS];
    let mut next = [0; PUBLISHERS];
    loop {
        let begun = Instant::now();
        let result = subscriber.recv_timeout(STUCK);
        assert!(begun.elapsed() < STUCK / 2, "{N} bytes: it stood still for {:?}", begun.elapsed());
        let Ok(bytes) = result else { break };
        let (publisher, count) = read(&bytes);
        assert!(count >= next[publisher], "{N} bytes: {count} of {publisher}, {} was next", next[publisher]);
        assert!(!lossless || count == next[publisher], "{N} bytes: lost, or never published");
        next[publisher] = count + 1;
        received[publisher] += 1;
    }
    assert_eq!(subscriber.total_received(), received.iter().sum::<u64>());
    assert_eq!(subscriber.cursor(), subscriber.total_received() + subscriber.total_lagged());
    (received, subscriber.total_lagged())
}

/// All publishers and three subscribers on one ring; nothing is lost but what is counted, and on a lossless
/// ring nothing.
fn race<const N: usize, M: Publishes<N>>(
    publisher: MpPublisher<[u8; N], M>,
    subscribers: [Subscriber<[u8; N], M>; 3],
    lossless: bool,
) where
    MpPublisher<[u8; N], M>: Send,
    Subscriber<[u8; N], M>: Send,
{
    let time = time();
    let subscribers =
        subscribers.map(|subscriber| thread::spawn(move || subscribe::<N, M>(subscriber, lossless)));
    let publishers: Vec<JoinHandle<(u64, u64)>> = (0..PUBLISHERS)
        .map(|id| {
            let mut publisher = publisher.clone();
            thread::spawn(move || (publish(&mut publisher, id, time), publisher.published()))
        })
        .collect();
    drop(publisher);
    // Subscribers first: they notice where a publisher stands still.
    let accounts = join(subscribers);
    let (published, numbers): (Vec<u64>, Vec<u64>) = join(publishers).into_iter().unzip();
    // On a lossy ring a number may have been passed over. It counts as lagged.
    let (numbers, sent) = (numbers.into_iter().max().unwrap(), published.iter().sum::<u64>());
    assert!(numbers == sent || !lossless && numbers > sent, "{numbers} numbers of {sent} messages");
    for (received, lagged) in accounts {
        assert_eq!(received.iter().sum::<u64>() + lagged, numbers);
        assert!(received.iter().zip(&published).all(|(received, published)| received <= published));
        if lossless {
            assert_eq!(received[..], published);
        }
    }
}

macro_rules! sizes {
    ($($name:ident: $bytes:literal),* $(,)?) => {$(
        mod $name {
            use super::*;

            #[test]
            fn lossy() {
                for &capacity in CAPACITIES {
                    let (publisher, subscribable) = annulus::broadcast::mp_lossy(capacity);
                    let subscribers = [(); 3].map(|()| subscribable.subscribe());
                    race::<$bytes, Lossy>(publisher, subscribers, false);
                }
            }

            #[test]
            fn lossless() {
                for &capacity in CAPACITIES {
                    let (publisher, subscribable) = annulus::broadcast::mp_lossless_with(annulus::Settings::new(capacity).headroom(capacity / 3)).unwrap();
                    let subscribers = [(); 3].map(|()| subscribable.subscribe());
                    race::<$bytes, Lossless>(publisher, subscribers, true);
                }
            }
        }
    )*};
}

sizes! {
    of_8_bytes: 8,
    of_64_bytes: 64,
    of_512_bytes: 512,
    of_4096_bytes: 4096,
}

/// The same with owned events: text that tells its publisher and number, of every length.
#[test]
fn owned_texts() {
    fn text(publisher: usize, count: u64) -> String {
        format!("{publisher} {count} {}", "x".repeat((count % 100) as usize))
    }
    let time = time();
    for &capacity in CAPACITIES {
        let (publisher, subscribable) = annulus::event::mp_channel(capacity, String::new);
        let subscribers = [(); 3].map(|()| {
            let mut subscriber = subscribable.subscribe();
            thread::spawn(move || {
                let mut received = [0; PUBLISHERS];
                let mut look = |seen: &String| {
                    let publisher: usize = seen.split(' ').next().unwrap().parse().unwrap();
                    assert_eq!(*seen, text(publisher, received[publisher]), "torn, lost or out of order");
                    received[publisher] += 1;
                };
                loop {
                    let begun = Instant::now();
                    let result = subscriber.process_batch_timeout(5, STUCK, |seen, _| look(seen));
                    assert!(begun.elapsed() < STUCK / 2, "it stood still for {:?}", begun.elapsed());
                    if result.is_err() {
                        return received;
                    }
                }
            })
        });
        let publishers: Vec<_> = (0..PUBLISHERS)
            .map(|id| {
                let mut publisher = publisher.clone();
                thread::spawn(move || {
                    let begun = Instant::now();
                    let mut count = 0;
                    while count < MESSAGES && begun.elapsed() < time {
                        publisher.publish(|event| *event = text(id, count)).unwrap();
                        count += 1;
                    }
                    count
                })
            })
            .collect();
        drop(publisher);
        let accounts = join(subscribers);
        let published: Vec<u64> = join(publishers);
        assert!(accounts.iter().all(|received| received[..] == published));
    }
}

/// Publishers that wait at a full ring, however many, sleep, and go on when there is room.
#[test]
fn waiting_publishers_use_no_core() {
    let (publisher, subscribable) = annulus::broadcast::mp_lossless::<u64>(2);
    let mut subscriber = subscribable.subscribe();
    (0..2).for_each(|_| publisher.publish(0).unwrap());
    let (waiting, sleepers) = sleeping::spawn_all((0..PUBLISHERS).map(|_| {
        let publisher = publisher.clone();
        move || publisher.publish(1).unwrap()
    }));
    sleeping::await_all(&sleepers);
    drop(publisher);
    assert_eq!(subscriber.iter().sum::<u64>(), PUBLISHERS as u64);
    join(waiting);
}

/// Eight publishers with a message now and then and eight subscribers, sixteen threads: what all of them
/// together use of one core is printed, where one that spins would use all of it.
#[test]
fn sixteen_threads_with_little_to_do_come_to_their_end() {
    let (used, wall) = use_of_sixteen_threads();
    println!("{used:?} on a core in {wall:?}");
}

/// How long they are on a core, and how long it takes.
fn use_of_sixteen_threads() -> (Option<Duration>, Duration) {
    const PAUSE: Duration = Duration::from_millis(if cfg!(miri) { 0 } else { 20 });
    const ROUNDS: u64 = if cfg!(miri) { 2 } else { 25 };
    let (publisher, subscribable) = annulus::broadcast::mp_lossless::<u64>(4);
    let begun = Instant::now();
    let subscribers: Vec<_> = (0..8)
        .map(|_| {
            let mut subscriber = subscribable.subscribe();
            thread::spawn(move || {
                assert_eq!(subscriber.iter().count() as u64, ROUNDS * PUBLISHERS as u64);
                time_on_a_core()
            })
        })
        .collect();
    let publishers: Vec<_> = (0..PUBLISHERS)
        .map(|_| {
            let publisher = publisher.clone();
            thread::spawn(move || {
                for number in 0..ROUNDS {
                    publisher.publish(number).unwrap();
                    thread::sleep(PAUSE);
                }
                time_on_a_core()
            })
        })
        .collect();
    drop(publisher);
    let used: Option<Duration> = join(publishers.into_iter().chain(subscribers)).into_iter().sum();
    (used, begun.elapsed())
}
