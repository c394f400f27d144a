//! Rings and queues between threads: the library annulus, typed for Zig.
//!
//! | | writers | readers |
//! | --- | --- | --- |
//! | `spsc` | one | one |
//! | `mpsc` | many, a ring for each | one |
//! | `spmc` | one | many, each message to one |
//! | `mpmc` | many, a ring for each | many, each message to one |
//! | `ordered` | many, one ring, one order, one capacity | many, each message to one |
//! | `broadcast.Lossy`, `.MpLossy` | one, many; never wait for a reader | many, each sees all; a slow one loses the oldest, counted |
//! | `broadcast.Lossless`, `.MpLossless` | one, many; wait for the slowest reader | many, each sees all |
//! | `bytes.Queue`, `bytes.Lossy`, `bytes.Lossless`: records of any length | one | one; each sees all |
//! | `shm.Spsc`, `.Mpsc`, `.Lossy`, … | the same between processes | |
//! | `shm.Mpmc`: a queue of work between processes | many | many, each message to one; what a dead one had claimed, another one has |
//! | `shm.Frames`: images, point clouds, in place | one | many, each sees all |
//! | `shm.Watch`: the newest value of each cell, by key | one | many, each sees the newest of several |
//! | `shm.Service`: questions, and answers in any order | many clients | one server |
//!
//! A message is a value of any type with a size: it is copied, byte by byte, and what its pointers point to is not. Values
//! that are too large to copy lie in a `Pool`, and their handles of 4 bytes are the messages.
//!
//! No function takes an allocator: the library has its own, allocates when a ring or a handle is made, and not afterwards.
//!
//! A handle (a producer, a consumer, …) is used by one thread at a time, and any thread may be that one. What is misuse by the
//! rules of a function (a handle after its `deinit`, more committed than reserved) ends the program with a message, in every mode
//! of optimization.

const broadcasting = @import("broadcast.zig");
const message = @import("message.zig");
const options = @import("options.zig");
const pools = @import("pool.zig");
const queues = @import("queue.zig");

/// Records: byte strings of any length.
pub const bytes = @import("bytes.zig");
/// Rings between processes.
pub const shm = @import("shm.zig");
pub const Options = options.Options;
pub const Wait = options.Wait;
pub const Stats = @import("stats.zig").Stats;
pub const Closer = @import("closer.zig").Closer;
pub const Padded = message.Padded;
pub const Pool = pools.Pool;
pub const BytePool = pools.BytePool;

/// No message of the queues whose slots are claimed (all but `spsc` and `mpsc`), and of the broadcast rings, is larger.
pub const message_max = message.claimed_max;

/// One producer, one consumer. Both can use messages where they lie in the ring.
pub const spsc = Queue(.spsc);
/// Many producers, one consumer. Each producer has a ring of its own, of the capacity that was asked for, and its messages arrive in
/// the order in which it sent them. Both sides can use messages where they lie in the ring.
pub const mpsc = Queue(.mpsc);
/// One producer, many consumers: each message reaches one of them.
pub const spmc = Queue(.spmc);
/// Many producers, each with a ring of its own, and many consumers: each message reaches one of them.
pub const mpmc = Queue(.mpmc);
/// Many producers and many consumers, with one ring, one order and one capacity for all. Each message reaches one consumer.
pub const ordered = Queue(.ordered);

fn Queue(comptime kind: queues.Kind) type {
    return struct {
        /// A queue of this kind, of messages of this type.
        pub fn Channel(comptime T: type) type {
            return queues.Channel(kind, T);
        }
        /// The sending end of it: `Channel(T).Producer`.
        pub fn Producer(comptime T: type) type {
            return queues.Producer(kind, T);
        }
        /// The receiving end of it: `Channel(T).Consumer`.
        pub fn Consumer(comptime T: type) type {
            return queues.Consumer(kind, T);
        }
    };
}

/// Rings whose subscribers each see every message.
pub const broadcast = struct {
    /// One publisher, which never waits. A subscriber that falls behind loses the oldest messages, and can tell how many.
    pub fn Lossy(comptime T: type) type {
        return broadcasting.Channel(.lossy, T);
    }
    /// One publisher, which waits for the slowest subscriber: nobody loses a message.
    pub fn Lossless(comptime T: type) type {
        return broadcasting.Channel(.lossless, T);
    }
    /// As `Lossy`, with many publishers and one order for all of them.
    pub fn MpLossy(comptime T: type) type {
        return broadcasting.Channel(.mp_lossy, T);
    }
    /// As `Lossless`, with many publishers and one order for all of them.
    pub fn MpLossless(comptime T: type) type {
        return broadcasting.Channel(.mp_lossless, T);
    }
    /// Where a new subscriber begins.
    pub const From = broadcasting.From;
};
