//! [`Asked`]: what lies in the lane of a client. [`exchange`]: what the header of a service says of both
//! messages.

use alloc::borrow::Cow;
use core::mem::MaybeUninit;

use crate::message::Message;
use crate::message::encoded::Encoded;
use crate::message::schema::{Field, Kind, KindRef, Scalar, Schema};
use crate::message::wire::{Both, decode, encode};
use crate::shm::message_type::MessageType;

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
    const SCHEMA: &'static Schema = &schema(KindRef::Static(Self::KIND));
}

/// What the header says: a message has the parts of a question and of its answer.
pub(super) fn exchange<Q: Message, A: Message>() -> MessageType {
    let mut fields = Asked::<Q>::FIELDS.to_vec();
    fields.push(field("answer", NUMBER_BYTES + size_of::<Q::Wire>(), A::SCHEMA.part()));
    MessageType::described(schema(KindRef::from(Kind::Struct(fields.into()))), 1)
}

const fn field(name: &'static str, offset: usize, kind: KindRef) -> Field {
    let (unit, comment) = (Cow::Borrowed(""), Cow::Borrowed(""));
    Field { name: Cow::Borrowed(name), offset, kind, unit, comment, __made_by_annulus: () }
}

const fn schema(kind: KindRef) -> Schema {
    Schema { name: Cow::Borrowed("exchange"), version: 0, kind, __made_by_annulus: () }
}
