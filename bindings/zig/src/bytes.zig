//! Records: byte strings of any length, in queues and in broadcast rings. (Between processes: `shm.Bytes`.)

const c = @import("c");
const handle = @import("handle.zig");
const status = @import("status.zig");
const Options = @import("options.zig").Options;
const From = @import("broadcast.zig").From;
const Kind = @import("broadcast.zig").Kind;

/// `error.InvalidCapacity`: the capacity is too small, or 0. `error.OutOfMemory`: there is no memory for so many bytes.
pub const InitError = error{ InvalidCapacity, OutOfMemory };

/// Why nothing is sent or received any more.
fn Ended(comptime is_across: bool) type {
    return if (is_across) error{ Closed, PeerDied } else error{Closed};
}

/// A queue of records of up to half its capacity, which is in bytes: its producer and its consumer.
///
/// A record takes 8 bytes for its length, and its own bytes, rounded up to a multiple of 8. It is never split: where it would run over the
/// end of the ring, the rest of that stays empty. So make the ring several times as large as what is to lie in it.
pub const Queue = struct {
    pub const Producer = ProducerOf(false);
    pub const Consumer = ConsumerOf(false);

    producer: Queue.Producer,
    consumer: Queue.Consumer,

    /// Makes the queue. All memory of its ring is allocated here, and freed with the last of its handles. The smallest capacity is 2.
    ///
    /// The caller owns both handles. Each is freed by its own `deinit`, where a thread ends that uses it, or by `deinit` of the queue.
    /// Any thread may call this.
    pub fn init(options: Options) InitError!Queue {
        status.checkLibrary();
        const raw = options.raw(1);
        var producer: ?*c.annulus_bytes_producer = null;
        var consumer: ?*c.annulus_bytes_consumer = null;
        try status.check(InitError, c.annulus_bytes_queue_new(&raw, &producer, &consumer));
        return .{ .producer = .{ .raw = producer }, .consumer = .{ .raw = consumer } };
    }

    /// Frees those of the two handles that were not freed yet.
    ///
    /// One thread may call this, when no other one uses the two handles any more.
    pub fn deinit(queue: *Queue) void {
        queue.producer.deinit();
        queue.consumer.deinit();
    }
};

