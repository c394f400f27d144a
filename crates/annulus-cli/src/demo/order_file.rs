//! The file that orders are written to.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::draft::{Draft, DraftName};
use super::order::{HEADER, Names, Order};
use super::place::Place;
use crate::outcome::Failure;
use crate::text::printable;

/// A file of orders that is being written.
pub(super) struct OrderFile {
    /// What the user called it.
    path: PathBuf,
    writer: OrderWriter,
    /// What takes its place when it is complete, unless it is written where it belongs.
    draft: Option<Draft>,
}

/// What writes the orders: a thread, or a process.
pub(super) struct OrderWriter {
    writer: BufWriter<File>,
    names: Names,
    /// The first failure to write.
    failure: Option<io::Error>,
}

impl OrderWriter {
    /// Goes on at the end of `file`.
    pub(super) fn new(file: File, names: Names) -> Self {
        Self { writer: BufWriter::with_capacity(1 << 16, file), names, failure: None }
    }

    /// Writes `order`, and says whether all is well so far; [`end`](Self::end) says what was wrong.
    pub(super) fn write(&mut self, order: &Order) -> bool {
        if self.failure.is_none() {
            let Self { writer, names, .. } = self;
            self.failure = writeln!(writer, "{}", order.line(names)).err();
        }
        self.failure.is_none()
    }

    fn write_line(&mut self, line: &str) {
        self.failure = writeln!(self.writer, "{line}").err();
    }

    /// Writes what is still in memory.
    ///
    /// # Errors
    ///
    /// This or an order before could not be written.
    pub(super) fn end(&mut self) -> io::Result<()> {
        match self.failure.take() {
            Some(error) => Err(error),
            None => self.writer.flush(),
        }
    }
}

impl OrderFile {
    /// Begins the file at `place`, which the user called `path`. A file that is there stays as it is for now.
    /// The new one bears `name` until it is complete, if it has a name.
    ///
    /// # Errors
    ///
    /// There can be no such file.
    pub(super) fn create(path: &Path, place: Place, names: Names, name: &DraftName) -> Result<Self, Failure> {
        let (file, draft) = match place {
            Place::Stream(file) => (file, None),
            Place::File { path: place, old } => {
                let made = Draft::new(place, old.as_ref(), name);
                let (file, draft) = made.map_err(|problem| failure(path, problem))?;
                (file, Some(draft))
            }
        };
        let mut writer = OrderWriter::new(file, names);
        writer.write_line(HEADER);
        Ok(Self { path: path.to_owned(), writer, draft })
    }

    /// What writes the orders to it.
    pub(super) fn writer(&mut self) -> &mut OrderWriter {
        &mut self.writer
    }

    /// The file, for a process that is to write the orders by an [`OrderWriter`] of its own. Nothing is
    /// written here meanwhile.
    ///
    /// # Errors
    ///
    /// It can't be written.
    #[cfg(target_os = "linux")]
    pub(super) fn lend(&mut self) -> Result<File, Failure> {
        let lent = self.writer.end().and_then(|()| self.writer.writer.get_ref().try_clone());
        lent.map_err(|error| self.cannot_be_written(&error))
    }

    /// The process could not write to its end, for this reason: [`complete`](Self::complete) will say so.
    #[cfg(target_os = "linux")]
    pub(super) fn fail(&mut self, reason: String) {
        self.writer.failure = Some(io::Error::other(reason));
    }

    fn cannot_be_written(&self, error: &dyn fmt::Display) -> Failure {
        failure(&self.path, format!("cannot be written: {error}"))
    }

    /// What the user called it, fit for a message.
    pub(super) fn name(&self) -> String {
        printable(&self.path.to_string_lossy())
    }

