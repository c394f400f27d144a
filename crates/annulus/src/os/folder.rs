//! [`Folder`]: a directory of small files, each locked by the process that made it (Linux).

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::string::String;
use std::thread;
use std::time::{Duration, Instant, SystemTime};
use std::vec::Vec;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Gid, Mode, OFlags, RenameFlags, Timestamps, chmodat, chownat, fchmod, fstat,
    futimens, inotify, mkdirat, openat, renameat, renameat_with, unlinkat, utimensat,
};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, listen, socket_with,
};
use rustix::path::Arg;

use super::error::{at, check_file_length};
use super::process_lifetime::{folder_of_descriptors, is_not_there};
use super::{lock, random};
use crate::sync::seeded;

/// An open directory: it stays the same one, also if its path is moved or removed.
pub(crate) struct Folder(OwnedFd);

/// What each user may do with a file or a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rights {
    pub(crate) owner: u32,
    /// The nine bits for the owner, the group, and all others.
    pub(crate) mode: u32,
}

/// While this is there, no other process or thread is between two steps of a change.
pub(crate) struct FolderLock<'folder> {
    folder: &'folder Folder,
    /// The file [`LOCK`], locked.
    _locked: OwnedFd,
}

/// A file that is there during a change. The lock of the directory itself is for programs that clean up, and
/// for users that keep these away by it.
const LOCK: &str = ".lock";

impl Drop for FolderLock<'_> {
    fn drop(&mut self) {
        // Before the lock ends: the next process that gets it then finds out that this is not the file of
        // that name any more. (Where it may not be removed, it stays the file.)
        _ = self.folder.remove(LOCK);
    }
}

/// How long one waits for [`FolderLock`], which is held for a few system calls.
const LONGEST_CHANGE: Duration = Duration::from_secs(2);
/// Between two looks, where the kernel gives no notice.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(10);

const OPEN: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW);

fn open(path: &Path) -> Result<OwnedFd, Errno> {
    openat(CWD, path, OPEN | OFlags::DIRECTORY, Mode::empty())
}

