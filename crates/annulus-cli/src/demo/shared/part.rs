//! A subscriber, the gateway, or a feed that is to be killed, as a process.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::exit;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use annulus::Shutdown;
use annulus::broadcast::{Lossless, Lossy};
use annulus::shm::WhenGone;
use annulus::shm::mpsc::{Builder, ManyAcross, producer};
use annulus::shm::{Directory, Invitation, Shared};

use super::failed;
use super::ring::{GivenName, SharedRing};
use super::word::{Job, Role, Word};
use crate::demo::arguments::Arguments;
use crate::demo::gateway::{self, Books};
use crate::demo::order::{Names, Order};
use crate::demo::order_file::OrderWriter;
use crate::demo::publisher::publish;
use crate::demo::strategy::Strategy;
use crate::demo::subscriber::{Receipt, follow};
use crate::measure::{Clock, Gauge, Schedule};
use crate::outcome::{Failure, Outcome};
use crate::rings;
use crate::signals::Signals;

/// How often a subscriber says how far it is.
const INTERVAL: Duration = Duration::from_millis(100);

/// Plays a part of the demo: what the feed says through the standard input, which is a socket. What fails is
/// said to the feed.
///
/// # Errors
///
/// No feed is there.
pub(in crate::demo) fn play(part: &str, arguments: &Arguments) -> Result<Outcome, Failure> {
    // Held: a service manager, say, tells all processes of the demo, and the feed ends the rings.
    let _held = Signals::watch()?;
    if let Ok(name) = CString::new(part) {
        // In a list of processes it has the name that its thread has in one process.
        let _ = rustix::thread::set_name(&name);
    }
    let name = GivenName::default();
    let (feed, job, begins) = Feed::meet(&name)?;
    let played = rings::open_or_make(&arguments.directory()).and_then(|directory| match job.role {
        Role::Feed { lossless: true, .. } => {
            publish_half::<Lossless>(&job, arguments, &directory, (&feed, begins), &name)
        }
        Role::Feed { lossless: false, .. } => {
            publish_half::<Lossy>(&job, arguments, &directory, (&feed, begins), &name)
        }
        Role::Gateway { slots, writes } => gateway(&job, slots, writes, &directory, &feed, &name),
        Role::Subscriber { lossless: true, .. } => subscriber::<Lossless>(&job, &directory, &feed),
        Role::Subscriber { lossless: false, .. } => subscriber::<Lossy>(&job, &directory, &feed),
    });
    name.take_back();
    let (word, outcome) = match played {
        Ok(word) => (word, Outcome::Passed),
        Err(failure) => (Word::Failed(failure.to_string()), Outcome::Failed),
    };
    feed.tell(&word);
    Ok(outcome)
}

/// Publishes the first half of the quotes, and waits to be killed.
fn publish_half<M: SharedRing>(
    job: &Job,
    arguments: &Arguments,
    directory: &Directory,
    (feed, begins): (&Feed, Receiver<()>),
    name: &GivenName,
) -> Result<Word, Failure> {
    let Role::Feed { slots, subscribers, quotes, rate, .. } = job.role else {
        return Err(Failure::new("it is no feed"));
    };
    let source = arguments.feed()?;
    let (publisher, invitation) =
        M::share(slots, subscribers).map_err(|error| rings::not_made(slots, &error))?;
    name.give(&invitation, directory, &job.quotes)?;
    feed.tell(&Word::Joined);
    // (Without it this process ends.)
    let _ = begins.recv();
    let start_ns = Clock::System.now_ns();
    let middle = quotes / 2;
    let ticks = (0..).zip(source.ticks(quotes)).map(|(number, tick)| {
        if number == middle {
            feed.tell(&Word::Middle { start_ns });
            loop {
                thread::park();
            }
        }
        tick
    });
    let gauge = Gauge::default();
    publish(publisher, ticks, rate.map(Schedule::new), &Clock::System, &Shutdown::new(), &gauge);
    Err(Failure::new("it has come to its end"))
}

