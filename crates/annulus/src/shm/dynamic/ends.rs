//! The handles behind the ends, each behind one of two traits: what sends ([`DynSender`]), and what receives
//! ([`DynReceiver`]). Messages are blocks in a broadcast ring, and bytes in a queue.

use core::ptr::NonNull;
use core::time::Duration;
use std::boxed::Box;
use std::time::Instant;
use std::vec::Vec;

use bytemuck::TransparentWrapper;

use crate::broadcast::{Awaited, FellowPublisher, Foreign, Lossless, MayLose, Publisher, Subscriber};
use crate::close::Closer;
use crate::error::{RecvTimeoutError, Refusal, SendTimeoutError, TryRecvError, TrySendError};
use crate::message::Message;
use crate::queue::kind::{AnyKind, InPlace};
use crate::queue::{Consumer, Producer, Reservation, SharedSlice};
use crate::receive::{Receive, Waitable};
use crate::shm::blocks::Block;
use crate::shm::mpmc;
use crate::transmit::{Transmit, in_parts};
use crate::wait::Until;

/// For how long a verb waits.
#[derive(Clone, Copy)]
pub(super) enum Patience {
    None,
    For(Duration),
    Endless,
}

/// The block of a message.
pub(super) fn block<const WORDS: usize, const LARGE: bool>(message: &[u8]) -> Block<WORDS, LARGE> {
    let mut words = [0_u64; WORDS];
    bytemuck::cast_slice_mut(&mut words)[..message.len()].copy_from_slice(message);
    Block(words)
}

/// Copies the front of a block, which is the message, to where the message goes.
pub(super) fn unpack<const WORDS: usize, const LARGE: bool>(
    Block(words): &Block<WORDS, LARGE>,
    message: &mut [u8],
) {
    message.copy_from_slice(&bytemuck::cast_slice(words)[..message.len()]);
}

impl From<Patience> for Until {
    fn from(patience: Patience) -> Self {
        match patience {
            Patience::None => Duration::ZERO.into(),
            // (A sum that no clock reaches is for ever.)
            Patience::For(timeout) => Instant::now().checked_add(timeout).map_or(Self::FOREVER, Self::from),
            Patience::Endless => Self::FOREVER,
        }
    }
}

// SAFETY: it is `repr(transparent)`, and has no invariant.
unsafe impl<const WORDS: usize, const LARGE: bool> TransparentWrapper<[u64; WORDS]> for Block<WORDS, LARGE> {}

/// So many messages of a run pass over the stack at once, where they do not lie as blocks do.
const PART: usize = 16;

/// The largest block of which a part passes over the stack, in words.
const PART_WORDS: usize = 8;

/// The run as blocks, if it lies as they do.
fn as_blocks<const WORDS: usize, const LARGE: bool>(
    run: &[u8],
    bytes: usize,
) -> Option<&[Block<WORDS, LARGE>]> {
    if bytes != size_of::<[u64; WORDS]>() {
        return None;
    }
    bytemuck::try_cast_slice::<u8, [u64; WORDS]>(run).ok().map(Block::wrap_slice)
}

/// As [`as_blocks`], to write to.
fn as_blocks_mut<const WORDS: usize, const LARGE: bool>(
    run: &mut [u8],
    bytes: usize,
) -> Option<&mut [Block<WORDS, LARGE>]> {
    if bytes != size_of::<[u64; WORDS]>() {
        return None;
    }
    bytemuck::try_cast_slice_mut::<u8, [u64; WORDS]>(run).ok().map(Block::wrap_slice_mut)
}

/// Hands the messages of a run to `send` as blocks, which returns how many it could not send, and why.
/// Returns how many bytes are left.
fn send_in_blocks<const WORDS: usize, const LARGE: bool>(
    run: &[u8],
    bytes: usize,
    mut send: impl FnMut(&[Block<WORDS, LARGE>]) -> Result<(), (usize, Refusal)>,
) -> Result<(), (usize, Refusal)> {
    if let Some(blocks) = as_blocks(run, bytes) {
        return send(blocks).map_err(|(left, refusal)| (left * bytes, refusal));
    }
    if WORDS <= PART_WORDS {
        send_in_parts::<PART, WORDS, LARGE>(run, bytes, send)
    } else {
        send_in_parts::<1, WORDS, LARGE>(run, bytes, send)
    }
}

