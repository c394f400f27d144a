//! Broadcast rings: each subscriber sees every message, or is told how many it lost.

const c = @import("c");
const message = @import("message.zig");
const status = @import("status.zig");
const calls = @import("calls.zig");
const handle = @import("handle.zig");
const Options = @import("options.zig").Options;

/// How many publish, and whether a slow subscriber loses messages or holds the publisher up.
pub const Kind = enum(u32) {
    lossy = c.ANNULUS_LOSSY,
    lossless = c.ANNULUS_LOSSLESS,
    mp_lossy = c.ANNULUS_MP_LOSSY,
    mp_lossless = c.ANNULUS_MP_LOSSLESS,
    /// Between processes; they have no numbers of their own.
    lossy_across = 0x100,
    lossless_across = 0x101,
    mp_lossy_across = 0x102,
    mp_lossless_across = 0x103,

    fn isAcross(kind: Kind) bool {
        return @backingInt(kind) >= @backingInt(Kind.lossy_across);
    }

    /// Why nothing is received any more.
    fn Ended(comptime kind: Kind) type {
        return if (kind.isAcross()) error{ Closed, PeerDied } else error{Closed};
    }
};

/// Where a new subscriber begins.
pub const From = enum {
    /// With what is published from now on.
    next,
    /// With the oldest message that the ring still has.
    oldest,
};

/// A broadcast ring: its first publisher, and what makes subscribers.
pub fn Channel(comptime ring: Kind, comptime T: type) type {
    message.check(T, true);
    return struct {
        const Self = @This();

        pub const kind = ring;
        pub const Message = T;
        pub const Publisher = PublisherOf(ring, T);
        pub const Subscribable = SubscribableOf(ring, T);
        pub const Subscriber = SubscriberOf(ring, T);
        pub const InitError = error{ InvalidCapacity, OutOfMemory };

        publisher: Publisher,
        subscribable: Subscribable,

        /// Makes the ring. All its memory is allocated here, and freed with the last of its handles.
        ///
        /// The caller owns both handles. Each is freed by its own `deinit`, or by `deinit` of the channel. Any thread may call this.
        ///
        /// `error.InvalidCapacity`: it is 0. `error.OutOfMemory`: there is no memory for so many messages.
        pub fn init(options: Options) InitError!Self {
            status.checkLibrary();
            const raw = options.raw(@sizeOf(T));
            var publisher: ?*c.annulus_publisher = null;
            var subscribable: ?*c.annulus_subscribable = null;
            try status.check(InitError, c.annulus_broadcast_new(@backingInt(ring), &raw, &publisher, &subscribable));
            return .{ .publisher = .{ .raw = publisher }, .subscribable = .{ .raw = subscribable } };
        }

        /// Makes a subscriber, which the caller owns: `subscribable.subscribe`.
        pub fn subscribe(self: *const Self, from: From) Subscriber {
            return self.subscribable.subscribe(from);
        }

        /// Frees those of the two handles that were not freed yet. Other publishers, and subscribers, stay.
        ///
        /// One thread may call this, when no other one uses the two handles any more.
        pub fn deinit(self: *Self) void {
            self.publisher.deinit();
            self.subscribable.deinit();
        }
    };
}

/// The sending end of a broadcast ring. One thread at a time uses it; it may move to another thread. Give a thread a pointer to it, and
/// don't copy it: a copy is the same publisher.
pub fn PublisherOf(comptime ring: Kind, comptime T: type) type {
    return struct {
        const Self = @This();
        const end = handle.End(Self, "publisher");

        raw: ?*c.annulus_publisher,

        pub const capacity = end.capacity;
        pub const close = end.close;
        pub const isClosed = end.isClosed;
        pub const closer = end.closer;
        pub const stats = end.stats;
        pub const deinit = end.deinit;

        /// Publishes a copy of the message. On a lossless ring it waits while the slowest subscriber has not received the message that
        /// lies where this one will, in the way of the options. On a lossy ring it waits for nobody.
        ///
        /// `error.Closed`: the ring is closed, or was closed while this waited; or no subscriber is left, and none can come.
        pub fn publish(self: *Self, value: T) error{Closed}!void {
            return status.check(error{Closed}, c.annulus_publisher_publish(self.raw, @ptrCast(&value), @sizeOf(T)));
        }

        /// As `publish`, but never waits for a subscriber.
        ///
        /// `error.Full`: it would have to wait.
        pub fn tryPublish(self: *Self, value: T) error{ Full, Closed }!void {
            return status.check(error{ Full, Closed }, c.annulus_publisher_try_publish(self.raw, @ptrCast(&value), @sizeOf(T)));
        }

        /// As `publish`, but gives up after so many nanoseconds.
        ///
        /// `error.Timeout`: there was no room in time.
        pub fn publishTimeout(self: *Self, value: T, timeout_ns: u64) error{ Timeout, Closed }!void {
            const code = c.annulus_publisher_publish_timeout(self.raw, @ptrCast(&value), @sizeOf(T), timeout_ns);
            return status.check(error{ Timeout, Closed }, code);
        }

        /// Makes another publisher of the same ring, which the caller owns. Only in `MpLossy` and `MpLossless`.
        ///
        /// The thread that uses this one may call it; another thread may use the new one.
        pub fn clone(self: *const Self) Self {
            if (comptime ring != .mp_lossy and ring != .mp_lossless) @compileError("a ring of one publisher: use annulus.broadcast.MpLossy or MpLossless");
            var another: ?*c.annulus_publisher = null;
            status.expect(c.annulus_publisher_clone(self.raw, &another));
            return .{ .raw = another };
        }
    };
}

