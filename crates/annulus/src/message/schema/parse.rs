//! A schema of its text.

use alloc::borrow::{Cow, ToOwned};
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use core::error::Error;
use core::fmt;
use core::str::FromStr;

use super::{Field, Kind, Scalar, Schema, Variant, end};

/// So many kinds are inside each other at most.
const DEEPEST: usize = 32;

/// The largest message, in bytes. (A size that no `usize` has is `usize::MAX`.)
const LARGEST: usize = match 1_usize.checked_shl(40) {
    Some(bytes) => bytes,
    None => usize::MAX - 1,
};

/// The error for a text that is no [`Schema`]: where, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaError {
    /// At which byte of the text.
    pub at: usize,
    /// What would be right there.
    pub expected: Cow<'static, str>,
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {} of the schema: expected {}", self.at, self.expected)
    }
}

impl Error for SchemaError {}

/// Of the text that [`Display`](fmt::Display) writes, with any white space between its words and signs.
impl FromStr for Schema {
    type Err = SchemaError;

    fn from_str(text: &str) -> Result<Self, SchemaError> {
        let mut parser = Parser { text, at: 0, depth: 0 };
        if text.len() > Schema::LONGEST {
            return Err(SchemaError {
                at: Schema::LONGEST,
                expected: "the end: it has 65,536 bytes at most".into(),
            });
        }
        let schema = parser.schema()?;
        parser.skip_space();
        if parser.at < text.len() { parser.fail("the end") } else { Ok(schema) }
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

type Parsed<T> = Result<T, SchemaError>;

impl<'t> Parser<'t> {
    fn schema(&mut self) -> Parsed<Schema> {
        let begin = self.at;
        let mut name = self.word_or_none();
        let version = if self.takes('@') { self.number("a version")? } else { 0 };
        let has_colon = self.takes(':');
        if !has_colon && version == 0 && self.next() != Some('{') {
            // It was the beginning of a kind.
            (self.at, name) = (begin, "");
        }
        let behind_name = self.at;
        let kind = self.kind()?;
        let needs_colon = !matches!(kind, Kind::Struct(_)) && (version > 0 || !name.is_empty());
        if has_colon != needs_colon {
            self.at = behind_name;
            return self.fail("`:` between a name and a kind, and none before `{` or without a name");
        }
        Ok(Schema { name: name.to_owned().into(), version, kind: kind.into(), __made_by_annulus: () })
    }

    fn kind(&mut self) -> Parsed<Kind> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return self.fail("an end of what is nested: 32 levels are the most");
        }
        let mut kind = match self.next() {
            Some('[') => self.array()?,
            Some('{') => Kind::Struct(self.fields()?.into()),
            _ => self.named_kind()?,
        };
        while self.takes('?') {
            if matches!(kind, Kind::Optional(_)) {
                self.at -= 1;
                return self.fail("one `?`: an option of an option is written as of a struct, `{0:u8?}?`");
            }
            kind = Kind::Optional(kind.into());
        }
        if kind.size() > LARGEST {
            return self.fail("a smaller message: 2^40 bytes are the most");
        }
        self.depth -= 1;
        Ok(kind)
    }

    fn named_kind(&mut self) -> Parsed<Kind> {
        let begin = self.at;
        match self.word_or_none() {
            "text" => Ok(Kind::Text(self.number::<u16>("how many bytes the text has at most")?.into())),
            "enum" => self.variants(),
            "nonzero" => Ok(Kind::NonZero(self.integer()?)),
            word => {
                if let Some(scalar) = Scalar::of_name(word) {
                    return Ok(Kind::Scalar(scalar));
                }
                self.at = begin;
                self.fail("a kind, such as `f64`, `text 12`, `[u8;3]`, `enum u8{buy=0}` or `{x:f32}`")
            }
        }
    }

    fn array(&mut self) -> Parsed<Kind> {
        self.expect('[')?;
        let element = self.kind()?;
        self.expect(';')?;
        let length = self.number("a length")?;
        self.expect(']')?;
        Ok(Kind::Array(element.into(), length))
    }

    fn fields(&mut self) -> Parsed<Vec<Field>> {
        let (mut fields, mut names) = (Vec::new(), BTreeSet::new());
        self.list(|this| {
            let begin = this.at;
            let name = this.word()?;
            if !name.starts_with('_') && !names.insert(name) {
                this.at = begin;
                return this.fail("another name: two fields have this one");
            }
            this.expect(':')?;
            let kind = this.kind()?;
            let unit = if this.takes('(') { this.unit()? } else { String::new() };
            let comment = if this.takes('"') { this.comment()? } else { String::new() };
            let field = Field {
                name: name.to_owned().into(),
                offset: end(&fields[fields.len().saturating_sub(1)..]),
                kind: kind.into(),
                unit: unit.into(),
                comment: comment.into(),
                __made_by_annulus: (),
            };
            fields.push(field);
            Ok(())
        })?;
        Ok(fields)
    }