/// The same, where the messages pass over the stack: so many at once.
fn send_in_parts<const PART: usize, const WORDS: usize, const LARGE: bool>(
    run: &[u8],
    bytes: usize,
    mut send: impl FnMut(&[Block<WORDS, LARGE>]) -> Result<(), (usize, Refusal)>,
) -> Result<(), (usize, Refusal)> {
    let mut left = run.len();
    let mut blocks = [const { Block([0; WORDS]) }; PART];
    for part in run.chunks(PART * bytes) {
        let count = part.len() / bytes;
        for (Block(words), message) in blocks.iter_mut().zip(part.chunks_exact(bytes)) {
            // (What is behind the message stays 0.)
            bytemuck::cast_slice_mut(words)[..bytes].copy_from_slice(message);
        }
        left -= part.len();
        send(&blocks[..count]).map_err(|(unsent, refusal)| (left + unsent * bytes, refusal))?;
    }
    Ok(())
}

/// Hands the messages of a run to `publish` as blocks, which waits for nobody, and returns how many it
/// published: fewer if somebody has closed the ring. Returns how many bytes are left.
pub(super) fn publish_in_blocks<const WORDS: usize, const LARGE: bool>(
    run: &[u8],
    bytes: usize,
    mut publish: impl FnMut(&[Block<WORDS, LARGE>]) -> usize,
) -> Result<(), (usize, Refusal)> {
    send_in_blocks(run, bytes, |blocks| match blocks.len() - publish(blocks) {
        0 => Ok(()),
        left => Err((left, Refusal::Closed)),
    })
}

/// A handle that sends, whatever its ring.
pub(super) trait DynSender: Send {
    /// Sends a message of the ring's length.
    fn send(&mut self, message: &[u8], patience: Patience) -> Result<(), Refusal>;

    /// Sends the messages of a run, each of which has so many bytes. If it does not send all, it says how
    /// many bytes are left.
    fn send_run(&mut self, run: &[u8], bytes: usize, until: Until) -> Result<(), (usize, Refusal)>;

    fn closer(&self) -> Closer;

    fn is_closed(&self) -> bool;

    /// The number of the next message, of a ring with one publisher.
    fn sequence(&self) -> Option<u64> {
        None
    }

    fn skip_to(&mut self, _: u64) -> Option<u64> {
        None
    }

    /// Up to so many bytes of room for the next messages, which lie beside each other. The same ones come
    /// again, until they are committed. `None`: this ring lends no room.
    fn reserve(&mut self, _: usize, _: Until) -> Option<Result<NonNull<[u8]>, Refusal>> {
        None
    }

    /// Sends so many bytes of the room, as they are there. False where the ring was closed before.
    // Unreached: this ring lends no room that could be sent
    fn commit(&mut self, _: usize) -> bool {
        false
    }

    fn wait_for_subscribers(&self, _: usize, _: Duration) -> bool {
        true
    }
}

fn of_tried<T>(error: &TrySendError<T>) -> Refusal {
    if error.is_full() { Refusal::Full } else { Refusal::Closed }
}

/// Sends a block to a broadcast ring.
fn put<S: Transmit<Item = Block<WORDS, LARGE>>, const WORDS: usize, const LARGE: bool>(
    publisher: &mut S,
    message: &[u8],
    patience: Patience,
) -> Result<(), Refusal> {
    let message = block(message);
    match patience {
        Patience::None => publisher.try_send(message).map_err(|error| of_tried(&error)),
        Patience::For(timeout) => publisher.send_timeout(message, timeout).map_err(|error| of_timed(&error)),
        Patience::Endless => publisher.send(message).map_err(|_| Refusal::Closed),
    }
}

fn of_timed<T>(error: &SendTimeoutError<T>) -> Refusal {
    match error {
        SendTimeoutError::Timeout(_) => Refusal::Full,
        SendTimeoutError::Closed(_) => Refusal::Closed,
    }
}

