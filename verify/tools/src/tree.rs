//! The project's files, in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::source::{self, Line};

/// A file, read as Rust at most once.
struct File {
    text: String,
    lines: OnceLock<Vec<Line>>,
}

impl File {
    fn new(text: String) -> Arc<Self> {
        Arc::new(Self { text, lines: OnceLock::new() })
    }
}

/// Each file, by its path from the project's root. Copies of a tree share their files.
#[derive(Clone, Default)]
pub(crate) struct Tree {
    files: BTreeMap<String, Arc<File>>,
}

/// Folders that hold no text of ours.
const SKIPPED: [&str; 5] = ["target", ".git", "corpus", "proptest-regressions", "node_modules"];

impl Tree {
    /// Reads what lies below `root`. Files that are no text are left out.
    pub(crate) fn read(root: &Path) -> io::Result<Self> {
        let mut tree = Self::default();
        tree.add(root, "")?;
        Ok(tree)
    }

    fn add(&mut self, folder: &Path, name: &str) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let file_name = entry.file_name().to_string_lossy().into_owned();
            let path = if name.is_empty() { file_name.clone() } else { format!("{name}/{file_name}") };
            let kind = entry.file_type()?;
            if kind.is_dir() && !SKIPPED.contains(&file_name.as_str()) {
                self.add(&entry.path(), &path)?;
            } else if kind.is_file() {
                // A name is enough of what is no text.
                self.files.insert(path, File::new(fs::read_to_string(entry.path()).unwrap_or_default()));
            }
        }
        Ok(())
    }

    /// All files: path and text.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, file)| (path.as_str(), file.text.as_str()))
    }

    /// The files of Rust: path, and lines.
    pub(crate) fn rust(&self) -> impl Iterator<Item = (&str, &[Line])> {
        let files = self.files.iter().filter(|(path, _)| has_extension(path, "rs"));
        files.map(|(path, file)| {
            (path.as_str(), file.lines.get_or_init(|| source::lines(&file.text)).as_slice())
        })
    }

    /// The files of modules that are there for tests only: the line `mod name;` is part of a test.
    pub(crate) fn files_of_tests(&self) -> BTreeSet<String> {
        let of_file = |(path, lines): (&str, &[Line])| {
            let (folder, file) = path.rsplit_once('/').unwrap_or_default();
            let folder = match file {
                "lib.rs" | "mod.rs" => folder.to_owned(),
                _ => path.trim_end_matches(".rs").to_owned(),
            };
            let tests = lines.iter().filter(|line| line.is_test);
            let modules = tests.filter_map(|line| line.code.strip_prefix("mod ")?.strip_suffix(';'));
            modules.map(|module| format!("{folder}/{module}.rs")).collect::<Vec<_>>()
        };
        self.rust().flat_map(of_file).collect()
    }

    /// The text of a file; nothing where there is none.
    pub(crate) fn text(&self, path: &str) -> &str {
        self.files.get(path).map_or("", |file| file.text.as_str())
    }

    /// Writes a file, or another text in place of the one it has.
    pub(crate) fn write(&mut self, path: &str, text: String) {
        self.files.insert(path.to_owned(), File::new(text));
    }

    /// Whether some file's path is this, or ends with it.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.files.contains_key(path) || {
            let end = format!("/{path}");
            self.files.keys().any(|file| file.ends_with(&end))
        }
    }
}

/// Whether a path ends in this extension, which is in small letters.
pub(crate) fn has_extension(path: &str, extension: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, end)| end == extension)
}
