//! The file that orders are written to.
//!
//! Until the last order is written, they go to a temporary file beside it, which then takes its place: who
//! looks at the file sees a whole one, the old or the new. What is no regular file (a device, a pipe) is
//! written to as it is.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;

use super::order::{HEADER, Names, Order};
use crate::outcome::Failure;
use crate::text::printable;

/// A file of orders that is being written.
pub(super) struct OrderFile {
    /// What the user called it.
    path: PathBuf,
    writer: OrderWriter,
    /// Where the orders are until they are complete, and where they belong.
    temporary: Option<Temporary>,
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

/// A file that is removed on drop, unless it was moved to its place.
struct Temporary {
    path: PathBuf,
    place: PathBuf,
    moved: bool,
}

impl OrderFile {
    /// Begins the file at `path`, which is not one of `inputs`. A file that is there stays as it is for now.
    ///
    /// # Errors
    ///
    /// It can't be written: its folder is missing, it is a folder, permission is missing, or it is one of
    /// `inputs`.
    pub(super) fn create(path: &Path, inputs: &[PathBuf], names: Names) -> Result<Self, Failure> {
        let (file, temporary) = open(path, inputs).map_err(|problem| failure(path, problem))?;
        let mut writer = OrderWriter::new(file, names);
        writer.write_line(HEADER);
        Ok(Self { path: path.to_owned(), writer, temporary })
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

    /// Where the orders are until they are complete, unless that is where they belong.
    pub(super) fn temporary(&self) -> Option<PathBuf> {
        self.temporary.as_ref().map(|temporary| temporary.path.clone())
    }

    /// What the user called it, fit for a message.
    pub(super) fn name(&self) -> String {
        printable(&self.path.to_string_lossy())
    }

    /// Ends the file and puts it in its place.
    ///
    /// # Errors
    ///
    /// It could not be written to its end. What was in its place before is still there.
    pub(super) fn complete(mut self) -> Result<(), Failure> {
        let placed = self.writer.end().and_then(|()| match &mut self.temporary {
            // A disk may be found full no earlier than here.
            Some(temporary) => {
                self.writer.writer.get_ref().sync_all().and_then(|()| temporary.put_in_place())
            }
            None => Ok(()),
        });
        placed.map_err(|error| self.cannot_be_written(&error))
    }
}

impl Temporary {
    fn put_in_place(&mut self) -> io::Result<()> {
        fs::rename(&self.path, &self.place)?;
        self.moved = true;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.moved {
            // Where that fails there is nothing to be done.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Opens what to write to, and says where it is to go then.
fn open(path: &Path, inputs: &[PathBuf]) -> Result<(File, Option<Temporary>), String> {
    let existing = match fs::metadata(path) {
        Ok(existing) => Some(existing),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(cannot(&error)),
    };
    let named_as_folder = path.to_string_lossy().ends_with(std::path::is_separator);
    if named_as_folder || existing.as_ref().is_some_and(fs::Metadata::is_dir) {
        return Err("is a directory: --output takes a file, such as `orders.csv`".into());
    }
    let Some(existing) = existing else { return beside(path.to_owned()).map_err(|error| cannot(&error)) };
    // Nothing is written yet; this only asks whether it may be.
    let file = OpenOptions::new().write(true).open(path).map_err(|error| cannot(&error))?;
    if !existing.is_file() {
        return Ok((file, None));
    }
    // Where it is a link, its target is what is replaced.
    let place = fs::canonicalize(path).map_err(|error| cannot(&error))?;
    if inputs.iter().any(|input| fs::canonicalize(input).is_ok_and(|input| input == place)) {
        return Err("is a file of quotes that --input names: --output would replace it".into());
    }
    let (file, temporary) = beside(place).map_err(|error| cannot(&error))?;
    file.set_permissions(existing.permissions()).map_err(|error| cannot(&error))?;
    Ok((file, temporary))
}

/// A new file beside `place`, that is to go there.
fn beside(place: PathBuf) -> io::Result<(File, Option<Temporary>)> {
    let mut name = place.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", process::id()));
    let path = place.with_file_name(name);
    let file = OpenOptions::new().write(true).create_new(true).open(&path)?;
    Ok((file, Some(Temporary { path, place, moved: false })))
}

fn cannot(error: &io::Error) -> String {
    format!("cannot be written: {error}; --output takes a file in a folder that exists")
}

fn failure(path: &Path, problem: impl fmt::Display) -> Failure {
    Failure::new(format!("{}: {problem}", printable(&path.to_string_lossy())))
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn it_takes_its_place_when_it_is_complete() {
        let folder = Folder::new("place");
        let path = folder.0.join("orders.csv");
        fs::write(&path, "old").unwrap();
        let mut file = OrderFile::create(&path, &[], names()).unwrap();
        assert!(file.writer().write(&order(0, 1, 0)));
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(folder.files().len(), 2);
        file.complete().unwrap();
        let line = order(0, 1, 0).line(&names()).to_string();
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{HEADER}\n{line}\n"));
        assert_eq!(folder.files(), ["orders.csv"]);
    }

    #[test]
    fn one_that_is_not_completed_leaves_nothing() {
        let folder = Folder::new("given-up");
        let path = folder.0.join("orders.csv");
        drop(OrderFile::create(&path, &[], names()).unwrap());
        assert_eq!(folder.files(), [""; 0]);
        fs::write(&path, "old").unwrap();
        drop(OrderFile::create(&path, &[], names()).unwrap());
        assert_eq!(folder.files(), ["orders.csv"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn another_process_goes_on_after_the_header() {
        let folder = Folder::new("lent");
        let path = folder.0.join("orders.csv");
        let mut file = OrderFile::create(&path, &[], names()).unwrap();
        let mut writer = OrderWriter::new(file.lend().unwrap(), names());
        assert!(writer.write(&order(0, 1, 0)));
        writer.end().unwrap();
        file.complete().unwrap();
        let line = order(0, 1, 0).line(&names()).to_string();
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{HEADER}\n{line}\n"));
    }

    #[cfg(unix)]
    #[test]
    fn the_target_of_a_link_is_replaced_and_keeps_its_permissions() {
        use std::os::unix::fs::{PermissionsExt, symlink};

        let folder = Folder::new("link");
        let (target, link) = (folder.0.join("target.csv"), folder.0.join("link.csv"));
        fs::write(&target, "old").unwrap();
        fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&target, &link).unwrap();
        OrderFile::create(&link, &[], names()).unwrap().complete().unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), format!("{HEADER}\n"));
        assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_found() {
        let path = Path::new("/dev/full");
        let mut file = OrderFile::create(path, &[], names()).unwrap();
        let well = (0..10_000).all(|sequence| file.writer().write(&order(0, sequence, 0)));
        assert!(!well);
        let message = file.complete().unwrap_err().to_string();
        assert!(message.starts_with("/dev/full: cannot be written: No space left on device"), "{message}");
        assert!(path.exists());

        // With so little written that it stays in memory until the end.
        let message = OrderFile::create(path, &[], names()).unwrap().complete().unwrap_err().to_string();
        assert!(message.starts_with("/dev/full: cannot be written: No space left on device"), "{message}");
    }
}
