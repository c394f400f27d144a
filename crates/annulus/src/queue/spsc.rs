//! One producer, one consumer, one ring: the fastest way from one thread to another.
//!
//! ```
//! let (mut producer, mut consumer) = annulus::spsc::channel(64);
//! let reader = std::thread::spawn(move || consumer.iter().map(|s: String| s.len()).sum::<usize>());
//! producer.send("any type".to_string()).unwrap();
//! producer.send("that is Send".to_string()).unwrap();
//! drop(producer);
//! assert_eq!(reader.join().unwrap(), 20);
//! ```

use super::channels::channels;
use super::ends::Read;
use super::handing::Handing;
use super::kind::{AnyKind, Build, InPlace, Kind, Lanes, Parts};
use super::node::NewLane;
use super::one::One;
use super::plan::Plan;
use super::read::ReadEnd;
use super::share::LaneShare;
use super::state::QueueState;
use super::write::WriteEnd;
use crate::error::CapacityError;
use crate::lane::{OneToOne, Own};

/// One producer, one consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Spsc {}

channels!(Spsc, holds: "Makes a queue that holds exactly `capacity` messages.");

impl Builder {
    /// Whether a waiting consumer asks for its next message, and gets it in one cache line together with the
    /// notice that it is there. Otherwise the message and the notice are two cache lines. Off by default.
    ///
    /// Turn it on for single messages, and for messages to and fro, if the time on the way counts more than
    /// the time of the send. A round trip takes about a fifth less. In return, a send to a waiting consumer
    /// first fetches that cache line from the other core; without this option it stores and goes on. So a
    /// stream to a consumer that keeps up with it can take two or three times as long. A send to a consumer
    /// that does not wait (because it has messages left, or uses `try_recv`) pays next to nothing.
    /// `docs/benchmarks` has figures.
    ///
    /// Messages of more than 40 bytes, or with an alignment above 8, are sent as without this option.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::{WaitStrategy, spsc};
    ///
    /// let (mut ask, mut asked) = spsc::Builder::new(64).hand_off(true).build::<u32>()?;
    /// let (mut answer, mut answered) = spsc::Builder::new(64).hand_off(true).build::<u32>()?;
    /// let server = std::thread::spawn(move || {
    ///     while let Ok(question) = asked.recv_by(WaitStrategy::YieldSpin) {
    ///         answer.send(question * question).unwrap();
    ///     }
    /// });
    /// for number in 0..100 {
    ///     ask.send(number).unwrap();
    ///     assert_eq!(answered.recv_by(WaitStrategy::YieldSpin), Ok(number * number));
    /// }
    /// drop(ask);
    /// server.join().unwrap();
    /// # Ok::<(), annulus::CapacityError>(())
    /// ```
    #[must_use]
    pub fn hand_off(mut self, on: bool) -> Self {
        self.plan.hand_off = on;
        self
    }
}

impl AnyKind for Spsc {}
impl Kind for Spsc {}
impl InPlace for Spsc {}

impl Parts for Spsc {
    type Write<T: Send> = Handing<T>;
    type Read<T: Send> = One<T>;
    type ControlBlock<T: Send> = Own<T>;
    const NAME: &'static str = "spsc";
}

impl Build for Spsc {
    type Slots<T: Send> = <OneToOne<T> as NewLane>::Slots;

    #[inline(always)]
    fn slots<T: Send>(plan: &Plan) -> Result<Self::Slots<T>, CapacityError> {
        QueueState::<OneToOne<T>>::first_slots(plan)
    }

    #[inline(always)]
    fn ends<T: Send>(slots: Self::Slots<T>, plan: &Plan) -> (Handing<T>, One<T>) {
        let [write, read] = LaneShare::first(slots, plan);
        (Handing { end: WriteEnd::new(write) }, One::new(ReadEnd::new(read)))
    }
}

impl Lanes for Spsc {
    fn write_end<T: Send>(write: &mut Handing<T>) -> &mut WriteEnd<T> {
        &mut write.end
    }

    #[inline]
    fn read_end<T: Send>(read: &mut One<T>) -> &mut ReadEnd<T> {
        read.has_some();
        &mut read.end
    }

    #[inline]
    fn current<T: Send>(read: &mut One<T>) -> &mut ReadEnd<T> {
        &mut read.end
    }
}
