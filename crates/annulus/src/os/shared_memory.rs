//! [`SharedMemory`]: memory that several processes map, and no process can shrink (Linux).

use core::ptr::NonNull;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{
    FallocateFlags, FileType, MemfdFlags, SealFlags, fallocate, fcntl_add_seals, fcntl_get_seals, fstat,
    fstatfs, ftruncate, memfd_create,
};
use rustix::io::{Errno, retry_on_intr};
use rustix::mm::{MapFlags, ProtFlags, mmap};

use super::error::{at, check_file_length};
use super::mapping::{Pages, Reserved, page_bytes};
use super::memory_left;
use crate::sync::seeded;

/// A mapping of a file in memory (`memfd_create`), and the descriptor of that file.
///
/// The file is sealed against shrinking and growing. So each byte of the mapping is there as long as the
/// mapping is: no other process can cut the file off, which would make an access a `SIGBUS`.
///
/// Any process that has the file may write to it at any time, unless only the creator may ([`Access`]). So
/// the bytes are read and written by atomic operations only, and whatever was read may be anything.
pub(crate) struct SharedMemory {
    pages: Pages,
    _reserved: Reserved,
    len: usize,
    is_writable: bool,
    fd: OwnedFd,
}

/// Which processes may write to shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Every process that has its descriptor.
    Everyone,
    /// The mapping that [`SharedMemory::create`] returns. From then on the kernel refuses every other
    /// mapping that could write, to the creator's process, too.
    CreatorAlone,
}

/// Why a descriptor is not what [`SharedMemory::attach`] maps.
#[derive(Debug)]
pub(crate) enum Unfit {
    /// It is no file in memory.
    NotMemory,
    /// Another process could still shrink or grow it.
    NotSealed,
    /// It has no byte, or more than can be mapped: so many.
    Length(u64),
    /// Some of its pages are not there: to map it could take more memory than its creator has given.
    Sparse,
    /// A call to the system failed.
    System(io::Error),
}

// Unreached: `fstat` of a descriptor that is open does not fail
impl From<Errno> for Unfit {
    fn from(error: Errno) -> Self {
        Self::System(error.into())
    }
}

/// What `statfs` says of files that `memfd_create` makes of pages of the usual size. (A file of huge pages
/// may lose its pages to a hole that another process makes, and get none back: a `SIGBUS`.)
const TMPFS_MAGIC: u64 = 0x0102_1994;

/// No system joins pages to one that is larger.
const LARGEST_PAGE: usize = 1 << 30;

/// The seals without which no process maps it.
const FIXED_LENGTH: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW);

impl SharedMemory {
    /// New memory of `len` bytes, all zero and all there. The name is for people: `/proc/PID/maps` shows it.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if `len` is 0 or more than can be mapped. `OutOfMemory` (or what else the system says)
    /// if the system, or the control group of this process, has not so much memory. `FileTooLarge` if the
    /// process may make no file of this length (`RLIMIT_FSIZE`).
    pub(crate) fn create(name: &str, len: usize, access: Access) -> io::Result<Self> {
        Self::create_by(name, len, access, None::<fn(&Pages)>)
    }

    /// As [`create`](Self::create). `fill` has the pages before any of them is there: it says how they are to
    /// be, and may put them into memory.
    pub(crate) fn create_by(
        name: &str,
        len: usize,
        access: Access,
        fill: Option<impl FnOnce(&Pages)>,
    ) -> io::Result<Self> {
        let made = Self::made(name, len, access, fill);
        made.map_err(|error| at(std::format!("memory of {len} bytes (`{name}`)"), error))
    }