/// What all publishers have.
macro_rules! publisher_verbs {
    () => {
        fn send(&mut self, message: &[u8], patience: Patience) -> Result<(), Refusal> {
            put(self, message, patience)
        }

        fn closer(&self) -> Closer {
            self.closer()
        }

        fn is_closed(&self) -> bool {
            Transmit::is_closed(self)
        }
    };
}

/// Of publishers that wait for nobody.
macro_rules! lossy_verbs {
    () => {
        fn send_run(&mut self, run: &[u8], bytes: usize, _: Until) -> Result<(), (usize, Refusal)> {
            publish_in_blocks(run, bytes, |blocks| self.publish_batch(blocks))
        }
    };
}

/// Of publishers that wait for subscribers.
macro_rules! waiting_verbs {
    () => {
        fn send_run(&mut self, run: &[u8], bytes: usize, until: Until) -> Result<(), (usize, Refusal)> {
            send_in_blocks(run, bytes, |blocks| {
                self.publish_batch_until(blocks, until).map_err(|error| match error {
                    SendTimeoutError::Timeout(rest) => (rest.len(), Refusal::Full),
                    SendTimeoutError::Closed(rest) => (rest.len(), Refusal::Closed),
                })
            })
        }

        fn wait_for_subscribers(&self, count: usize, timeout: Duration) -> bool {
            self.wait_for_subscribers_timeout(count, timeout)
        }
    };
}

impl<const WORDS: usize, const LARGE: bool> DynSender for Publisher<Block<WORDS, LARGE>> {
    publisher_verbs!();
    lossy_verbs!();

    fn sequence(&self) -> Option<u64> {
        Some(self.next_sequence())
    }

    fn skip_to(&mut self, sequence: u64) -> Option<u64> {
        self.skip_to(sequence).ok()
    }
}

impl<const WORDS: usize, const LARGE: bool> DynSender for Publisher<Block<WORDS, LARGE>, Lossless> {
    publisher_verbs!();

    waiting_verbs!();

    fn sequence(&self) -> Option<u64> {
        Some(self.next_sequence())
    }

    fn skip_to(&mut self, sequence: u64) -> Option<u64> {
        (sequence <= self.next_sequence()).then_some(0)
    }
}

impl<const WORDS: usize, const LARGE: bool> DynSender for FellowPublisher<Block<WORDS, LARGE>> {
    publisher_verbs!();
    lossy_verbs!();
}

impl<const WORDS: usize, const LARGE: bool> DynSender for FellowPublisher<Block<WORDS, LARGE>, Lossless> {
    publisher_verbs!();
    waiting_verbs!();
}

impl<const WORDS: usize, const LARGE: bool> DynSender for mpmc::Producer<Block<WORDS, LARGE>> {
    publisher_verbs!();

    fn send_run(&mut self, run: &[u8], bytes: usize, until: Until) -> Result<(), (usize, Refusal)> {
        in_parts(run, |rest| {
            let message = block(&rest[..bytes]);
            self.send_until(message, until).map_err(|error| of_timed(&error))?;
            Ok(bytes)
        })
        .map_err(|(rest, refusal)| (rest.len(), refusal))
    }
}

/// Sends as many of these bytes as the room takes, and returns how many they are.
pub(super) fn write<K: AnyKind + InPlace>(
    room: Reservation<'_, u8, K>,
    bytes: &[u8],
) -> Result<usize, Refusal> {
    match room.write_slice(bytes) {
        // Somebody has closed the queue behind the reservation.
        0 => Err(Refusal::Closed),
        sent => Ok(sent),
    }
}

/// A slot is a byte: a message is as many slots as it has bytes.
impl<K: AnyKind + InPlace> DynSender for Producer<u8, K> {
    fn send(&mut self, message: &[u8], patience: Patience) -> Result<(), Refusal> {
        let bytes = message.len();
        let room = match patience {
            Patience::None => self.try_reserve(bytes).map_err(|error| of_tried(&error)),
            Patience::For(timeout) => self.reserve_timeout(bytes, timeout).map_err(|error| of_timed(&error)),
            Patience::Endless => self.reserve(bytes).map_err(|_| Refusal::Closed),
        }?;
        // Room ends between two messages, so there is room for all of this one.
        let sent = write(room, message)?;
        assert_eq!(sent, bytes);
        Ok(())
    }

