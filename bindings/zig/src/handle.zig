//! What the handles of a ring have in common, once for all of them: `End`, and `Receiving` for those that receive. A handle names the verbs that
//! it has: `pub const close = end.close;`.

const std = @import("std");
const c = @import("c");
const status = @import("status.zig");
const Closer = @import("closer.zig").Closer;
const Stats = @import("stats.zig").Stats;

/// Whether the process on the other side of a ring is there, or one of several. The kernel tells it; a process that is stopped is alive.
pub const Peer = enum {
    /// Nobody has come yet.
    none,
    alive,
    /// The ring was closed, by either side.
    closed,
    /// Its process has ended without that.
    dead,
};

/// The verbs of one end of a ring, over the functions `annulus_NAME_…` of C. `Self` has its handle of C in `raw`, or null after `deinit`. It may
/// have `way`: how it sends or receives, by calls or without.
pub fn End(comptime Self: type, comptime name: []const u8) type {
    const prefix = "annulus_" ++ name ++ "_";
    return struct {
        /// How many messages wait: of a producer of `mpsc` in its own ring, of a consumer in all rings of the queue, of a subscriber those that
        /// are there for it. It may have changed when this returns.
        pub fn len(self: *const Self) usize {
            return @field(c, prefix ++ "len")(self.raw);
        }

        /// How many messages the ring holds, or each ring of a queue that has many: exactly what was asked for.
        pub fn capacity(self: *const Self) usize {
            return @field(c, prefix ++ "capacity")(self.raw);
        }

        /// Closes the ring for all its handles, and wakes all threads that wait. Sends fail from now on. Readers get what was sent before,
        /// and then `error.Closed`. No effect on a closed ring. The handle stays, and is to be freed.
        pub fn close(self: *Self) void {
            status.expect(@field(c, prefix ++ "close")(self.raw));
        }

        /// Whether the ring is closed: every send fails from now on. There may be messages left. True after `deinit`.
        pub fn isClosed(self: *const Self) bool {
            return @field(c, prefix ++ "is_closed")(self.raw);
        }

        /// What closes the ring from any thread. The caller owns it.
        pub fn closer(self: *const Self) Closer {
            return .of(self.raw, @field(c, prefix ++ "closer"));
        }

        /// The numbers of the ring. It allocates; the ring goes on meanwhile.
        pub fn stats(self: *const Self) Stats {
            return .of(self.raw, @field(c, prefix ++ "stats"));
        }

        /// Whether the process on the other side is there, or one of several. Some system calls.
        pub fn peer(self: *const Self) Peer {
            var found: c.annulus_peer = c.ANNULUS_PEER_NONE;
            status.expect(@field(c, prefix ++ "peer")(self.raw, &found));
            return switch (found) {
                c.ANNULUS_PEER_ALIVE => .alive,
                c.ANNULUS_PEER_CLOSED => .closed,
                c.ANNULUS_PEER_DEAD => .dead,
                else => .none,
            };
        }

        /// A file descriptor for poll, epoll or io_uring that becomes readable when a message comes or the ring closes, once `arm` has
        /// armed it. (Linux: an eventfd.) It belongs to the handle, which closes it in `deinit`: neither close it nor read from it.
        ///
        /// `error.SystemResources`: the process has too many descriptors. `error.Unsupported`: this system has none.
        pub fn fd(self: *Self) error{ SystemResources, Unsupported }!std.posix.fd_t {
            var descriptor: c_int = -1;
            try status.check(error{ SystemResources, Unsupported }, @field(c, prefix ++ "fd")(self.raw, &descriptor));
            return descriptor;
        }

        /// Arms the descriptor, before each wait for it. Returns whether a message, or the end, is there already: then it is not
        /// armed, and you receive first. A receive disarms it. It is misuse before `fd`.
        pub fn arm(self: *Self) bool {
            if (@hasField(Self, "way")) status.expect(self.way.end());
            var ready = true;
            status.expect(@field(c, prefix ++ "arm")(self.raw, &ready));
            return ready;
        }

        /// Frees the handle. With the last one that sends, the ring closes, and readers get what was sent before; a reservation ends, and
        /// nothing of it is sent. With the last consumer a queue closes, too, and what nobody received is gone. A descriptor is closed. No effect the second time.
        pub fn deinit(self: *Self) void {
            if (@hasField(Self, "way")) status.expect(self.way.end());
            status.expect(@field(c, prefix ++ "free")(self.raw));
            self.raw = null;
        }
    };
}

/// The verbs of one end that receives messages of type `T`, as `End`.
///
/// Of all functions here, `error.Closed` says that the ring is closed and every message was received. It stays so.
pub fn Receiving(comptime Self: type, comptime T: type) type {
    return struct {
        /// The next message, or null if none is there. Never waits. A subscriber of a lossy ring that has lost messages goes on with one that is
        /// there: `lagged` says how many it lost.
        ///
        /// `error.Corrupt`, of all three: another process has written what is no `T`. It was passed over and counted (`corrupt`), and the next
        /// receive goes on behind it.
        pub fn tryRecv(self: *Self) Self.RecvError!?T {
            var value: T = undefined;
            const code = self.way.recv(self.raw, T, &value, 0);
            if (code == c.ANNULUS_EMPTY) return null;
            try status.check(Self.RecvError, code);
            return value;
        }

        /// The next message. Waits while none is there, in the way of the options.
        pub fn recv(self: *Self) Self.RecvError!T {
            var value: T = undefined;
            try status.check(Self.RecvError, self.way.recv(self.raw, T, &value, c.ANNULUS_FOREVER));
            return value;
        }

        /// As `recv`, but gives up after so many nanoseconds. With 0 it still receives a message that is there.
        ///
        /// `error.Timeout`: none came in time.
        pub fn recvTimeout(self: *Self, timeout_ns: u64) (error{Timeout} || Self.RecvError)!T {
            var value: T = undefined;
            const code = self.way.recv(self.raw, T, &value, timeout_ns);
            if (code == c.ANNULUS_EMPTY) return error.Timeout;
            try status.check(error{Timeout} || Self.RecvError, code);
            return value;
        }
    };
}

/// Messages of type `T` that a function of C shows where they lie in the ring, to be written (`*anyopaque`) or read (`*const anyopaque`).
pub fn Run(comptime Pointer: type, comptime T: type) type {
    return struct {
        first: ?Pointer = null,
        count: usize = 0,

        pub fn slice(run: @This()) if (@typeInfo(Pointer).pointer.attrs.@"const") []const T else []T {
            const first: if (@typeInfo(Pointer).pointer.attrs.@"const") [*]const T else [*]T = @ptrCast(@alignCast(run.first.?));
            return first[0..run.count];
        }
    };
}
