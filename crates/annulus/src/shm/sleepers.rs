//! The page where threads of several processes sleep for one ring (`wait/other_processes.rs`), and where the
//! seats of a lossless ring are (`ring/seats.rs`), or the places of a queue's producers (`places.rs`),
//! or both.
//!
//! It is separate memory, because sleepers write to it, and may not write to the ring.

use core::ptr::NonNull;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use super::error::AttachError;
use super::format::{Identity, damaged, page, unfit};
use crate::base::sequence::Sequence;
use crate::os::lock;
use crate::os::shared_memory::{Access, SharedMemory};
use crate::ring::{Scanned, SeatCell};
use crate::sync::{AtomicU32, Ordering, seeded};
use crate::wait::{Remote, carries_out_barriers};

/// What the page begins with.
const MAGIC: u32 = u32::from_ne_bytes(*b"ANNW");
/// The two words of the ring's identity. (A load of eight bytes is no plain load on every machine of 32
/// bits, and would fail there in memory that can't be written to.)
const IDENTITY: [usize; 2] = [page::IDENTITY, page::IDENTITY + 4];
const _: () = {
    assert!(size_of::<Scanned>() == page::SEATS - page::SCANNED && size_of::<SeatCell>() == page::SEAT_BYTES);
    assert!(page::SCANNED + Scanned::FLOOR == page::FLOOR);
    assert!(page::WORDS[1] + 4 <= page::LEAST_BYTES && page::LEAST_BYTES <= page::SCANNED);
};

/// Creates the page of a ring.
pub(super) fn create(ring: Identity) -> io::Result<SharedMemory> {
    create_of(ring, page::LEAST_BYTES)
}

/// As [`create`], for a lossless ring with so many seats, whose first message is `first`, and with so many
/// [tables](create_with_tables).
pub(super) fn create_with_seats(
    ring: Identity,
    [seats, tables]: [usize; 2],
    first: Sequence,
) -> io::Result<SharedMemory> {
    let bytes = if tables == 0 { bytes_with_seats(seats) } else { table_offset(seats, tables) };
    let memory = create_of(ring, bytes.ok_or(io::ErrorKind::InvalidInput)?)?;
    begin_seats(&memory, Rows { first: 0, count: seats }, first)?;
    Ok(memory)
}

/// Seats in a page: which of its rows they are, and which locks they have.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    /// The row of the first seat, and the byte whose lock it has.
    pub(super) first: usize,
    pub(super) count: usize,
}

impl Rows {
    /// Of a lossless ring of one publisher.
    pub(super) fn from_the_first(count: usize) -> Self {
        Self { first: 0, count }
    }

    fn end(self) -> Option<usize> {
        self.first.checked_add(self.count)
    }
}

fn begin_seats(memory: &SharedMemory, seats: Rows, first: Sequence) -> io::Result<()> {
    let (scanned, cells) = cells(memory, seats).ok_or(io::ErrorKind::InvalidInput)?;
    // SAFETY: they are in the memory, which lives.
    let (scanned, cells) = unsafe { (scanned.as_ref(), cells.as_ref()) };
    scanned.begin_at(first);
    cells.iter().for_each(SeatCell::begin);
    Ok(())
}

/// As [`create_with_places`], for a lossless ring whose first message is `first`, with these seats behind the
/// places; or without.
pub(super) fn create_with_places_and_seats(
    ring: Identity,
    places: usize,
    seats: Option<Rows>,
    first: Sequence,
) -> io::Result<SharedMemory> {
    let Some(seats) = seats else { return create_with_places(ring, places) };
    let bytes = seats.end().and_then(bytes_with_seats).ok_or(io::ErrorKind::InvalidInput)?;
    let memory = create_of(ring, bytes)?;
    begin_seats(&memory, seats, first)?;
    Ok(memory)
}

/// As [`create`], for a queue with places for so many producers.
pub(super) fn create_with_places(ring: Identity, places: usize) -> io::Result<SharedMemory> {
    create_of(ring, bytes_with_seats(places).ok_or(io::ErrorKind::InvalidInput)?)
}

/// As [`attach_anew`], for such a queue.
pub(super) fn attach_with_places(
    fd: &OwnedFd,
    ring: Identity,
    places: usize,
) -> Result<SharedMemory, AttachError> {
    let memory = attach_anew(fd, ring)?;
    match bytes_with_seats(places) {
        Some(needed) if needed <= memory.len() => Ok(memory),
        needed => Err(AttachError::Length {
            found: memory.len() as u64,
            needed: needed.map_or(u64::MAX, |needed| needed as u64),
        }),
    }
}

/// A page for a ring of frames, of that identity: with a table for each of so many readers.
pub(super) fn create_with_tables(ring: Identity, tables: usize) -> io::Result<SharedMemory> {
    create_of(ring, table_offset(0, tables).ok_or(io::ErrorKind::InvalidInput)?)
}