/// The sending end of a queue of records. One thread at a time uses it; it may move to another thread. Give a thread a pointer to it, and
/// don't copy it: a copy is the same producer.
///
/// Of all functions here, `error.TooLong` says that the record is longer than `maxLen`, so it never finds room. `error.Closed`: nobody is
/// left to receive, or somebody closed the queue. Nothing is sent then. It is misuse to send while a reservation is open.
pub fn ProducerOf(comptime is_across: bool) type {
    return struct {
        const Self = @This();
        const end = handle.End(Self, "bytes_producer");

        raw: ?*c.annulus_bytes_producer,

        /// `error.Closed`, and between processes `error.PeerDied`: the process of the consumer has ended, and nobody had closed the queue.
        pub const SendError = error{TooLong} || Ended(is_across);
        const Refused = error{Full} || SendError;
        const Late = error{Timeout} || SendError;

        /// In bytes.
        pub const capacity = end.capacity;
        pub const close = end.close;
        pub const isClosed = end.isClosed;
        pub const closer = end.closer;
        /// In words of 8 bytes: a record takes one for its length, and one for each 8 bytes that it begins.
        pub const stats = end.stats;
        pub const deinit = end.deinit;
        /// Between processes only.
        pub const peer = end.peer;

        /// Sends a copy of the record, if there is room. Never waits. A record may be empty.
        ///
        /// `error.Full`: there is no room now.
        pub fn trySend(self: *Self, record: []const u8) Refused!void {
            return status.check(Refused, c.annulus_bytes_producer_try_send(self.raw, record.ptr, record.len));
        }

        /// As `trySend`, but waits while there is no room, in the way of the options.
        pub fn send(self: *Self, record: []const u8) SendError!void {
            return status.check(SendError, c.annulus_bytes_producer_send(self.raw, record.ptr, record.len));
        }

        /// As `send`, but gives up after so many nanoseconds. With 0 it still sends if there is room.
        ///
        /// `error.Timeout`: no room came in time.
        pub fn sendTimeout(self: *Self, record: []const u8, timeout_ns: u64) Late!void {
            return status.check(Late, c.annulus_bytes_producer_send_timeout(self.raw, record.ptr, record.len, timeout_ns));
        }

        /// Reserves room in the ring for a record of up to `length` bytes, to be written there. Never waits.
        ///
        /// There is one reservation at a time; it is misuse to reserve twice. Between processes the other process can write to the bytes
        /// meanwhile: do not rely on what you read back.
        ///
        /// `error.Full`: there is no room now.
        pub fn tryReserve(self: *Self, length: usize) Refused!Reservation {
            var bytes: ?*anyopaque = null;
            try status.check(Refused, c.annulus_bytes_producer_try_reserve(self.raw, length, &bytes));
            return .of(self.raw, bytes, length);
        }

        /// As `tryReserve`, but waits while there is no room for all of it.
        pub fn reserve(self: *Self, length: usize) SendError!Reservation {
            var bytes: ?*anyopaque = null;
            try status.check(SendError, c.annulus_bytes_producer_reserve(self.raw, length, c.ANNULUS_FOREVER, &bytes));
            return .of(self.raw, bytes, length);
        }

        /// As `reserve`, but gives up after so many nanoseconds.
        ///
        /// `error.Timeout`: no room came in time.
        pub fn reserveTimeout(self: *Self, length: usize, timeout_ns: u64) Late!Reservation {
            var bytes: ?*anyopaque = null;
            try status.check(Late, c.annulus_bytes_producer_reserve(self.raw, length, timeout_ns, &bytes));
            return .of(self.raw, bytes, length);
        }

        /// The length of the longest record that the queue takes: half its capacity.
        pub fn maxLen(self: *const Self) usize {
            return c.annulus_bytes_producer_max_len(self.raw);
        }

        /// Whether the consumer has received every record. If so, this stays true until this producer sends.
        pub fn isEmpty(self: *const Self) bool {
            return c.annulus_bytes_producer_is_empty(self.raw);
        }

        /// Room in the ring for one record. It ends by `commit`, which sends the record, or by `cancel`.
        pub const Reservation = struct {
            /// To be written. Their values are not defined before.
            bytes: []u8,
            raw: ?*c.annulus_bytes_producer,

            fn of(raw: ?*c.annulus_bytes_producer, bytes: ?*anyopaque, length: usize) Reservation {
                const first: [*]u8 = @ptrCast(bytes.?);
                return .{ .bytes = first[0..length], .raw = raw };
            }

            /// Sends the first `length` bytes as one record. The bytes are no longer the caller's.
            ///
            /// `error.Closed`: nothing is sent. It is misuse to commit more than was reserved, or twice.
            pub fn commit(reservation: *Reservation, length: usize) Ended(is_across)!void {
                const raw = reservation.raw;
                const is_too_long = length > reservation.bytes.len;
                reservation.* = .{ .bytes = &.{}, .raw = null };
                if (is_too_long) status.expect(c.ANNULUS_INVALID);
                return status.check(Ended(is_across), c.annulus_bytes_producer_commit(raw, length));
            }

            /// Sends nothing. No effect on one that has ended: `defer reservation.cancel();`.
            pub fn cancel(reservation: *Reservation) void {
                if (reservation.raw) |raw| status.expect(c.annulus_bytes_producer_cancel(raw));
                reservation.* = .{ .bytes = &.{}, .raw = null };
            }
        };
    };
}

