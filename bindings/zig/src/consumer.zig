//! The receiving end of a queue.

const c = @import("c");
const message = @import("message.zig");
const status = @import("status.zig");
const handle = @import("handle.zig");
const Kind = @import("queue.zig").Kind;
const calls = @import("calls.zig");
const spsc = @import("spsc.zig");

/// The receiving end of a queue. One thread at a time uses it; it may move to another thread. Give a thread a pointer to it, and don't
/// copy it: a copy is the same consumer.
///
/// Of all functions here, `error.Closed` says that the queue is closed and every message was received. It stays so.
pub fn Consumer(comptime kind: Kind, comptime T: type) type {
    message.check(T, kind.manyConsumers());
    return struct {
        const Self = @This();
        const end = handle.End(Self, "consumer");
        const receiving = handle.Receiving(Self, T);

        raw: ?*c.annulus_consumer,
        way: if (kind == .spsc) spsc.Receiver else calls.Receiver = .init(),

        /// `error.Closed`, and between processes `error.PeerDied`: the process of the producer has ended, and nobody had closed the queue.
        pub const Ended = kind.Ended();
        /// That, and between processes `error.Corrupt` if `T` has a `bool`, an `enum` or a `Text`.
        pub const RecvError = if (is_checked) error{Corrupt} || Ended else Ended;
        const Late = error{Timeout} || Ended;
        const is_checked = kind.isAcross() and !message.isAnyBytes(T);

        pub const tryRecv = receiving.tryRecv;
        pub const recv = receiving.recv;
        pub const recvTimeout = receiving.recvTimeout;
        pub const fd = end.fd;
        pub const arm = end.arm;
        pub const len = end.len;
        pub const capacity = end.capacity;
        pub const close = end.close;
        pub const isClosed = end.isClosed;
        pub const closer = end.closer;
        /// Not of `shm.Mpmc`, whose `Queue` has the numbers.
        pub const stats = end.stats;
        pub const deinit = end.deinit;
        /// Between processes only.
        pub const peer = end.peer;

        /// Receives as many messages as are there to `buffer`, and returns the part of it that they fill, or null if none is there.
        /// Never waits. It is misuse if `buffer` has no room for one.
        ///
        /// `error.Corrupt`: all that was there was no `T`. Where something else was there, it is passed over, and counted.
        pub fn tryRecvBatch(self: *Self, buffer: []T) RecvError!?[]T {
            var received: usize = 0;
            const code = self.way.recvBatch(self.raw, T, buffer, &received);
            if (code == c.ANNULUS_EMPTY) return null;
            try status.check(RecvError, code);
            return buffer[0..received];
        }

        /// How many messages were passed over, because another process had written what is no `T`.
        pub fn corrupt(self: *const Self) u64 {
            return c.annulus_consumer_corrupt(self.raw);
        }

        /// The next messages, where they lie beside each other in the ring, or null if none is there. Never waits. Only in `spsc` and
        /// `mpsc`.
        ///
        /// They stay in the queue, and may be read, until `advance` gives them back, or until the next receive.
        ///
        /// Between processes (`annulus.shm`) the other process can write to the messages while they are read. Unless you trust it
        /// not to, copy a message first, through a volatile pointer, then check the copy, and use the copy. A `T` with a `bool`, an
        /// `enum` or a `Text` is not shown there.
        pub fn tryReadable(self: *Self) Ended!?[]const T {
            checkInPlace();
            var shown: Shown = .{};
            const code = self.way.readable(self.raw, T, 0, &shown.first, &shown.count);
            if (code == c.ANNULUS_EMPTY) return null;
            try status.check(Ended, code);
            return shown.slice();
        }

        /// As `tryReadable`, but waits for the first one: there is at least 1.
        pub fn readable(self: *Self) Ended![]const T {
            checkInPlace();
            var shown: Shown = .{};
            const code = self.way.readable(self.raw, T, c.ANNULUS_FOREVER, &shown.first, &shown.count);
            try status.check(Ended, code);
            return shown.slice();
        }

        /// As `readable`, but gives up after so many nanoseconds. With 0 it still shows messages that are there.
        ///
        /// `error.Timeout`: none came in time.
        pub fn readableTimeout(self: *Self, timeout_ns: u64) Late![]const T {
            checkInPlace();
            var shown: Shown = .{};
            const code = self.way.readable(self.raw, T, timeout_ns, &shown.first, &shown.count);
            if (code == c.ANNULUS_EMPTY) return error.Timeout;
            try status.check(Late, code);
            return shown.slice();
        }

        /// Takes the first `count` of the messages that were shown out of the queue. Their slots go back to the producer at once.
        ///
        /// It is misuse to take more than were shown and are not taken yet.
        pub fn advance(self: *Self, count: usize) void {
            checkInPlace();
            status.expect(self.way.advance(self.raw, T, count));
        }

        /// Makes another consumer of the same queue, which the caller owns. Only in `spmc`, `mpmc` and `ordered`. Each message reaches
        /// one of them.
        ///
        /// The thread that uses this one may call it; another thread may use the new one.
        pub fn clone(self: *const Self) Self {
            if (comptime kind == .mpmc_across) @compileError("between processes, each consumer joins by the invitation");
            if (comptime !kind.manyConsumers()) @compileError("a queue of one consumer: use annulus.spmc, mpmc or ordered");
            var another: ?*c.annulus_consumer = null;
            status.expect(c.annulus_consumer_clone(self.raw, &another));
            return .{ .raw = another };
        }

        /// A message that a consumer has claimed, and that no other one has. Any thread may end it.
        pub const Claimed = struct {
            raw: ?*c.annulus_claimed,
            message: T,

            /// It is received: nobody has it again, and there is room for another one.
            pub fn done(claimed: *Claimed) void {
                status.expect(c.annulus_claimed_done(claimed.raw));
                claimed.raw = null;
            }
            /// How often it was given before, 15 at most: to consumers that died with it, or gave it back.
            pub fn givenBefore(claimed: *const Claimed) u64 {
                return c.annulus_claimed_given_before(claimed.raw);
            }
            /// Gives it back, if it is not done: any consumer has it again. No effect the second time.
            pub fn deinit(claimed: *Claimed) void {
                status.expect(c.annulus_claimed_free(claimed.raw));
                claimed.raw = null;
            }
        };

        /// Claims the next message: if this process ends before it is done, another consumer has it. Waits for it for so many nanoseconds at
        /// most; `shm.forever` is no limit. Only in `shm.Mpmc`.
        pub fn claim(self: *Self, timeout_ns: u64) (error{Timeout} || RecvError)!Claimed {
            return (try self.next(timeout_ns)) orelse error.Timeout;
        }
        /// As `claim`, if a message is there. Never waits.
        pub fn tryClaim(self: *Self) (error{Timeout} || RecvError)!?Claimed {
            return self.next(0);
        }
        fn next(self: *Self, timeout_ns: u64) (error{Timeout} || RecvError)!?Claimed {
            if (comptime kind != .mpmc_across) @compileError("a message is claimed where consumers of several processes share a queue: use annulus.shm.Mpmc");
            var found: Claimed = .{ .raw = null, .message = undefined };
            const code = c.annulus_consumer_claim(self.raw, &found.message, @sizeOf(T), timeout_ns, &found.raw);
            if (code == c.ANNULUS_EMPTY) return null;
            try status.check(error{Timeout} || RecvError, code);
            return found;
        }

        const Shown = handle.Run(*const anyopaque, T);

        fn checkInPlace() void {
            if (comptime kind.manyConsumers()) @compileError("a queue of many consumers shows no messages: use annulus.spsc or mpsc");
            if (comptime !kind.isAcross()) message.checkInPlace(T);
            if (comptime is_checked) @compileError("another process could write what is no " ++ @typeName(T) ++ " while it is read in place: use recv or tryRecvBatch");
        }
    };
}
