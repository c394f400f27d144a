//! The receiving end of a queue.

const std = @import("std");
const c = @import("c");
const message = @import("message.zig");
const status = @import("status.zig");
const Closer = @import("closer.zig").Closer;
const Kind = @import("queue.zig").Kind;
const Stats = @import("stats.zig").Stats;

/// The receiving end of a queue. One thread at a time uses it; it may move to another thread. Give a thread a pointer to it, and don't
/// copy it: a copy is the same consumer.
///
/// Of all functions here, `error.Closed` says that the queue is closed and every message was received. It stays so.
pub fn Consumer(comptime kind: Kind, comptime T: type) type {
    message.check(T, kind.manyConsumers());
    return struct {
        const Self = @This();

        raw: ?*c.annulus_consumer,

        /// The next message, or null if none is there. Never waits.
        pub fn tryRecv(self: *Self) error{Closed}!?T {
            var value: T = undefined;
            const code = c.annulus_consumer_try_recv(self.raw, @ptrCast(&value), @sizeOf(T));
            if (code == c.ANNULUS_EMPTY) return null;
            try status.check(error{Closed}, code);
            return value;
        }

        /// The next message. Waits while none is there, in the way of the options.
        pub fn recv(self: *Self) error{Closed}!T {
            var value: T = undefined;
            try status.check(error{Closed}, c.annulus_consumer_recv(self.raw, @ptrCast(&value), @sizeOf(T)));
            return value;
        }

        /// As `recv`, but gives up after so many nanoseconds. With 0 it still receives a message that is there.
        ///
        /// `error.Timeout`: none came in time.
        pub fn recvTimeout(self: *Self, timeout_ns: u64) error{ Timeout, Closed }!T {
            var value: T = undefined;
            const code = c.annulus_consumer_recv_timeout(self.raw, @ptrCast(&value), @sizeOf(T), timeout_ns);
            try status.check(error{ Timeout, Closed }, code);
            return value;
        }

        /// Receives as many messages as are there to `buffer`, and returns the part of it that they fill, or null if none is there.
        /// Never waits. It is misuse if `buffer` has no room for one.
        pub fn tryRecvBatch(self: *Self, buffer: []T) error{Closed}!?[]T {
            var received: usize = 0;
            const code = c.annulus_consumer_try_recv_batch(self.raw, @ptrCast(buffer.ptr), buffer.len, @sizeOf(T), &received);
            if (code == c.ANNULUS_EMPTY) return null;
            try status.check(error{Closed}, code);
            return buffer[0..received];
        }

        /// The next messages, where they lie beside each other in the ring, or null if none is there. Never waits. Only in `spsc` and
        /// `mpsc`.
        ///
        /// They stay in the queue, and may be read, until `advance` gives them back, or until the next receive.
        pub fn tryReadable(self: *Self) error{Closed}!?[]const T {
            checkInPlace();
            var shown: Shown = .{};
            const code = c.annulus_consumer_readable(self.raw, 0, &shown.first, &shown.count);
            if (code == c.ANNULUS_EMPTY) return null;
            try status.check(error{Closed}, code);
            return shown.slice();
        }

        /// As `tryReadable`, but waits for the first one: there is at least 1.
        pub fn readable(self: *Self) error{Closed}![]const T {
            checkInPlace();
            var shown: Shown = .{};
            const code = c.annulus_consumer_readable(self.raw, c.ANNULUS_FOREVER, &shown.first, &shown.count);
            try status.check(error{Closed}, code);
            return shown.slice();
        }

        /// As `readable`, but gives up after so many nanoseconds. With 0 it still shows messages that are there.
        ///
        /// `error.Timeout`: none came in time.
        pub fn readableTimeout(self: *Self, timeout_ns: u64) error{ Timeout, Closed }![]const T {
            checkInPlace();
            var shown: Shown = .{};
            const code = c.annulus_consumer_readable(self.raw, timeout_ns, &shown.first, &shown.count);
            if (code == c.ANNULUS_EMPTY) return error.Timeout;
            try status.check(error{ Timeout, Closed }, code);
            return shown.slice();
        }

        /// Takes the first `count` of the messages that were shown out of the queue. Their slots go back to the producer at once.
        ///
        /// It is misuse to take more than were shown and are not taken yet.
        pub fn advance(self: *Self, count: usize) void {
            checkInPlace();
            status.expect(c.annulus_consumer_advance(self.raw, count));
        }

        /// Makes another consumer of the same queue, which the caller owns. Only in `spmc`, `mpmc` and `ordered`. Each message reaches
        /// one of them.
        ///
        /// The thread that uses this one may call it; another thread may use the new one.
        pub fn clone(self: *const Self) Self {
            if (comptime !kind.manyConsumers()) @compileError("a queue of one consumer: use annulus.spmc, mpmc or ordered");
            var another: ?*c.annulus_consumer = null;
            status.expect(c.annulus_consumer_clone(self.raw, &another));
            return .{ .raw = another };
        }

        /// A file descriptor for poll, epoll or io_uring that becomes readable when a message comes or the queue closes, once `arm` has
        /// armed it. (Linux: an eventfd.) It belongs to the consumer, which closes it in `deinit`: neither close it nor read from it.
        ///
        /// `error.SystemResources`: the process has too many descriptors. `error.Unsupported`: this system has none.
        pub fn fd(self: *Self) error{ SystemResources, Unsupported }!std.posix.fd_t {
            var descriptor: c_int = -1;
            try status.check(error{ SystemResources, Unsupported }, c.annulus_consumer_fd(self.raw, &descriptor));
            return descriptor;
        }

        /// Arms the descriptor, before each wait for it. Returns whether a message, or the end, is there already: then it is not
        /// armed, and you receive first. A receive disarms it. It is misuse before `fd`.
        pub fn arm(self: *Self) bool {
            var ready = true;
            status.expect(c.annulus_consumer_arm(self.raw, &ready));
            return ready;
        }

        /// How many messages wait, in all rings of the queue. It may have changed when this returns.
        pub fn len(self: *const Self) usize {
            return c.annulus_consumer_len(self.raw);
        }

        /// How many messages the queue holds, or each ring in it: exactly what was asked for.
        pub fn capacity(self: *const Self) usize {
            return c.annulus_consumer_capacity(self.raw);
        }

        /// Closes the queue, and wakes all threads that wait. Sends fail from now on; messages that were sent before can still be
        /// received. No effect on a closed queue. The handle stays, and is to be freed.
        pub fn close(self: *Self) void {
            status.expect(c.annulus_consumer_close(self.raw));
        }

        /// Whether the queue is closed. There may be messages left. True after `deinit`.
        pub fn isClosed(self: *const Self) bool {
            return c.annulus_consumer_is_closed(self.raw);
        }

        /// What closes the queue from any thread. The caller owns it.
        pub fn closer(self: *const Self) Closer {
            return .of(self.raw, c.annulus_consumer_closer);
        }

        /// The numbers of the queue. It allocates; the queue goes on meanwhile.
        pub fn stats(self: *const Self) Stats {
            return .of(self.raw, c.annulus_consumer_stats);
        }

        /// Frees the consumer, and closes its descriptor. With the last consumer the queue closes, and what nobody received is gone.
        /// No effect the second time.
        pub fn deinit(self: *Self) void {
            status.expect(c.annulus_consumer_free(self.raw));
            self.raw = null;
        }

        /// What a look at the ring stores.
        const Shown = struct {
            first: ?*const anyopaque = null,
            count: usize = 0,

            fn slice(shown: Shown) []const T {
                const first: [*]const T = @ptrCast(@alignCast(shown.first.?));
                return first[0..shown.count];
            }
        };

        fn checkInPlace() void {
            if (comptime kind.manyConsumers()) @compileError("a queue of many consumers shows no messages: use annulus.spsc or mpsc");
            message.checkInPlace(T);
        }
    };
}