/// The verbs of an end that receives records, over the functions `annulus_NAME_…` of C.
///
/// A record goes into a buffer of the caller, and the result is the part of the buffer that it fills.
fn Receiving(comptime Self: type, comptime name: []const u8) type {
    const prefix = "annulus_" ++ name ++ "_";
    return struct {
        /// The next record, or null if none is there. Never waits. A subscriber that has lost records goes on with one that is there.
        ///
        /// `error.TooSmall`, of all three: the record is longer than the buffer. `needed` is how long it is, and it is still the next one.
        pub fn tryRecv(self: *Self, buffer: []u8) Self.RecvError!?[]u8 {
            const code = @field(c, prefix ++ "try_recv")(self.raw, buffer.ptr, buffer.len, &self.needed);
            if (code == c.ANNULUS_EMPTY) return null;
            try status.check(Self.RecvError, code);
            return buffer[0..self.needed];
        }

        /// The next record. Waits while none is there, in the way of the options.
        pub fn recv(self: *Self, buffer: []u8) Self.RecvError![]u8 {
            try status.check(Self.RecvError, @field(c, prefix ++ "recv")(self.raw, buffer.ptr, buffer.len, &self.needed));
            return buffer[0..self.needed];
        }

        /// As `recv`, but gives up after so many nanoseconds. With 0 it still receives a record that is there.
        ///
        /// `error.Timeout`: none came in time.
        pub fn recvTimeout(self: *Self, buffer: []u8, timeout_ns: u64) (error{Timeout} || Self.RecvError)![]u8 {
            const code = @field(c, prefix ++ "recv_timeout")(self.raw, buffer.ptr, buffer.len, &self.needed, timeout_ns);
            try status.check(error{Timeout} || Self.RecvError, code);
            return buffer[0..self.needed];
        }

        /// The length of the longest record that the ring takes, half its capacity: a buffer of so many bytes takes each.
        pub fn maxLen(self: *const Self) usize {
            return @field(c, prefix ++ "max_len")(self.raw);
        }
    };
}

/// The receiving end of a queue of records. One thread at a time uses it; it may move to another thread. Give a thread a pointer to it, and
/// don't copy it: a copy is the same consumer.
///
/// Of all functions here, `error.Closed` says that the queue is closed and every record was received. It stays so.
pub fn ConsumerOf(comptime is_across: bool) type {
    return struct {
        const Self = @This();
        const end = handle.End(Self, "bytes_consumer");
        const receiving = Receiving(Self, "bytes_consumer");
        const Over = Ended(is_across);

        raw: ?*c.annulus_bytes_consumer,
        /// How long the record of the last receive is, also where it did not fit.
        needed: usize = 0,

        /// `error.Closed`, and between processes `error.PeerDied`: the process of the producer has ended, and nobody had closed the queue.
        pub const RecvError = error{TooSmall} || Over;

        pub const tryRecv = receiving.tryRecv;
        pub const recv = receiving.recv;
        pub const recvTimeout = receiving.recvTimeout;
        pub const maxLen = receiving.maxLen;
        pub const fd = end.fd;
        pub const arm = end.arm;
        /// In bytes.
        pub const capacity = end.capacity;
        pub const close = end.close;
        pub const isClosed = end.isClosed;
        pub const closer = end.closer;
        /// In words of 8 bytes, as those of the producer.
        pub const stats = end.stats;
        pub const deinit = end.deinit;
        /// Between processes only.
        pub const peer = end.peer;

        /// The next record, where it lies in the ring, or null if none is there. Never waits.
        ///
        /// It stays in the queue, and may be read, until `advance` gives it back, or until the next receive, which receives it.
        ///
        /// Between processes the other process can write to the record while it is read. Unless you trust it not to, receive to a buffer,
        /// and check that.
        pub fn tryReadable(self: *Self) Over!?[]const u8 {
            return self.shown(0) catch |err| switch (err) {
                error.Timeout => null,
                else => |over| over,
            };
        }

        /// As `tryReadable`, but waits for one.
        pub fn readable(self: *Self) Over![]const u8 {
            return self.shown(c.ANNULUS_FOREVER) catch |err| switch (err) {
                error.Timeout => unreachable,
                else => |over| over,
            };
        }

        /// As `readable`, but gives up after so many nanoseconds. With 0 it still shows a record that is there.
        ///
        /// `error.Timeout`: none came in time.
        pub fn readableTimeout(self: *Self, timeout_ns: u64) (error{Timeout} || Over)![]const u8 {
            return self.shown(timeout_ns);
        }

        fn shown(self: *Self, timeout_ns: u64) (error{Timeout} || Over)![]const u8 {
            var record: ?*const anyopaque = null;
            var length: usize = 0;
            const code = c.annulus_bytes_consumer_readable(self.raw, timeout_ns, &record, &length);
            if (code == c.ANNULUS_EMPTY) return error.Timeout;
            try status.check(error{Timeout} || Over, code);
            const first: [*]const u8 = @ptrCast(record.?);
            return first[0..length];
        }

        /// Takes the record that was shown out of the queue. Its room goes back to the producer at once. It is misuse where none was shown.
        pub fn advance(self: *Self) void {
            status.expect(c.annulus_bytes_consumer_advance(self.raw));
        }

        /// Whether no record is there. It may have changed when this returns.
        pub fn isEmpty(self: *const Self) bool {
            return c.annulus_bytes_consumer_is_empty(self.raw);
        }
    };
}

