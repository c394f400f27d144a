//! Rings between processes: the memory that they share, how processes meet, and which of them are still there
//! (Linux).
//!
//! One process makes a ring ([`broadcast::lossy`]), and gives it a name in a [`Directory`], or sends its
//! [`Invitation`] through a Unix socket. Any number of others accept it, and subscribe. Their handles are the
//! types of [`broadcast`](crate::broadcast), with the same verbs. [`publish`], [`subscribe`] and [`follow`]
//! do so in one call, by a name.
//!
//! ```
//! use annulus::Settings;
//! use annulus::shm::{Directory, Invitation, PeerState, Shared, broadcast};
//! # let path = std::env::temp_dir().join(format!("annulus-page-{}", std::process::id()));
//!
//! // The process that publishes.
//! let Shared { handle: mut publisher, invitation, .. } =
//!     broadcast::lossy::<[f64; 2]>(Settings::new(1024))?;
//! let directory = Directory::open(&path)?; // or `Directory::of_user()`
//! let name = invitation.publish(&directory, "quotes")?;
//!
//! // Another one. It may come first: `wait_for` in place of `find`.
//! let ring = Invitation::find(&directory.find("quotes")?)?.accept::<[f64; 2]>()?;
//! let mut subscriber = ring.subscribable().subscribe();
//!
//! publisher.publish([1.0921, 1.0922]);
//! assert_eq!(subscriber.recv(), Ok([1.0921, 1.0922]));
//! assert_eq!(ring.state(), PeerState::Alive);
//! # drop(name);
//! # std::fs::remove_dir_all(path)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What a process can do to another one
//!
//! - *Subscribers* map the ring read-only. The kernel holds them to that, so none of them can harm the
//!   publisher or another subscriber. The most that one can do on purpose is to keep a wake-up from others,
//!   and to let a publisher that died look alive. A thread then looks by itself after 50 ms, a task with the
//!   next message.
//! - *A publisher* may write anything into its ring. Its subscribers then receive wrong messages, or lose
//!   some. They touch no other memory, and do not panic. Their verbs take no more steps than they promise.
//! - *Death*: all that a publisher had published is received, and then the ring has ended. The kernel tells
//!   that the process is gone, not a clock. A subscriber that dies leaves nothing behind: if a publisher
//!   waited for it, the publisher finds its seat free.
//! - *Death inside a write*: nobody receives a part of a message, and nobody waits for the rest. The ring
//!   ends before that message. Of a lossy ring, the message that lay in its slot before is gone, as after any
//!   publish: a subscriber that still needed it is told that it has lost one.
//! - *A process that is stopped* (`SIGSTOP`) is alive. A process that waits for it waits until it is
//!   continued, or until its own timeout. A lossy ring waits for nobody: a subscriber that was stopped learns
//!   how many messages it has lost.
//! - *The sides of a queue* all write to it, and so trust each other more: see
//!   [there](spsc#trust), and [below](#when-the-other-process-is-gone). Safe code has no slice of messages
//!   that another process can write to: it has copies of them, or a [`SharedSlice`](spsc::SharedSlice).
//! - *Types*: any [`Message`](crate::Message) goes through. Both sides agree on its size, its alignment and a
//!   [`Fingerprint`]; if not, the error has both sides' values.
//! - *Values*: where not all bytes are a value (a `bool`, an enum, a text), the receiver checks each message
//!   that it has copied out. What is no message is no harm: the verb says which field has which number there,
//!   or counts it ([`total_corrupt`](crate::broadcast::Subscriber::total_corrupt)), and the next receive
//!   starts behind it. So a subscriber of another process's ring has a mode of its own
//!   ([`Foreign`](broadcast::Foreign), or [`Awaited`](broadcast::Awaited)), and a queue a kind of its own
//!   ([`Across`](spsc::Across), or [`ManyAcross`](mpsc::ManyAcross)).
//!
//! # Memory
//!
//! The options of the builder's [`memory`](crate::memory) apply to the memory that the processes share:
//! transparent huge pages, a NUMA node, pages that are there, and locked ones. The creator of a ring decides.
//! A process that joins can lock its own mapping: [`Invitation::with_memory`]. The verb `placement` of each
//! handle says what the kernel has done.
//!
//! # When the other process is gone
//!
//! A receive first returns all that was published or sent completely. Then each verb of each handle says that
//! the ring has ended, as in one process (`Closed`, [`RecvError`](crate::RecvError), or the end of an
//! iterator or a stream), whether the other process has closed its side or has died. The error of a receive
//! without a limit tells which it was: [`peer_died`](crate::RecvError::peer_died). And so does, at any time:
//!
//! | handle | how it ended |
//! | --- | --- |
//! | `Subscriber` of a lossy ring | [`Accepted::state`] |
//! | `Subscriber` of a ring of records | [`AcceptedBytes::state`](broadcast::bytes::AcceptedBytes::state) |
//! | `Subscriber` of a lossless ring | [`AcceptedLossless::state`](broadcast::AcceptedLossless::state) |
//! | [`NamedSubscriber`] | [`Received::Ended`], for each publisher |
//! | `Consumer` of a queue, of messages or of records | [`Peer::state`] of its producer |
//! | `Consumer` of an [`mpsc`] queue | [`Places::state`](mpsc::Places::state) |
//! | `Producer` of a queue | [`Peer::state`] of its consumer; see [`WhenGone`] |
//! | [`Receiver`](watch::Receiver) or [`Changes`](watch::Changes) of newest values | [`AcceptedWatch::state`](watch::AcceptedWatch::state) |
//! | [`PendingAnswer`](service::PendingAnswer), also of a [`NamedClient`](service::NamedClient) | [`Died`](service::AnswerError::Died), or [`Peer::state`] |
//! | `Producer`, `Consumer` of an [`mpmc`] queue | [`Places::state`](mpmc::Places::state) of each side |
//! | [`Server`](service::Server) | [`is_client_there`](service::Request::is_client_there) of a request |
//! | `Publisher` | a lossy one does not know, a lossless one does not wait for the dead |
//!
//! Each says [`Dead`](PeerState::Dead) after a death and [`Closed`](PeerState::Closed) after a close. Ask it
//! after the end, and before the handle is dropped: the drop of a handle of a queue closes the queue.
//!
//! A process that hangs is neither: it is there. A publisher may [promise a
//! deadline](crate::Settings::deadline), by which its readers tell it.
//!
//! A publisher that is started again makes a new ring. With a [`Numbering`], the numbers of its messages go
//! on.
//!
//! # Tasks
//!
//! Async verbs, [`select!`](crate::select!), notifiers and workers work as in one process. Another
//! process wakes threads only. So the first task (or notifier, or select) that waits for another process
//! begins a thread of this process, `annulus wake-up`, which sleeps in its place and calls the wakers.
//!
//! - There is one such thread for each ring and process (for each producer of an [`mpsc`] queue), for
//!   however many tasks.
//! - It ends one second after the last task has waited, or when the last handle of the ring is dropped.
//! - It blocks all signals but the signals of errors (`SIGSEGV` …), so it takes none that your program waits
//!   for.
//! - While idle it looks 20 times a second whether the other process is still there. No task is polled for
//!   that.
//! - It runs on the CPUs, and with the priority, of the thread that was the first to wait. If the system
//!   gives no thread, tasks and notifiers look again and again, which costs processor time, and a select
//!   does so each millisecond.
//!
//! # Limits
//!
//! - Linux, with pointers of 64 bits, `/proc`, and `memfd_create`.
//! - Of the rings there are broadcast rings with one publisher ([`broadcast::lossy`],
//!   [`broadcast::lossless`], of records [`broadcast::bytes`] and of [`frames`], lossy or lossless) and with
//!   several ([`mp_broadcast`]), queues with one producer ([`spsc`], [`bytes`]), queues with several
//!   ([`mpsc`]), and with several consumers ([`mpmc`]), the newest values of cells ([`watch`]), and questions
//!   with their answers ([`service`]).
//! - After a `fork` without `exec`, the child must neither use nor drop the handles of a publisher, of a
//!   queue, or of a subscriber with a seat: the ring is the same one. The death of the parent is not seen
//!   before the child has ended. Until then, a lossless publisher waits for a dead parent's seat.
//! - The publisher of a lossy ring does not know the subscribers of other processes: `subscriber_count` does
//!   not count them. Where one of them stands is seen from outside if it says so, by a [`broadcast::Mark`].
//! - A process that finds a ring by its name must be of the same user, and see the same process numbers,
//!   unless the directory is one that [others may use](Directory::with_mode). Otherwise use a socket.
//!
//! The bytes of a ring:
//! [`docs/SHM-FORMAT.md`](https://github.com/annulus-rs/annulus/blob/main/docs/SHM-FORMAT.md).

