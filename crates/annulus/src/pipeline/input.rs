//! [`Input`]: where messages go into a pipeline. [`Early`]: what an input has before the pipeline is built.
//!
//! The ring behind an input is made when it is known what is behind it, so at first there is none. What is
//! sent then waits in a vector, and goes into the ring when it is made. What is sent later waits in the ring.
//! Nothing takes messages out before the build, so an input does not wait for room there: a message that
//! finds none is given back.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;
use core::{fmt, mem};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::draft::{Draft, Mistake};
use super::error::CloseReason;
use super::port::{BoxWriter, CountedProducer, InputRing, Writer};
use crate::Transmit;
use crate::base::drop_all::{Contained, drop_each};
use crate::error::{CapacityError, GiveBack, Refusal, SendError, SendTimeoutError, TrySendError};
use crate::transmit::room::{AwaitRoom, SoleSender, WaitsForRoom};
use crate::transmit::{in_parts, transmits};
#[cfg(feature = "async")]
use crate::wait::Waiting;
use crate::wait::{Armed, Choice, EventCount, RoomArm, Until, WaitStrategy, wait_until};

/// Where messages go into a pipeline: the producer of its first ring; made by
/// [`Builder::input`](super::Builder::input).
///
/// What is sent before the pipeline is built waits for it, as many messages as the ring holds. Nothing takes
/// messages out before, so no verb waits for room then: without room, each gives the message back. If the
/// pipeline is never built, what waits is dropped with the builder.
///
/// When the input is dropped, the pipeline works on what it has, and ends. An input may move to another
/// thread.
///
/// It [waits for room](WaitsForRoom), so [`select!`](crate::select!) and [`Select`](crate::Select) take it.
pub struct Input<T: Send> {
    way: Way<T>,
}

/// Where an input's messages go.
enum Way<T: Send> {
    /// Not built yet, as far as the input knows.
    Unbuilt(Early<T>),
    /// The most frequent one is here itself, so that a loop that sends has no indirect call, and keeps
    /// the producer in registers (decision 0002).
    Queue(CountedProducer<T>),
    Other {
        writer: BoxWriter<T>,
        capacity: usize,
    },
}