    fn made(name: &str, len: usize, access: Access, fill: Option<impl FnOnce(&Pages)>) -> io::Result<Self> {
        let bytes = u64::try_from(len).unwrap_or(u64::MAX);
        if len == 0 || isize::try_from(len).is_err() {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        }
        // Where memory is short, the kernel would end some process rather than refuse.
        if memory_left::available().is_some_and(|available| bytes > available) {
            return Err(Errno::NOMEM.into());
        }
        check_file_length(bytes)?;
        let fd = new_file(name)?;
        ftruncate(&fd, bytes)?;
        // A page that was not touched is not there yet.
        let allocate = |fd: &OwnedFd| retry_on_intr(|| fallocate(fd, FallocateFlags::empty(), 0, bytes));
        let memory = if let Some(fill) = fill {
            let memory = Self::map(fd, 0, len, true, MapFlags::empty())?;
            fill(&memory.pages);
            // What that did not do.
            allocate(&memory.fd)?;
            memory
        } else {
            allocate(&fd)?;
            Self::map(fd, 0, len, true, MapFlags::POPULATE)?
        };
        let mut seals = SealFlags::SEAL;
        if !seeded!("shm_unsealed") {
            seals |= FIXED_LENGTH;
        }
        if access == Access::CreatorAlone && !seeded!("shm_anybody_writes") {
            // What is mapped already stays writable.
            seals |= SealFlags::FUTURE_WRITE;
        }
        fcntl_add_seals(&memory.fd, seals)?;
        Ok(memory)
    }

    /// Maps the memory that another process made.
    pub(crate) fn attach(fd: OwnedFd, read_only: bool) -> Result<Self, Unfit> {
        Self::attach_part(fd, read_only, 0, usize::MAX)
    }

    /// As [`attach`](Self::attach), but maps `most` bytes at most, from `offset` on, which is the beginning
    /// of a page.
    pub(crate) fn attach_part(
        fd: OwnedFd,
        read_only: bool,
        offset: usize,
        most: usize,
    ) -> Result<Self, Unfit> {
        let status = fstat(&fd)?;
        if FileType::from_raw_mode(status.st_mode) != FileType::RegularFile {
            return Err(Unfit::NotMemory);
        }
        #[allow(
            clippy::cast_sign_loss,
            clippy::unnecessary_cast,
            reason = "its type differs between targets"
        )]
        let file_system = fstatfs(&fd)?.f_type as u64;
        if file_system != TMPFS_MAGIC {
            return Err(Unfit::NotMemory);
        }
        let seals = match fcntl_get_seals(&fd) {
            // Unreached: a kernel without sealed memory
            Err(Errno::INVAL) => return Err(Unfit::NotMemory),
            told => told?,
        };
        if !seals.contains(FIXED_LENGTH) && !seeded!("shm_seals_unchecked") {
            return Err(Unfit::NotSealed);
        }
        // Only now: before the seals the length could still change.
        let status = fstat(&fd)?;
        let bytes = status.st_size;
        #[allow(clippy::cast_sign_loss, reason = "no length is negative")]
        let too_long = Unfit::Length(bytes as u64);
        let Some(len) = isize::try_from(bytes).ok().and_then(|len| usize::try_from(len).ok()) else {
            // Unreached: where addresses are narrower than lengths
            return Err(too_long);
        };
        if len <= offset {
            return Err(too_long);
        }
        // In units of 512 bytes, on every file system.
        let allocated = u128::try_from(status.st_blocks).unwrap_or(0) * 512;
        if allocated < len as u128 {
            return Err(Unfit::Sparse);
        }
        let len = (len - offset).min(most);
        let mapped = Self::map(fd, offset, len, !read_only, MapFlags::POPULATE);
        mapped.map_err(|error| Unfit::System(at(std::format!("a mapping of {len} bytes"), error)))
    }

    /// Maps `len` bytes of the file; with `POPULATE`, with entries for all pages that are there.
    fn map(
        fd: OwnedFd,
        offset: usize,
        len: usize,
        is_writable: bool,
        flags: MapFlags,
    ) -> Result<Self, Errno> {
        // A file whose length is a number of large pages may be made of them. They are mapped as such only
        // where they lie at such addresses, too.
        let alignment = match 1 << len.trailing_zeros() {
            _ if seeded!("mapped_anywhere") => page_bytes(),
            alignment => alignment.clamp(page_bytes(), LARGEST_PAGE),
        };
        let reserved = Reserved::new(len.next_multiple_of(page_bytes()), alignment);
        let (reserved, base) = reserved.map_err(|error| error.unwrap_or(Errno::NOMEM))?;
        let access = if is_writable { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::READ };
        let flags = flags | MapFlags::SHARED | MapFlags::FIXED;
        // SAFETY: it replaces a part of what was reserved.
        unsafe { mmap(base.as_ptr().cast(), len, access, flags, &fd, offset as u64) }?;
        // SAFETY: they are mapped as long as the addresses are reserved.
        let pages = unsafe { Pages::of_file(base, len) };
        Ok(Self { pages, _reserved: reserved, len, is_writable, fd })
    }

    /// The first byte: at the beginning of a page. All of them live as long as this.
    pub(crate) fn base(&self) -> NonNull<u8> {
        self.pages.start()
    }

    /// All pages in which the bytes are.
    pub(crate) fn pages(&self) -> &Pages {
        &self.pages
    }

    /// How many bytes there are. Not 0, and it never changes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether this mapping can be written to. In one that can't, a write is a `SIGSEGV`.
    pub(crate) fn is_writable(&self) -> bool {
        self.is_writable
    }
}

