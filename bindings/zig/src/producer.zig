//! The sending end of a queue.

const c = @import("c");
const message = @import("message.zig");
const status = @import("status.zig");
const handle = @import("handle.zig");
const Kind = @import("queue.zig").Kind;
const calls = @import("calls.zig");
const spsc = @import("spsc.zig");

/// The sending end of a queue. One thread at a time uses it; it may move to another thread. Give a thread a pointer to it, and don't
/// copy it: a copy is the same producer.
pub fn Producer(comptime kind: Kind, comptime T: type) type {
    message.check(T, kind.manyConsumers());
    return struct {
        const Self = @This();
        const end = handle.End(Self, "producer");

        raw: ?*c.annulus_producer,
        way: if (kind == .spsc) spsc.Sender else calls.Sender = .init(),

        /// `error.Closed`, and between processes `error.PeerDied`: the process of the consumer has ended, and nobody had closed the queue.
        pub const Ended = kind.Ended();
        const Refused = error{Full} || Ended;
        const Late = error{Timeout} || Ended;

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

        /// Sends a copy of the message, if there is room. Never waits.
        ///
        /// `error.Full`: there is no room now. `error.Closed`: nobody is left to receive, or somebody closed the queue.
        /// Misuse while a reservation is open.
        pub fn trySend(self: *Self, value: T) Refused!void {
            return status.check(Refused, self.way.send(self.raw, T, &value, 0));
        }

        /// As `trySend`, but waits while there is no room, in the way of the options.
        ///
        /// `error.Closed`: the queue is closed, or was closed while this waited.
        pub fn send(self: *Self, value: T) Ended!void {
            return status.check(Ended, self.way.send(self.raw, T, &value, c.ANNULUS_FOREVER));
        }

        /// As `send`, but gives up after so many nanoseconds. With 0 it still sends if there is room.
        ///
        /// `error.Timeout`: no room came in time.
        pub fn sendTimeout(self: *Self, value: T, timeout_ns: u64) Late!void {
            const code = self.way.send(self.raw, T, &value, timeout_ns);
            if (code == c.ANNULUS_FULL) return error.Timeout;
            return status.check(Late, code);
        }

        /// Sends copies of as many of the messages as there is room for, from the first on, and returns how many: at least 1,
        /// or 0 if there are none to send. Never waits.
        ///
        /// `error.Full`: there is room for none of them. `error.Closed`, misuse: as `trySend`.
        pub fn trySendBatch(self: *Self, values: []const T) Refused!usize {
            if (values.len == 0) return 0;
            var sent: usize = 0;
            const code = self.way.sendBatch(self.raw, T, values, &sent);
            try status.check(Refused, code);
            return sent;
        }

        /// Reserves up to `most` messages in the ring, to be written there: at least 1, and fewer than `most` if fewer are free,
        /// or if the end of the ring comes first. Never waits. Only in `spsc` and `mpsc`.
        ///
        /// The slots are the caller's until `commit`, which sends them. Their values are not defined before. Between processes
        /// (`annulus.shm`) the other process can write to them meanwhile: do not rely on what you read back.
        ///
        /// `error.Full`: none is free. `error.Closed`: as `trySend`. It is misuse to reserve 0, or twice.
        pub fn tryReserve(self: *Self, most: usize) Refused![]T {
            checkInPlace();
            var slots: Slots = .{};
            const code = self.way.reserve(self.raw, T, most, 0, &slots.first, &slots.count);
            try status.check(Refused, code);
            return slots.slice();
        }

        /// As `tryReserve`, but waits while no slot is free. It waits for one slot, not for `most` of them.
        pub fn reserve(self: *Self, most: usize) Ended![]T {
            checkInPlace();
            var slots: Slots = .{};
            const code = self.way.reserve(self.raw, T, most, c.ANNULUS_FOREVER, &slots.first, &slots.count);
            try status.check(Ended, code);
            return slots.slice();
        }

        /// As `reserve`, but gives up after so many nanoseconds.
        ///
        /// `error.Timeout`: no slot became free in time.
        pub fn reserveTimeout(self: *Self, most: usize, timeout_ns: u64) Late![]T {
            checkInPlace();
            var slots: Slots = .{};
            const code = self.way.reserve(self.raw, T, most, timeout_ns, &slots.first, &slots.count);
            if (code == c.ANNULUS_FULL) return error.Timeout;
            try status.check(Late, code);
            return slots.slice();
        }

        /// Sends the first `count` messages of the reservation, all at once, and ends it. The others are not sent. With 0 it sends
        /// nothing. The slots are no longer the caller's.
        ///
        /// `error.Closed`: nothing is sent. It is misuse to commit more than was reserved.
        pub fn commit(self: *Self, count: usize) Ended!void {
            checkInPlace();
            return status.check(Ended, self.way.commit(self.raw, T, count));
        }

        /// Makes another producer of the same queue, which the caller owns. Only in `mpsc`, `mpmc` and `ordered`.
        ///
        /// The thread that uses this one may call it; another thread may use the new one.
        ///
        /// `error.Closed`: the queue is closed. `error.OutOfMemory`: there is no memory for its ring.
        pub fn clone(self: *const Self) error{ Closed, OutOfMemory }!Self {
            if (comptime !kind.manyProducers()) @compileError("a queue of one producer: use annulus.mpsc, mpmc or ordered");
            var another: ?*c.annulus_producer = null;
            try status.check(error{ Closed, OutOfMemory }, c.annulus_producer_clone(self.raw, &another));
            return .{ .raw = another };
        }

        const Slots = handle.Run(*anyopaque, T);

        fn checkInPlace() void {
            if (comptime kind.manyConsumers()) @compileError("a queue of many consumers has no reservations: use annulus.spsc or mpsc");
            if (comptime !kind.isAcross()) message.checkInPlace(T);
        }
    };
}