    fn send_run(&mut self, run: &[u8], _: usize, until: Until) -> Result<(), (usize, Refusal)> {
        in_parts(run, |rest| {
            let room = self.reserve_until(rest.len(), until).map_err(|error| of_timed(&error))?;
            write(room, rest)
        })
        .map_err(|(rest, refusal)| (rest.len(), refusal))
    }

    fn reserve(&mut self, bytes: usize, until: Until) -> Option<Result<NonNull<[u8]>, Refusal>> {
        let room = self.reserve_until(bytes, until).map_err(|error| of_timed(&error));
        Some(room.map(|mut room| {
            let first = NonNull::new(room.as_mut_ptr()).expect("slots lie somewhere");
            NonNull::slice_from_raw_parts(first, room.len())
        }))
    }

    fn commit(&mut self, bytes: usize) -> bool {
        let Ok(room) = self.try_reserve(bytes) else { return false };
        if room.len() < bytes {
            // Unreached: another process has moved the queue's numbers back
            return false;
        }
        // SAFETY: a slot is a byte of memory that is shared with other processes. Such memory has a value
        // from the start, and any value is a byte: so each slot was written.
        unsafe { room.commit(bytes) == bytes }
    }

    fn closer(&self) -> Closer {
        self.closer()
    }

    fn is_closed(&self) -> bool {
        self.is_closed()
    }
}

/// A handle that receives, whatever its ring.
pub(super) trait DynReceiver: Waitable {
    /// Receives a message of the ring's length.
    fn recv(&mut self, message: &mut [u8], patience: Patience) -> Result<(), RecvTimeoutError>;

    /// Appends up to `most` messages of so many bytes that are there and follow each other.
    fn recv_run(&mut self, run: &mut Vec<u8>, bytes: usize, most: usize);

    /// Receives messages of so many bytes that are there into the front of `run`, and returns how many.
    fn recv_run_into(&mut self, run: &mut [u8], bytes: usize) -> usize;

    /// Shows up to so many bytes of messages that are there, where they lie, and waits for the first. `None`:
    /// this ring lends no messages.
    fn readable(&mut self, _: usize, _: Until) -> Option<Result<SharedSlice<'_, u8>, RecvTimeoutError>> {
        None
    }

    /// Receives so many bytes of what was shown.
    fn advance(&mut self, bytes: usize) {
        assert_eq!(bytes, 0, "can't advance by {bytes} bytes: this ring shows none");
    }

    /// Receives the newest message that is there, if one is, and returns how many it passed for that.
    fn latest(&mut self, message: &mut [u8]) -> Option<u64>;

    /// How many bytes or messages wait.
    fn len(&self, bytes: usize) -> usize;

    /// The number of the next message, of a broadcast ring.
    fn cursor(&self) -> Option<u64> {
        None
    }

    fn total_lagged(&self) -> u64 {
        0
    }

    /// Claims a message. `None`: this ring has one receiver for a message from the beginning.
    fn claim(&mut self, _: Until) -> Option<Result<Box<dyn DynClaim>, RecvTimeoutError>> {
        None
    }
}

/// A message that a consumer has claimed, whatever its type.
pub(super) trait DynClaim: Send + Sync {
    /// The message, and zeros behind it.
    fn bytes(&self) -> &[u8];

    fn done(self: Box<Self>);

    fn given_before(&self) -> u64;

    fn producer(&self) -> usize;
}

impl<const WORDS: usize, const LARGE: bool> DynClaim for mpmc::Claimed<Block<WORDS, LARGE>> {
    fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }

    fn done(self: Box<Self>) {
        (*self).done();
    }

    fn given_before(&self) -> u64 {
        self.given_before()
    }

    fn producer(&self) -> usize {
        self.producer()
    }
}

/// What a handle receives next, in that time.
pub(super) fn receive<H: Receive>(handle: &mut H, patience: Patience) -> Result<H::Item, RecvTimeoutError> {
    match patience {
        Patience::None => handle.try_recv().map_err(|error| match error {
            TryRecvError::Empty => RecvTimeoutError::Timeout,
            TryRecvError::Closed => RecvTimeoutError::Closed,
        }),
        Patience::For(timeout) => handle.recv_timeout(timeout),
        Patience::Endless => handle.recv().map_err(RecvTimeoutError::from),
    }
}

