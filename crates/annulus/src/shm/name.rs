//! What a ring's name may be, and the names of the files that stand for it.

use core::error::Error;
use core::fmt;
use std::format;
use std::string::String;

/// Why there can be no ring of some name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BadName {
    /// It is empty.
    Empty,
    /// It has more bytes than [`LONGEST`](Self::LONGEST).
    TooLong,
    /// It begins with a dot, as `..` does.
    LeadingDot,
    /// It has a character that no name has: `/`, or a control character, such as NUL.
    Character(char),
}

impl BadName {
    /// The length of the longest name, in bytes.
    pub const LONGEST: usize = 200;
}

impl fmt::Display for BadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it is empty"),
            Self::TooLong => write!(f, "it has more than {} bytes", Self::LONGEST),
            Self::LeadingDot => f.write_str("it begins with a dot"),
            Self::Character(character) => write!(f, "it has the character {character:?}"),
        }
    }
}

impl Error for BadName {}

/// Whether a ring may have this name.
pub(super) fn check(name: &str) -> Result<(), BadName> {
    if name.is_empty() {
        return Err(BadName::Empty);
    }
    if name.len() > BadName::LONGEST {
        return Err(BadName::TooLong);
    }
    if name.starts_with('.') && !crate::sync::mutated!("shm_hidden_names") {
        return Err(BadName::LeadingDot);
    }
    match name.chars().find(|&character| character == '/' || character.is_control()) {
        Some(character) => Err(BadName::Character(character)),
        None => Ok(()),
    }
}

const ENDING: &str = ".ring";

/// The name of its file.
pub(super) fn file_of(name: &str) -> String {
    format!("{name}{ENDING}")
}

/// The name of its file while that is being written. No ring has such a name.
pub(super) fn draft_of(name: &str) -> String {
    format!(".{name}.draft")
}

/// The name of the socket that answers for its process.
pub(super) fn socket_of(name: &str) -> String {
    format!(".{name}.socket")
}

/// The ring of which this is the file.
pub(super) fn of_file(file: &str) -> Option<&str> {
    file.strip_suffix(ENDING).filter(|name| check(name).is_ok())
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_paths_are_refused() {
        for (name, why) in [
            ("", BadName::Empty),
            (".", BadName::LeadingDot),
            ("..", BadName::LeadingDot),
            ("../quotes", BadName::LeadingDot),
            (".quotes", BadName::LeadingDot),
            ("a/b", BadName::Character('/')),
            ("/", BadName::Character('/')),
            ("a\0", BadName::Character('\0')),
            ("a\nb", BadName::Character('\n')),
        ] {
            assert_eq!(check(name), Err(why), "{name:?}");
        }
        assert_eq!(check(&"x".repeat(201)), Err(BadName::TooLong));
        for name in ["a", "quotes", "quotes.eur-usd_2020", "a b", "größe", "a..b", &"x".repeat(200)] {
            assert_eq!(check(name), Ok(()), "{name:?}");
            assert_eq!(of_file(&file_of(name)), Some(name));
            assert_eq!(of_file(&draft_of(name)), None);
        }
        assert_eq!(of_file("quotes"), None);
        assert_eq!(of_file(".ring"), None);
    }
}
