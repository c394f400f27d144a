//! What the handles of queues have that several consumers share, over `shm::mpmc` of the Rust library.

use core::ptr;
use std::sync::Arc;

use annulus::schema::Checker;
use annulus::shm::blocks::{self, AnyBlock};
use annulus::shm::mpmc::{self, Builder, Unreceived};
use annulus::shm::{self, ShmKind, WhenGone};
use annulus::{RecvTimeoutError, TryRecvError};

use super::error::Shared;
use super::linux::{self, Block, Invitation, classes, of_places};
use super::options::{ANNULUS_CLOSE_WITH_LAST_CONSUMER, ANNULUS_DROP_UNRECEIVED, SharedOptions};
use crate::consumer::{Consumer, ConsumerEnd};
use crate::notified::Notified;
use crate::options::Patience;
use crate::producer::{Producer, ProducerEnd};
use crate::ring::{AskPeer, Ring};
use crate::status::Done;
use crate::status::annulus_status::{
    ANNULUS_CLOSED, ANNULUS_CORRUPT, ANNULUS_EMPTY, ANNULUS_TIMEOUT, ANNULUS_UNSUPPORTED, ANNULUS_WRONG_SIZE,
};
use crate::tsan::{self, Order};
use crate::typed::{Counts, Get, Held, LendsPublisher, LendsSubscriber, Put, Sending, alone};

/// The queue as a whole.
pub(crate) struct Queue(mpmc::Queue<AnyBlock>);

impl Queue {
    pub(crate) fn producers(&self) -> usize {
        self.0.producers().taken()
    }

    pub(crate) fn consumers(&self) -> usize {
        self.0.consumers().taken()
    }

    pub(crate) fn given_again(&self) -> u64 {
        self.0.given_again()
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.0.dropped()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn close(&self) {
        tsan::before_end();
        self.0.close();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.0.is_closed()
    }
}

fn when(closes: bool) -> WhenGone {
    if closes { WhenGone::Close } else { WhenGone::Wait }
}

pub(crate) fn new_queue(options: &SharedOptions) -> Shared<(Queue, Invitation)> {
    options.promise_nothing()?;
    if options.ring.message_size > crate::ANNULUS_MESSAGE_MAX {
        return Err(ANNULUS_WRONG_SIZE.into());
    }
    let has = |flag| options.flags & flag != 0;
    let builder = Builder::new(options.settings()).producers(options.places).consumers(options.receivers);
    let builder = builder.when_no_producer(when(options.closes_with_last));
    let builder = builder.when_no_consumer(when(has(ANNULUS_CLOSE_WITH_LAST_CONSUMER)));
    let builder = builder.unreceived(if has(ANNULUS_DROP_UNRECEIVED) {
        Unreceived::Drop
    } else {
        Unreceived::GiveAgain
    });
    let shm::Shared { handle: queue, invitation, .. } = blocks::mpmc_queue(builder, &options.messages())?;
    Ok((Queue(queue), Invitation(invitation)))
}

pub(crate) fn queue(invitation: &Invitation, options: &SharedOptions) -> Shared<Queue> {
    Ok(Queue(blocks::mpmc_queue_of(&invitation.0, &options.messages())?))
}

/// What such handles know of their queue.
fn ring_of(capacity: usize, options: &SharedOptions, closer: annulus::Closer, peer: AskPeer) -> Ring {
    Ring {
        capacity,
        message_size: options.ring.message_size,
        unit: 1,
        closer,
        observer: None,
        peer: Some(peer),
        order: Order::across(),
    }
}

/// A producer of a queue with one consumer, or several.
pub(crate) fn join_as_producer(invitation: &Invitation, options: &SharedOptions) -> Shared<Producer> {
    if invitation.0.info()?.kind() != ShmKind::Mpmc {
        return linux::mpsc_producer(invitation, options);
    }
    let (of, strategy) = (&options.messages(), options.ring.strategy);
    classes!(options.ring.message_size, WORDS, LARGE => {
        let end = blocks::mpmc_producer::<WORDS, LARGE>(&invitation.0, of, strategy)?;
        let peer = of_places(blocks::consumers_of(&end));
        let ring = ring_of(end.capacity(), options, end.closer(), peer);
        let sending = Sending { handle: end, size: ring.message_size, join: alone, lends: None };
        Ok(Producer { end: ProducerEnd::Typed(Box::new(Sends(sending))), ring })
    })
}

/// The consumer of a queue, or one of several.
pub(crate) fn join_as_consumer(invitation: &Invitation, options: &SharedOptions) -> Shared<Consumer> {
    if invitation.0.info()?.kind() != ShmKind::Mpmc {
        return linux::consumer(invitation, options);
    }
    let (of, strategy) = (&options.messages(), options.ring.strategy);
    classes!(options.ring.message_size, WORDS, LARGE => {
        let end = blocks::mpmc_consumer::<WORDS, LARGE>(&invitation.0, of, strategy)?;
        let peer = of_places(blocks::producers_of(&end));
        let ring = ring_of(end.capacity(), options, end.closer(), peer);
        let (size, checks) = (ring.message_size, options.checks());
        let end = Receives { end: Notified::Not(end), size, checks, corrupt: 0 };
        Ok(Consumer { end: ConsumerEnd::Typed(Box::new(end)), ring })
    })
}

/// A producer, which knows how many of its messages wait.
struct Sends<const WORDS: usize, const LARGE: bool>(Sending<mpmc::Producer<Block<WORDS, LARGE>>>);

impl<const WORDS: usize, const LARGE: bool> Put for Sends<WORDS, LARGE> {
    unsafe fn put(&mut self, message: *const u8, patience: Patience) -> Done {
        // SAFETY: the caller's promise.
        unsafe { self.0.put(message, patience) }
    }

