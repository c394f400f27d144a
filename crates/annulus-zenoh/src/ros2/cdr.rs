//! [`Cdr`]: writes messages of a ring as ROS 2 has them on the wire: CDR (XCDR1, little-endian).
//!
//! It begins with four bytes that say which encoding that is. Behind them, a number of n bytes lies at a
//! multiple of n, counted from behind these four; what is between is zero. A text is its length as a `u32`,
//! its bytes and a NUL, which counts, too. An array of a fixed length is its values.

use annulus::schema::{Checker, Schema};

use super::shape::{Member, Shape, Value};

/// CDR, little-endian, without options.
const HEADER: [u8; 4] = [0, 1, 0, 0];

/// What a message of a ring becomes: what is copied, in this order.
pub(crate) struct Cdr {
    checker: Checker,
    steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// So many numbers that are contiguous in the ring, of so many bytes each.
    Numbers { at: usize, bytes: usize, count: usize },
    /// A text of the ring: a `u16` that says how many bytes follow.
    Text { at: usize },
    /// A byte that the ring has not.
    Zero,
}

impl Cdr {
    /// For messages of this schema, which have that shape. Takes O(bytes of a message).
    pub(crate) fn new(schema: &Schema, shape: &Shape) -> Self {
        let mut steps = Vec::new();
        add(&mut steps, &shape.members, 0);
        Self { checker: Checker::new(schema), steps }
    }

    /// Writes the message to `written`, in the place of what was there. `false`: ROS 2 has no such message,
    /// because bytes are no value of their field, or a text has a NUL.
    ///
    /// # Panics
    ///
    /// If there are fewer bytes than a message has.
    pub(crate) fn write(&self, message: &[u8], written: &mut Vec<u8>) -> bool {
        written.clear();
        written.extend_from_slice(&HEADER);
        if !self.checker.is_message(message) {
            return false;
        }
        for step in &self.steps {
            match *step {
                Step::Numbers { at, bytes, count } => {
                    align(written, bytes);
                    let numbers = &message[at..][..bytes * count];
                    let begin = written.len();
                    written.extend_from_slice(numbers);
                    if cfg!(target_endian = "big") {
                        written[begin..].chunks_exact_mut(bytes).for_each(<[u8]>::reverse);
                    }
                }
                Step::Text { at } => {
                    let length = u16::from_ne_bytes([message[at], message[at + 1]]);
                    let text = &message[at + 2..][..usize::from(length)];
                    if text.contains(&0) {
                        return false;
                    }
                    align(written, 4);
                    written.extend_from_slice(&(u32::from(length) + 1).to_le_bytes());
                    written.extend_from_slice(text);
                    written.push(0);
                }
                Step::Zero => written.push(0),
            }
        }
        true
    }
}

/// Fills up, to where a number of so many bytes can lie.
fn align(written: &mut Vec<u8>, bytes: usize) {
    let end = HEADER.len() + (written.len() - HEADER.len()).next_multiple_of(bytes);
    written.resize(end, 0);
}

/// Adds the steps for these fields, of a struct that lies so many bytes behind the first one of its array.
fn add(steps: &mut Vec<Step>, members: &[Member], behind: usize) {
    for member in members {
        let (at, count) = (member.at + behind, member.length.unwrap_or(1));
        match &member.value {
            Value::Number { bytes, .. } => add_numbers(steps, at, *bytes, count),
            Value::Text { .. } => {
                steps.extend((0..count).map(|index| Step::Text { at: at + index * member.stride }));
            }
            Value::Struct(part) => {
                (0..count).for_each(|index| add(steps, &part.members, behind + index * member.stride));
            }
            Value::NoFields => steps.push(Step::Zero),
        }
    }
}

/// Adds numbers, to the step before if they follow those.
fn add_numbers(steps: &mut Vec<Step>, at: usize, bytes: usize, count: usize) {
    if let Some(Step::Numbers { at: first, bytes: each, count: before }) = steps.last_mut()
        && *each == bytes
        && *first + *before * bytes == at
    {
        *before += count;
    } else {
        steps.push(Step::Numbers { at, bytes, count });
    }
}

#[cfg(test)]
mod tests {
    use super::super::names::TypeName;
    use super::*;

    fn cdr(schema: &str, types: &[(&str, &str)]) -> Cdr {
        let types = types.iter().map(|(path, of)| ((*path).into(), (*of).into())).collect();
        let schema = schema.parse().unwrap();
        Cdr::new(&schema, &Shape::of(&schema, &TypeName::of("a/msg/A").unwrap(), &types).unwrap())
    }