impl<T: Send + 'static> Input<T> {
    pub(super) fn new(early: Early<T>) -> Self {
        Self { way: Way::Unbuilt(early) }
    }

    /// Sends `message` into the pipeline. Waits for room, as the pipeline's
    /// [strategy](super::Builder::wait_strategy) says.
    ///
    /// # Errors
    ///
    /// [`SendError`] gives the message back: the pipeline was shut down or aborted, or the stages at its
    /// input are gone (they panicked, or nothing receives what they send). Or the builder was dropped, the
    /// build failed, or the pipeline is not built yet and its ring is full: then build it first.
    /// [`close_reason`](Self::close_reason) says which it was.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::pipeline::Pipeline;
    ///
    /// let (mut input, stages) = Pipeline::builder().input::<u64>();
    /// input.send(1).unwrap(); // waits for the build
    /// let (mut output, pipeline) = stages.then(|x| x + 1).build();
    /// input.send(2).unwrap();
    /// assert_eq!((output.recv(), output.recv()), (Ok(2), Ok(3)));
    /// pipeline.shutdown();
    /// assert_eq!(input.send(3).unwrap_err().into_inner(), 3);
    /// ```
    #[doc(alias = "publish")]
    #[inline]
    pub fn send(&mut self, message: T) -> Result<(), SendError<T>> {
        if let Way::Queue(producer) = &mut self.way {
            return producer.send(message, Until::FOREVER).map_err(SendError);
        }
        self.send_otherwise(message)
    }

    #[inline(never)]
    fn send_otherwise(&mut self, message: T) -> Result<(), SendError<T>> {
        self.connect();
        match &mut self.way {
            Way::Unbuilt(early) => early.try_send(message).map_err(|error| SendError(error.into_inner())),
            Way::Queue(producer) => producer.send(message, Until::FOREVER).map_err(SendError),
            Way::Other { writer, .. } => writer.send(message, Until::FOREVER).map_err(SendError),
        }
    }

    /// As [`send`](Self::send), but gives up after `timeout` on the monotonic clock. A timeout that is too
    /// long for the clock means no timeout.
    ///
    /// # Errors
    ///
    /// [`Timeout`](SendTimeoutError::Timeout): no room came in time. [`Closed`](SendTimeoutError::Closed): as
    /// [`send`](Self::send), also at once where the pipeline is not built yet and its ring is full. Both give
    /// the message back.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::{SendTimeoutError, pipeline::Pipeline};
    /// use std::time::Duration;
    ///
    /// let (mut input, stages) = Pipeline::builder().capacity(1).input::<u64>();
    /// let (output, pipeline) = stages.then(|x| x + 1).build();
    /// let full = (0..).find_map(|x| input.send_timeout(x, Duration::from_millis(1)).err()).unwrap();
    /// assert!(matches!(full, SendTimeoutError::Timeout(_))); // nothing takes the results
    /// # drop(output);
    /// # pipeline.join().unwrap();
    /// ```
    pub fn send_timeout(&mut self, message: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        self.send_until(message, timeout)
    }

    /// As [`send`](Self::send), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// As [`send_timeout`](Self::send_timeout).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::{Until, WaitStrategy, pipeline::Pipeline};
    /// use std::time::Duration;
    ///
    /// let (mut input, stages) = Pipeline::builder().input::<u64>();
    /// let (mut output, pipeline) = stages.then(|x| x + 1).build();
    /// input.send_until(1, Until::from(Duration::from_millis(50)).by(WaitStrategy::BusySpin)).unwrap();
    /// assert_eq!(output.recv(), Ok(2));
    /// # drop(input);
    /// # pipeline.join().unwrap();
    /// ```
    pub fn send_until(&mut self, message: T, until: impl Into<Until>) -> Result<(), SendTimeoutError<T>> {
        self.put(message, until.into()).map_err(|(refusal, message)| SendTimeoutError::of(refusal, message))
    }

    /// Sends all of `messages` into the pipeline, in order. Waits for room as often as necessary. There may
    /// be more messages than the ring holds.
    ///
    /// # Errors
    ///
    /// [`SendError`] gives back the messages that were not sent, for the reasons of
    /// [`send`](Self::send).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::pipeline::Pipeline;
    ///
    /// let (mut input, stages) = Pipeline::builder().capacity(2).input::<u64>();
    /// assert_eq!(input.send_batch(&[1, 2, 3]).unwrap_err().into_inner(), [3]); // not built yet
    /// let (output, pipeline) = stages.then(|x| x * 2).build();
    /// let reader = std::thread::spawn(move || output.into_iter().sum::<u64>());
    /// input.send_batch(&[3, 4, 5]).unwrap();
    /// drop(input);
    /// assert_eq!(reader.join().unwrap(), 30);
    /// # pipeline.join().unwrap();
    /// ```
    #[inline]
    pub fn send_batch<'m>(&mut self, messages: &'m [T]) -> Result<(), SendError<&'m [T]>>
    where
        T: Copy,
    {
        self.put_all(messages, Until::FOREVER).map_err(|(rest, _)| SendError(rest))
    }

    /// As [`send_batch`](Self::send_batch), but gives up after `timeout`, which is for the whole batch.
    ///
    /// # Errors
    ///
    /// Those of [`send_timeout`](Self::send_timeout). They give back the messages that were not sent.
    pub fn send_batch_timeout<'m>(
        &mut self,
        messages: &'m [T],
        timeout: Duration,
    ) -> Result<(), SendTimeoutError<&'m [T]>>
    where
        T: Copy,
    {
        self.send_batch_until(messages, timeout)
    }

    /// As [`send_batch`](Self::send_batch), but waits as [`Until`] says. A duration is for the whole batch.
    ///
    /// # Errors
    ///
    /// As [`send_batch_timeout`](Self::send_batch_timeout).
    pub fn send_batch_until<'m>(
        &mut self,
        messages: &'m [T],
        until: impl Into<Until>,
    ) -> Result<(), SendTimeoutError<&'m [T]>>
    where
        T: Copy,
    {
        self.put_all(messages, until.into().begun())
            .map_err(|(rest, refusal)| SendTimeoutError::of(refusal, rest))
    }

    /// Sends all of `messages`, or gives the rest back, and says why.
    #[inline]
    fn put_all<'m>(&mut self, messages: &'m [T], until: Until) -> Result<(), (&'m [T], Refusal)>
    where
        T: Copy,
    {
        in_parts(messages, |rest| {
            if let Way::Queue(Writer { handle, counters, .. }) = &mut self.way {
                let left = handle.try_send_batch(rest).map_or_else(TrySendError::into_inner, |()| &[]);
                let sent = rest.len() - left.len();
                counters.0.add(sent as u64);
                if sent > 0 {
                    return Ok(sent);
                }
            }
            self.put(rest[0], until).map(|()| 1).map_err(|(refusal, _)| refusal)
        })
    }

    /// Sends `message`, or gives it back, and says why.
    #[inline(never)]
    fn put(&mut self, message: T, until: Until) -> Result<(), (Refusal, T)> {
        match self.put_now(message) {
            Err((Refusal::Full, message)) => self.put_late(message, until),
            put => put,
        }
    }

    /// Sends `message` into the pipeline like [`send`](Self::send), in a task: while there is no room,
    /// the task waits, not its thread.
    ///
    /// *Cancel safety*: a future that is dropped before it has returned `Ok` has sent nothing. The message is
    /// dropped with it.
    ///
    /// # Errors
    ///
    /// Those of [`send`](Self::send), also where the pipeline ends while this waits.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::pipeline::Pipeline;
    ///
    /// let (mut input, stages) = Pipeline::builder().capacity(4).input::<u64>();
    /// let (output, pipeline) = stages.then(|x| x * 2).build();
    /// let reader = std::thread::spawn(move || output.into_iter().sum::<u64>());
    /// pollster::block_on(async {
    ///     for number in 1..=100 {
    ///         input.send_async(number).await.unwrap(); // waits for the reader
    ///     }
    /// });
    /// drop(input);
    /// assert_eq!(reader.join().unwrap(), 10_100);
    /// # pipeline.join().unwrap();
    /// ```
    #[cfg(feature = "async")]
    pub async fn send_async(&mut self, mut message: T) -> Result<(), SendError<T>> {
        loop {
            match self.try_send(message) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Closed(message)) => return Err(SendError(message)),
                Err(TrySendError::Full(message))
                    if matches!(self.way, Way::Unbuilt(_)) || crate::sync::seeded!("input_gives_up") =>
                {
                    return Err(SendError(message));
                }
                Err(TrySendError::Full(back)) => message = back,
            }
            // SAFETY: the eventcounts are in the ring, which the input keeps alive. Nothing waits before
            // there is one: a look at an input without a ring never says that it is full, and one that has a
            // ring keeps it.
            let _room_or_end = unsafe { Waiting::new(AwaitRoom(self)) }.await;
        }
    }

    /// An arm of [`select!`](crate::select!).
    #[doc(hidden)]
    #[inline]
    pub fn send_in_select(&mut self) -> impl Choice<Found = impl FnOnce(T) -> Result<(), SendError<T>>> {
        // SAFETY: as in `send_async`.
        unsafe {
            Armed::new(AwaitRoom(self), AwaitRoom::strategy, |AwaitRoom(input), found| {
                // A slot that was found is still free.
                move |message| match found {
                    Ok(()) => input.try_send(message).map_err(|error| SendError(error.into_inner())),
                    Err(_) => Err(SendError(message)),
                }
            })
        }
    }

    /// Sends `message` into the pipeline if there is room. Never waits.
    ///
    /// # Errors
    ///
    /// [`Full`](TrySendError::Full): there is no room. [`Closed`](TrySendError::Closed): the pipeline,
    /// or its builder, is gone; see [`send`](Self::send). Both give the message back.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::{TrySendError, pipeline::Pipeline};
    ///
    /// let (mut input, stages) = Pipeline::builder().capacity(2).input::<u64>();
    /// assert!((0..2).all(|x| input.try_send(x).is_ok()));
    /// assert_eq!(input.try_send(2), Err(TrySendError::Full(2))); // not built yet
    /// let (mut output, pipeline) = stages.then(|x| x + 1).build();
    /// assert_eq!((output.recv(), output.recv()), (Ok(1), Ok(2)));
    /// pipeline.shutdown();
    /// assert_eq!(input.try_send(3), Err(TrySendError::Closed(3)));
    /// ```
    pub fn try_send(&mut self, message: T) -> Result<(), TrySendError<T>> {
        self.connect();
        match &mut self.way {
            Way::Unbuilt(early) => early.try_send(message),
            Way::Queue(producer) => producer.try_send(message),
            Way::Other { writer, .. } => writer.try_send(message),
        }
    }

    /// How many messages have been sent, those before the build included.
    ///
    /// ```
    /// use annulus::pipeline::Pipeline;
    ///
    /// let (mut input, stages) = Pipeline::builder().capacity(64).input::<u64>();
    /// input.send(1).unwrap();
    /// let (output, pipeline) = stages.then(|x| x + 1).build();
    /// input.send_batch(&[2, 3]).unwrap();
    /// assert_eq!((input.sent(), input.capacity()), (3, 64));
    /// # drop((input, output));
    /// # pipeline.join().unwrap();
    /// ```
    #[must_use]
    pub fn sent(&self) -> u64 {
        match &self.way {
            Way::Unbuilt(early) => early.sent(),
            Way::Queue(producer) => producer.counters.0.get(),
            Way::Other { writer, .. } => writer.counters.0.get(),
        }
    }

    /// How many messages the ring behind the input holds. Before its stage is added, this is the capacity
    /// that the [builder](super::Builder::capacity) was given.
    #[must_use]
    pub fn capacity(&self) -> usize {
        match &self.way {
            Way::Unbuilt(early) => early.capacity(),
            Way::Queue(producer) => producer.handle.capacity(),
            Way::Other { capacity, .. } => *capacity,
        }
    }

    /// Whether the pipeline takes no more messages, so that a [`send`](Self::send) would fail: it, or
    /// its builder, has come to its end.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        match &self.way {
            Way::Unbuilt(early) => early.is_closed(),
            Way::Queue(producer) => producer.refuses(),
            Way::Other { writer, .. } => writer.refuses(),
        }
    }

    /// Why the pipeline takes no more messages, if it takes none: for a message that came back. After a panic
    /// of a stage it says which stage, and with what.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::pipeline::Pipeline;
    ///
    /// let (mut input, stages) = Pipeline::builder().input::<u64>();
    /// let (mut output, pipeline) = stages.then(|x| 10 / x).name("divide").build();
    /// assert!(input.close_reason().is_none());
    /// input.send(0).unwrap();
    /// while input.send(1).is_ok() {}
    /// assert_eq!(
    ///     input.close_reason().unwrap().to_string(),
    ///     "the pipeline takes no more messages: the stage \"divide\" panicked: attempt to divide by zero"
    /// );
    /// # assert!(output.recv().is_err());
    /// # assert!(pipeline.join().is_err());
    /// ```
    #[must_use]
    pub fn close_reason(&mut self) -> Option<CloseReason> {
        self.connect();
        self.is_closed().then(|| match &self.way {
            Way::Unbuilt(_) => CloseReason::NotBuilt,
            Way::Queue(producer) => producer.readers.close_reason(),
            Way::Other { writer, .. } => writer.readers.close_reason(),
        })
    }

    /// Takes what the build has left.
    fn connect(&mut self) {
        let Way::Unbuilt(early) = &self.way else { return };
        if let Some(EarlyRing { ring, capacity }) = early.take() {
            self.way = match ring {
                InputRing::Queue(producer) => Way::Queue(producer),
                InputRing::Other(writer) => Way::Other { writer, capacity },
            };
        }
    }
}