/// A broadcast ring of records of up to half its capacity: its publisher, which never waits, and what makes subscribers. A subscriber that
/// falls behind loses the oldest records, and can tell how many.
///
/// The capacity is in bytes, and is rounded up to a power of two and to 64. The ring holds the newest records that have together at most
/// 15/16 of it, and are at most a 32nd of it.
pub const Lossy = Broadcast(.lossy);

/// As `Lossy`, but the publisher waits for the slowest subscriber: nobody loses a record.
pub const Lossless = Broadcast(.lossless);

fn Broadcast(comptime kind: Kind) type {
    return struct {
        const Ring = @This();

        pub const Publisher = BytesPublisher;
        pub const Subscribable = BytesSubscribable;
        pub const Subscriber = BytesSubscriber;

        publisher: Publisher,
        subscribable: Subscribable,

        /// Makes the ring. All its memory, twice the capacity, is allocated here, and freed with the last of its handles.
        ///
        /// The caller owns both handles. Each is freed by its own `deinit`, or by `deinit` of the ring. Any thread may call this.
        pub fn init(options: Options) InitError!Ring {
            status.checkLibrary();
            const raw = options.raw(1);
            var publisher: ?*c.annulus_bytes_publisher = null;
            var subscribable: ?*c.annulus_bytes_subscribable = null;
            try status.check(InitError, c.annulus_bytes_broadcast_new(@backingInt(kind), &raw, &publisher, &subscribable));
            return .{ .publisher = .{ .raw = publisher }, .subscribable = .{ .raw = subscribable } };
        }

        /// Makes a subscriber, which the caller owns: `subscribable.subscribe`.
        pub fn subscribe(ring: *const Ring, from: From) Subscriber {
            return ring.subscribable.subscribe(from);
        }

        /// Frees those of the two handles that were not freed yet. Subscribers stay.
        ///
        /// One thread may call this, when no other one uses the two handles any more.
        pub fn deinit(ring: *Ring) void {
            ring.publisher.deinit();
            ring.subscribable.deinit();
        }
    };
}

