//! Measuring honestly.
//!
//! A message between two cores takes about as long as a few cache misses. So the machine, the compiler and
//! other programs change the result as much as the library does. The project's own
//! [benchmarks](https://github.com/annulus-rs/annulus/tree/main/docs/benchmarks) follow these rules.
//!
//! 1. **Measure on your machine.** Between cores on two sockets, a message takes several times as long as
//!    between cores that share a cache. The repository has one command that measures every ring next to its
//!    rivals: `cargo run --release --manifest-path bench/Cargo.toml`.
//! 2. **Compare in one run, in turns.** Run A, B, A, B, and so on, and compare the pairs. Two runs on two
//!    days also compare the days.
//! 3. **Give each candidate a process of its own.** The memory and the branches of one candidate influence
//!    the next.
//! 4. **Pin the threads** and say on which cores: see [pinning](super::pinning).
//! 5. **Report medians and spread**, not the best run. If the spread is larger than the difference, there is
//!    no result.
//! 6. **Report ratios** to something known, such as two threads that exchange a bare word. Times without the
//!    machine mean nothing.
//! 7. **Check what arrived.** A lossy ring looks very fast if its reader receives one message in a thousand.
//!    Count what was received and what was lost.
//! 8. **Know which number you want.** Throughput, the time of one message, and the time of a wake-up are
//!    three different things. The best ring for one is not always the best for another.
//!
//! # Throughput, with its loss
//!
//! ```
//! use std::time::Instant;
//!
//! const MESSAGES: u64 = 100_000;
//!
//! let (mut publisher, subscribable) = annulus::broadcast::lossy::<u64>(4096);
//! let mut subscriber = subscribable.subscribe();
//! let reader = std::thread::spawn(move || {
//!     subscriber.iter().for_each(drop);
//!     (subscriber.total_received(), subscriber.total_lagged())
//! });
//! let begun = Instant::now();
//! (0..MESSAGES).for_each(|number| publisher.publish(number));
//! drop(publisher);
//! let (received, lagged) = reader.join().unwrap();
//! let elapsed = begun.elapsed(); // until the reader had finished, not only the publisher
//!
//! assert_eq!(received + lagged, MESSAGES);
//! println!("{received} received and {lagged} lost in {elapsed:?}");
//! ```
//!
//! # The time of one message
//!
//! Take many samples and look at the distribution. The mean hides the slow messages. Do not let a slow
//! message delay the next measurement without counting that delay: send by a clock, and measure from the
//! moment when the message *should* have been sent.
//!
//! ```
//! use std::time::{Duration, Instant};
//!
//! let (mut ask, mut asked) = annulus::spsc::channel::<u64>(64);
//! let (mut answer, mut answered) = annulus::spsc::channel::<u64>(64);
//! let echo = std::thread::spawn(move || {
//!     while let Ok(number) = asked.recv() {
//!         answer.send(number).unwrap();
//!     }
//! });
//!
//! let mut times = Vec::new();
//! let mut due = Instant::now();
//! for number in 0..1_000 {
//!     due += Duration::from_micros(10);
//!     while Instant::now() < due {
//!         std::hint::spin_loop();
//!     }
//!     ask.send(number).unwrap();
//!     answered.recv().unwrap();
//!     times.push(due.elapsed()); // from when it was due
//! }
//! drop(ask);
//! echo.join().unwrap();
//!
//! times.sort();
//! for (name, permille) in [("median", 500), ("99 %", 990), ("99.9 %", 999)] {
//!     println!("{name}: {:?}", times[times.len() * permille / 1000]);
//! }
//! ```
//!
//! # In a running program
//!
//! Every handle says with `stats` what its ring does ([`Stats`](crate::stats::Stats)), and an
//! [`Observer`](crate::Observer) says so to a thread without a handle. Rings with a name (`name` of the
//! settings) are in a list, which `Observer::list` shows to any thread:
//!
//! ```
//! use annulus::{Observer, Settings, broadcast};
//!
//! let (mut prices, _source) = broadcast::lossless_with::<u64>(Settings::new(64).name("prices"))?;
//! let rings = || Observer::list().iter().filter_map(|ring| ring.stats()).collect::<Vec<_>>();
//! let earlier = rings();
//! prices.publish(1).unwrap();
//! for (now, before) in rings().iter().zip(&earlier) {
//!     let delta = now.since(before);
//!     println!("{now}\n  {:.0} messages a second", delta.rate(delta.published));
//! }
//! # Ok::<(), annulus::CapacityError>(())
//! ```
//!
//! A queue with one consumer can also measure how long messages lie in it. `Settings::statistics(true)`
//! takes the time of about one message in 256, and
//! [`stats`](crate::queue::Consumer::stats) reports it together with the counts of each producer:
//!
//! ```
//! let (mut producer, mut consumer) = annulus::mpsc::with::<u64>(annulus::Settings::new(256).statistics(true))?;
//! for number in 0..1_000 {
//!     producer.send(number).unwrap();
//!     consumer.recv().unwrap();
//! }
//! let statistics = consumer.stats();
//! let latency = statistics.producers[0].latency.expect("some messages were measured");
//! assert_eq!(statistics.producers[0].sent, 1_000);
//! assert!(latency.min_ns <= latency.mean_ns && latency.mean_ns <= latency.max_ns);
//! # Ok::<(), annulus::CapacityError>(())
//! ```