/// The mode of a subscriber of another process's ring.
trait OfOthers: MayLose {
    /// The newest message that is there, if one is, and how many were passed for that.
    fn latest<T: Message>(subscriber: &mut Subscriber<T, Self>) -> Option<(T, u64)>;
}

impl OfOthers for Foreign {
    fn latest<T: Message>(subscriber: &mut Subscriber<T, Self>) -> Option<(T, u64)> {
        let before = subscriber.total_lagged();
        let message = subscriber.latest()?;
        Some((message, subscriber.total_lagged() - before))
    }
}

/// The publisher waits until each message is received.
impl OfOthers for Awaited {
    fn latest<T: Message>(subscriber: &mut Subscriber<T, Self>) -> Option<(T, u64)> {
        last_of(subscriber.len(), || subscriber.try_recv().ok())
    }
}

/// The last of so many messages at most, and how many came before it. (Not more: more may come for ever.)
fn last_of<T>(most: usize, mut next: impl FnMut() -> Option<T>) -> Option<(T, u64)> {
    let (mut newest, mut passed) = (None, 0);
    for _ in 0..most {
        let Some(message) = next() else { break };
        passed += u64::from(newest.replace(message).is_some());
    }
    newest.map(|message| (message, passed))
}

/// Receives messages into a run that does not lie as blocks do. They pass over the stack, so many at once.
fn recv_in_parts<const PART: usize, const WORDS: usize, const LARGE: bool, M: OfOthers>(
    subscriber: &mut Subscriber<Block<WORDS, LARGE>, M>,
    run: &mut [u8],
    bytes: usize,
) -> usize {
    let mut blocks = [const { Block([0; WORDS]) }; PART];
    let mut count = 0;
    for part in run.chunks_mut(PART * bytes) {
        let wanted = part.len() / bytes;
        let taken = subscriber.try_recv_batch(&mut blocks[..wanted]);
        let part = &mut part[..taken * bytes];
        for (at, Block(words)) in (0..).step_by(bytes).zip(&blocks[..taken]) {
            let block = bytemuck::cast_slice(words);
            // All of the block where there is room, because its length is known: the next message takes the
            // place of what is too much.
            match part.get_mut(at..at + size_of::<[u64; WORDS]>()) {
                Some(room) => room.copy_from_slice(block),
                None => part[at..at + bytes].copy_from_slice(&block[..bytes]),
            }
        }
        count += taken;
        if taken < wanted {
            break;
        }
    }
    count
}

impl<const WORDS: usize, const LARGE: bool, M: OfOthers> DynReceiver for Subscriber<Block<WORDS, LARGE>, M>
where
    Self: Receive<Item = Block<WORDS, LARGE>>,
{
    fn recv(&mut self, message: &mut [u8], patience: Patience) -> Result<(), RecvTimeoutError> {
        unpack(&receive(self, patience)?, message);
        Ok(())
    }

    fn recv_run(&mut self, run: &mut Vec<u8>, bytes: usize, most: usize) {
        for _ in 0..most {
            // A lag ends the run: the message behind it does not follow. (The subscriber has counted it.)
            let Ok(Block(words)) = self.try_recv_or_lag() else { break };
            run.extend_from_slice(&bytemuck::cast_slice(&words)[..bytes]);
        }
    }

    fn recv_run_into(&mut self, run: &mut [u8], bytes: usize) -> usize {
        if let Some(blocks) = as_blocks_mut(run, bytes) {
            self.try_recv_batch(blocks)
        } else if WORDS <= PART_WORDS {
            recv_in_parts::<PART, WORDS, LARGE, M>(self, run, bytes)
        } else {
            recv_in_parts::<1, WORDS, LARGE, M>(self, run, bytes)
        }
    }

    fn latest(&mut self, message: &mut [u8]) -> Option<u64> {
        let (newest, passed) = M::latest(self)?;
        unpack(&newest, message);
        Some(passed)
    }

    fn len(&self, _: usize) -> usize {
        self.len()
    }

    fn cursor(&self) -> Option<u64> {
        Some(self.cursor())
    }

    fn total_lagged(&self) -> u64 {
        self.total_lagged()
    }
}

