//! The numbers of a ring.

const c = @import("c");
const status = @import("status.zig");

/// The numbers of a ring at one moment, in messages; of a queue of records, in words of 8 bytes.
pub const Stats = struct {
    /// How many messages were sent since the ring was made.
    published: u64,
    /// How many messages nobody needs any more: in a queue, those that were received. 0 on a lossy ring, where only a
    /// subscriber knows how far it is.
    received: u64,
    /// How many messages wait; of a lossy ring, how many a reader may find.
    pending: u64,
    /// How many messages the ring holds; of a queue with a ring for each producer, how many each of them holds.
    capacity: u64,
    /// How many producers or publishers there are.
    writers: u64,
    /// How many consumers or subscribers there are.
    readers: u64,
    /// How many messages subscribers of a lossy ring lost, all together. 0 without `Options.statistics`.
    lagged: u64,
    /// How often a thread went to sleep. 0 without `Options.statistics`.
    sleeps: u64,
    /// How often somebody woke threads that slept. 0 without `Options.statistics`.
    wake_ups: u64,
    /// The largest number of messages that somebody saw waiting. 0 without `Options.statistics`.
    high_water: u64,
    /// Whether the ring is closed.
    closed: bool,

    /// Asks the function of C for them.
    pub fn of(handle: anytype, function: anytype) Stats {
        var raw: c.annulus_stats = undefined;
        raw.size = @sizeOf(c.annulus_stats);
        status.expect(function(handle, &raw));
        var stats: Stats = undefined;
        inline for (@typeInfo(Stats).@"struct".field_names) |name| @field(stats, name) = @field(raw, name);
        return stats;
    }
};