    fn variants(&mut self) -> Parsed<Kind> {
        let scalar = self.integer()?;
        let (mut variants, mut names, mut numbers) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        self.list(|this| {
            let begin = this.at;
            let name = this.word()?;
            this.expect('=')?;
            let number = this.number("the variant's number")?;
            let fields = if this.next() == Some('{') { this.fields()? } else { Vec::new() };
            if !names.insert(name) || !numbers.insert(number) || !scalar.holds(number) {
                this.at = begin;
                return this
                    .fail("a variant with a name and a number of its own, which the integer can hold");
            }
            variants.push(Variant {
                name: name.to_owned().into(),
                number,
                fields: fields.into(),
                __made_by_annulus: (),
            });
            Ok(())
        })?;
        if variants.is_empty() {
            self.at -= 1;
            return self.fail("a variant, such as `buy=0`");
        }
        Ok(Kind::Enum(scalar, variants.into()))
    }

    fn integer(&mut self) -> Parsed<Scalar> {
        self.skip_space();
        let begin = self.at;
        Scalar::of_name(self.word_or_none())
            .filter(|scalar| scalar.holds(0))
            .ok_or(SchemaError { at: begin, expected: "an integer, such as `u8`".into() })
    }

    /// `{one,other}`, also with a comma at the end.
    fn list(&mut self, mut one: impl FnMut(&mut Self) -> Parsed<()>) -> Parsed<()> {
        self.expect('{')?;
        loop {
            if self.takes('}') {
                return Ok(());
            }
            one(self)?;
            if !self.takes(',') {
                return self.expect('}');
            }
        }
    }

    /// Behind its bracket, to the one at its end.
    fn unit(&mut self) -> Parsed<String> {
        let rest = &self.text[self.at..];
        match rest.find(['(', ')', '"']) {
            Some(length) if rest[length..].starts_with(')') && is_visible(&rest[..length]) => {
                self.at += length + 1;
                Ok(rest[..length].to_owned())
            }
            _ => self.fail("a unit, such as `ns`, and `)`"),
        }
    }

    /// Behind its quotation mark, to the one at its end.
    fn comment(&mut self) -> Parsed<String> {
        let (mut comment, mut is_escaped) = (String::new(), false);
        for letter in self.text[self.at..].chars() {
            match letter {
                _ if letter.is_control() => break,
                '"' | '\\' if is_escaped => (comment.push(letter), is_escaped = false).1,
                _ if is_escaped => break,
                '\\' => is_escaped = true,
                '"' if comment.is_empty() => break,
                '"' => {
                    self.at += 1;
                    return Ok(comment);
                }
                letter => comment.push(letter),
            }
            self.at += letter.len_utf8();
        }
        self.fail("a comment in a line, with `\\\"` for a quotation mark, and `\"` at its end")
    }

    fn number<N: FromStr>(&mut self, what: &'static str) -> Parsed<N> {
        self.skip_space();
        let rest = &self.text[self.at..];
        let sign = usize::from(rest.starts_with('-'));
        let length = rest[sign..].find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len() - sign);
        let digits = &rest[..sign + length];
        // One way to write each.
        let is_plain = digits == "0" || !digits[sign.min(digits.len())..].starts_with('0');
        match digits.parse() {
            Ok(number) if is_plain => {
                self.at += digits.len();
                Ok(number)
            }
            _ => self.fail(what),
        }
    }

    fn word(&mut self) -> Parsed<&'t str> {
        match self.word_or_none() {
            "" => self.fail("a name of letters, digits and `_`"),
            word => Ok(word),
        }
    }

    fn word_or_none(&mut self) -> &'t str {
        self.skip_space();
        let rest = &self.text[self.at..];
        let length = rest.find(|letter| !is_of_name(letter));
        let word = &rest[..length.unwrap_or(rest.len())];
        self.at += word.len();
        word
    }

    fn expect(&mut self, sign: char) -> Parsed<()> {
        if self.takes(sign) { Ok(()) } else { self.fail_by(alloc::format!("`{sign}`").into()) }
    }

    fn takes(&mut self, sign: char) -> bool {
        let takes = self.next() == Some(sign);
        self.at += usize::from(takes);
        takes
    }

    fn next(&mut self) -> Option<char> {
        self.skip_space();
        self.text[self.at..].chars().next()
    }

    fn skip_space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
    }

    fn fail<T>(&self, expected: &'static str) -> Parsed<T> {
        self.fail_by(expected.into())
    }

    fn fail_by<T>(&self, expected: Cow<'static, str>) -> Parsed<T> {
        Err(SchemaError { at: self.at, expected })
    }
}

/// Whether a name may have it. In ASCII it is told by a byte, so that a parser in any language can.
fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_' || !letter.is_ascii() && !letter.is_control()
}

/// Whether it is there to be read: not empty, and without signs that no terminal shows.
fn is_visible(text: &str) -> bool {
    !text.is_empty() && !text.chars().any(char::is_control)
}