/// Receives all orders.
fn gateway(
    job: &Job,
    slots: usize,
    writes: bool,
    directory: &Directory,
    feed: &Feed,
    name: &GivenName,
) -> Result<Word, Failure> {
    let builder = Builder::new(annulus::Settings::new(slots))
        .producers(job.strategies.len())
        .when_no_producer(WhenGone::Close);
    let Shared { handle: orders, invitation, .. } =
        builder.build::<Order>().map_err(|error| failed(&error))?;
    name.give(&invitation, directory, &job.orders)?;
    let mut writer = if writes {
        let output = io::stdout().as_fd().try_clone_to_owned().map_err(|error| failed(&error))?;
        Some(OrderWriter::new(File::from(output), Names::new(&job.strategies, &job.symbols)))
    } else {
        None
    };
    feed.tell(&Word::Joined);
    let books = Books::new(job.strategies.len());
    let cannot_write = || feed.tell(&Word::CannotWrite);
    let books =
        gateway::receive(orders, books, job.symbols.len(), writer.as_mut(), &Clock::System, cannot_write);
    let unwritten = writer.and_then(|mut writer| writer.end().err());
    Ok(Word::Booked(books, unwritten.map(|error| error.to_string())))
}

/// Receives all quotes, for its strategies.
fn subscriber<M: SharedRing>(job: &Job, directory: &Directory, feed: &Feed) -> Result<Word, Failure> {
    let Role::Subscriber { team, is_watched, .. } = &job.role else {
        return Err(Failure::new("it is no subscriber"));
    };
    let find = |name: &str| {
        let ring = directory.find(name).map_err(|error| failed(&error))?;
        Invitation::find(&ring).map_err(|error| failed(&error))
    };
    let quotes = M::join(&find(&job.quotes)?)?;
    let orders = find(&job.orders)?;
    let strategy = |&index: &u16| {
        let (producer, _) = producer::<Order>(&orders).map_err(|error| failed(&error))?;
        Ok(Strategy::new(index, job.strategies[usize::from(index)], job.symbols.len(), producer))
    };
    let team: Result<Vec<Strategy<ManyAcross<Order>>>, Failure> = team.iter().map(strategy).collect();
    let (team, receipt, gauge) = (team?, Receipt::new(job.symbols.len()), &Gauge::default());
    feed.tell(&Word::Joined);
    let receipt = thread::scope(|scope| {
        let (running, ended) = mpsc::channel::<()>();
        if *is_watched {
            let tell = move || {
                while ended.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                    feed.tell(&Word::Passed(gauge.get()));
                }
            };
            // Where there is no thread for it, nobody sees how far this one is.
            let _ = thread::Builder::new().name("progress".into()).spawn_scoped(scope, tell);
        }
        let receipt = follow(quotes, receipt, team, &Clock::System, gauge);
        drop(running);
        receipt
    });
    Ok(Word::Received(Box::new(receipt)))
}

/// The process that has started this one.
struct Feed(Mutex<UnixStream>);

impl Feed {
    /// Hears what it wants; and, if this is to publish, when. If it ends, this process ends, too, and takes
    /// its `name` back.
    fn meet(name: &GivenName) -> Result<(Self, Job, Receiver<()>), Failure> {
        let failed = |error: &dyn std::fmt::Display| {
            Failure::new(format!("--part is for processes that `annulus demo --shared` starts: {error}"))
        };
        let input = io::stdin().as_fd().try_clone_to_owned().map_err(|error| failed(&error))?;
        let mut heard = BufReader::new(UnixStream::from(input));
        let mut line = String::new();
        heard.read_line(&mut line).map_err(|error| failed(&error))?;
        let job = serde_json::from_str(&line).map_err(|error| failed(&error))?;
        let told = heard.get_ref().try_clone().map_err(|error| failed(&error))?;
        let name = name.clone();
        let (begin, begins) = mpsc::channel();
        let watch = move || {
            while let Ok(1) = heard.read(&mut [0]) {
                let _ = begin.send(());
            }
            name.take_back_for_good();
            exit(Outcome::Failed.code().into());
        };
        thread::Builder::new().name("feed".into()).spawn(watch).map_err(|error| failed(&error))?;
        Ok((Self(Mutex::new(told)), job, begins))
    }

    /// Tells it something. If it is not there, this process is about to end.
    fn tell(&self, word: &Word) {
        let line = serde_json::to_string(word).expect("numbers and words have a form in JSON") + "\n";
        let _ = self.0.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes());
    }
}