impl<T: Send + 'static> WaitsForRoom for Input<T> {
    fn room(&mut self) -> RoomArm<'_> {
        // SAFETY: as in `send_async`.
        unsafe { RoomArm::new(AwaitRoom(self), AwaitRoom::strategy) }
    }
}

impl<T: Send + 'static> SoleSender for Input<T> {
    fn released(&self) -> &EventCount {
        match &self.way {
            Way::Unbuilt(early) => early.wait_point(),
            Way::Queue(producer) => producer.released(),
            Way::Other { writer, .. } => writer.released(),
        }
    }

    fn look_for_room(&mut self) -> Result<(), Refusal> {
        self.connect();
        match &mut self.way {
            // Nothing waits here: a send gives the message back.
            Way::Unbuilt(early) => early.look_for_room().map_err(|_| Refusal::Closed),
            Way::Queue(producer) => producer.look_for_room(),
            Way::Other { writer, .. } => writer.look_for_room(),
        }
    }

    fn strategy(&self) -> WaitStrategy {
        match &self.way {
            Way::Unbuilt(_) => WaitStrategy::default(),
            Way::Queue(producer) => producer.strategy(),
            Way::Other { writer, .. } => writer.strategy(),
        }
    }
}

impl<T: Send> fmt::Debug for Input<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input").finish_non_exhaustive()
    }
}

