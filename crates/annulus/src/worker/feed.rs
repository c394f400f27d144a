//! How a batch comes from a handle to a handler, [`ByValue`] and [`ByRef`], and what the handler is told of
//! each message: [`Delivery`].

use core::marker::PhantomData;
use core::ops::ControlFlow;

use crate::base::drop_all::Contained;
use crate::error::RecvError;
use crate::receive::{Numbered, Receive, ReceiveRef};
use crate::sync::seeded;
use crate::wait::{Control, EndMark, Look, Source, Stop};

/// What a handler gets with each message, from [`spawn_numbered`](super::Builder::spawn_numbered) and
/// [`spawn_ref_numbered`](super::Builder::spawn_ref_numbered).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Delivery {
    /// The number of the message in its ring. They are numbered from 0, so all subscribers of a ring have the
    /// same number for the same message. After a lag it is larger by what was lost.
    pub sequence: u64,
    /// Whether the message is the last one of its [batch](super#batches).
    pub end_of_batch: bool,
}

/// What a handler is told of a message from a `R`.
pub(super) trait HandlerInfo<R> {
    /// Of the message that `receiver` has received last.
    fn of_last(receiver: &R, end_of_batch: bool) -> Self;

    /// Of the message with this number.
    fn of(sequence: u64, end_of_batch: bool) -> Self;
}

/// The end of the batch only.
impl<R> HandlerInfo<R> for bool {
    #[inline(always)]
    fn of_last(_: &R, end_of_batch: bool) -> Self {
        end_of_batch
    }

    #[inline(always)]
    fn of(_: u64, end_of_batch: bool) -> Self {
        end_of_batch
    }
}

impl<R: Numbered> HandlerInfo<R> for Delivery {
    #[inline(always)]
    fn of_last(receiver: &R, end_of_batch: bool) -> Self {
        HandlerInfo::<R>::of(receiver.next_sequence() - 1, end_of_batch)
    }

    #[inline(always)]
    fn of(sequence: u64, end_of_batch: bool) -> Self {
        Self { sequence, end_of_batch }
    }
}

/// Hands messages of a `R` to a handler, with a `C`.
pub(super) trait Feed<R: Source, C> {
    /// Hands out what is there, up to the end of the batch. It returns early if somebody asks to stop.
    fn feed(
        &mut self,
        receiver: &mut R,
        context: &mut C,
        turn: &mut FeedTurn<'_>,
    ) -> Look<Result<(), RecvError>>;
}

/// What was handed out, and what ends a batch.
pub(super) struct FeedTurn<'c> {
    control: &'c Control,
    /// The longest batch.
    most: usize,
    /// How many messages the batch may still have: `most` if none was begun.
    left: usize,
    /// Once the thread drains: where that ends.
    pub(super) mark: Option<EndMark>,
    /// How many messages were handed out.
    pub(super) messages: u64,
}

impl<'c> FeedTurn<'c> {
    pub(super) fn new(control: &'c Control, most: usize) -> Self {
        Self { control, most, left: most, mark: None, messages: 0 }
    }

    pub(super) fn control(&self) -> &'c Control {
        self.control
    }

    /// A message was handed out.
    #[inline]
    fn handed_out(&mut self, end_of_batch: bool) -> ControlFlow<()> {
        self.messages += 1;
        self.left = if end_of_batch { self.most } else { self.left - 1 };
        match self.control.asked() {
            Some(Stop::Now) => ControlFlow::Break(()),
            // The mark is taken now. The batch goes on afterwards.
            Some(Stop::Drained) if self.mark.is_none() => {
                if seeded!("stop_begins_a_batch") {
                    self.left = self.most;
                }
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        }
    }

    /// Whether the thread drains, and all messages before the mark are gone.
    #[inline]
    pub(super) fn has_passed_its_mark(&mut self, receiver: &impl Source) -> bool {
        self.mark.as_mut().is_some_and(|mark| receiver.has_passed(mark))
    }

    /// Whether the drain is over. A handler that was told that another message comes gets it, also if what it
    /// was told of was lost meanwhile. (In a stage, only if those before it have processed a later one.)
    pub(super) fn is_drained(&mut self, receiver: &impl Source) -> bool {
        self.has_passed_its_mark(receiver) && self.left == self.most
    }
}

/// Each message by value, and a `D` that tells of it.
pub(super) struct ByValue<H, D>(Contained<H>, PhantomData<fn() -> D>);

/// Each message by reference, and a `D` that tells of it.
pub(super) struct ByRef<H, D>(Contained<H>, PhantomData<fn() -> D>);

macro_rules! of_a_handler {
    ($($Feed:ident)*) => {$(
        impl<H, D> $Feed<H, D> {
            pub(super) fn new(handler: H) -> Self {
                Self(Contained::new(handler), PhantomData)
            }

            pub(super) fn into_handler(self) -> H {
                self.0.into_inner()
            }
        }
    )*};
}
of_a_handler!(ByValue ByRef);

impl<R: Receive, C, D: HandlerInfo<R>, H: FnMut(&mut C, R::Item, D)> Feed<R, C> for ByValue<H, D> {
    #[inline]
    fn feed(
        &mut self,
        receiver: &mut R,
        context: &mut C,
        turn: &mut FeedTurn<'_>,
    ) -> Look<Result<(), RecvError>> {
        let mut look = receiver.poll_in_hand();
        while let Look::Found(Ok(message)) = look {
            // Decision 0074: a look ahead, which takes nothing. It comes before the call, so a message that
            // comes while the handler runs begins another batch.
            let is_last = turn.has_passed_its_mark(receiver);
            let end_of_batch = turn.left == 1 || is_last || !receiver.has_more();
            (self.0)(context, message, D::of_last(receiver, end_of_batch));
            if turn.handed_out(end_of_batch).is_break() || end_of_batch {
                return Look::Found(Ok(()));
            }
            look = receiver.poll_in_hand();
        }
        match look {
            Look::Found(Err(error)) => Look::Found(Err(error)),
            Look::Nothing => Look::Nothing,
            _ => Look::Again,
        }
    }
}

impl<R: ReceiveRef, C, D: HandlerInfo<R>, H: FnMut(&mut C, &R::Item, D)> Feed<R, C> for ByRef<H, D> {
    #[inline]
    fn feed(
        &mut self,
        receiver: &mut R,
        context: &mut C,
        turn: &mut FeedTurn<'_>,
    ) -> Look<Result<(), RecvError>> {
        receiver.lend(turn.left, |message, sequence, end_of_batch| {
            (self.0)(context, message, D::of(sequence, end_of_batch));
            turn.handed_out(end_of_batch)
        })
    }
}