// format.rs        the header of a ring, what it says, and where everything lies; kind.rs, message_type.rs
// ring_observer.rs the numbers of a ring, for a process that only looks
// broadcast.rs     broadcast rings, lossy and lossless; the locks that say which subscriber lives, and marks
//                  of where a lossy subscriber stands. broadcast/bytes.rs: broadcast rings of records
// frames.rs        broadcast rings of frames, which are read where they lie; frame_format.rs: where that is
// watch.rs         the newest value of each of many cells; watch/
// mp_broadcast.rs  broadcast rings that several processes publish to
// queue.rs         queues of one lane: spsc.rs, bytes.rs
// places.rs        queues of a lane for each producer, mpsc.rs; which producer or publisher has which place
// mpmc.rs          queues whose messages have owners, so that consumers may share them, and die; mpmc/
// service.rs       questions and answers, over such a queue and slots for answers
// blocks.rs        all of them, for messages whose size is known at run time; dynamic.rs: one sending and one
//                  receiving end for all of them
// sleepers.rs      the page where threads sleep
// invitation.rs    what another process needs
// fd.rs            descriptors through sockets
// directory.rs     rings by name: gives a name to one, and finds one. by_name.rs: in one call;
//                  named_subscriber.rs: one publisher after the other; names.rs: the files of the names,
//                  what they say, and which process has a name
// shared.rs        what the makers return, and what becomes of a ring when a side is gone
// process.rs       which process it is, and whether it is still there
// error.rs         all errors