transmits! {
    [T: Send + 'static] Input<T>: T;
    |input, message| now: input.try_send(message).map_err(|error| match error {
        TrySendError::Full(message) => (Refusal::Full, message),
        TrySendError::Closed(message) => (Refusal::Closed, message),
    }),
    |until| late: {
        let (strategy, deadline) = (until.strategy_or(|| SoleSender::strategy(input)), until.deadline());
        let mut message = message;
        loop {
            message = match input.put_now(message) {
                Err((Refusal::Full, message)) => message,
                put => return put,
            };
            // (Of an input that is not built yet this says at once that it is closed.)
            let room = wait_until(&mut AwaitRoom(input), strategy, deadline);
            if let Err(refusal) = room.unwrap_or(Err(Refusal::Full)) {
                return Err((refusal, message));
            }
        }
    },
    closed: input.is_closed(),
    task: input.send_async(message),
}

/// The ring behind an input, for the time before the input takes it.
struct EarlyRing<T: Send> {
    ring: InputRing<T>,
    capacity: usize,
}

impl<T: Send + 'static> EarlyRing<T> {
    /// Puts the messages into the ring, and returns those that do not fit. (Inlined, it would take the stack
    /// for large messages also where there are none.)
    #[inline(never)]
    fn take_in(&mut self, messages: Vec<T>) -> Vec<Contained<T>> {
        let mut messages = messages.into_iter();
        let back = messages.find_map(|message| self.ring.try_send(message).err());
        back.map(TrySendError::into_inner).into_iter().chain(messages).map(Contained::new).collect()
    }
}

