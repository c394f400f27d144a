//! [`Directory`]: where rings have names, with no server: a file for each name, locked by the ring's process.
//!
//! [`PublishedName`]: a name that this process has given to a ring.
//! [`NamedRing`]: a ring that was found by its name, and whether its process is still there.

use core::fmt;
use std::fs::File;
use std::io::{ErrorKind, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::string::{String, ToString};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::vec::Vec;
use std::{env, io, path};

use super::error::{DirectoryError, NameError};
use super::format::Identity;
use super::names;
use super::names::{CLOSED, Holder, NameSocket, Names, OTHERS, Record, Request, about_all, is_private};
use super::numbering::Numbering;
use super::process::{PeerState, ProcessId};
use crate::message::schema::Fingerprint;
use crate::os::error::{at, check_file_length};
use crate::os::folder;
use crate::os::folder::{Folder, OfOther, Rights, Watch};
use crate::os::kept_word::Kept;
use crate::os::process_lifetime::{Maker, pid_namespace};
use crate::sync::seeded;

/// A directory in which rings have names.
///
/// A name is a small file that says which descriptor of which process is the ring (decision 0085). That
/// process holds a lock on the file. So there is no server, and nothing to clean up: the file of a killed
/// process has no lock any more, and the next ring of that name replaces it.
///
/// Clones are the same directory. All verbs may be called by any number of threads and processes at once.
///
/// # Examples
///
/// ```
/// use annulus::shm::{Directory, Fingerprint, NameError};
/// use std::time::Duration;
/// # let path = std::env::temp_dir().join(format!("annulus-doc-{}", std::process::id()));
///
/// let directory = Directory::open(&path)?; // or `Directory::of_user()`
/// // Usually the descriptor of a ring.
/// let memory = std::fs::File::open("/proc/self/exe")?;
/// let published = directory.publish("quotes", &memory, Fingerprint::of::<u64>())?;
///
/// // Usually in another process, which may have begun to wait before there was such a ring.
/// let found = directory.wait_for("quotes", Some(Duration::from_secs(1)))?;
/// let descriptor = found.open_read_only()?;
///
/// // There is one of a name.
/// let error = directory.publish("quotes", &memory, Fingerprint::of::<u64>()).unwrap_err();
/// assert_eq!(error.to_string(), format!("the name \"quotes\" is taken by process {}", std::process::id()));
///
/// drop(published);
/// assert!(matches!(directory.find("quotes"), Err(NameError::NotFound { .. })));
/// # std::fs::remove_dir(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Directory {
    names: Arc<Names>,
}

/// A name that [`Directory::list`] has found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// The name.
    pub name: String,
    /// Whether the ring's process is there. `Dead` is what the next ring of this name replaces.
    pub state: PeerState,
    /// The ring's process, by its own numbers; `None` if the file does not say.
    pub process: Option<ProcessId>,
    /// The number of that process here: see [`NamedRing::pid_here`].
    pub pid_here: Option<u32>,
    /// Of the type of its messages; `None` if the file does not say.
    pub fingerprint: Option<Fingerprint>,
}

impl Directory {
    /// The directory of the user of this process, which is made if there is none:
    ///
    /// 1. `$XDG_RUNTIME_DIR/annulus`, if that variable is an absolute path;
    /// 2. `/dev/shm/annulus-UID`, if there is a `/dev/shm`;
    /// 3. `/tmp/annulus-UID`.
    ///
    /// Processes meet if they use the same one. A service often has no `XDG_RUNTIME_DIR`, or another one:
    /// give it a path then ([`open`](Self::open)).
    ///
    /// # Errors
    ///
    /// The errors of [`open`](Self::open).
    pub fn of_user() -> Result<Self, DirectoryError> {
        Self::open(Self::path_of_user())
    }

    /// Where the directory of this user is, or would be: see [`of_user`](Self::of_user). It makes nothing.
    ///
    /// ```
    /// let path = annulus::shm::Directory::path_of_user();
    /// assert!(path.is_absolute());
    /// ```
    #[must_use]
    pub fn path_of_user() -> PathBuf {
        let runtime = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
        runtime.map_or_else(
            || {
                let base = Path::new("/dev/shm");
                let base = if base.is_dir() { base } else { Path::new("/tmp") };
                base.join(std::format!("annulus-{}", folder::user()))
            },
            |runtime| runtime.join("annulus"),
        )
    }