/// The sending end of a broadcast ring of records. One thread at a time uses it; it may move to another thread. Give a thread a pointer to
/// it, and don't copy it.
const BytesPublisher = struct {
    const end = handle.End(BytesPublisher, "bytes_publisher");

    raw: ?*c.annulus_bytes_publisher,

    /// In bytes, as it was rounded up.
    pub const capacity = end.capacity;
    pub const close = end.close;
    pub const isClosed = end.isClosed;
    pub const closer = end.closer;
    /// In records; `capacity` is how many of them the ring holds at most.
    pub const stats = end.stats;
    pub const deinit = end.deinit;

    /// Publishes a copy of the record, which may be empty. On a lossless ring it waits while the slowest subscriber has not received the
    /// oldest records, in whose place it goes, in the way of the options. On a lossy ring it waits for nobody.
    ///
    /// `error.TooLong`: it is longer than `maxLen`. `error.Closed`: the ring is closed, or was closed while this waited.
    pub fn publish(publisher: *BytesPublisher, record: []const u8) error{ TooLong, Closed }!void {
        return status.check(error{ TooLong, Closed }, c.annulus_bytes_publisher_publish(publisher.raw, record.ptr, record.len));
    }

    /// As `publish`, but never waits for a subscriber.
    ///
    /// `error.Full`: it would have to wait.
    pub fn tryPublish(publisher: *BytesPublisher, record: []const u8) error{ Full, TooLong, Closed }!void {
        const code = c.annulus_bytes_publisher_try_publish(publisher.raw, record.ptr, record.len);
        return status.check(error{ Full, TooLong, Closed }, code);
    }

    /// As `publish`, but gives up after so many nanoseconds.
    ///
    /// `error.Timeout`: there was no room in time.
    pub fn publishTimeout(publisher: *BytesPublisher, record: []const u8, timeout_ns: u64) error{ Timeout, TooLong, Closed }!void {
        const code = c.annulus_bytes_publisher_publish_timeout(publisher.raw, record.ptr, record.len, timeout_ns);
        return status.check(error{ Timeout, TooLong, Closed }, code);
    }

    /// The length of the longest record that the ring takes: half its capacity.
    pub fn maxLen(publisher: *const BytesPublisher) usize {
        return c.annulus_bytes_publisher_max_len(publisher.raw);
    }
};

/// What makes subscribers. Any thread may use it, several at once, too.
const BytesSubscribable = struct {
    raw: ?*c.annulus_bytes_subscribable,

    /// Frees it. Nobody joins any more; subscribers stay. No effect the second time.
    ///
    /// One thread may call this, when no other one uses it any more.
    pub const deinit = handle.End(BytesSubscribable, "bytes_subscribable").deinit;

    /// Makes a subscriber, which the caller owns. One of a closed ring receives what is there, and then `error.Closed`. It allocates a
    /// buffer for the longest record.
    pub fn subscribe(subscribable: *const BytesSubscribable, from: From) BytesSubscriber {
        var subscriber: ?*c.annulus_bytes_subscriber = null;
        status.expect(c.annulus_bytes_subscribable_subscribe(subscribable.raw, from == .oldest, &subscriber));
        return .{ .raw = subscriber };
    }
};

/// A receiving end of a broadcast ring of records. One thread at a time uses it; it may move to another thread. Give a thread a pointer to
/// it, and don't copy it.
///
/// Of all functions here, `error.Closed` says that the ring is closed and every record was received. It stays so.
const BytesSubscriber = struct {
    const end = handle.End(BytesSubscriber, "bytes_subscriber");
    const receiving = Receiving(BytesSubscriber, "bytes_subscriber");

    raw: ?*c.annulus_bytes_subscriber,
    /// How long the record of the last receive is, also where it did not fit.
    needed: usize = 0,

    pub const RecvError = error{ TooSmall, Closed };

    pub const tryRecv = receiving.tryRecv;
    pub const recv = receiving.recv;
    pub const recvTimeout = receiving.recvTimeout;
    pub const maxLen = receiving.maxLen;
    pub const fd = end.fd;
    pub const arm = end.arm;
    pub const len = end.len;
    pub const isClosed = end.isClosed;
    /// In records, as those of the publisher.
    pub const stats = end.stats;
    pub const deinit = end.deinit;

    /// How many records this subscriber has lost, exactly, since it joined.
    pub fn lagged(subscriber: *const BytesSubscriber) u64 {
        return c.annulus_bytes_subscriber_lagged(subscriber.raw);
    }

    /// How many records this subscriber has received since it joined.
    pub fn received(subscriber: *const BytesSubscriber) u64 {
        return c.annulus_bytes_subscriber_received(subscriber.raw);
    }
};
