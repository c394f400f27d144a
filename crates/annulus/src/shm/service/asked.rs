//! [`Asked`]: what lies in the lane of a client, and how it passes through: as a value of a type, or as bytes
//! ([`Question`]). [`Exchange`]: what the header of a service says of both messages.

use alloc::borrow::Cow;
use core::mem::MaybeUninit;
use std::boxed::Box;
use std::vec;

use crate::error::{RecvError, TrySendError};
use crate::lane::Number;
use crate::message::Message;
use crate::message::encoded::Encoded;
use crate::message::schema::{Field, Kind, KindRef, Scalar, Schema};
use crate::message::wire::{Both, decode, encode};
use crate::queue::across::{KindAcross, ManyAcross, ManyBlocksAcross};
use crate::queue::{Consumer, Producer};
use crate::receive::Receive;
use crate::shm::error::AttachError;
use crate::shm::invitation::Invitation;
use crate::shm::kind::ShmKind;
use crate::shm::message_type::MessageType;
use crate::shm::queue::damaged;
use crate::wait::{Look, Until};

/// A question, with its number, which says where the answer is to lie.
#[derive(Clone, Copy)]
pub(crate) struct Asked<Q> {
    pub(super) number: u64,
    pub(super) question: Q,
}

const NUMBER_BYTES: usize = size_of::<u64>();

// SAFETY: any number is one. The rest is the question's promise.
unsafe impl<Q: Message> Encoded for Asked<Q> {
    type Wire = Both<u64, Q::Wire>;

    const ANY_BITS: bool = Q::ANY_BITS;

    #[inline(always)]
    unsafe fn is_value(bytes: *const u8) -> bool {
        // SAFETY: the caller's promise: the question lies behind the number.
        unsafe { Q::is_value(bytes.add(NUMBER_BYTES)) }
    }

    #[inline(always)]
    fn encode<'a>(&'a self, space: &'a mut MaybeUninit<Self::Wire>) -> &'a Self::Wire {
        space.write(Both(self.number, encode(self.question)))
    }

    #[inline(always)]
    unsafe fn decode(wire: *const Self::Wire) -> Self {
        // SAFETY: the caller's promise.
        let Both(number, question) = unsafe { wire.read() };
        // SAFETY: as above.
        Self { number, question: unsafe { decode(question) } }
    }
}

impl<Q: Message> Asked<Q> {
    const FIELDS: &'static [Field] = &[
        field("number", 0, KindRef::Static(&Kind::Scalar(Scalar::U64))),
        field("question", NUMBER_BYTES, Q::SCHEMA.part()),
    ];
    const KIND: &'static Kind = &Kind::Struct(Cow::Borrowed(Self::FIELDS));
}

impl<Q: Message> Message for Asked<Q> {
    const SCHEMA: &'static Schema = &schema("exchange", KindRef::Static(Self::KIND));
}

/// What can be asked: any [`Message`]. For programs that learn the types at run time there are questions of
/// bytes, too. The trait can't be implemented outside this crate.
#[allow(private_bounds, reason = "this is what seals it")]
pub trait Question: InLanes {}

impl<Q: InLanes> Question for Q {}

/// How questions pass through the lanes.
// Decision 0170: one service, whatever is known of its types.
pub(crate) trait InLanes: Sized + Send + 'static {
    /// What a slot of a lane has.
    type Slot: Send + 'static;
    type Kind: KindAcross<Message = Self::Slot>;

    fn send(asks: &mut Asks<Self>, asked: Asked<Self>) -> Result<(), TrySendError<Asked<Self>>>;

    /// Receives the next question, which takes so many slots, or waits to. `None` once the time has passed.
    fn recv_late(
        requests: &mut Requests<Self>,
        slots: usize,
        until: Until,
    ) -> Option<Result<Asked<Self>, RecvError>>;

    fn recv(requests: &mut Requests<Self>, slots: usize) -> Result<Asked<Self>, RecvError>;

    /// Receives the next question if it is there.
    fn poll(requests: &mut Requests<Self>, slots: usize) -> Look<Result<Asked<Self>, RecvError>>;

    /// Where the question lay that was received last: its place, and its number in the lane.
    fn last_place(requests: &Requests<Self>) -> (usize, Number);
}

