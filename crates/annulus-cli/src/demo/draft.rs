//! [`Draft`]: a file that takes its place when it is complete.
//!
//! A program that looks at the place sees a whole file, the old or the new one. Until then the new one is in
//! the same folder. On Linux it has no name there, so that nothing is left whatever ends the process. Where a
//! file system knows no such files, it has a name that nobody else uses.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::mem;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A file that is gone on drop, unless it was put in its place.
pub(super) struct Draft {
    place: PathBuf,
    name: DraftName,
}

/// The name of a draft, while it has one. Clones are of the same draft.
#[derive(Clone, Default)]
pub(super) struct DraftName(Arc<Mutex<Option<PathBuf>>>);

impl DraftName {
    /// Removes the draft, before the process ends: no draft gets a name any more.
    pub(super) fn remove_for_good(&self) {
        let mut name = self.lock();
        remove(&mut name);
        mem::forget(name);
    }

    fn lock(&self) -> MutexGuard<'_, Option<PathBuf>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Draft {
    /// A new file that is to go to `place`, with the owner and the permissions of the `old` one there. It
    /// bears `name` while it has one.
    ///
    /// # Errors
    ///
    /// There can be none in that folder, or it can't be given to that owner.
    pub(super) fn new(
        place: PathBuf,
        old: Option<&Metadata>,
        name: &DraftName,
    ) -> Result<(File, Self), String> {
        let draft = Self { place, name: name.clone() };
        let file = match nameless(draft.folder()) {
            Some(file) => Ok(file),
            None => draft
                .named(&mut name.lock(), |path| OpenOptions::new().write(true).create_new(true).open(path)),
        };
        let file = file.map_err(|error| {
            format!(
                "cannot be written: there can be no new file in its folder: {error}; \
                 --output takes a file in a folder that exists and can be written"
            )
        })?;
        if let Some(old) = old {
            resemble(&file, &draft.place, old).map_err(|error| {
                format!(
                    "cannot be replaced by a file with the same owner and permissions: {error}; \
                     --output takes a file of yours, or a new one"
                )
            })?;
        }
        Ok((file, draft))
    }

    /// Puts it in its place: all of `file` is on the disk.
    ///
    /// # Errors
    ///
    /// That can't be, and where the file is instead, if it has a name.
    pub(super) fn put_in_place(self, file: &File) -> Result<(), (io::Error, Option<PathBuf>)> {
        let mut name = self.name.lock();
        if name.is_none() {
            self.named(&mut name, |path| give_name(file, path)).map_err(|error| (error, None))?;
        }
        // Whatever comes, it is no draft any more.
        name.take().map_or(Ok(()), |path| fs::rename(&path, &self.place).map_err(|error| (error, Some(path))))
    }

    fn folder(&self) -> &Path {
        self.place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    /// What `make` makes under a name that nothing has.
    fn named<T>(
        &self,
        name: &mut Option<PathBuf>,
        mut make: impl FnMut(&Path) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut number = 0_u64;
        loop {
            let path = self.folder().join(format!(".annulus-{}-{number}.tmp", process::id()));
            match make(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                made => {
                    *name = made.is_ok().then_some(path);
                    return made;
                }
            }
        }
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        remove(&mut self.name.lock());
    }
}

fn remove(name: &mut Option<PathBuf>) {
    if let Some(path) = name.take() {
        // Where that fails there is nothing to be done.
        let _ = fs::remove_file(path);
    }
}

/// A file in `folder` that has no name, and may get one.
#[cfg(target_os = "linux")]
fn nameless(folder: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags, open};

    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let file = open(folder, flags, Mode::from_raw_mode(0o666)).ok()?;
    // It gets its name through that.
    fs::metadata(itself(&file)).ok()?;
    Some(file.into())
}

#[cfg(target_os = "linux")]
fn give_name(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};

    Ok(linkat(CWD, itself(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

/// The path of an open file.
#[cfg(target_os = "linux")]
fn itself(file: &impl std::os::fd::AsRawFd) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

#[cfg(not(target_os = "linux"))]
fn nameless(_: &Path) -> Option<File> {
    None
}

#[cfg(not(target_os = "linux"))]
fn give_name(_: &File, _: &Path) -> io::Result<()> {
    unreachable!("it has one")
}

/// Gives `file` what belongs to the `old` one at `place`: its owner, its group, its permissions.
#[cfg_attr(not(target_os = "linux"), allow(unused_variables, reason = "it has no list"))]
fn resemble(file: &File, place: &Path, old: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};

        let new = file.metadata()?;
        if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
            fchown(file, Some(old.uid()), Some(old.gid()))?;
        }
    }
    // (Some file systems have the same for all files, and refuse to set them.)
    if file.metadata()?.permissions() != old.permissions() {
        file.set_permissions(old.permissions())?;
    }
    #[cfg(target_os = "linux")]
    access_list(file, place)?;
    Ok(())
}

/// Gives `file` the access list of the one at `place`, or none.
#[cfg(target_os = "linux")]
fn access_list(file: &File, place: &Path) -> io::Result<()> {
    use rustix::fs::{XattrFlags, fremovexattr, fsetxattr, getxattr};

    const NAME: &str = "system.posix_acl_access";
    // What the kernel has as the longest.
    let mut list = vec![0; 1 << 16];
    if let Ok(length) = getxattr(place, NAME, &mut list) {
        fsetxattr(file, NAME, &list[..length], XattrFlags::empty())?;
    } else {
        // (An error where it has inherited none from its folder either.)
        let _ = fremovexattr(file, NAME);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the file system knows no files without one.
    #[test]
    fn draft_that_has_a_name_goes_to_its_place_or_is_gone() {
        let folder = std::env::temp_dir().join(format!("annulus-draft-{}", process::id()));
        fs::create_dir_all(&folder).unwrap();
        let begin = |place: &str| {
            let draft = Draft { place: folder.join(place), name: DraftName::default() };
            let file = draft.named(&mut draft.name.lock(), |path| File::create_new(path)).unwrap();
            (file, draft)
        };
        let (file, draft) = begin("orders.csv");
        // A second one at the same time has a name of its own.
        let (second, second_draft) = begin("others.csv");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
        draft.put_in_place(&file).unwrap();
        drop((second, second_draft));
        let (third, before_the_end) = begin("others.csv");
        before_the_end.name.clone().remove_for_good();
        let left: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["orders.csv"]);
        // Its drop would wait for the end of the process.
        mem::forget((third, before_the_end));
        fs::remove_dir_all(&folder).unwrap();
    }
}