/// What an input has before the pipeline is built.
pub(super) struct Early<T: Send>(Arc<EarlyState<T>>);

struct EarlyState<T: Send> {
    state: Mutex<EarlyRingState<T>>,
    /// The builder's, for the time before there is a ring.
    capacity: usize,
    /// Where an input without a ring would wait. Nothing waits there.
    event: EventCount,
}

enum EarlyRingState<T: Send> {
    /// There is no ring yet.
    Waiting(Vec<T>),
    EarlyRing {
        ring: EarlyRing<T>,
        is_built: bool,
        /// What did not fit. The build fails then.
        _left: Vec<Contained<T>>,
    },
    /// The builder is gone, or the input has taken the ring. So many messages were sent before.
    Gone(u64),
}

impl<T: Send + 'static> Early<T> {
    /// Of an input, and what becomes its ring.
    pub(super) fn new(capacity: usize) -> (Self, Promise<T>) {
        let (state, event) = (Mutex::new(EarlyRingState::Waiting(Vec::new())), EventCount::new());
        let early = Self(Arc::new(EarlyState { state, capacity, event }));
        (Self(Arc::clone(&early.0)), Promise(early))
    }

    fn wait_point(&self) -> &EventCount {
        &self.0.event
    }

    /// Takes the ring, once the pipeline is built.
    fn take(&self) -> Option<EarlyRing<T>> {
        let mut state = self.lock();
        if !matches!(*state, EarlyRingState::EarlyRing { is_built: true, .. }) {
            return None;
        }
        match mem::replace(&mut *state, EarlyRingState::Gone(0)) {
            EarlyRingState::EarlyRing { ring, .. } => Some(ring),
            // Unreached: it is one
            _ => None,
        }
    }

    /// Leaves `message` for the pipeline, if there is room.
    fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        match &mut *self.lock() {
            EarlyRingState::Waiting(messages) if messages.len() < self.0.capacity => {
                messages.push(message);
                Ok(())
            }
            EarlyRingState::Waiting(_) => Err(TrySendError::Full(message)),
            EarlyRingState::EarlyRing { ring, .. } => ring.ring.try_send(message),
            EarlyRingState::Gone(_) => Err(TrySendError::Closed(message)),
        }
    }

    /// Whether [`try_send`](Self::try_send) would succeed.
    fn look_for_room(&self) -> Result<(), Refusal> {
        match &mut *self.lock() {
            EarlyRingState::Waiting(messages) if messages.len() < self.0.capacity => Ok(()),
            EarlyRingState::EarlyRing { ring, .. } => ring.ring.look_for_room(),
            EarlyRingState::Waiting(_) | EarlyRingState::Gone(_) => Err(Refusal::Closed),
        }
    }

    fn is_closed(&self) -> bool {
        match &*self.lock() {
            EarlyRingState::Waiting(_) => false,
            EarlyRingState::EarlyRing { ring, .. } => ring.ring.is_closed(),
            EarlyRingState::Gone(_) => true,
        }
    }

    fn sent(&self) -> u64 {
        match &*self.lock() {
            EarlyRingState::Waiting(messages) => messages.len() as u64,
            EarlyRingState::EarlyRing { ring, .. } => ring.ring.sent(),
            EarlyRingState::Gone(sent) => *sent,
        }
    }

    fn capacity(&self) -> usize {
        match &*self.lock() {
            EarlyRingState::EarlyRing { ring, .. } => ring.capacity,
            EarlyRingState::Waiting(_) | EarlyRingState::Gone(_) => self.0.capacity,
        }
    }
}