// For the C library.
#[doc(hidden)]
pub mod blocks;
pub mod broadcast;
mod by_name;
pub mod bytes;
mod directory;
// For programs that take any ring, and for other languages.
#[doc(hidden)]
pub mod dynamic;
mod error;
mod fd;
pub(crate) mod format;
mod frame_format;
pub mod frames;
mod invitation;
mod kind;
mod message_type;
pub mod mp_broadcast;
pub mod mpmc;
pub mod mpsc;
mod named_subscriber;
mod names;
mod numbering;
mod places;
mod process;
mod queue;
#[cfg(all(test, not(miri)))]
mod read_by_others;
mod ring_observer;
mod seats;
pub mod service;
mod shared;
mod silence;
mod sleepers;
pub mod spsc;
pub mod watch;

pub use crate::message::schema::Fingerprint;
pub use broadcast::Accepted;
pub use by_name::{follow, mp_publish, publish, subscribe, wait_and_subscribe};
pub use directory::{Directory, Entry, NamedRing, PublishedName};
pub use error::{AttachError, BadName, DirectoryError, FindError, NameError, ShareError};
pub use fd::{recv_fd, send_fd};
pub use format::RingInfo;
pub use invitation::Invitation;
pub use kind::ShmKind;
pub use named_subscriber::{NamedSubscriber, Received};
pub use numbering::Numbering;
pub use process::{PeerState, ProcessId};
pub use queue::Peer;
pub use ring_observer::{FrameUse, ReaderNumbers, RingNumbers, RingObserver};
pub use shared::{Shared, WhenGone};