    /// A directory of this user's alone. If there is none, it is made, with the mode 0700; the one above it
    /// must be there.
    ///
    /// # Errors
    ///
    /// - `NotADirectory` if there is something else, a symbolic link for example.
    /// - `Owner` if it belongs to another user.
    /// - `Mode` if the group or others may do anything in it.
    /// - `System` for other errors of the system: no permission, for example.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, DirectoryError> {
        Self::with_mode(path, 0o700)
    }

    /// A directory that a group of users shares, or all (`mode` 0770, or 0777). If there is none, it is made,
    /// with this mode, whatever the process's `umask`.
    ///
    /// The files in it belong to the group of the directory. So make the directory with the group, and let
    /// each process of the group open it with its mode: `install -d -g traders -m 2770 /dev/shm/traders`. A
    /// user that may write to a directory may also remove names from it, unless it has the sticky bit (`chmod
    /// +t`).
    ///
    /// The kernel shows a process's descriptors only to its own user, and by its own process numbers. So
    /// where the mode gives others something, each name has a socket next to its file, and its process has a
    /// thread for each name, `annulus names`, which sends the ring's descriptors to each process that
    /// connects. Each process that may read the directory may connect, from another container, too. A process
    /// that is stopped (`SIGSTOP`) does not answer: see [`NameError::NoAnswer`].
    ///
    /// In a directory of one user's alone, only a process that is protected when it gives a name has such a
    /// socket: one with capabilities (`setcap`), or one that may not be dumped (`prctl`). The kernel hides
    /// its descriptors from its own user, too. (Processes of root see each other's if their capabilities are
    /// the same: see [`NameError::NotPermitted`].)
    ///
    /// What a process can do by these descriptors is said [here](super#what-a-process-can-do-to-another-one).
    /// It is the same for all users that may connect.
    ///
    /// ```
    /// use annulus::shm::Directory;
    /// # let path = std::env::temp_dir().join(format!("annulus-group-{}", std::process::id()));
    ///
    /// let directory = Directory::with_mode(&path, 0o770)?;
    /// # std::fs::remove_dir(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As in [`open`](Self::open), but `Mode` is about what goes beyond `mode`, and another owner is an error
    /// only if `mode` gives nobody else anything.
    pub fn with_mode(path: impl AsRef<Path>, mode: u32) -> Result<Self, DirectoryError> {
        let (path, mode) = (path.as_ref(), mode & 0o777);
        Self::of(Folder::open(path, mode), path, mode)
    }

    fn of(opened: io::Result<Folder>, path: &Path, mode: u32) -> Result<Self, DirectoryError> {
        let path = path.to_path_buf();
        let user = folder::user();
        match opened.and_then(|folder| Ok((folder.rights()?, folder))) {
            Err(error) if is_no_directory(&error) => Err(DirectoryError::NotADirectory { path }),
            Err(error) => Err(DirectoryError::System { path, error }),
            Ok((Rights { owner, .. }, _)) if owner != user && is_private(mode) => {
                Err(DirectoryError::Owner { path, owner, user })
            }
            Ok((Rights { mode: found, .. }, _)) if found & OTHERS & !mode != 0 => {
                Err(DirectoryError::Mode { path, mode: found, allowed: mode })
            }
            Ok((Rights { mode: found, .. }, folder)) => {
                // The process may go elsewhere.
                let path = path::absolute(&path).unwrap_or(path);
                Ok(Self { names: Arc::new(Names { folder, path, mode, found }) })
            }
        }
    }

    // Decision 0107: a wait for a name goes by the path.
    /// The directory that has its path now, if it is another one: this one was removed or moved, and another
    /// was made. `None` also while there is none.
    pub(super) fn successor(&self) -> Result<Option<Self>, DirectoryError> {
        let Names { folder, path, mode, .. } = &*self.names;
        folder.successor(path).transpose().map(|found| Self::of(found, path, *mode)).transpose()
    }

    /// Where it is: an absolute path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.names.path
    }

    /// Notice of new names from now on.
    pub(super) fn watch(&self) -> Watch {
        self.names.folder.watch()
    }

    /// Gives a ring a name, until the value that this returns is dropped, or this process ends. It keeps a
    /// descriptor of its own.
    ///
    /// What a dead process left under that name is replaced. Of two processes that publish one name at once,
    /// one succeeds.
    ///
    /// # Errors
    ///
    /// - `Bad` if there can be no such name.
    /// - `Taken` if the name has a ring whose process is alive. It says which process.
    /// - `InTheWay`, `Owner`, `Busy`, or `System` (no room, no permission).
    pub fn publish(
        &self,
        name: &str,
        ring: impl AsFd,
        fingerprint: Fingerprint,
    ) -> Result<PublishedName, NameError> {
        self.publish_with(name, ring.as_fd(), None, fingerprint)
    }

    /// As [`publish`](Self::publish), with the page where the ring's sleepers are. The name keeps both open,
    /// so their descriptor numbers stay valid as long as the name can be found.
    pub(super) fn publish_with(
        &self,
        name: &str,
        ring: BorrowedFd<'_>,
        page: Option<BorrowedFd<'_>>,
        fingerprint: Fingerprint,
    ) -> Result<PublishedName, NameError> {
        checked(name)?;
        let system = |error| NameError::System { name: name.to_string(), error };
        let copied = |fd: BorrowedFd<'_>| {
            fd.try_clone_to_owned().map_err(|error| system(at("a copy of a descriptor", error)))
        };
        let fd = copied(ring)?;
        let page = page.map(copied).transpose()?;
        let number = |fd: &OwnedFd| fd.as_raw_fd().unsigned_abs();
        let record = Record {
            process: ProcessId::current().map_err(system)?,
            namespace: pid_namespace().map_err(system)?,
            fd: number(&fd),
            fingerprint,
            page: page.as_ref().map(number),
            is_closed: false,
        };
        let lock = self.names.lock()?;
        match self.names.holder(name)? {
            Some(holder) if holder.state() == PeerState::Alive => {
                return Err(NameError::Taken { name: name.to_string(), process: holder.process() });
            }
            _ => {}
        }
        // The socket comes before the name, so a process that finds the name finds the socket.
        let socket = self.names.answer(&lock, name, [&fd, page.as_ref().unwrap_or(&fd)]).map_err(system)?;
        let given = self.names.give(&lock, name, &record);
        if given.is_err() {
            // Nothing is left of it. (A file of a dead process stands for no ring, either.)
            _ = self.names.remove(&lock, name);
        }
        let file = given.map_err(system)?;
        Ok(PublishedName::new(Arc::clone(&self.names), name.to_string(), file, (fd, page), socket))
    }

    /// The [numbering](Numbering) of that name: the numbers of its messages, which go on when its publisher
    /// is started again. It makes a file, with a lock, for one publisher at a time.
    ///
    /// # Errors
    ///
    /// - `Bad` if there can be no such name.
    /// - `Taken` if another publisher, or this process, has the numbering.
    /// - `InTheWay` if its file is something else; `Owner`, `Busy`, or `System`.
    pub fn numbering(&self, name: &str) -> Result<Numbering, NameError> {
        checked(name)?;
        let system = |error| NameError::System { name: name.to_string(), error };
        let identity = Identity::new().map_err(system)?.to_u64() | 1;
        let lock = self.names.lock()?;
        match self.names.numbers(&lock, name, identity)? {
            Kept::Word(kept) => Ok(Numbering::new(name, kept)),
            Kept::Locked => Err(NameError::Taken { name: name.to_string(), process: None }),
            Kept::Other => Err(NameError::InTheWay { name: name.to_string() }),
        }
    }

    /// The ring of that name.
    ///
    /// # Errors
    ///
    /// - `Bad` if there can be no such name; `NotFound` if there is no such ring.
    /// - `Dead` if its process has ended.
    /// - `InTheWay`, `Owner`, or `System`.
    pub fn find(&self, name: &str) -> Result<NamedRing, NameError> {
        checked(name)?;
        let Some(holder) = self.names.holder(name)? else {
            return Err(NameError::NotFound { name: name.to_string() });
        };
        let process = holder.process();
        match holder.state() {
            PeerState::Alive => NamedRing::new(&self.names, name, holder),
            PeerState::NotYet | PeerState::Closed => Err(NameError::NotFound { name: name.to_string() }),
            PeerState::Dead => Err(NameError::Dead { name: name.to_string(), process }),
        }
    }

    /// The ring of that name, or, if there is none, one that was
    /// [published](super::Invitation::publish_numbered) under it with a number: the first that is alive.
    ///
    /// # Errors
    ///
    /// Those of [`find`](Self::find), about the name itself.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::Settings;
    /// use annulus::shm::{Directory, service};
    /// # let path = std::env::temp_dir().join(format!("annulus-find-numbered-{}", std::process::id()));
    ///
    /// let directory = Directory::open(&path)?;
    /// let made = service::Builder::new(Settings::new(4)).build::<u32, u64>()?;
    /// let name = made.invitation.publish_numbered(&directory, "squares")?;
    /// assert_eq!(directory.find_numbered("squares")?.name(), "squares.0");
    /// assert!(directory.find("squares").is_err());
    /// # drop(name);
    /// # std::fs::remove_dir_all(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn find_numbered(&self, name: &str) -> Result<NamedRing, NameError> {
        let found = self.find(name);
        if !matches!(found, Err(NameError::NotFound { .. } | NameError::Dead { .. })) {
            return found;
        }
        let mut numbered = self.numbered(name)?.into_iter().filter(|numbered| numbered != name);
        numbered.find_map(|numbered| self.find(&numbered).ok()).map_or(found, Ok)
    }

    /// The names of files of that name, and of that name with a number, in their order. Some may be of dead
    /// processes.
    pub(super) fn numbered(&self, name: &str) -> Result<Vec<String>, NameError> {
        // (One that was removed has none.)
        let files = self.names.folder.names();
        let files = files.map_err(|error| about_all(at(self.path().display(), error)))?;
        let found = files.iter().filter_map(|file| names::of_file(file));
        let ranked = found.filter_map(|found| Some((names::rank_among(found, name)?, found)));
        let mut ranked: Vec<(u64, &str)> = ranked.collect();
        ranked.sort_unstable();
        Ok(ranked.into_iter().map(|(_, found)| found.to_string()).collect())
    }

    /// The ring of that name, as soon as there is one. It waits until then (`None` is for ever), also where
    /// there is a dead one.
    ///
    /// It sleeps until the directory changes (by `inotify`), and looks once a second in any case. Where the
    /// user has no more such watches, it looks once in 10 milliseconds. If the directory is removed or moved
    /// meanwhile, it waits for another one at the same path, and looks there.
    ///
    /// # Errors
    ///
    /// `TimedOut`, and the errors of [`find`](Self::find) except `NotFound` and `Dead`. `System` if what is
    /// at the path now can't be used: see [`with_mode`](Self::with_mode).
    pub fn wait_for(&self, name: &str, timeout: Option<Duration>) -> Result<NamedRing, NameError> {
        // (A sum that no clock reaches is for ever.)
        let until = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        self.wait_until(name, until, |found| Ok(Some(found)))
    }

    /// As [`wait_for`](Self::wait_for), until then at most, for what `get` makes of the ring: `None` if its
    /// process has ended, or taken the name back, since it was found.
    pub(super) fn wait_until<T, E: From<NameError>>(
        &self,
        name: &str,
        until: Option<Instant>,
        mut get: impl FnMut(NamedRing) -> Result<Option<T>, E>,
    ) -> Result<T, E> {
        let unusable = |error: DirectoryError| NameError::System {
            name: name.to_string(),
            error: io::Error::other(error),
        };
        let mut directory = self.clone();
        // Before the first look: what comes after that look is noticed.
        let mut watch = directory.watch();
        loop {
            if let Some(successor) = directory.successor().map_err(unusable)? {
                watch = successor.watch();
                directory = successor;
            }
            match directory.find(name) {
                Err(NameError::NotFound { .. } | NameError::Dead { .. }) => {}
                found => {
                    if let Some(got) = get(found?)? {
                        return Ok(got);
                    }
                }
            }
            let now = Instant::now();
            if until.is_some_and(|until| until <= now) {
                return Err(NameError::TimedOut { name: name.to_string() }.into());
            }
            watch.wait(Some(next_look(now, until)));
        }
    }

    /// All names, in alphabetical order. It takes some system calls for each, and disturbs no other process.
    ///
    /// # Errors
    ///
    /// `System` if the directory can't be read, or the system lets this process open no more files. A name is
    /// left out if its file belongs to another user, and may not be read, or is no file of a ring.
    pub fn list(&self) -> Result<Vec<Entry>, NameError> {
        let files = self.names.folder.names();
        let files = files.map_err(|error| about_all(at(self.path().display(), error)))?;
        let mut entries = Vec::new();
        for name in files.iter().filter_map(|file| names::of_file(file)) {
            let Some(holder) = listed(self.names.holder(name))? else { continue };
            entries.push(Entry {
                name: name.to_string(),
                state: holder.state(),
                process: holder.process(),
                pid_here: holder.pid_here(),
                fingerprint: holder.fingerprint(),
            });
        }
        entries.sort_by(|one: &Entry, other| one.name.cmp(&other.name));
        Ok(entries)
    }

    /// Removes a name that a dead process left, and its [numbering](Self::numbering), which is there also
    /// after its process has taken the name back; with `force`, also the name of a ring that is alive, and a
    /// numbering that a publisher has. Processes that have joined the ring keep using it.
    ///
    /// # Errors
    ///
    /// - `Taken` if the ring's process is alive, or a publisher has the numbering, without `force`.
    /// - `NotFound` if there is neither; `Bad`, `InTheWay`, `Owner`, `Busy`, or `System`.
    pub fn remove(&self, name: &str, force: bool) -> Result<(), NameError> {
        checked(name)?;
        let lock = self.names.lock()?;
        let holder = self.names.holder(name)?;
        let living = holder.as_ref().filter(|holder| holder.state() == PeerState::Alive);
        if !force && (living.is_some() || self.names.has_numbers_taken(&lock, name)?) {
            let process = living.and_then(Holder::process);
            return Err(NameError::Taken { name: name.to_string(), process });
        }
        let removed = self.names.remove(&lock, name);
        let removed = removed.and_then(|()| self.names.forget_numbers(&lock, name));
        match removed.map_err(|error| NameError::System { name: name.to_string(), error })? {
            had_numbers if had_numbers || holder.is_some() => Ok(()),
            _ => Err(NameError::NotFound { name: name.to_string() }),
        }
    }
}

