//! [`Pattern`]: which names of topics are meant.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use core::error::Error;
use core::fmt;

/// A pattern of names, whose segments lie between dots: `*` stands for one segment, `**` at the end for one
/// or more, all else for itself.
#[derive(Clone, Debug)]
pub(super) struct Pattern(Box<str>);

/// Why a text is no pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PatternError {
    /// A segment has a `*` and other characters.
    PartOfSegment {
        /// The pattern that was given.
        pattern: String,
    },
    /// There is a `**` before the last segment.
    NotLast {
        /// The pattern that was given.
        pattern: String,
    },
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PartOfSegment { pattern } => {
                write!(f, "pattern {pattern:?}: a \"*\" stands for a whole segment between dots")
            }
            Self::NotLast { pattern } => {
                write!(f, "pattern {pattern:?}: \"**\" may only be the last segment")
            }
        }
    }
}

impl Error for PatternError {}

impl Pattern {
    pub(super) fn new(pattern: &str) -> Result<Self, PatternError> {
        let mut segments = pattern.split('.').peekable();
        while let Some(segment) = segments.next() {
            if segment == "**" && segments.peek().is_some() {
                return Err(PatternError::NotLast { pattern: pattern.to_owned() });
            }
            if segment.contains('*') && segment != "*" && segment != "**" {
                return Err(PatternError::PartOfSegment { pattern: pattern.to_owned() });
            }
        }
        Ok(Self(pattern.into()))
    }

    /// Whether `name` is meant.
    pub(super) fn matches(&self, name: &str) -> bool {
        let mut names = name.split('.');
        for segment in self.0.split('.') {
            match (segment, names.next()) {
                ("**", Some(_)) => return true,
                ("*", Some(_)) => {}
                (segment, Some(name)) if segment == name => {}
                _ => return false,
            }
        }
        names.next().is_none()
    }

    pub(super) fn text(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_segments() {
        let cases = [
            ("quotes.*", "quotes.EURUSD", true),
            ("quotes.*", "quotes", false),
            ("quotes.*", "quotes.FX.EURUSD", false),
            ("quotes.*", "orders.EURUSD", false),
            ("quotes.**", "quotes.FX.EURUSD", true),
            ("quotes.**", "quotes.FX", true),
            ("quotes.**", "quotes", false),
            ("**", "quotes", true),
            ("*", "quotes", true),
            ("*", "a.b", false),
            ("*.*", "a.b", true),
            ("*.b.*", "a.b.c", true),
            ("*.b.*", "a.c.c", false),
            ("a.b", "a.b", true),
            ("a.b", "a.b.c", false),
            ("a.", "a.", true),
            ("a.*", "a.", true),
            ("", "", true),
        ];
        for (pattern, name, matches) in cases {
            assert_eq!(Pattern::new(pattern).unwrap().matches(name), matches, "{pattern} {name}");
        }
    }

    #[test]
    fn mistakes_of_a_pattern_are_named() {
        for pattern in ["a*", "*a.b", "a.b*c", "***"] {
            let error = Pattern::new(pattern).unwrap_err();
            assert_eq!(error, PatternError::PartOfSegment { pattern: pattern.to_owned() });
        }
        let error = Pattern::new("**.a").unwrap_err();
        assert_eq!(error, PatternError::NotLast { pattern: "**.a".to_owned() });
    }
}
