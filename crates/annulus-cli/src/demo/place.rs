//! [`Place`]: what `--output` names, and whether orders may go there.
//!
//! It is asked before the run, and nothing is written or made meanwhile.

use std::fmt;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::{self, Path, PathBuf};

/// Where orders are to go.
pub(super) enum Place {
    /// What is no regular file: a device, a pipe. It is written to as it is.
    Stream(File),
    /// A file: the one that is there, which will be replaced, or a new one.
    File { path: PathBuf, old: Option<Metadata> },
}

impl Place {
    /// What `path` names. It is no folder and no disk, none of the `inputs`, and no file that this process
    /// has open, as its standard output, say: what such a file held would be lost.
    ///
    /// # Errors
    ///
    /// Orders can't go there, and why.
    pub(super) fn find(path: &Path, inputs: &[PathBuf]) -> Result<Self, String> {
        let there = match fs::metadata(path) {
            Ok(there) => Some(there),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(cannot_be_written(&error)),
        };
        if names_folder(path) || there.as_ref().is_some_and(Metadata::is_dir) {
            return Err("is a directory: --output takes a file, such as `orders.csv`".into());
        }
        if there.as_ref().is_some_and(is_disk) {
            return Err("is a disk: --output takes a file, such as `orders.csv`".into());
        }
        if there.is_none() {
            let path = end_of_links(path).map_err(|error| cannot_be_written(&error))?;
            return Ok(Self::File { path, old: None });
        }
        let file = OpenOptions::new().write(true).open(path).map_err(|error| cannot_be_written(&error))?;
        let old = file.metadata().map_err(|error| cannot_be_written(&error))?;
        if !old.is_file() {
            return Ok(Self::Stream(file));
        }
        // From here on it is none of those that are open.
        drop(file);
        if inputs.iter().any(|input| is_same(input, path)) {
            return Err("is a file of quotes that --input names: --output would replace it".into());
        }
        if open_files().any(|open| is_same(&open, path)) {
            return Err("is open in this program already, as its standard output or another stream: \
                        --output would replace it; it takes a file of its own"
                .into());
        }
        let path = fs::canonicalize(path).map_err(|error| cannot_be_written(&error))?;
        if is_mounted(&path) {
            return Err(
                "is a mount of its own, which cannot be replaced: --output takes a file in a folder, \
                        so mount its folder instead"
                    .into(),
            );
        }
        Ok(Self::File { path, old: Some(old) })
    }
}

fn cannot_be_written(error: &dyn fmt::Display) -> String {
    format!("cannot be written: {error}; --output takes a file that can be, in a folder that exists")
}

/// Whether it can be a folder only, by how it is written.
fn names_folder(path: &Path) -> bool {
    let text = path.to_string_lossy();
    text.strip_suffix('.').unwrap_or(&text).ends_with(path::is_separator)
}

/// Where the links from `path` lead to, where nothing is.
fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    let mut end = path.to_owned();
    while fs::symlink_metadata(&end).is_ok_and(|there| there.is_symlink()) {
        let target = fs::read_link(&end)?;
        end.pop();
        end.push(target);
        if names_folder(&end) {
            return Err(io::ErrorKind::NotADirectory.into());
        }
    }
    Ok(end)
}

#[cfg(unix)]
fn is_disk(there: &Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_block_device(&there.file_type())
}

#[cfg(not(unix))]
fn is_disk(_: &Metadata) -> bool {
    false
}

/// Whether both name one file: itself, a link to it, or another name that it has.
#[cfg(unix)]
fn is_same(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    let file = |path| fs::metadata(path).map(|there| (there.dev(), there.ino())).ok();
    file(one).is_some_and(|one| Some(one) == file(other))
}

#[cfg(not(unix))]
fn is_same(one: &Path, other: &Path) -> bool {
    fs::canonicalize(one).is_ok_and(|one| fs::canonicalize(other).is_ok_and(|other| one == other))
}

/// What this process has open, by the names that a Unix has for that.
fn open_files() -> impl Iterator<Item = PathBuf> {
    fs::read_dir("/dev/fd").into_iter().flatten().flatten().map(|entry| entry.path())
}

/// Whether it is a mount by itself, as a file in a container may be. (Before Linux 5.8 it is not told.)
#[cfg(target_os = "linux")]
fn is_mounted(file: &Path) -> bool {
    use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, statx};

    statx(CWD, file, AtFlags::empty(), StatxFlags::empty())
        .is_ok_and(|told| told.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}

#[cfg(not(target_os = "linux"))]
fn is_mounted(_: &Path) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn path_that_is_written_as_a_folder_is_one() {
        for path in ["new/", "new/.", "/", "./", "a/../"] {
            assert!(names_folder(Path::new(path)), "{path}");
        }
        for path in ["new", "new.", ".new", "a/new.csv", "a/.new"] {
            assert!(!names_folder(Path::new(path)), "{path}");
        }
    }
}