/// Its path.
impl fmt::Debug for Directory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Directory").field(&self.names.path).finish()
    }
}

/// When a process that waits for a name looks again, even without a notice of the kernel. (The kernel gives
/// no notice of another directory at the same path.)
pub(super) fn next_look(now: Instant, until: Option<Instant>) -> Instant {
    let next = now + LOOK_INTERVAL;
    until.map_or(next, |until| until.min(next))
}

/// The longest time without a look.
pub(super) const LOOK_INTERVAL: Duration = Duration::from_secs(1);

pub(super) fn checked(name: &str) -> Result<(), NameError> {
    names::check(name).map_err(|why| NameError::Bad { name: name.to_string(), why })
}

/// What is found at a name, for a list: `None` if that has no place there. Other errors are not of the name:
/// without them, a process that may open no more files would see an empty directory.
fn listed<T>(found: Result<Option<T>, NameError>) -> Result<Option<T>, NameError> {
    match found {
        Err(NameError::InTheWay { .. } | NameError::Owner { .. }) => Ok(None),
        Err(NameError::System { error, .. }) if error.kind() == ErrorKind::PermissionDenied => Ok(None),
        told => told,
    }
}

/// Whether this is the system's word for something that is no directory.
fn is_no_directory(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotADirectory || folder::is_in_the_way(error)
}