/// What makes subscribers. Any thread may use it, several at once, too. While there is one, somebody may still join, so a publisher
/// that nobody listens to does not fail.
pub fn SubscribableOf(comptime ring: Kind, comptime T: type) type {
    return struct {
        const Self = @This();

        raw: ?*c.annulus_subscribable,

        /// Frees it. Nobody joins any more; subscribers stay. No effect the second time.
        ///
        /// One thread may call this, when no other one uses it any more.
        pub const deinit = handle.End(Self, "subscribable").deinit;

        /// Makes a subscriber, which the caller owns. One of a closed ring receives what is there, and then `error.Closed`. Between processes use
        /// `join`.
        pub fn subscribe(self: *const Self, from: From) SubscriberOf(ring, T) {
            var subscriber: ?*c.annulus_subscriber = null;
            status.expect(c.annulus_subscribable_subscribe(self.raw, from == .oldest, &subscriber));
            return .{ .raw = subscriber };
        }

        /// As `subscribe`, between processes.
        ///
        /// `error.Occupied`: all seats of a lossless ring are taken.
        pub fn join(self: *const Self, from: From) error{Occupied}!SubscriberOf(ring, T) {
            var subscriber: ?*c.annulus_subscriber = null;
            try status.check(error{Occupied}, c.annulus_subscribable_subscribe(self.raw, from == .oldest, &subscriber));
            return .{ .raw = subscriber };
        }
    };
}

/// A receiving end of a broadcast ring. One thread at a time uses it; it may move to another thread. Give a thread a pointer to it, and
/// don't copy it: a copy is the same subscriber.
///
/// Of all functions here, `error.Closed` says that the ring is closed and every message was received. It stays so.
pub fn SubscriberOf(comptime ring: Kind, comptime T: type) type {
    return struct {
        const Self = @This();
        const end = handle.End(Self, "subscriber");
        const receiving = handle.Receiving(Self, T);

        raw: ?*c.annulus_subscriber,
        way: calls.Subscriber = .init(),

        /// `error.Closed`, and between processes `error.PeerDied`: the process of the publisher has ended, and nobody had closed the ring.
        pub const Ended = ring.Ended();
        /// That, and between processes `error.Corrupt` if `T` has a `bool`, an `enum` or a `Text`.
        pub const RecvError = if (ring.isAcross() and !message.isAnyBytes(T)) error{Corrupt} || Ended else Ended;

        pub const tryRecv = receiving.tryRecv;
        pub const recv = receiving.recv;
        pub const recvTimeout = receiving.recvTimeout;
        pub const fd = end.fd;
        pub const arm = end.arm;
        pub const len = end.len;
        pub const isClosed = end.isClosed;
        pub const stats = end.stats;
        pub const deinit = end.deinit;
        /// Between processes only.
        pub const peer = end.peer;

        /// How many messages this subscriber has lost, exactly, since it joined: what it received and what it lost are all that was
        /// published up to where it is. Always 0 on a lossless ring.
        pub fn lagged(self: *const Self) u64 {
            return c.annulus_subscriber_lagged(self.raw);
        }

        /// How many messages were passed over, because another process had written what is no `T`.
        pub fn corrupt(self: *const Self) u64 {
            return c.annulus_subscriber_corrupt(self.raw);
        }

        /// History: begins with the last `count` messages, or as many as there are, and returns how many these are. For a subscriber that
        /// has just joined `.oldest`, and has received nothing yet.
        pub fn beginWithLast(self: *Self, count: usize) usize {
            var there: usize = 0;
            status.expect(c.annulus_subscriber_begin_with_last(self.raw, count, &there));
            return there;
        }

        /// The number of the next message.
        pub fn cursor(self: *const Self) u64 {
            return c.annulus_subscriber_cursor(self.raw);
        }

        /// Between processes: after how many nanoseconds of silence the publisher is overdue, as it has promised, or as this process has said
        /// when it joined; 0 if neither has said anything.
        pub fn deadline(self: *const Self) u64 {
            return c.annulus_subscriber_deadline(self.raw);
        }

        /// Between processes: for how many nanoseconds the publisher has been silent, if it is overdue, and its process is there: so it hangs.
        /// Otherwise null. A program that waits by the deadline (`recvTimeout`), and asks when that was in vain, is told at once.
        pub fn overdue(self: *Self) ?u64 {
            const silence = c.annulus_subscriber_overdue(self.raw);
            return if (silence == 0) null else silence;
        }

        /// How many messages this subscriber has received since it joined.
        pub fn received(self: *const Self) u64 {
            return c.annulus_subscriber_received(self.raw);
        }
    };
}