    fn another(&self) -> Done<Box<dyn Put>> {
        self.0.another()
    }

    fn lends(&mut self) -> Done<&mut dyn LendsPublisher> {
        self.0.lends()
    }

    fn len(&self) -> usize {
        self.0.handle.len()
    }
}

/// A consumer, which receives messages, or claims them. What is none is received at once, and counted.
struct Receives<const WORDS: usize, const LARGE: bool> {
    end: Notified<mpmc::Consumer<Block<WORDS, LARGE>>>,
    size: usize,
    checks: Option<Arc<Checker>>,
    corrupt: u64,
}

impl<const WORDS: usize, const LARGE: bool> Receives<WORDS, LARGE> {
    /// Claims a message, and copies it out.
    ///
    /// # Safety
    ///
    /// There is room for so many bytes as a message has.
    unsafe fn next(
        &mut self,
        message: *mut u8,
        patience: Patience,
    ) -> Done<mpmc::Claimed<Block<WORDS, LARGE>>> {
        let end = self.end.receiver();
        let claimed = match patience {
            Patience::None => end.try_claim().map_err(|error| match error {
                TryRecvError::Empty => ANNULUS_EMPTY,
                TryRecvError::Closed => ANNULUS_CLOSED,
            }),
            Patience::Endless => end.claim().map_err(|_| ANNULUS_CLOSED),
            Patience::For(timeout) => end.claim_until(timeout).map_err(|error| match error {
                RecvTimeoutError::Timeout => ANNULUS_TIMEOUT,
                RecvTimeoutError::Closed => ANNULUS_CLOSED,
            }),
        }?;
        // (What was claimed is a copy: no other process changes it.)
        let blocks::Block(words) = &*claimed;
        let bytes = words.as_ptr().cast::<u8>();
        // SAFETY: a block has at least the bytes of a message.
        let read = unsafe { core::slice::from_raw_parts(bytes, self.size) };
        if self.checks.as_ref().is_some_and(|checker| !checker.is_message(read)) {
            self.corrupt += 1;
            claimed.done();
            return Err(ANNULUS_CORRUPT);
        }
        // SAFETY: the caller's promise, and as above.
        unsafe { ptr::copy_nonoverlapping(bytes, message, self.size) };
        Ok(claimed)
    }
}

impl<const WORDS: usize, const LARGE: bool> Get for Receives<WORDS, LARGE> {
    unsafe fn get(&mut self, message: *mut u8, patience: Patience) -> Done {
        // SAFETY: the caller's promise.
        unsafe { self.next(message, patience) }?.done();
        Ok(())
    }

    fn another(&self) -> Done<Box<dyn Get>> {
        Err(ANNULUS_UNSUPPORTED)
    }

    fn lends(&mut self) -> Done<&mut dyn LendsSubscriber> {
        Err(ANNULUS_UNSUPPORTED)
    }

    fn fd(&mut self) -> Done<i32> {
        self.end.fd()
    }

    fn arm(&mut self) -> Done<bool> {
        self.end.arm()
    }

    fn counts(&self) -> Counts {
        Counts { corrupt: self.corrupt, pending: self.end.look().len(), ..Counts::default() }
    }

    fn begin_with_last(&mut self, _: usize) -> Done<usize> {
        Err(ANNULUS_UNSUPPORTED)
    }

    unsafe fn claim(&mut self, message: *mut u8, patience: Patience) -> Done<Box<dyn Held>> {
        // SAFETY: the caller's promise.
        let claimed = unsafe { self.next(message, patience) }?;
        Ok(Box::new(claimed))
    }
}

impl<const WORDS: usize, const LARGE: bool> Held for mpmc::Claimed<Block<WORDS, LARGE>> {
    fn done(self: Box<Self>) {
        // There is room for another message.
        Order::across().before_advance();
        (*self).done();
    }

    fn given_before(&self) -> u64 {
        self.given_before()
    }
}
