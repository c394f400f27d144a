//! Files of the system, below a folder that tests choose.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::PathBuf;

use super::cpu_list;
use crate::text::quoted;

/// No file of interest is longer.
const LENGTH_MAX: u64 = 8 << 20;

/// The folder where `/proc` and `/sys` are.
pub(super) struct Root(PathBuf);

/// Why something can't be said.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unseen {
    /// This system has no such file or call, or hides it.
    NotHere,
    /// There is a file, and it can't be read.
    Refused(String),
    /// The system says something that this program does not understand.
    Garbage(String),
}

impl Root {
    /// The root folder of this system, or one that looks like it.
    pub(super) fn new(folder: Option<PathBuf>) -> Self {
        Self(folder.unwrap_or_else(|| "/".into()))
    }

    /// The place of `path`, which begins with `/`.
    pub(super) fn place(&self, path: &str) -> PathBuf {
        self.0.join(path.trim_start_matches('/'))
    }

    /// What a file says, without white space at its ends.
    pub(super) fn text(&self, path: &str) -> Result<String, Unseen> {
        let mut bytes = Vec::new();
        let read =
            File::open(self.place(path)).and_then(|file| file.take(LENGTH_MAX).read_to_end(&mut bytes));
        read.map_err(|error| Unseen::of(path, &error))?;
        Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    /// Where a symbolic link says that it leads.
    pub(super) fn link(&self, path: &str) -> Result<String, Unseen> {
        let target = fs::read_link(self.place(path)).map_err(|error| Unseen::of(path, &error))?;
        Ok(target.to_string_lossy().into_owned())
    }

    /// The number in a file.
    pub(super) fn number(&self, path: &str) -> Result<u64, Unseen> {
        let text = self.text(path)?;
        text.parse().map_err(|_| Unseen::Garbage(text))
    }

    /// What a switch says: `1` or `0`.
    pub(super) fn switch(&self, path: &str) -> Result<bool, Unseen> {
        match self.text(path)?.as_str() {
            "1" => Ok(true),
            "0" => Ok(false),
            other => Err(Unseen::garbage(other)),
        }
    }

    /// The list of CPUs in a file.
    pub(super) fn list(&self, path: &str) -> Result<Vec<usize>, Unseen> {
        let text = self.text(path)?;
        // What some versions of Linux print if there is no list.
        if text == "(null)" {
            return Ok(Vec::new());
        }
        cpu_list::parse(&text).map_err(|_| Unseen::Garbage(text))
    }

    /// Whether there is such a file or folder.
    pub(super) fn exists(&self, path: &str) -> bool {
        self.place(path).exists()
    }

    /// The names in a folder, sorted. None if it is not there, or can't be read.
    pub(super) fn names(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.place(path)).into_iter().flatten().flatten();
        let mut names: Vec<_> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort_unstable();
        names
    }
}

/// Whether the file is not there at all.
fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

impl Unseen {
    /// Why there is nothing to be read at `path`.
    fn of(path: &str, error: &io::Error) -> Self {
        if is_absence(error) {
            Self::NotHere
        } else {
            Self::Refused(format!("{path} can't be read: {error}"))
        }
    }

    /// `value` can't be understood.
    pub(super) fn garbage(value: impl Into<String>) -> Self {
        Self::Garbage(value.into())
    }
}

impl fmt::Display for Unseen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotHere => f.write_str("not to be seen on this system"),
            Self::Refused(why) => f.write_str(why),
            Self::Garbage(value) => write!(f, "not to be understood: {}", quoted(value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake::Fake;
    use super::*;

    #[test]
    fn file_is_read_or_the_reason_is_given() {
        let fake = Fake::new().file("/sys/a", " 7\n").file("/sys/b", b"\xff\x1b[").file("/sys/c", "0-1,3");
        let root = fake.root();
        assert_eq!(root.number("/sys/a"), Ok(7));
        assert_eq!(root.number("/sys/none"), Err(Unseen::NotHere));
        assert_eq!(root.number("/sys/a/below"), Err(Unseen::NotHere));
        assert_eq!(root.list("/sys/c"), Ok(vec![0, 1, 3]));
        assert_eq!(root.names("/sys"), ["a", "b", "c"]);
        assert!(root.names("/proc").is_empty());
        let garbage = root.number("/sys/b").unwrap_err();
        assert_eq!(garbage.to_string(), "not to be understood: `\u{fffd}\\u{1b}[`");
        assert_eq!(root.switch("/sys/a").unwrap_err().to_string(), "not to be understood: `7`");
    }

    #[test]
    #[cfg(unix)]
    fn folder_is_no_file() {
        let fake = Fake::new().file("/sys/folder/file", "");
        let refused = fake.root().text("/sys/folder").unwrap_err();
        assert!(refused.to_string().starts_with("/sys/folder can't be read: "), "{refused}");
    }
}