/// Opens the file of this name as a mere path: it can't be read, and stays the same one.
fn opened_as_path(folder: impl AsFd, name: impl Arg) -> Result<OwnedFd, Errno> {
    openat(folder, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

/// Sets the mode of a file that this process has just made. In a directory that others may write to, only an
/// open file is certain to be the same.
fn set_mode(made: &OwnedFd, kind: FileType, mode: u32) -> io::Result<()> {
    let status = fstat(made)?;
    if FileType::from_raw_mode(status.st_mode) != kind || status.st_uid != user() {
        // Unreached: somebody puts something else in its place at the same moment
        return Err(Errno::EXIST.into());
    }
    let path = lock::path_of(made);
    chmodat(CWD, &path, Mode::from_raw_mode(mode), AtFlags::empty()).map_err(|error| at(path, error))
}

/// The times of what stands for a living process: in many years. Programs that remove old files from `/tmp`
/// (systemd-tmpfiles) look at these, and at no lock of a file.
///
/// A write sets the time of the last modification to now, so these are set after the last one. A store to a
/// mapping is such a write, at any time: the time of the last access is what stays. It is the later one:
/// where it is not, the next read sets it to now (`relatime`).
pub(super) fn never_old() -> Timestamps {
    const YEARS: u64 = 30;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let then = i64::try_from(now + YEARS * 365 * 24 * 3600).unwrap_or(i64::MAX - 1);
    let time = |tv_sec| Timespec { tv_sec, tv_nsec: 0 };
    Timestamps { last_access: time(then + 1), last_modification: time(then) }
}

/// A name next to that path which no other process draws.
fn draft_of(path: &Path) -> io::Result<PathBuf> {
    Ok(path.with_file_name(std::format!(".annulus-{:016x}.draft", random::number()?)))
}

/// The user whose files these are.
pub(crate) fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

impl Folder {
    /// Makes the directory, unless there is one, and opens it. A symbolic link is `ENOTDIR` or `ELOOP`.
    pub(crate) fn open(path: &Path, mode: u32) -> io::Result<Self> {
        if let Some(found) = Self::find(path)? {
            return Ok(found);
        }
        match Self::make(path, mode) {
            // Somebody else may have been faster.
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(Self(open(path)?)),
        }
    }

    /// Makes the directory with this mode, whatever the process's mask.
    fn make(path: &Path, mode: u32) -> io::Result<()> {
        let made = |path: &Path| mkdirat(CWD, path, Mode::from_raw_mode(mode & 0o700));
        let with_mode = |path: &Path| set_mode(&opened_as_path(CWD, path)?, FileType::Directory, mode);
        // Under another name until it has its mode: a process that finds it finds it with its mode.
        let draft = loop {
            let draft = draft_of(path)?;
            match made(&draft) {
                // Unreached: two processes that draw one number
                Err(Errno::EXIST) => {}
                told => break told.map(|()| draft)?,
            }
        };
        let placed =
            with_mode(&draft).map(|()| renameat_with(CWD, &draft, CWD, path, RenameFlags::NOREPLACE));
        if !matches!(placed, Ok(Ok(()))) {
            _ = unlinkat(CWD, &draft, AtFlags::REMOVEDIR);
        }
        match placed? {
            // Unreached: a file system that knows no such rename
            Err(Errno::INVAL) => made(path).map_err(io::Error::from).and_then(|()| with_mode(path)),
            told => Ok(told?),
        }
    }

    /// The directory that is there; `None` if there is none.
    fn find(path: &Path) -> io::Result<Option<Self>> {
        match open(path) {
            Err(Errno::NOENT) => Ok(None),
            told => Ok(Some(Self(told?))),
        }
    }

    /// The directory that has this path now, if that is another one. `None` also if there is none.
    pub(crate) fn successor(&self, path: &Path) -> io::Result<Option<Self>> {
        let Some(found) = Self::find(path)? else { return Ok(None) };
        Ok((!is_same(&self.0, &found.0)?).then_some(found))
    }

    pub(crate) fn rights(&self) -> io::Result<Rights> {
        rights(&self.0)
    }

    /// Waits until no process changes anything. `None` if another process takes too long.
    pub(crate) fn lock(&self) -> io::Result<Option<FolderLock<'_>>> {
        let begun = Instant::now();
        loop {
            if let Some(locked) = self.try_lock()? {
                return Ok(Some(FolderLock { folder: self, _locked: locked }));
            }
            if begun.elapsed() > LONGEST_CHANGE {
                return Ok(None);
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn try_lock(&self) -> io::Result<Option<OwnedFd>> {
        let mode = 0o600 | self.rights()?.mode & 0o044;
        let flags = OPEN | OFlags::NONBLOCK | OFlags::NOCTTY;
        // Without `CREATE` first: the kernel may refuse that for a file of another user.
        let locked = match openat(&self.0, LOCK, flags, Mode::empty()) {
            Err(Errno::NOENT) => {
                let new = flags | OFlags::CREATE | OFlags::EXCL;
                let made = match openat(&self.0, LOCK, new, Mode::from_raw_mode(0o600)) {
                    // Unreached: somebody else was faster: two processes have to meet there
                    Err(Errno::EXIST) => return Ok(None),
                    told => told?,
                };
                self.give_to_group(&made, mode)?;
                fchmod(&made, Mode::from_raw_mode(mode))?;
                made
            }
            // Unreached: in processes of other users than root, which may open any file
            Err(Errno::ACCESS) => {
                // A process with a mask has not come to give it its mode, or ended before.
                return match opened_as_path(&self.0, LOCK) {
                    // Unreached: it was removed meanwhile: two processes have to meet there
                    Err(Errno::NOENT) => Ok(None),
                    Err(error) => Err(error.into()),
                    Ok(found) => {
                        _ = set_mode(&found, FileType::RegularFile, mode);
                        Ok(None)
                    }
                };
            }
            told => told?,
        };
        // A file without a name was given up by another holder.
        let is_taken = seeded!("shm_names_unlocked") || lock::take(&locked)? && fstat(&locked)?.st_nlink > 0;
        Ok(is_taken.then_some(locked))
    }

    /// The file of that name; `None` if there is none, an error if it is no regular file.
    pub(crate) fn file(&self, name: &str) -> io::Result<Option<File>> {
        // It does not wait for the other end of a pipe.
        match openat(&self.0, name, OPEN | OFlags::NONBLOCK | OFlags::NOCTTY, Mode::empty()) {
            Err(Errno::NOENT) => Ok(None),
            told => {
                let fd = told?;
                match FileType::from_raw_mode(fstat(&fd)?.st_mode) {
                    FileType::RegularFile => Ok(Some(fd.into())),
                    _ => Err(Errno::INVAL.into()),
                }
            }
        }
    }

    /// The file of that name, to be read and written, which is made if there is none: of this user alone. An
    /// error if it is no regular file.
    pub(crate) fn file_or_new(&self, _lock: &FolderLock<'_>, name: &str) -> io::Result<File> {
        const MODE: u32 = 0o600;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let opened = || openat(&self.0, name, flags | OFlags::NOCTTY, Mode::from_raw_mode(MODE));
        let fd = match opened() {
            // Unreached: in processes of other users than root, which may open any file
            Err(Errno::ACCESS) => {
                // A process with a mask ended before it had given it its mode. (Other users' files stay as
                // they are.)
                let found = opened_as_path(&self.0, name)?;
                set_mode(&found, FileType::RegularFile, MODE).map_err(|_| Errno::ACCESS)?;
                opened()?
            }
            told => told?,
        };
        if FileType::from_raw_mode(fstat(&fd)?.st_mode) != FileType::RegularFile {
            return Err(Errno::INVAL.into());
        }
        // Always: the process has a mask.
        fchmod(&fd, Mode::from_raw_mode(MODE))?;
        Ok(fd.into())
    }

    /// Puts a file there under that name, in place of one that may be there, in one step: a process that
    /// opens the name finds all of the text, and the lock. `draft` is its name until then. It will have
    /// `most` bytes.
    pub(crate) fn replace(
        &self,
        _lock: &FolderLock<'_>,
        name: &str,
        draft: &str,
        text: &str,
        most: u64,
        mode: u32,
    ) -> io::Result<File> {
        // What a process left that ended at this place.
        self.remove(draft)?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let mut file = File::from(openat(&self.0, draft, flags, Mode::from_raw_mode(mode & 0o600))?);
        let written = (|| {
            check_file_length(most)?;
            file.write_all(text.as_bytes())?;
            self.give_to_group(&file, mode)?;
            // Always: the process has a mask.
            fchmod(&file, Mode::from_raw_mode(mode))?;
            // Nobody else has it yet, so it is free.
            lock::take(&file)?;
            _ = futimens(&file, &never_old());
            Ok(renameat(&self.0, draft, &self.0, name)?)
        })();
        if written.is_err() {
            _ = self.remove(draft);
        }
        written.map(|()| file)
    }

    /// Puts a socket there under that name, in place of what may be there, in one step. A user that may read
    /// a directory of this mode may connect.
    pub(crate) fn listen(&self, _lock: &FolderLock<'_>, name: &str, mode: u32) -> io::Result<UnixListener> {
        // A path in an address has 107 bytes at most, and a name may have more.
        const DRAFT: &str = ".socket";
        self.remove(DRAFT)?;
        let listener = self.bound(DRAFT)?;
        let placed = (|| {
            let socket = opened_as_path(&self.0, DRAFT)?;
            set_mode(&socket, FileType::Socket, 0o600)?;
            self.give_to_group(&socket, mode)?;
            let readers = mode & 0o044;
            set_mode(&socket, FileType::Socket, 0o600 | readers | readers >> 1)?;
            _ = utimensat(CWD, lock::path_of(&socket), &never_old(), AtFlags::empty());
            // (-1 is as many as the system lets wait.)
            listen(&listener, -1)?;
            Ok(renameat(&self.0, DRAFT, &self.0, name)?)
        })();
        if placed.is_err() {
            // Unreached: as above, or the system has no memory for a name
            _ = self.remove(DRAFT);
        }
        placed.map(|()| listener.into())
    }

    /// A socket at that name to which nobody can connect: it does not listen, and only this user may.
    fn bound(&self, name: &str) -> io::Result<OwnedFd> {
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        // What has the name gets the socket's mode, without what the process's mask takes away.
        fchmod(&socket, Mode::from_raw_mode(0o600))?;
        bind(&socket, &SocketAddrUnix::new(std::format!("{}/{name}", lock::path_of(&self.0)))?)?;
        Ok(socket)
    }

    /// Connects to the socket of that name; `None` if there is none. It does not wait, nor does the socket:
    /// `WouldBlock` if as many as may be wait to be accepted.
    pub(crate) fn connect(&self, name: &str) -> io::Result<Option<OwnedFd>> {
        let found = match opened_as_path(&self.0, name) {
            Err(Errno::NOENT) => return Ok(None),
            told => told?,
        };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        connect(&socket, &SocketAddrUnix::new(lock::path_of(&found))?)?;
        Ok(Some(socket))
    }

    /// Gives a file to the group of this directory, where the mode is for a group. (A user that is not in
    /// that group can't do so: its files are for all or for nobody else.)
    fn give_to_group(&self, file: impl AsFd, mode: u32) -> io::Result<()> {
        if mode & 0o070 == 0 {
            return Ok(());
        }
        let group = Gid::from_raw(fstat(&self.0)?.st_gid);
        match chownat(file, "", None, Some(group), AtFlags::EMPTY_PATH) {
            Ok(()) | Err(Errno::PERM) => Ok(()),
            // Unreached: a file system that can't be written to: where it could, a moment before
            Err(error) => Err(error.into()),
        }
    }

    /// Removes a name, if it is there. Returns whether it was.
    pub(crate) fn remove(&self, name: &str) -> io::Result<bool> {
        match unlinkat(&self.0, name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// All names in it that are text.
    pub(crate) fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            names.extend(entry?.file_name().to_str().ok().map(String::from));
        }
        Ok(names)
    }

    /// Notice of what changes in it from now on.
    pub(crate) fn watch(&self) -> Watch {
        let begin = || {
            let watch = inotify::init(inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK)?;
            let changes = inotify::WatchFlags::MOVED_TO | inotify::WatchFlags::DELETE_SELF;
            inotify::add_watch(&watch, lock::path_of(&self.0), changes)?;
            Ok::<_, Errno>(watch)
        };
        // A user has a few hundred of them.
        Watch(begin().ok())
    }
}

/// Tells that something in a folder has changed. Where the kernel has no more such watches, it says so every
/// [`POLL_INTERVAL`].
pub(crate) struct Watch(Option<OwnedFd>);

impl Watch {
    /// Waits for a change, until then at most (`None` is for ever). It may return for no reason.
    pub(crate) fn wait(&self, until: Option<Instant>) {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let Some(watch) = &self.0 else {
            thread::sleep(left.map_or(POLL_INTERVAL, |left| left.min(POLL_INTERVAL)));
            return;
        };
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        // A signal ends it early, which is no harm.
        if poll(&mut [PollFd::new(watch, PollFlags::IN)], left.as_ref()).is_ok_and(|ready| ready > 0) {
            // What it was does not matter: the caller looks at what is there.
            _ = retry_on_intr(|| rustix::io::read(watch, &mut [0_u8; 4096]));
        }
    }
}

/// The rights of what is open.
pub(crate) fn rights(fd: impl AsFd) -> io::Result<Rights> {
    let status = fstat(fd)?;
    Ok(Rights { owner: status.st_uid, mode: Mode::from_raw_mode(status.st_mode).bits() & 0o777 })
}

/// Whether these are one file.
pub(crate) fn is_same(one: impl AsFd, other: impl AsFd) -> io::Result<bool> {
    let (one, other) = (fstat(one)?, fstat(other)?);
    Ok((one.st_dev, one.st_ino) == (other.st_dev, other.st_ino))
}

/// The first `most` bytes of a file, as text.
pub(crate) fn text(file: &File, most: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    let mut file = file;
    io::Seek::rewind(&mut file)?;
    file.take(most).read_to_end(&mut bytes)?;
    String::from_utf8(bytes).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))
}

/// What another process has open under a number.
pub(crate) enum OfOther {
    /// A regular file (files in memory are), opened once more.
    File(OwnedFd),
    /// No such number, or no such file.
    None,
    /// Nothing, under any number: it is about to end.
    Ending,
}

/// Opens what another process has open under this number. `PermissionDenied` if the kernel does not show it.
pub(crate) fn open_of(pid: u32, number: u32, is_writable: bool) -> io::Result<OfOther> {
    let mut shown = folder_of_descriptors(pid)?;
    loop {
        let Some(folder) = shown else { return Ok(OfOther::Ending) };
        // First as a mere path: to open a device, or a pipe, does something.
        let as_path = OFlags::PATH | OFlags::CLOEXEC;
        match openat(CWD, folder.join(std::format!("{number}")), as_path, Mode::empty()) {
            Err(error) if is_not_there(error) => {
                shown = folder_of_descriptors(pid)?;
                // Otherwise the thread whose folder it was has ended meanwhile.
                if shown.as_ref() == Some(&folder) {
                    return Ok(OfOther::None);
                }
            }
            told => return Ok(opened_again(&told?, is_writable)?.map_or(OfOther::None, OfOther::File)),
        }
    }
}

/// Opens once more what another process has sent, or has at some place, if it is a regular file. `None` if
/// it is none.
pub(crate) fn opened_again(found: impl AsFd, is_writable: bool) -> io::Result<Option<OwnedFd>> {
    if FileType::from_raw_mode(fstat(&found)?.st_mode) != FileType::RegularFile {
        return Ok(None);
    }
    let told = if is_writable { lock::reopened_writable(found) } else { lock::reopened(found) };
    told.map(Some)
}

/// Whether this is the system's word for something that is no file.
pub(crate) fn is_in_the_way(error: &io::Error) -> bool {
    [Errno::LOOP, Errno::INVAL, Errno::NXIO, Errno::ISDIR, Errno::NODEV]
        .iter()
        .any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    fn folder(name: &str) -> (PathBuf, Folder) {
        let path = std::env::temp_dir().join(std::format!("annulus-folder-{name}-{}", std::process::id()));
        let folder = Folder::open(&path, 0o700).unwrap();
        (path, folder)
    }

    #[test]
    fn watch_notices_new_names_only() {
        let (path, folder) = folder("watch");
        let watch = folder.watch();
        assert!(watch.0.is_some(), "the kernel gives notice");
        let begun = Instant::now();
        watch.wait(Some(begun + Duration::from_millis(30)));
        assert!(begun.elapsed() >= Duration::from_millis(30));
        let lock = folder.lock().unwrap().unwrap();
        drop(folder.replace(&lock, "name", ".draft", "text", 4, 0o600).unwrap());
        watch.wait(None);
        let begun = Instant::now();
        watch.wait(Some(begun + Duration::from_millis(30)));
        assert!(begun.elapsed() >= Duration::from_millis(30), "it tells once");

        // Without such a watch: a pause, and no longer than that.
        Watch(None).wait(None);
        Watch(None).wait(Some(begun));
        fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn lock_that_is_held_too_long_is_not_waited_for() {
        let (path, folder) = folder("lock");
        let lock = folder.lock().unwrap().unwrap();
        let begun = Instant::now();
        assert!(folder.lock().unwrap().is_none());
        assert!(begun.elapsed() >= LONGEST_CHANGE);
        drop(lock);
        assert!(folder.lock().unwrap().is_some());
        fs::remove_dir_all(path).unwrap();
    }

    /// Each user that may read the directory may wait for its lock.
    #[test]
    fn lock_is_readable_as_the_directory_is() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let (path, folder) = folder("readable");
        for (of_directory, of_lock) in [(0o700, 0o600), (0o750, 0o640), (0o777, 0o644)] {
            fs::set_permissions(&path, fs::Permissions::from_mode(of_directory)).unwrap();
            let _lock = folder.lock().unwrap().unwrap();
            let mode = fs::metadata(path.join(LOCK)).unwrap().mode() & 0o777;
            assert_eq!(mode, of_lock, "{of_directory:o}");
        }
        fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn lock_of_the_directory_itself_does_not_matter() {
        let (path, folder) = folder("cleaned");
        // As a program that cleans up has it, or a user.
        let cleaner = fs::File::open(&path).unwrap();
        assert!(lock::take(&cleaner).unwrap());
        assert!(folder.lock().unwrap().is_some());
        assert_eq!(folder.names().unwrap().iter().filter(|name| *name == LOCK).count(), 0);

        // What a process left that ended in a change, or that had a mask and ended before.
        for mode in [0o600, 0] {
            fs::write(path.join(LOCK), "").unwrap();
            fs::set_permissions(path.join(LOCK), std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
            drop(folder.lock().unwrap().unwrap());
            assert!(!fs::exists(path.join(LOCK)).unwrap());
        }
        fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn file_that_cant_be_put_there_leaves_no_draft() {
        let (path, folder) = folder("draft");
        fs::create_dir(path.join("name")).unwrap();
        let lock = folder.lock().unwrap().unwrap();
        assert!(folder.replace(&lock, "name", ".draft", "text", 4, 0o600).is_err());
        assert!(!fs::exists(path.join(".draft")).unwrap());
        fs::remove_dir_all(path).unwrap();
    }

    /// A child that `fork` made has a copy of all that its parent has drawn from.
    #[test]
    fn drafts_of_a_process_and_of_its_child_have_two_names() {
        let drawn =
            || draft_of(std::path::Path::new("/names")).unwrap().into_os_string().into_encoded_bytes();
        drawn();
        let (mut reader, writer) = std::os::unix::net::UnixStream::pair().unwrap();
        // SAFETY: the child calls the system and the allocator only, and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let told = rustix::io::write(&writer, &drawn()).is_ok();
            // SAFETY: it ends the child, and runs nothing of the parent's.
            unsafe { libc::_exit(i32::from(!told)) };
        }
        drop(writer);
        let mut of_child = Vec::new();
        reader.read_to_end(&mut of_child).unwrap();
        let of_parent = drawn();
        assert_eq!(of_child.len(), of_parent.len());
        assert_ne!(of_child, of_parent);
        let mut status = 0;
        // SAFETY: it waits for the child, and `status` is there meanwhile.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    }

    /// With whatever mask: the usual one leaves others more than nothing.
    #[test]
    fn socket_is_its_users_before_anybody_can_connect() {
        let (path, folder) = folder("socket");
        let socket = folder.bound("name").unwrap();
        assert_eq!(rights(opened_as_path(&folder.0, "name").unwrap()).unwrap().mode & 0o177, 0);
        let refused = folder.connect("name").unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
        listen(&socket, -1).unwrap();
        assert!(folder.connect("name").unwrap().is_some());
        fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn times_of_the_last_access_are_the_later_ones() {
        let Timestamps { last_access, last_modification } = never_old();
        assert!(last_access.tv_sec > last_modification.tv_sec);
    }

    #[test]
    fn descriptors_that_are_no_files_are_not_opened() {
        let me = std::process::id();
        let (socket, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&socket).unsigned_abs();
        assert!(matches!(open_of(me, number, false), Ok(OfOther::None)), "a socket");
        assert!(matches!(open_of(me, 1_000_000, false), Ok(OfOther::None)), "no such number");
        let hidden = open_of(u32::MAX, 0, false).map(drop).unwrap_err();
        assert_eq!(hidden.kind(), io::ErrorKind::PermissionDenied, "no such process that may be seen");
    }
}