    /// What is behind the header.
    fn told(cdr: &Cdr, message: &[u8]) -> Option<Vec<u8>> {
        let mut written = vec![9; 100];
        let is_good = cdr.write(message, &mut written);
        assert_eq!(written[..4], [0, 1, 0, 0]);
        is_good.then(|| written[4..].to_vec())
    }

    #[test]
    fn numbers_lie_at_multiples_of_their_size() {
        let cdr = cdr("{a:u8,b:i16,c:bool,d:f64,e:u8,f:u32}", &[]);
        let message = [
            &[1][..],
            &(-2_i16).to_ne_bytes(),
            &[1],
            &1.5_f64.to_ne_bytes(),
            &[7],
            &0x0102_0304_u32.to_ne_bytes(),
        ]
        .concat();
        #[rustfmt::skip]
        let expected = [
            1, 0, 0xFE, 0xFF, 1, 0, 0, 0,
            0, 0, 0, 0, 0, 0, 0xF8, 0x3F,
            7, 0, 0, 0, 4, 3, 2, 1,
        ];
        assert_eq!(told(&cdr, &message).unwrap(), expected);
    }

    #[test]
    fn text_has_its_length_and_a_nul() {
        let cdr = cdr("{a:u8,b:text 4,c:u16}", &[]);
        let message = |length: u16, text: &[u8; 4]| {
            [&[9][..], &length.to_ne_bytes(), text, &5_u16.to_ne_bytes()].concat()
        };
        #[rustfmt::skip]
        let expected = [9, 0, 0, 0, 3, 0, 0, 0, b'h', b'i', 0, 0, 5, 0];
        assert_eq!(told(&cdr, &message(2, b"hi??")).unwrap(), expected);
        assert_eq!(told(&cdr, &message(0, b"hi??")).unwrap(), [9, 0, 0, 0, 1, 0, 0, 0, 0, 0, 5, 0]);
        assert_eq!(told(&cdr, &message(4, b"hi\0?")), None);
        assert_eq!(told(&cdr, &message(5, b"hi??")), None);
        assert_eq!(told(&cdr, &message(1, b"\xFFi??")), None);
    }

    #[test]
    fn array_of_structs_has_each_of_them() {
        let cdr = cdr("{a:[{b:u8,_gap:u8,c:[u16;2]};2],d:text 1}", &[("a", "a/msg/B")]);
        let message = [1, 99, 2, 2, 3, 3, 4, 99, 5, 5, 6, 6, 0, 0, 0];
        let expected = [1, 0, 2, 2, 3, 3, 4, 0, 5, 5, 6, 6, 1, 0, 0, 0, 0];
        assert_eq!(told(&cdr, &message).unwrap(), expected);
    }

    #[test]
    fn struct_has_its_fields_where_it_lies() {
        let cdr = cdr("{a:u8,b:{c:u8,d:[text 1;2]}}", &[("b", "a/msg/B")]);
        let texts = [&1_u16.to_ne_bytes()[..], b"x", &1_u16.to_ne_bytes(), b"y"].concat();
        let expected = [1, 2, 0, 0, 2, 0, 0, 0, b'x', 0, 0, 0, 2, 0, 0, 0, b'y', 0];
        assert_eq!(told(&cdr, &[&[1, 2][..], &texts].concat()).unwrap(), expected);
    }

    #[test]
    fn type_without_fields_has_one_byte() {
        let cdr = cdr("{a:u8,b:{},c:enum i8{x=-1}}", &[("b", "std_msgs/msg/Empty")]);
        assert_eq!(told(&cdr, &[3, 0xFF]).unwrap(), [3, 0, 0xFF]);
    }

    #[test]
    fn numbers_beside_each_other_are_one_step() {
        let cdr = cdr("{a:f64,b:f64,c:[f64;3],d:u8}", &[]);
        assert_eq!(
            cdr.steps,
            [Step::Numbers { at: 0, bytes: 8, count: 5 }, Step::Numbers { at: 40, bytes: 1, count: 1 }]
        );
    }

    #[test]
    fn message_that_is_none_is_not_written() {
        for (schema, message) in
            [("{a:bool}", [2]), ("{a:enum u8{x=1}}", [0]), ("{a:nonzero i8}", [0]), ("{a:[bool;1]}", [3])]
        {
            assert_eq!(told(&cdr(schema, &[]), &message), None, "{schema}");
        }
    }
}