/// A name that this process has given to a ring ([`Directory::publish`](super::Directory::publish)). Its drop
/// takes the name back.
///
/// Drop it before the ring's publisher or sender: a process that is told of the end may look at the name at
/// once, and then waits there for the next ring and does not find this one.
///
/// A copy that `fork` makes in a child takes nothing back. But it keeps the lock. Then a dead name is
/// recognized by its process, which has ended.
#[must_use = "its drop takes the name back"]
pub struct PublishedName {
    names: Arc<Names>,
    name: String,
    file: File,
    /// What other processes open by its number.
    ring: OwnedFd,
    /// So is the page where the ring's processes sleep.
    _page: Option<OwnedFd>,
    /// Where others may use the directory, too.
    _socket: Option<NameSocket>,
    maker: Maker,
}

impl PublishedName {
    /// `file` is locked.
    pub(super) fn new(
        names: Arc<Names>,
        name: String,
        file: File,
        (ring, page): (OwnedFd, Option<OwnedFd>),
        socket: Option<NameSocket>,
    ) -> Self {
        Self { names, name, file, ring, _page: page, _socket: socket, maker: Maker::this() }
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// The ring's.
impl AsFd for PublishedName {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ring.as_fd()
    }
}

impl Drop for PublishedName {
    fn drop(&mut self) {
        if !self.maker.is_this() && !seeded!("shm_child_takes_back") {
            // Unreached: in a child that a fork has made, which reports nothing
            return;
        }
        // Before the lock ends, and before the number of the descriptor may be another file's: it ends with
        // the fields.
        let end =
            self.file.seek(SeekFrom::End(0)).and_then(|end| check_file_length(end + CLOSED.len() as u64));
        if !seeded!("shm_close_unsaid") && end.is_ok() {
            _ = self.file.write_all(CLOSED.as_bytes());
        }
        self.names.take_back(&self.name, &self.file);
    }
}

/// The name, and where it is.
impl fmt::Debug for PublishedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublishedName")
            .field("name", &self.name)
            .field("directory", &self.names.path)
            .finish_non_exhaustive()
    }
}