/// An empty file in memory, which can't be executed. Where that is not asked for, kernels from 6.3 on write a
/// warning, or refuse it (`vm.memfd_noexec=2`).
fn new_file(name: &str) -> Result<OwnedFd, Errno> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let asked = if seeded!("shm_may_be_executed") { flags } else { flags | MemfdFlags::NOEXEC_SEAL };
    match memfd_create(name, asked) {
        // Unreached: a kernel before 6.3, which does not know the flag
        Err(Errno::INVAL) => memfd_create(name, flags),
        told => told,
    }
}

impl AsFd for SharedMemory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;
    use std::process::Command;
    use std::{env, fs};

    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    fn byte(memory: &SharedMemory, index: usize) -> *mut u8 {
        assert!(index < memory.len());
        memory.base().as_ptr().wrapping_add(index)
    }

    fn duplicate(memory: &SharedMemory) -> OwnedFd {
        memory.as_fd().try_clone_to_owned().unwrap()
    }

    #[test]
    fn two_mappings_are_one_memory() {
        let one = SharedMemory::create("annulus test", 5000, Access::Everyone).unwrap();
        let other = SharedMemory::attach(duplicate(&one), false).unwrap();
        assert_eq!((one.len(), other.len()), (5000, 5000));
        assert!(one.is_writable() && other.is_writable());
        for (from, to) in [(&one, &other), (&other, &one)] {
            // SAFETY: within both mappings, and this thread alone has them.
            unsafe {
                byte(from, 4999).write_volatile(7);
                assert_eq!(byte(to, 4999).read_volatile(), 7);
                byte(to, 4999).write_volatile(0);
            }
        }
    }

    #[test]
    fn creator_alone_writes() {
        let memory = SharedMemory::create("annulus test", 100, Access::CreatorAlone).unwrap();
        let refused = SharedMemory::attach(duplicate(&memory), false).map(|_| ());
        assert!(
            matches!(&refused, Err(Unfit::System(error)) if error.kind() == io::ErrorKind::PermissionDenied),
            "{refused:?}"
        );
        let reader = SharedMemory::attach(duplicate(&memory), true).unwrap();
        assert!(!reader.is_writable());
        // SAFETY: within both mappings, and this thread alone has them.
        unsafe {
            byte(&memory, 99).write_volatile(5);
            assert_eq!(byte(&reader, 99).read_volatile(), 5);
        }
        assert_eq!(rustix::io::write(&memory, &[1]), Err(Errno::PERM), "nor by a write to the file");
    }

    #[test]
    fn memory_lies_where_its_pages_may_be_large() {
        const MEBI: usize = 1 << 20;
        for (len, multiple) in [(1, 1), (2 * MEBI, 2 * MEBI), (3 * MEBI, MEBI), (8 * MEBI, 8 * MEBI)] {
            let one = SharedMemory::create("annulus test", len, Access::Everyone).unwrap();
            let other = SharedMemory::attach(duplicate(&one), true).unwrap();
            for memory in [&one, &other] {
                assert_eq!(memory.base().addr().get() % multiple.max(page_bytes()), 0, "{len}");
            }
        }
    }

    #[test]
    fn memory_keeps_its_length_for_ever() {
        let memory = SharedMemory::create("annulus test", 100, Access::Everyone).unwrap();
        assert_eq!(ftruncate(&memory, 0), Err(Errno::PERM));
        assert_eq!(ftruncate(&memory, 101), Err(Errno::PERM));
        assert_eq!(fcntl_add_seals(&memory, SealFlags::WRITE), Err(Errno::PERM), "nor more seals");
    }

    /// Where the kernel knows files in memory that can't be executed.
    #[test]
    fn memory_cannot_be_executed() {
        let is_known = memfd_create("annulus test", MemfdFlags::NOEXEC_SEAL).is_ok();
        let memory = SharedMemory::create("annulus test", 100, Access::Everyone).unwrap();
        let mode = fstat(&memory).unwrap().st_mode & 0o777;
        assert_eq!(mode & 0o111 == 0, is_known, "{mode:o}");
        assert_eq!(fcntl_get_seals(&memory).unwrap().contains(SealFlags::EXEC), is_known);
        assert!(SharedMemory::attach(duplicate(&memory), false).is_ok());
    }

    #[test]
    fn memory_that_could_shrink_is_refused() {
        let unsealed =
            || memfd_create("annulus test", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
        for seals in [SealFlags::empty(), SealFlags::GROW, SealFlags::SHRINK] {
            let fd = unsealed();
            ftruncate(&fd, 4096).unwrap();
            fcntl_add_seals(&fd, seals).unwrap();
            assert!(matches!(SharedMemory::attach(fd, true), Err(Unfit::NotSealed)));
        }
        let empty = unsealed();
        fcntl_add_seals(&empty, FIXED_LENGTH).unwrap();
        assert!(matches!(SharedMemory::attach(empty, true), Err(Unfit::Length(0))));
        let sparse = unsealed();
        ftruncate(&sparse, 1 << 20).unwrap();
        fcntl_add_seals(&sparse, FIXED_LENGTH).unwrap();
        assert!(matches!(SharedMemory::attach(sparse, true), Err(Unfit::Sparse)));
    }

    #[test]
    fn file_that_is_no_memory_is_refused() {
        let (socket, _other) = UnixStream::pair().unwrap();
        for fd in [OwnedFd::from(socket), fs::File::open("/proc/self/exe").unwrap().into()] {
            assert!(matches!(SharedMemory::attach(fd, true), Err(Unfit::NotMemory)));
        }
    }

    #[test]
    fn length_that_cant_be_is_refused() {
        for (len, kind) in [
            (0, io::ErrorKind::InvalidInput),
            (usize::MAX, io::ErrorKind::InvalidInput),
            (isize::MAX as usize, io::ErrorKind::OutOfMemory),
        ] {
            let refused = SharedMemory::create("annulus test", len, Access::Everyone).map(|_| ());
            assert_eq!(refused.unwrap_err().kind(), kind);
        }
    }

    /// A limit of the process, so a process of its own, which a signal would end.
    #[test]
    fn a_file_that_may_not_be_so_long_is_refused() {
        const ROLE: &str = "ANNULUS_FILE_LIMIT";
        if env::var_os(ROLE).is_none() {
            let this = "os::shared_memory::tests::a_file_that_may_not_be_so_long_is_refused";
            let mut child = Command::new(env::current_exe().unwrap());
            let child = child.args(["--exact", this, "--nocapture"]).env(ROLE, "").output().unwrap();
            assert!(child.status.success(), "{child:?}");
            return;
        }
        let before = getrlimit(Resource::Fsize);
        setrlimit(Resource::Fsize, Rlimit { current: Some(8192), maximum: before.maximum }).unwrap();
        let create = |bytes| SharedMemory::create("annulus test", bytes, Access::Everyone).map(drop);
        create(8192).unwrap();
        assert_eq!(create(8193).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        // A build that counts what tests reach writes a longer file at the end.
        setrlimit(Resource::Fsize, before).unwrap();
    }

    #[test]
    fn drop_unmaps() {
        let mapped = || fs::read_to_string("/proc/self/maps").unwrap().contains("memfd:annulus dropped");
        let memory = SharedMemory::create("annulus dropped", 100, Access::Everyone).unwrap();
        assert!(mapped());
        drop(memory);
        assert!(!mapped());
    }
}
