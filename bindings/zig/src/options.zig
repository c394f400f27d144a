//! Of what size a ring is, and how its threads wait.

const c = @import("c");

/// What a ring is made of.
pub const Options = struct {
    /// How many messages the ring holds, exactly; any number above 0. In `mpsc` and `mpmc`, the ring of each producer. Of records:
    /// how many bytes.
    capacity: usize,
    /// How threads wait that have to.
    wait: Wait = .default,
    /// Whether the ring counts what `Stats` says of waits, and of lost messages.
    statistics: bool = false,

    pub fn raw(options: Options, message_size: usize) c.annulus_options {
        return .{
            .size = @sizeOf(c.annulus_options),
            .capacity = options.capacity,
            .message_size = message_size,
            .wait = options.wait.raw(),
            .flags = if (options.statistics) c.ANNULUS_STATISTICS else 0,
        };
    }
};

/// How a thread waits.
pub const Wait = union(enum) {
    /// Polls a little, then sleeps until it is woken: `.block = .{}`.
    default,
    /// Polls without a pause. For threads that have a core of their own.
    busy_spin,
    /// Polls with the processor's pause instruction between polls. Never gives up the core.
    pause_spin,
    /// The processor waits until the word changes, where it can; else as `pause_spin`.
    monitor,
    /// Polls with pauses that become longer.
    backoff_spin,
    /// Polls, and then gives up its time slice between polls.
    adaptive: Polls,
    /// Polls, and then sleeps until it is woken.
    block: Polls,

    /// How often it polls first. Where both are 0, it is the library's default.
    pub const Polls = struct {
        /// So many polls without a pause.
        spin: u32 = 0,
        /// So many polls then with a pause, before it gives up the time slice, or sleeps.
        pause: u32 = 0,
    };

    pub fn raw(wait: Wait) c.annulus_wait {
        const kind: u32 = switch (wait) {
            .default => c.ANNULUS_WAIT_DEFAULT,
            .busy_spin => c.ANNULUS_WAIT_BUSY_SPIN,
            .pause_spin => c.ANNULUS_WAIT_PAUSE_SPIN,
            .monitor => c.ANNULUS_WAIT_MONITOR,
            .backoff_spin => c.ANNULUS_WAIT_BACKOFF_SPIN,
            .adaptive => c.ANNULUS_WAIT_ADAPTIVE,
            .block => c.ANNULUS_WAIT_BLOCK,
        };
        const polls: Polls = switch (wait) {
            .adaptive, .block => |polls| polls,
            else => .{},
        };
        return .{ .kind = kind, .spin_polls = polls.spin, .pause_polls = polls.pause };
    }
};