/// The end of the server.
pub(super) type Requests<Q> = Consumer<<Q as InLanes>::Slot, <Q as InLanes>::Kind>;

/// The end of a client.
pub(super) type Asks<Q> = Producer<<Q as InLanes>::Slot, <Q as InLanes>::Kind>;

/// A question is a slot.
impl<Q: Message> InLanes for Q {
    type Slot = Asked<Q>;
    type Kind = ManyAcross<Asked<Q>>;

    #[inline(always)]
    fn send(asks: &mut Asks<Self>, asked: Asked<Self>) -> Result<(), TrySendError<Asked<Self>>> {
        asks.try_send(asked)
    }

    #[inline(always)]
    fn recv_late(
        requests: &mut Requests<Self>,
        _: usize,
        until: Until,
    ) -> Option<Result<Asked<Self>, RecvError>> {
        requests.recv_late(until)
    }

    #[inline(always)]
    fn recv(requests: &mut Requests<Self>, _: usize) -> Result<Asked<Self>, RecvError> {
        requests.recv()
    }

    #[inline(always)]
    fn poll(requests: &mut Requests<Self>, _: usize) -> Look<Result<Asked<Self>, RecvError>> {
        requests.poll_recv()
    }

    #[inline(always)]
    fn last_place(requests: &Requests<Self>) -> (usize, Number) {
        requests.last_place()
    }
}

/// A question of which only the bytes are known, and in front of it the room for its number: a slot of the
/// lane is one of these bytes.
#[derive(Debug)]
pub(crate) struct AskedBytes(Box<[u8]>);

impl AskedBytes {
    pub(crate) fn new(question: &[u8]) -> Self {
        let mut bytes = vec![0; NUMBER_BYTES + question.len()];
        bytes[NUMBER_BYTES..].copy_from_slice(question);
        Self(bytes.into())
    }

    pub(crate) fn question(&self) -> &[u8] {
        &self.0[NUMBER_BYTES..]
    }

    /// The next question, which is there, and takes so many slots.
    fn take(requests: &mut Requests<Self>, slots: usize) -> Asked<Self> {
        let bytes = requests.first_shared(slots).slice(..slots).to_vec();
        requests.advance(slots);
        let (number, _) = bytes.split_at(NUMBER_BYTES);
        let number = u64::from_ne_bytes(number.try_into().expect("so long is a number"));
        Asked { number, question: Self(bytes.into()) }
    }
}

impl InLanes for AskedBytes {
    type Slot = u8;
    type Kind = ManyBlocksAcross;

    fn send(asks: &mut Asks<Self>, mut asked: Asked<Self>) -> Result<(), TrySendError<Asked<Self>>> {
        let bytes = &mut asked.question.0;
        bytes[..NUMBER_BYTES].copy_from_slice(&asked.number.to_ne_bytes());
        match asks.try_reserve(bytes.len()) {
            // (Room ends between two messages.)
            Ok(room) if room.len() == bytes.len() => {
                if room.write_slice(bytes) == 0 {
                    // Unreached: the service is closed behind the reservation: threads have to meet there
                    Err(TrySendError::Closed(asked))
                } else {
                    Ok(())
                }
            }
            Err(TrySendError::Closed(())) => Err(TrySendError::Closed(asked)),
            Ok(_) | Err(TrySendError::Full(())) => Err(TrySendError::Full(asked)),
        }
    }

    fn recv_late(
        requests: &mut Requests<Self>,
        slots: usize,
        until: Until,
    ) -> Option<Result<Asked<Self>, RecvError>> {
        let there = requests.await_readable(until)?;
        Some(there.map(|()| Self::take(requests, slots)))
    }