/// A ring that was found by its name ([`Directory::find`](super::Directory::find)).
///
/// It watches the process that has the ring: [`state`](Self::state) says whether that is there, also long
/// after the name was given to another ring.
///
/// See [`Directory`] for an example.
pub struct NamedRing {
    names: Arc<Names>,
    name: String,
    holder: Holder,
    record: Record,
    /// Where the process is asked for its descriptors. Locked during the wait for the answer.
    request: Mutex<Request>,
}

/// What a name leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The memory that was given the name.
    Ring,
    /// Where the ring's processes sleep.
    Page,
}

impl NamedRing {
    pub(super) fn new(names: &Arc<Names>, name: &str, holder: Holder) -> Result<Self, NameError> {
        match holder.record {
            Some(record) => {
                let (names, name) = (Arc::clone(names), name.to_string());
                Ok(Self { names, name, holder, record, request: Mutex::default() })
            }
            // Some process holds the lock of what is no record.
            None => Err(NameError::InTheWay { name: name.to_string() }),
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The process that published it, by its own numbers: those of its container.
    #[must_use]
    pub fn process(&self) -> ProcessId {
        self.record.process
    }

    /// The number by which this process finds that one in `/proc`. If that has ended, the number that it had,
    /// which may be another process's now: see [`state`](Self::state). `None` if it is in another container
    /// (a namespace of process numbers): what has its number here is another process.
    ///
    /// A few system calls.
    ///
    /// ```
    /// use annulus::shm::{Directory, Fingerprint};
    /// # let path = std::env::temp_dir().join(format!("annulus-pid-here-{}", std::process::id()));
    ///
    /// let directory = Directory::open(&path)?; // or `Directory::of_user()`
    /// let memory = std::fs::File::open("/proc/self/exe")?;
    /// let name = directory.publish("quotes", &memory, Fingerprint::of::<u64>())?;
    ///
    /// // Usually in another process.
    /// if let Some(pid) = directory.find("quotes")?.pid_here() {
    ///     let called = std::fs::read_to_string(format!("/proc/{pid}/comm"))?;
    ///     println!("published by process {pid}, {called}");
    /// }
    /// # drop(name);
    /// # std::fs::remove_dir(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn pid_here(&self) -> Option<u32> {
        self.holder.pid_here()
    }

    /// What was said to be the type of its messages.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.record.fingerprint
    }

