//! Broadcast rings: each subscriber sees every message, or is told how many it lost.

const std = @import("std");
const c = @import("c");
const message = @import("message.zig");
const status = @import("status.zig");
const Closer = @import("closer.zig").Closer;
const Options = @import("options.zig").Options;
const Stats = @import("stats.zig").Stats;

/// Who publishes, and whether a slow subscriber loses messages or holds the publisher up.
pub const Kind = enum(u32) {
    lossy = c.ANNULUS_LOSSY,
    lossless = c.ANNULUS_LOSSLESS,
    mp_lossy = c.ANNULUS_MP_LOSSY,
    mp_lossless = c.ANNULUS_MP_LOSSLESS,
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
        pub const Subscribable = SubscribableOf(T);
        pub const Subscriber = SubscriberOf(T);
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
fn PublisherOf(comptime ring: Kind, comptime T: type) type {
    return struct {
        const Self = @This();

        raw: ?*c.annulus_publisher,

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
            if (comptime ring == .lossy or ring == .lossless) @compileError("a ring of one publisher: use annulus.broadcast.MpLossy or MpLossless");
            var another: ?*c.annulus_publisher = null;
            status.expect(c.annulus_publisher_clone(self.raw, &another));
            return .{ .raw = another };
        }

        /// How many messages the ring holds: exactly what was asked for.
        pub fn capacity(self: *const Self) usize {
            return c.annulus_publisher_capacity(self.raw);
        }

        /// Closes the ring, and wakes all threads that wait. Subscribers receive what was published before, and then `error.Closed`. No
        /// effect on a closed ring. The handle stays, and is to be freed.
        pub fn close(self: *Self) void {
            status.expect(c.annulus_publisher_close(self.raw));
        }

        /// Whether the ring is closed: publishing fails from now on. True after `deinit`.
        pub fn isClosed(self: *const Self) bool {
            return c.annulus_publisher_is_closed(self.raw);
        }

        /// What closes the ring from any thread. The caller owns it.
        pub fn closer(self: *const Self) Closer {
            return .of(self.raw, c.annulus_publisher_closer);
        }

        /// The numbers of the ring. It allocates; the ring goes on meanwhile.
        pub fn stats(self: *const Self) Stats {
            return .of(self.raw, c.annulus_publisher_stats);
        }

        /// Frees the publisher. With the last publisher the ring closes; subscribers receive what was published before. No effect the
        /// second time.
        pub fn deinit(self: *Self) void {
            status.expect(c.annulus_publisher_free(self.raw));
            self.raw = null;
        }
    };
}

/// What makes subscribers. Any thread may use it, several at once, too. While there is one, somebody may still join, so a publisher
/// that nobody listens to does not fail.
fn SubscribableOf(comptime T: type) type {
    return struct {
        const Self = @This();

        raw: ?*c.annulus_subscribable,

        /// Makes a subscriber, which the caller owns. One of a closed ring receives what is there, and then `error.Closed`.
        pub fn subscribe(self: *const Self, from: From) SubscriberOf(T) {
            var subscriber: ?*c.annulus_subscriber = null;
            status.expect(c.annulus_subscribable_subscribe(self.raw, from == .oldest, &subscriber));
            return .{ .raw = subscriber };
        }

        /// Frees it. Nobody joins any more; subscribers stay. No effect the second time.
        ///
        /// One thread may call this, when no other one uses it any more.
        pub fn deinit(self: *Self) void {
            status.expect(c.annulus_subscribable_free(self.raw));
            self.raw = null;
        }
    };
}

/// A receiving end of a broadcast ring. One thread at a time uses it; it may move to another thread. Give a thread a pointer to it, and
/// don't copy it: a copy is the same subscriber.
///
/// Of all functions here, `error.Closed` says that the ring is closed and every message was received. It stays so.
fn SubscriberOf(comptime T: type) type {
    return struct {
        const Self = @This();

        raw: ?*c.annulus_subscriber,

        /// The next message, or null if none is there. Never waits. A subscriber of a lossy ring that has lost messages goes on with
        /// one that is there: `lagged` says how many it lost.
        pub fn tryRecv(self: *Self) error{Closed}!?T {
            var value: T = undefined;
            const code = c.annulus_subscriber_try_recv(self.raw, @ptrCast(&value), @sizeOf(T));
            if (code == c.ANNULUS_EMPTY) return null;
            try status.check(error{Closed}, code);
            return value;
        }

        /// As `tryRecv`, but waits while none is there, in the way of the options.
        pub fn recv(self: *Self) error{Closed}!T {
            var value: T = undefined;
            try status.check(error{Closed}, c.annulus_subscriber_recv(self.raw, @ptrCast(&value), @sizeOf(T)));
            return value;
        }

        /// As `recv`, but gives up after so many nanoseconds. With 0 it still receives a message that is there.
        ///
        /// `error.Timeout`: none came in time.
        pub fn recvTimeout(self: *Self, timeout_ns: u64) error{ Timeout, Closed }!T {
            var value: T = undefined;
            const code = c.annulus_subscriber_recv_timeout(self.raw, @ptrCast(&value), @sizeOf(T), timeout_ns);
            try status.check(error{ Timeout, Closed }, code);
            return value;
        }

        /// How many messages this subscriber has lost, exactly, since it joined: what it received and what it lost are all that was
        /// published up to where it is. Always 0 on a lossless ring.
        pub fn lagged(self: *const Self) u64 {
            return c.annulus_subscriber_lagged(self.raw);
        }

        /// How many messages this subscriber has received since it joined.
        pub fn received(self: *const Self) u64 {
            return c.annulus_subscriber_received(self.raw);
        }

        /// How many messages are there for this subscriber. It may have changed when this returns.
        pub fn len(self: *const Self) usize {
            return c.annulus_subscriber_len(self.raw);
        }

        /// A file descriptor for poll, epoll or io_uring, as `fd` of a consumer.
        pub fn fd(self: *Self) error{ SystemResources, Unsupported }!std.posix.fd_t {
            var descriptor: c_int = -1;
            try status.check(error{ SystemResources, Unsupported }, c.annulus_subscriber_fd(self.raw, &descriptor));
            return descriptor;
        }

        /// Arms the descriptor, before each wait for it. Returns whether a message, or the end, is there already: then it is not
        /// armed, and you receive first. A receive disarms it. It is misuse before `fd`.
        pub fn arm(self: *Self) bool {
            var ready = true;
            status.expect(c.annulus_subscriber_arm(self.raw, &ready));
            return ready;
        }

        /// Whether the ring is closed. There may be messages left. True after `deinit`.
        pub fn isClosed(self: *const Self) bool {
            return c.annulus_subscriber_is_closed(self.raw);
        }

        /// The numbers of the ring. It allocates; the ring goes on meanwhile.
        pub fn stats(self: *const Self) Stats {
            return .of(self.raw, c.annulus_subscriber_stats);
        }

        /// Frees the subscriber, and closes its descriptor: publishers of a lossless ring wait for it no longer. No effect the second
        /// time.
        pub fn deinit(self: *Self) void {
            status.expect(c.annulus_subscriber_free(self.raw));
            self.raw = null;
        }
    };
}
