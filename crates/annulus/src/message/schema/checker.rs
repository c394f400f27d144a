//! [`Checker`]: whether bytes are a message, for types that are known at run time. It is made of a schema
//! once, and has only what a message can be wrong in.

use alloc::vec::Vec;

use super::bad_value::Checked;
use super::{Kind, Scalar, Schema};

/// So many of an array are looked at one by one.
const FEW: usize = 16;

/// Finds out whether bytes that another process has written are a message of a schema: no `bool`, `char`,
/// enum, text, option or integer that is not 0 has a value that is none. It is for types that are known at
/// run time only, such as those of C, and for many messages.
/// [`BadValue::find`](super::BadValue::find) says what is wrong. (Of a field with `#[message(bytes)]` a
/// schema knows only how long it is.)
///
/// ```
/// use annulus::schema::{Checker, Schema};
///
/// let order: Schema = "order{quantity:u8,side:enum u8{buy=0,sell=1}}".parse()?;
/// let checker = Checker::new(&order);
/// assert!(checker.is_message(&[100, 1]) && !checker.is_message(&[100, 2]));
///
/// let quote: Schema = "quote{bid:f64,ask:f64}".parse()?;
/// assert!(Checker::new(&quote).any_bytes_are_messages());
/// # Ok::<(), annulus::schema::SchemaError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Checker {
    size: usize,
    parts: Vec<Part>,
}

/// What is looked at, and where it begins.
#[derive(Clone, Debug)]
struct Part {
    at: usize,
    of: Of,
}

#[derive(Clone, Debug)]
enum Of {
    Bool,
    /// A number of so many bytes, which is not 0.
    NonZero(usize),
    Text(usize),
    /// A number of so many bytes: one of these.
    Number(usize, Vec<u64>),
    /// What is not so simple.
    Kind(Kind),
}

impl Checker {
    /// Makes one. Takes O(fields).
    #[must_use]
    pub fn new(schema: &Schema) -> Self {
        let mut parts = Vec::new();
        add(&schema.kind, 0, &mut parts);
        Self { size: schema.size(), parts }
    }

    /// How many bytes a message has.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Whether any bytes are a message, so that none has to be looked at.
    #[must_use]
    pub fn any_bytes_are_messages(&self) -> bool {
        self.parts.is_empty()
    }

    /// Whether these bytes begin with a message. Takes O(bytes), and allocates nothing.
    ///
    /// # Panics
    ///
    /// If there are fewer bytes than a message has.
    #[must_use]
    pub fn is_message(&self, bytes: &[u8]) -> bool {
        assert!(bytes.len() >= self.size, "{} bytes: a message has {}", bytes.len(), self.size);
        self.parts.iter().all(|part| part.holds(bytes))
    }
}

impl Part {
    #[inline]
    fn holds(&self, bytes: &[u8]) -> bool {
        let at = self.at;
        match &self.of {
            Of::Bool => bytes[at] < 2,
            Of::NonZero(size) => bytes[at..][..*size].iter().any(|&byte| byte != 0),
            Of::Text(most) => {
                let text = bytes[at + 2..][..*most].get(..word(bytes, at, 2) as usize);
                text.is_some_and(|text| text.is_ascii() || core::str::from_utf8(text).is_ok())
            }
            Of::Number(size, numbers) => numbers.contains(&word(bytes, at, *size)),
            Of::Kind(kind) => Checked::new(bytes).of(kind, at).is_none(),
        }
    }
}

/// The number of so many bytes, 8 at most.
#[inline]
fn word(bytes: &[u8], at: usize, size: usize) -> u64 {
    let bytes = &bytes[at..];
    match size {
        1 => bytes[0].into(),
        2 => u16::from_ne_bytes([bytes[0], bytes[1]]).into(),
        4 => u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]).into(),
        _ => u64::from_ne_bytes([
            bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7],
        ]),
    }
}

fn add(kind: &Kind, at: usize, parts: &mut Vec<Part>) {
    let of = match kind {
        Kind::Struct(fields) => {
            fields.iter().for_each(|field| add(&field.kind, at + field.offset, parts));
            return;
        }
        Kind::Array(inner, length) => {
            let (mut one, size) = (Vec::new(), inner.size());
            add(inner, at, &mut one);
            if one.is_empty() || *length == 0 {
                return;
            }
            if *length <= FEW {
                (0..*length).for_each(|number| add(inner, at + number * size, parts));
                return;
            }
            Of::Kind(kind.clone())
        }
        Kind::Scalar(Scalar::Bool) => Of::Bool,
        Kind::Scalar(Scalar::Char) | Kind::Optional(_) => Of::Kind(kind.clone()),
        Kind::Scalar(_) => return,
        Kind::NonZero(scalar) => Of::NonZero(scalar.size()),
        Kind::Text(most) => Of::Text(*most),
        Kind::Enum(scalar, variants) => {
            let size = scalar.size();
            if size > 8 || variants.iter().any(|variant| !variant.fields.is_empty()) {
                Of::Kind(kind.clone())
            } else {
                let bits = |number: i128| u64::from_ne_bytes((number as i64).to_ne_bytes());
                let as_it_lies = |number| bits(number) & (u64::MAX >> (64 - 8 * size));
                Of::Number(size, variants.iter().map(|variant| as_it_lies(variant.number)).collect())
            }
        }
    };
    parts.push(Part { at, of });
}