    fn recv(requests: &mut Requests<Self>, slots: usize) -> Result<Asked<Self>, RecvError> {
        Self::recv_late(requests, slots, Until::FOREVER).unwrap_or(Err(RecvError::CLOSED))
    }

    fn poll(requests: &mut Requests<Self>, slots: usize) -> Look<Result<Asked<Self>, RecvError>> {
        requests.poll_readable().map(|there| there.map(|()| Self::take(requests, slots)))
    }

    fn last_place(requests: &Requests<Self>) -> (usize, Number) {
        requests.last_place()
    }
}

/// What the messages of a service are.
pub(crate) struct Exchange {
    /// What the header says: a message has the parts of a question and of its answer.
    pub(super) header: MessageType,
    /// How long a question is in a lane, with its number.
    pub(super) asked_bytes: usize,
    pub(super) answer_bytes: usize,
}

impl Exchange {
    pub(super) fn of<Q: Message, A: Message>() -> Self {
        let (question, answer) = (Q::SCHEMA.part(), A::SCHEMA.part());
        Self::new((question, size_of::<Q::Wire>()), (answer, size_of::<A::Wire>()))
    }

    /// Of messages that are known at run time. What has no schema is bytes.
    pub(crate) fn described(question: &MessageType, answer: &MessageType) -> Self {
        let part = |of: &MessageType| {
            let bytes = || KindRef::from(Kind::Array(KindRef::Static(&Kind::Scalar(Scalar::U8)), of.bytes()));
            (of.schema().map_or_else(bytes, |schema| schema.kind.clone()), of.bytes())
        };
        Self::new(part(question), part(answer))
    }

    /// The messages of a service that is there, to be joined with these types. A type without a schema is any
    /// of its size.
    pub(crate) fn found(
        invitation: &Invitation,
        question: &MessageType,
        answer: &MessageType,
    ) -> Result<Self, AttachError> {
        let found = types(invitation)?;
        let part = |wanted: &MessageType, found: MessageType| {
            if wanted.schema().is_none() && wanted.bytes() == found.bytes() { found } else { wanted.clone() }
        };
        Ok(Self::described(&part(question, found.0), &part(answer, found.1)))
    }

    fn new((question, question_bytes): (KindRef, usize), (answer, answer_bytes): (KindRef, usize)) -> Self {
        let asked_bytes = NUMBER_BYTES + question_bytes;
        let fields = vec![
            field("number", 0, KindRef::Static(&Kind::Scalar(Scalar::U64))),
            field("question", NUMBER_BYTES, question),
            field("answer", asked_bytes, answer),
        ];
        let kind = KindRef::from(Kind::Struct(fields.into()));
        Self { header: MessageType::described(schema("exchange", kind), 1), asked_bytes, answer_bytes }
    }
}

/// What the questions and the answers of a service are, for a program that joins without knowing it.
///
/// # Errors
///
/// [`AttachError`]: it is no service, or its header is damaged.
pub(crate) fn types(invitation: &Invitation) -> Result<(MessageType, MessageType), AttachError> {
    let info = invitation.info()?;
    if info.kind() != ShmKind::Service {
        return Err(AttachError::Kind { found: info.kind(), wanted: ShmKind::Service });
    }
    let whole = info.schema()?;
    let part = |name| {
        let Kind::Struct(fields) = &*whole.as_ref()?.kind else { return None };
        let part = fields.iter().find(|field| field.name == name)?;
        Some(MessageType::described(schema("", part.kind.clone()), 1))
    };
    let both = part("question").zip(part("answer"));
    both.ok_or_else(|| damaged("the schema's length", whole.map_or(0, |whole| whole.size()) as u64))
}

const fn field(name: &'static str, offset: usize, kind: KindRef) -> Field {
    let (unit, comment) = (Cow::Borrowed(""), Cow::Borrowed(""));
    Field { name: Cow::Borrowed(name), offset, kind, unit, comment, __made_by_annulus: () }
}

const fn schema(name: &'static str, kind: KindRef) -> Schema {
    Schema { name: Cow::Borrowed(name), version: 0, kind, __made_by_annulus: () }
}