    /// Whether the process that published it is there; `Closed` if it has taken the name back. A few system
    /// calls.
    #[must_use]
    pub fn state(&self) -> PeerState {
        self.holder.state()
    }

    /// A descriptor by which this process can't write to the ring.
    ///
    /// # Errors
    ///
    /// - `Dead` or `NotFound` if the process has ended, or has taken the name back.
    /// - `NoDescriptor` if the process is there, and what the name leads to is no file.
    /// - `OtherNamespace` or `NotPermitted` if the kernel does not let this process see that one's
    ///   descriptors, and the directory is not one that others may use.
    /// - `NoAnswer` if that process is asked for its descriptors, and has not sent them two seconds later.
    /// - `System` for other errors of the system.
    pub fn open_read_only(&self) -> Result<OwnedFd, NameError> {
        self.open(Part::Ring, false, None)
    }

    /// A descriptor by which this process can also write to the ring.
    ///
    /// # Errors
    ///
    /// As in [`open_read_only`](Self::open_read_only).
    pub fn open_writable(&self) -> Result<OwnedFd, NameError> {
        self.open(Part::Ring, true, None)
    }

    /// Whether both were found at one file: a name that was given again has another file.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.holder.is_same(&other.holder)
    }

    /// Whether the name leads to this memory.
    pub(super) fn has(&self, part: Part) -> bool {
        part == Part::Ring || self.record.page.is_some()
    }

    /// Closes what the process has sent: this one could write by it. It is asked again for the next
    /// descriptor.
    pub(super) fn close_answer(&self) {
        // (Another thread that has it locked still needs it.)
        if let Ok(mut request) = self.request.try_lock() {
            *request = Request::default();
        }
    }

    /// A descriptor of this part. Where the process is asked for it, `TimedOut` at `until` (`None` is as long
    /// as an answer may take): then it can be called again, to wait for the same answer.
    pub(super) fn open(
        &self,
        part: Part,
        is_writable: bool,
        until: Option<Instant>,
    ) -> Result<OwnedFd, NameError> {
        let name = self.name.clone();
        let process = self.record.process;
        let opened = self.opened(part, is_writable, until);
        // Only now: if the process is still there, and has the name, then this was its descriptor, and not
        // one of a later process, or of another file, with that number.
        match (self.state(), opened) {
            (PeerState::NotYet | PeerState::Closed, _) => Err(NameError::NotFound { name }),
            (PeerState::Dead, _) | (PeerState::Alive, Ok(OfOther::Ending)) => {
                Err(NameError::Dead { name, process: Some(process) })
            }
            // (Not `NotFound`: that says that there may be a ring soon.)
            (PeerState::Alive, Ok(OfOther::None)) => Err(NameError::NoDescriptor { name, process }),
            (PeerState::Alive, Ok(OfOther::File(opened))) => Ok(opened),
            (PeerState::Alive, Err(error)) => Err(match error.kind() {
                // Unreached: in processes of other users, which only root makes, and which report nothing
                ErrorKind::PermissionDenied => NameError::NotPermitted { name, process },
                // Unreached: in processes of other users, which only root makes, and which report nothing
                ErrorKind::Unsupported => NameError::OtherNamespace { name, process },
                ErrorKind::WouldBlock => NameError::NoAnswer { name, process },
                ErrorKind::TimedOut => NameError::TimedOut { name },
                // Unreached: a process that may open no more files
                _ => NameError::System { name, error },
            }),
        }
    }

    /// By the number of the descriptor, where the kernel shows it to this user; otherwise by the socket of
    /// the name. `Unsupported`: neither way, in another container.
    fn opened(&self, part: Part, is_writable: bool, until: Option<Instant>) -> io::Result<OfOther> {
        let Record { namespace, fd, page, .. } = self.record;
        let number = if part == Part::Ring { Some(fd) } else { page };
        let Some(number) = number else { return Ok(OfOther::None) };
        let is_here = pid_namespace()? == namespace;
        // A file of another user is not trusted to say which process to ask.
        let is_ours = self.holder.owner()? == folder::user();
        if let Some(pid) = self.holder.number_in_proc().filter(|_| is_here && is_ours) {
            match folder::open_of(pid, number, is_writable) {
                // Unreached: the kernel shows the descriptors of a process of the same user to nobody
                Err(error) if error.kind() == ErrorKind::PermissionDenied => {}
                told => return told,
            }
        }
        let mut request = Request::locked(&self.request, until)?;
        match request.get(&self.names.folder, &self.name, until)? {
            Some([ring, page]) => {
                let opened = folder::opened_again(if part == Part::Ring { ring } else { page }, is_writable)?;
                Ok(opened.map_or(OfOther::None, OfOther::File))
            }
            None if is_here => Err(ErrorKind::PermissionDenied.into()),
            None => Err(ErrorKind::Unsupported.into()),
        }
    }
}

/// Its name, and its process.
impl fmt::Debug for NamedRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NamedRing")
            .field("name", &self.name)
            .field("process", &self.process())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn list_leaves_out_what_is_no_name_and_no_more() {
        let name = || String::from("a");
        let system = |errno: rustix::io::Errno| {
            listed::<()>(Err(NameError::System { name: name(), error: at("a.ring", errno) }))
        };
        assert!(matches!(listed(Ok(Some(7))), Ok(Some(7))));
        assert!(matches!(listed::<()>(Err(NameError::InTheWay { name: name() })), Ok(None)));
        assert!(matches!(listed::<()>(Err(NameError::Owner { name: name(), owner: 1 })), Ok(None)));
        assert!(matches!(system(rustix::io::Errno::ACCESS), Ok(None)));
        for errno in [rustix::io::Errno::MFILE, rustix::io::Errno::NFILE, rustix::io::Errno::NOMEM] {
            assert!(matches!(system(errno), Err(NameError::System { .. })), "{errno}");
        }
    }
}