/// Where the table with this number begins, in the page of a ring with so many seats: at a page of its own.
/// Its lock is that of byte `seats + table`.
pub(super) fn table_offset(seats: usize, table: usize) -> Option<usize> {
    let first = bytes_with_seats(seats)?.checked_next_multiple_of(page::TABLE_BYTES)?;
    table.checked_mul(page::TABLE_BYTES)?.checked_add(first)
}

/// Maps the words on which threads sleep, and the seats, and not the tables that lie behind them. By an
/// opening of its own, to which the lock of this process's seat belongs.
pub(super) fn attach_without_tables(
    fd: &OwnedFd,
    ring: Identity,
    seats: usize,
) -> Result<SharedMemory, AttachError> {
    let bytes = table_offset(seats, 0).ok_or_else(|| damaged("the seats", seats))?;
    let part = |fd| {
        let memory = SharedMemory::attach_part(fd, false, 0, bytes).map_err(unfit)?;
        check(&memory, ring).map(|()| memory)
    };
    part(fd.try_clone().map_err(AttachError::System)?)?;
    part(lock::reopened_writable(fd).map_err(AttachError::System)?)
}

fn bytes_with_seats(seats: usize) -> Option<usize> {
    seats.checked_mul(page::SEAT_BYTES)?.checked_add(page::SEATS)
}

/// What the publisher of a lossless ring says, and the cells of its seats. `None` if the page is too short.
pub(super) fn cells(memory: &SharedMemory, seats: Rows) -> Option<(NonNull<Scanned>, NonNull<[SeatCell]>)> {
    if memory.len() < bytes_with_seats(seats.end()?)? || !memory.is_writable() {
        return None;
    }
    // SAFETY: within the memory, by its length.
    let at = |offset: usize| unsafe { memory.base().add(offset) };
    let first = at(page::SEATS + seats.first * page::SEAT_BYTES);
    Some((at(page::SCANNED).cast(), NonNull::slice_from_raw_parts(first.cast(), seats.count)))
}

/// Whether a process that has a seat of a lossless ring is dead. A system call for each seat in use.
pub(super) fn has_dead(memory: &SharedMemory, seats: Rows) -> bool {
    let Some((_, cells)) = cells(memory, seats) else { return false };
    // SAFETY: they are in the memory, which lives.
    let cells = unsafe { cells.as_ref() };
    let is_free = |seat| !lock::is_byte_taken(memory, seat).unwrap_or(true);
    (seats.first..).zip(cells).any(|(seat, cell)| cell.is_used() && is_free(seat))
}

fn create_of(ring: Identity, bytes: usize) -> io::Result<SharedMemory> {
    let memory = SharedMemory::create("annulus sleepers", bytes, Access::Everyone)?;
    for (word, offset) in bytemuck::cast::<u64, [u32; 2]>(ring.to_u64()).into_iter().zip(IDENTITY) {
        // Relaxed: pairs with the load in `check`, as below.
        word_at(&memory, offset).store(word, Ordering::Relaxed);
    }
    // Relaxed: pairs with the load in `check`. Nobody else has the memory yet.
    word_at(&memory, page::MAGIC).store(MAGIC, Ordering::Relaxed);
    let is_asymmetric = carries_out_barriers() && !seeded!("sleepers_not_told");
    // Relaxed: pairs with the load in `is_asymmetric`, as above.
    word_at(&memory, page::FENCES).store(is_asymmetric.into(), Ordering::Relaxed);
    Ok(memory)
}

/// Maps the page that another process made for this ring.
pub(super) fn attach(fd: &OwnedFd, ring: Identity) -> Result<SharedMemory, AttachError> {
    let fd = fd.try_clone().map_err(AttachError::System)?;
    let memory = SharedMemory::attach(fd, false).map_err(unfit)?;
    check(&memory, ring)?;
    Ok(memory)
}

/// Whether this is the page of that ring. Each process that uses a ring checks this first: the page of
/// another ring has other sleepers, and other seats.
pub(super) fn check(memory: &SharedMemory, ring: Identity) -> Result<(), AttachError> {
    if memory.len() < page::LEAST_BYTES {
        return Err(AttachError::Length { found: memory.len() as u64, needed: page::LEAST_BYTES as u64 });
    }
    // Relaxed: pairs with the store in `create_of`.
    let word = |offset| word_at(memory, offset).load(Ordering::Relaxed);
    let found = word(page::MAGIC);
    if found != MAGIC {
        return Err(AttachError::Damaged {
            field: "the first word of the sleepers' page",
            value: found.into(),
        });
    }
    let found = Identity::of_number(bytemuck::cast(IDENTITY.map(word)));
    if found != ring && !seeded!("shm_any_page") {
        return Err(AttachError::Page { found: found.to_u64(), wanted: ring.to_u64() });
    }
    Ok(())
}