    /// Ends the file and puts it in its place.
    ///
    /// # Errors
    ///
    /// It could not be written to its end, or can't take its place. What was there before is still there.
    pub(super) fn complete(mut self) -> Result<(), Failure> {
        self.writer.end().map_err(|error| self.cannot_be_written(&error))?;
        let Some(draft) = self.draft.take() else { return Ok(()) };
        let file = self.writer.writer.get_ref();
        // A disk may be found full no earlier than here.
        file.sync_all().map_err(|error| self.cannot_be_written(&error))?;
        draft.put_in_place(file).map_err(|(error, left)| {
            let left = left.map(|left| format!("; the orders are in {}", printable(&left.to_string_lossy())));
            failure(&self.path, format!("cannot be replaced: {error}{}", left.unwrap_or_default()))
        })
    }
}

/// Why there is no file at `path`.
pub(super) fn failure(path: &Path, problem: impl fmt::Display) -> Failure {
    Failure::new(format!("{}: {problem}", printable(&path.to_string_lossy())))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::{fs, process};

    use super::*;
    use crate::demo::order::tests::order;

    /// A folder that is removed at the end of its test.
    struct Folder(PathBuf);

    impl Folder {
        fn new(test: &str) -> Self {
            let path = std::env::temp_dir().join(format!("annulus-orders-{test}-{}", process::id()));
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        /// The names of the files in it.
        fn files(&self) -> Vec<String> {
            let mut names: Vec<_> = fs::read_dir(&self.0)
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn names() -> Names {
        Names::new(&["5/20"], &["EURUSD".into()])
    }

    fn begin(path: &Path) -> OrderFile {
        OrderFile::create(path, Place::find(path, &[]).unwrap(), names(), &DraftName::default()).unwrap()
    }

    #[test]
    fn file_takes_its_place_when_it_is_complete() {
        let folder = Folder::new("place");
        let path = folder.0.join("orders.csv");
        fs::write(&path, "old").unwrap();
        let mut file = begin(&path);
        assert!(file.writer().write(&order(0, 1, 0)));
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        file.complete().unwrap();
        let line = order(0, 1, 0).line(&names()).to_string();
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{HEADER}\n{line}\n"));
        assert_eq!(folder.files(), ["orders.csv"]);
    }

    #[test]
    fn file_that_is_not_completed_leaves_nothing() {
        let folder = Folder::new("given-up");
        let path = folder.0.join("orders.csv");
        drop(begin(&path));
        assert_eq!(folder.files(), [""; 0]);
        fs::write(&path, "old").unwrap();
        drop(begin(&path));
        assert_eq!(folder.files(), ["orders.csv"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn writer_of_another_process_goes_on_after_the_header() {
        let folder = Folder::new("lent");
        let path = folder.0.join("orders.csv");
        let mut file = begin(&path);
        let mut writer = OrderWriter::new(file.lend().unwrap(), names());
        assert!(writer.write(&order(0, 1, 0)));
        writer.end().unwrap();
        file.complete().unwrap();
        let line = order(0, 1, 0).line(&names()).to_string();
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{HEADER}\n{line}\n"));
    }

    #[cfg(unix)]
    #[test]
    fn target_of_a_link_is_replaced_and_keeps_its_permissions() {
        use std::os::unix::fs::{PermissionsExt, symlink};

        let folder = Folder::new("link");
        let (target, link) = (folder.0.join("target.csv"), folder.0.join("link.csv"));
        fs::write(&target, "old").unwrap();
        fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&target, &link).unwrap();
        begin(&link).complete().unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), format!("{HEADER}\n"));
        assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn full_disk_is_found() {
        let path = Path::new("/dev/full");
        let mut file = begin(path);
        let well = (0..10_000).all(|sequence| file.writer().write(&order(0, sequence, 0)));
        assert!(!well);
        let message = file.complete().unwrap_err().to_string();
        assert!(message.starts_with("/dev/full: cannot be written: No space left on device"), "{message}");
        assert!(path.exists());

        // With so little written that it stays in memory until the end.
        let message = begin(path).complete().unwrap_err().to_string();
        assert!(message.starts_with("/dev/full: cannot be written: No space left on device"), "{message}");
    }
}