impl<const WORDS: usize, const LARGE: bool> DynReceiver for mpmc::Consumer<Block<WORDS, LARGE>> {
    fn recv(&mut self, message: &mut [u8], patience: Patience) -> Result<(), RecvTimeoutError> {
        unpack(&receive(self, patience)?, message);
        Ok(())
    }

    fn recv_run(&mut self, run: &mut Vec<u8>, bytes: usize, most: usize) {
        for _ in 0..most {
            let Ok(Block(words)) = self.try_recv() else { break };
            run.extend_from_slice(&bytemuck::cast_slice(&words)[..bytes]);
        }
    }

    fn recv_run_into(&mut self, run: &mut [u8], bytes: usize) -> usize {
        let there = run.chunks_exact_mut(bytes).map_while(|message| {
            unpack(&self.try_recv().ok()?, message);
            Some(())
        });
        there.count()
    }

    fn latest(&mut self, message: &mut [u8]) -> Option<u64> {
        let (newest, passed) = last_of(self.len(), || self.try_recv().ok())?;
        unpack(&newest, message);
        Some(passed)
    }

    fn len(&self, _: usize) -> usize {
        self.len()
    }

    fn claim(&mut self, until: Until) -> Option<Result<Box<dyn DynClaim>, RecvTimeoutError>> {
        Some(self.claim_until(until).map(|claimed| Box::new(claimed) as Box<dyn DynClaim>))
    }
}

impl<K: AnyKind + InPlace> DynReceiver for Consumer<u8, K> {
    fn recv(&mut self, message: &mut [u8], patience: Patience) -> Result<(), RecvTimeoutError> {
        let bytes = message.len();
        let there = match patience {
            Patience::None => {
                if self.readable_shared().is_empty() && self.is_fully_drained() {
                    return Err(RecvTimeoutError::Closed);
                }
                self.readable_shared()
            }
            Patience::For(timeout) => self.wait_readable_shared_timeout(timeout)?,
            Patience::Endless => self.wait_readable_shared()?,
        };
        if there.is_empty() {
            return Err(RecvTimeoutError::Timeout);
        }
        there.slice(..bytes).copy_to(message);
        self.advance(bytes);
        Ok(())
    }

    fn recv_run(&mut self, run: &mut Vec<u8>, bytes: usize, most: usize) {
        let there = self.readable_shared();
        let (before, taken) = (run.len(), there.len().min(most.saturating_mul(bytes)));
        run.resize(before + taken, 0);
        there.slice(..taken).copy_to(&mut run[before..]);
        self.advance(taken);
    }

    fn recv_run_into(&mut self, run: &mut [u8], bytes: usize) -> usize {
        let mut filled = 0;
        while filled < run.len() {
            let there = self.readable_shared();
            let taken = there.len().min(run.len() - filled);
            if taken == 0 {
                break;
            }
            there.slice(..taken).copy_to(&mut run[filled..filled + taken]);
            self.advance(taken);
            filled += taken;
        }
        filled / bytes
    }

    fn readable(
        &mut self,
        most: usize,
        until: Until,
    ) -> Option<Result<SharedSlice<'_, u8>, RecvTimeoutError>> {
        let there = self.wait_readable_shared_until(until);
        Some(there.map(|there| there.slice(..there.len().min(most))))
    }

    fn advance(&mut self, bytes: usize) {
        self.advance(bytes);
    }

    fn latest(&mut self, message: &mut [u8]) -> Option<u64> {
        let (bytes, mut left, mut passed) = (message.len(), self.len(), 0);
        // Not more: more may come for ever.
        while left > 0 {
            let there = self.readable_shared();
            let taken = there.len().min(left);
            if taken == 0 {
                // Unreached: another process has moved the queue's numbers back
                break;
            }
            there.slice(taken - bytes..taken).copy_to(message);
            self.advance(taken);
            passed += (taken / bytes) as u64;
            left -= taken;
        }
        passed.checked_sub(1)
    }

    fn len(&self, bytes: usize) -> usize {
        self.len() / bytes
    }
}
