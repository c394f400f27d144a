//! [`Shown`]: a message in words, in hex, or as JSON.

use std::fmt::Write;

use serde::Serialize;

use super::fields::Value;
use crate::page::{TITLE, painted};
use crate::text::{counted, grouped, printable};

/// So many bytes are in a line of hex.
const LINE_BYTES: usize = 16;

/// A message that was read.
pub(super) struct Shown<'a> {
    pub(super) number: u64,
    pub(super) missed: u64,
    pub(super) bytes: &'a [u8],
    pub(super) fields: Option<Vec<(String, Value)>>,
}

impl Shown<'_> {
    /// One object on one line.
    pub(super) fn to_json(&self) -> String {
        #[derive(Serialize)]
        struct Object {
            number: u64,
            missed: u64,
            fields: Option<serde_json::Map<String, Value>>,
            hex: String,
        }
        let object = Object {
            number: self.number,
            missed: self.missed,
            fields: self.fields.clone().map(|fields| fields.into_iter().collect()),
            hex: self.bytes.iter().fold(String::new(), |mut hex, byte| {
                let _ = write!(hex, "{byte:02x}");
                hex
            }),
        };
        serde_json::to_string(&object).expect("numbers and words have a form in JSON") + "\n"
    }

    /// Its fields on one line, or its bytes on several.
    pub(super) fn to_text(&self) -> String {
        let mut text = String::new();
        if self.missed > 0 {
            let _ = writeln!(text, "({} missed)", counted(self.missed, "message"));
        }
        text += &painted(TITLE, &grouped(self.number));
        if let Some(fields) = &self.fields {
            for (name, value) in fields {
                let value = value.as_str().map_or_else(|| value.to_string(), |text| format!("{text:?}"));
                let _ = write!(text, "  {name}: {}", printable(&value));
            }
            text.push('\n');
        } else {
            text.push('\n');
            for (line, bytes) in self.bytes.chunks(LINE_BYTES).enumerate() {
                text += &hex_line(line * LINE_BYTES, bytes);
            }
        }
        text
    }
}

/// As `hexdump -C` has it.
fn hex_line(offset: usize, bytes: &[u8]) -> String {
    let mut hex = String::new();
    for (index, byte) in bytes.iter().enumerate() {
        let gap = if index == LINE_BYTES / 2 { "  " } else { " " };
        let _ = write!(hex, "{gap}{byte:02x}");
    }
    let letter = |byte: &u8| if byte.is_ascii_graphic() || *byte == b' ' { char::from(*byte) } else { '.' };
    let letters: String = bytes.iter().map(letter).collect();
    format!("  {offset:04x} {hex:<49}  |{letters}|\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::plain;

    #[test]
    fn a_message_has_its_fields_on_a_line() {
        let fields = vec![("bid".into(), 1.5.into()), ("text".into(), "a\u{1b}\"".into())];
        let shown = Shown { number: 1_234, missed: 2, bytes: &[1, 255], fields: Some(fields) };
        let expected = "(2 messages missed)\n1,234  bid: 1.5  text: \"a\\u{1b}\\\"\"\n";
        assert_eq!(plain(&shown.to_text()), expected);
        let json: Value = serde_json::from_str(&shown.to_json()).unwrap();
        assert_eq!((&json["number"], &json["missed"]), (&1_234.into(), &2.into()));
        assert_eq!((&json["fields"]["bid"], &json["hex"]), (&1.5.into(), &"01ff".into()));
    }

    #[test]
    fn a_message_of_a_foreign_type_is_in_hex() {
        let bytes: Vec<u8> = (60..79).collect();
        let shown = Shown { number: 0, missed: 0, bytes: &bytes, fields: None };
        let expected = "\
0
  0000  3c 3d 3e 3f 40 41 42 43  44 45 46 47 48 49 4a 4b  |<=>?@ABCDEFGHIJK|
  0010  4c 4d 4e                                          |LMN|
";
        assert_eq!(plain(&shown.to_text()), expected);
        let json: Value = serde_json::from_str(&shown.to_json()).unwrap();
        assert!(json["fields"].is_null() && json["hex"].as_str().unwrap().starts_with("3c3d"), "{json}");
    }
}
