//! [`Shown`]: a message in words, in hex, or as JSON.

use std::fmt::Write;

use serde::Serialize;

use crate::messages::{Object, fields_to_text};
use crate::text::{TITLE, counted, grouped, painted, printable};

/// So many bytes are in a line of hex.
const LINE_BYTES: usize = 16;

/// A message that was read.
pub(super) struct Shown<'a> {
    pub(super) number: u64,
    pub(super) missed: u64,
    pub(super) bytes: &'a [u8],
    /// What its schema says that is in it, if there is one; or that this is none of its messages.
    pub(super) fields: Option<Result<Object, String>>,
}

impl Shown<'_> {
    /// One object on one line.
    pub(super) fn to_json(&self) -> String {
        #[derive(Serialize)]
        struct Line<'a> {
            number: u64,
            missed: u64,
            fields: Option<&'a Object>,
            corrupt: Option<&'a String>,
            hex: String,
        }
        let fields = self.fields.as_ref();
        let line = Line {
            number: self.number,
            missed: self.missed,
            fields: fields.and_then(|fields| fields.as_ref().ok()),
            corrupt: fields.and_then(|fields| fields.as_ref().err()),
            hex: self.bytes.iter().fold(String::new(), |mut hex, byte| {
                let _ = write!(hex, "{byte:02x}");
                hex
            }),
        };
        serde_json::to_string(&line).expect("numbers and words have a form in JSON") + "\n"
    }

    /// Its fields on one line, or its bytes on several.
    pub(super) fn to_text(&self) -> String {
        let mut text = String::new();
        if self.missed > 0 {
            let _ = writeln!(text, "({} missed)", counted(self.missed, "message"));
        }
        text += &painted(TITLE, &grouped(self.number));
        if let Some(Ok(fields)) = &self.fields {
            let _ = writeln!(text, "  {}", fields_to_text(fields));
        } else {
            if let Some(Err(what)) = &self.fields {
                let _ = write!(text, "  corrupt: {}", printable(what));
            }
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
    use crate::text::plain;
    use serde_json::Value;

    #[test]
    fn message_has_its_fields_on_a_line() {
        let fields = [("bid".into(), 1.5.into()), ("text".into(), "a\u{1b}\"".into())];
        let fields = Some(Ok(fields.into_iter().collect()));
        let shown = Shown { number: 1_234, missed: 2, bytes: &[1, 255], fields };
        let expected = "(2 messages missed)\n1,234  bid: 1.5  text: \"a\\u{1b}\\\"\"\n";
        assert_eq!(plain(&shown.to_text()), expected);
        let json: Value = serde_json::from_str(&shown.to_json()).unwrap();
        assert_eq!((&json["number"], &json["missed"]), (&1_234.into(), &2.into()));
        assert_eq!((&json["fields"]["bid"], &json["hex"]), (&1.5.into(), &"01ff".into()));
    }

    #[test]
    fn bytes_that_are_no_message_are_in_hex_too() {
        let fields = Some(Err("`live`, at byte 0, is 2".into()));
        let shown = Shown { number: 7, missed: 0, bytes: &[2], fields };
        let text = plain(&shown.to_text());
        assert!(text.starts_with("7  corrupt: `live`, at byte 0, is 2\n  0000  02 "), "{text}");
        let json: Value = serde_json::from_str(&shown.to_json()).unwrap();
        assert!(json["fields"].is_null() && json["corrupt"] == "`live`, at byte 0, is 2", "{json}");
    }

    #[test]
    fn message_of_a_foreign_type_is_in_hex() {
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