/// As [`attach`], by an opening of its own, to which the locks of this process's seats belong.
pub(super) fn attach_anew(fd: &OwnedFd, ring: Identity) -> Result<SharedMemory, AttachError> {
    // Before anything is opened that might be anything.
    attach(fd, ring)?;
    attach(&lock::reopened_writable(fd).map_err(AttachError::System)?, ring)
}

/// Where threads that wait for messages sleep. The ring's creator wakes them.
pub(super) fn remote(memory: &Arc<SharedMemory>) -> Remote {
    remote_at(memory, page::WORDS[0], is_asymmetric(memory))
}

/// Where a consumer that waits for messages sleeps, and where a producer that waits for room sleeps. Both ask
/// for barriers if the creator's process could register for them.
pub(super) fn remotes_of_producer(memory: &Arc<SharedMemory>) -> [Remote; 2] {
    page::WORDS.map(|word| remote_at(memory, word, is_asymmetric(memory)))
}

/// As [`remotes_of_producer`], in the consumer's process, which wakes the producer. If this process can't
/// register for barriers, its fence is a full one, which is right whatever the producer does.
pub(super) fn remotes_of_consumer(memory: &Arc<SharedMemory>) -> [Remote; 2] {
    let told = is_asymmetric(memory);
    let [published, released] = page::WORDS;
    [remote_at(memory, published, told), remote_at(memory, released, told && carries_out_barriers())]
}

/// For a consumer of several producers: where the consumer sleeps, and where the producer of each place
/// sleeps.
pub(super) fn remotes_of_places(
    memory: &Arc<SharedMemory>,
    places: usize,
) -> (Remote, impl Iterator<Item = Remote>) {
    let told = is_asymmetric(memory);
    let is_light = told && carries_out_barriers();
    let places = (0..places).map(move |place| remote_at(memory, word_of_place(place), is_light));
    (remote_at(memory, page::WORDS[0], told), places)
}

/// For the producer that has this place: where the consumer sleeps, and where this producer sleeps.
pub(super) fn remotes_of_place(memory: &Arc<SharedMemory>, place: usize) -> [Remote; 2] {
    let told = is_asymmetric(memory);
    let is_light = told && carries_out_barriers();
    [remote_at(memory, page::WORDS[0], is_light), remote_at(memory, word_of_place(place), told)]
}

/// Where the client of a service that has this place waits for answers, for that client or for the server.
/// The first word of the place is that of its lane, at which nobody waits.
pub(super) fn remote_of_answers(memory: &Arc<SharedMemory>, place: usize, is_waker: bool) -> Remote {
    let told = is_asymmetric(memory);
    let is_light = told && (!is_waker || carries_out_barriers());
    remote_at(memory, word_of_place(place) + page::ANSWERED, is_light)
}

/// A page with places is longer than this.
fn word_of_place(place: usize) -> usize {
    page::SEATS + place * page::SEAT_BYTES
}

/// For one of several publishers: where subscribers that wait for messages sleep, and where publishers that
/// wait for room do.
pub(super) fn remotes_of_fellow(memory: &Arc<SharedMemory>) -> [Remote; 2] {
    let told = is_asymmetric(memory);
    let [published, released] = page::WORDS;
    [remote_at(memory, published, told && carries_out_barriers()), remote_at(memory, released, told)]
}

fn is_asymmetric(memory: &SharedMemory) -> bool {
    // Relaxed: pairs with the store in `create_of`. A process gets the page after that store.
    word_at(memory, page::FENCES).load(Ordering::Relaxed) != 0
}

fn remote_at(memory: &Arc<SharedMemory>, offset: usize, is_asymmetric: bool) -> Remote {
    assert!(memory.is_writable());
    let word = NonNull::from(word_at(memory, offset));
    // SAFETY: the word is in the memory, which is writable here (asserted).
    unsafe { Remote::new(word, is_asymmetric, Arc::clone(memory) as _) }
}

fn word_at(memory: &SharedMemory, offset: usize) -> &AtomicU32 {
    assert!(offset % 4 == 0 && offset + 4 <= memory.len());
    // SAFETY: within the memory, which lives as long as the reference; at a multiple of 4, because memory
    // begins at a page; and every process accesses the word by atomic operations.
    unsafe { AtomicU32::from_ptr(memory.base().as_ptr().wrapping_add(offset).cast()) }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    /// Sleepers learn by the page what the publisher's process has promised.
    #[test]
    fn page_says_which_fences() {
        let ring = Identity::new().unwrap();
        let page = create(ring).unwrap();
        let fd = page.as_fd().try_clone_to_owned().unwrap();
        let promised = carries_out_barriers();
        assert_eq!(remote(&Arc::new(attach(&fd, ring).unwrap())).is_asymmetric(), promised);
        assert_eq!(remote(&Arc::new(page)).is_asymmetric(), promised);
    }
}