impl<T: Send> Early<T> {
    fn lock(&self) -> MutexGuard<'_, EarlyRingState<T>> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// That there will be a ring. If it is dropped, there will be none.
pub(super) struct Promise<T: Send>(Early<T>);

impl<T: Send + 'static> Promise<T> {
    /// There is a ring: the last edge of `draft` has it.
    pub(super) fn keep(self, draft: &mut Draft, ring: InputRing<T>) {
        let Some(edge) = draft.graph.edges.last() else {
            unreachable!("a ring has an edge");
        };
        let (ring_id, capacity) = (edge.ring_id, edge.capacity);
        let mut ring = EarlyRing { ring, capacity };
        let mut state = self.0.lock();
        let EarlyRingState::Waiting(messages) = &mut *state else { unreachable!("it is kept once") };
        let messages = mem::take(messages);
        let count = messages.len();
        // Where nothing waits, large messages take no stack.
        let left = if count == 0 { Vec::new() } else { ring.take_in(messages) };
        if !left.is_empty() {
            let first = draft.graph.edges.iter().position(|edge| edge.ring_id == ring_id);
            let error = CapacityError::TooSmall { capacity, minimum: count };
            draft.note(Mistake::Capacity { edge: first.unwrap_or_default(), error });
        }
        *state = EarlyRingState::EarlyRing { ring, is_built: false, _left: left };
        drop(state);
        let there = Early(Arc::clone(&self.0.0));
        draft.connect.push(Box::new(move || {
            if let EarlyRingState::EarlyRing { is_built, .. } = &mut *there.lock() {
                *is_built = true;
            }
        }));
    }
}

impl<T: Send> Drop for Promise<T> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        if let EarlyRingState::Waiting(messages) = &*state {
            let sent = messages.len() as u64;
            let left = mem::replace(&mut *state, EarlyRingState::Gone(sent));
            // Destructors of the user's run without the lock.
            drop(state);
            if let EarlyRingState::Waiting(messages) = left {
                drop_each(messages, drop);
            }
        }
    }
}
