//! Kinds of messages in both languages, a schema and a definition of ROS 2; and values of them, in the bytes
//! of a ring and in JSON.
#![allow(unreachable_pub, reason = "a part of a test program")]

use serde_json::{Map, Value, json};

/// The number behind that one. (PCG: it is the same in each run.)
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        let mixed = (self.0 ^ (self.0 >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
        mixed ^ (mixed >> 33)
    }

    /// One that is smaller than `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

/// A kind of numbers: in a schema, in ROS 2, and what has to be said of it.
type Named = (&'static str, &'static str, Option<&'static str>);

/// All kinds of numbers that both have.
const NUMBERS: [Named; 15] = [
    ("bool", "bool", None),
    ("u8", "uint8", None),
    ("u8", "byte", Some("byte")),
    ("i8", "int8", None),
    ("u16", "uint16", None),
    ("i16", "int16", None),
    ("u32", "uint32", None),
    ("i32", "int32", None),
    ("u64", "uint64", None),
    ("i64", "int64", None),
    ("f32", "float32", None),
    ("f64", "float64", None),
    ("nonzero u16", "uint16", None),
    ("enum i32{less=-1,same=0,more=1}", "int32", None),
    ("enum u8{buy=66,sell=83}", "uint8", None),
];

#[derive(Clone)]
pub enum Kind {
    /// One of [`NUMBERS`].
    Number(usize),
    /// How many bytes it may have, and whether its type says so, too.
    Text(usize, bool),
    Array(Box<Kind>, usize),
    /// The name of a type, and its fields.
    Struct(String, Vec<Kind>),
}

impl Kind {
    /// A message with each kind of numbers, each at an address that fits nothing, and arrays of them.
    pub fn all() -> Self {
        let numbers = (0..NUMBERS.len()).flat_map(|number| [Self::Number(1), Self::Number(number)]);
        let arrays = (0..NUMBERS.len()).map(|number| Self::Array(Self::Number(number).into(), 3));
        Self::Struct("a/msg/All".into(), numbers.chain(arrays).collect())
    }

    /// Any message, whose types have names that begin so.
    pub fn any(numbers: &mut Numbers, name: &str, depth: usize) -> Self {
        let fields = (0..numbers.below(6)).map(|field| {
            let inner = match numbers.below(if depth == 0 { 6 } else { 8 }) {
                0..4 => Self::Number(numbers.below(NUMBERS.len())),
                4..6 => Self::Text(numbers.below(12), numbers.below(2) == 0),
                _ => Self::any(numbers, &format!("{name}{field}"), depth - 1),
            };
            let is_empty = matches!(&inner, Self::Struct(_, fields) if fields.is_empty());
            if numbers.below(3) > 0 || is_empty {
                return inner;
            }
            Self::Array(inner.into(), 1 + numbers.below(3))
        });
        Self::Struct(format!("a/msg/{}", name.trim_start_matches("a/msg/")), fields.collect())
    }

    /// How it is written in a schema. Gaps are between fields, where a compiler may have them.
    pub fn schema(&self) -> String {
        match self {
            Self::Number(number) => NUMBERS[*number].0.into(),
            Self::Text(room, _) => format!("text {room}"),
            Self::Array(inner, length) => format!("[{};{length}]", inner.schema()),
            Self::Struct(_, fields) => {
                let fields = fields.iter().enumerate();
                let fields: Vec<_> =
                    fields.map(|(at, field)| format!("f{at}:{},_:u8", field.schema())).collect();
                format!("{{{}}}", fields.join(","))
            }
        }
    }

    /// How a definition of ROS 2 has it.
    fn ros(&self) -> String {
        match self {
            Self::Number(number) => NUMBERS[*number].1.into(),
            Self::Text(_, false) => "string".into(),
            Self::Text(room, true) => format!("string<={}", room + 1),
            Self::Array(inner, length) => format!("{}[{length}]", inner.ros()),
            Self::Struct(name, _) => name.clone(),
        }
    }

    /// The definitions of its types.
    pub fn definitions(&self, all: &mut Map<String, Value>) {
        match self {
            Self::Array(inner, _) => inner.definitions(all),
            Self::Struct(name, fields) => {
                let lines = fields.iter().enumerate().map(|(at, field)| format!("{} f{at}", field.ros()));
                all.insert(name.clone(), lines.collect::<Vec<_>>().join("\n").into());
                for field in fields {
                    field.definitions(all);
                }
            }
            Self::Number(_) | Self::Text(..) => {}
        }
    }

    /// What has to be said of its fields, by their paths.
    pub fn said(&self, path: &str, all: &mut Vec<(String, String)>) {
        match self {
            Self::Number(number) => all.extend(NUMBERS[*number].2.map(|said| (path.into(), said.into()))),
            Self::Text(_, false) => {}
            Self::Text(_, true) => all.push((path.into(), self.ros())),
            Self::Array(inner, _) => inner.said(path, all),
            Self::Struct(name, fields) => {
                if !path.is_empty() {
                    all.push((path.into(), name.clone()));
                }
                for (at, field) in fields.iter().enumerate() {
                    field.said(format!("{path}.f{at}").trim_start_matches('.'), all);
                }
            }
        }
    }

    /// A value: its bytes are added to `bytes`.
    pub fn fill(&self, numbers: &mut Numbers, bytes: &mut Vec<u8>) -> Value {
        match self {
            Self::Number(number) => fill_number(&NUMBERS[*number], numbers, bytes),
            Self::Text(room, _) => {
                let text: String = (0..numbers.below(room + 1)).map(|at| ['h', 'i', '?'][at % 3]).collect();
                bytes.extend_from_slice(&(text.len() as u16).to_ne_bytes());
                bytes.extend_from_slice(text.as_bytes());
                bytes.resize(bytes.len() + room - text.len(), 0xEE);
                text.into()
            }
            Self::Array(inner, length) => (0..*length).map(|_| inner.fill(numbers, bytes)).collect(),
            Self::Struct(_, fields) => {
                let fields = fields.iter().enumerate().map(|(at, field)| {
                    let value = field.fill(numbers, bytes);
                    bytes.push(0xEE);
                    (format!("f{at}"), value)
                });
                Value::Object(fields.collect())
            }
        }
    }
}

fn fill_number((kind, ros, _): &Named, numbers: &mut Numbers, bytes: &mut Vec<u8>) -> Value {
    let any = numbers.next();
    macro_rules! number {
        ($value:expr) => {{
            let value = $value;
            bytes.extend_from_slice(&value.to_ne_bytes());
            json!(value)
        }};
    }
    match *kind {
        // (rosbags 0.11.9 takes the sign bit of a single `byte` for a sign.)
        "u8" if *ros == "byte" => number!(any as u8 & 0x7F),
        "bool" => {
            bytes.push((any & 1) as u8);
            (any & 1 == 1).into()
        }
        "u8" => number!(any as u8),
        "i8" => number!(any.cast_signed() as i8),
        "u16" => number!(any as u16),
        "i16" => number!(any.cast_signed() as i16),
        "u32" => number!(any as u32),
        "i32" => number!(any.cast_signed() as i32),
        "u64" => number!(any),
        "i64" => number!(any.cast_signed()),
        // (A fraction that each of them has.)
        "f32" => number!(f32::from(any.cast_signed() as i16) / 8.0),
        "f64" => number!(f64::from(any.cast_signed() as i32) / 1024.0),
        "nonzero u16" => number!(any as u16 | 1),
        "enum i32{less=-1,same=0,more=1}" => number!((any % 3) as i32 - 1),
        "enum u8{buy=66,sell=83}" => number!([66_u8, 83][(any % 2) as usize]),
        other => unreachable!("{other}"),
    }
}
