//! Queues: each message reaches one consumer.

const c = @import("c");
const message = @import("message.zig");
const status = @import("status.zig");
const Options = @import("options.zig").Options;

pub const Producer = @import("producer.zig").Producer;
pub const Consumer = @import("consumer.zig").Consumer;

/// How many send, and how many receive.
pub const Kind = enum(u32) {
    spsc = c.ANNULUS_SPSC,
    mpsc = c.ANNULUS_MPSC,
    spmc = c.ANNULUS_SPMC,
    mpmc = c.ANNULUS_MPMC,
    ordered = c.ANNULUS_ORDERED,
    /// Between processes; the library tells them by the call that makes them, and has no numbers for them.
    spsc_across = 0x100,
    mpsc_across = 0x101,
    mpmc_across = 0x102,

    pub fn isAcross(kind: Kind) bool {
        return kind == .spsc_across or kind == .mpsc_across or kind == .mpmc_across;
    }

    /// Why nothing is sent or received any more.
    pub fn Ended(comptime kind: Kind) type {
        return if (kind.isAcross()) error{ Closed, PeerDied } else error{Closed};
    }

    pub fn manyProducers(kind: Kind) bool {
        return kind == .mpsc or kind == .mpmc or kind == .ordered;
    }

    pub fn manyConsumers(kind: Kind) bool {
        return kind == .spmc or kind == .mpmc or kind == .ordered or kind == .mpmc_across;
    }
};

/// A queue: its first producer and its first consumer.
pub fn Channel(comptime queue: Kind, comptime T: type) type {
    message.check(T, queue.manyConsumers());
    return struct {
        const Self = @This();

        pub const kind = queue;
        pub const Message = T;
        pub const Producer = @import("producer.zig").Producer(queue, T);
        pub const Consumer = @import("consumer.zig").Consumer(queue, T);
        pub const InitError = error{ InvalidCapacity, OutOfMemory };

        producer: Self.Producer,
        consumer: Self.Consumer,

        /// Makes the queue. All memory of its ring is allocated here, and freed with the last of its handles.
        ///
        /// The caller owns both handles. Each is freed by its own `deinit`, where a thread ends that uses it, or by `deinit` of
        /// the channel. Any thread may call this.
        ///
        /// `error.InvalidCapacity`: it is 0. `error.OutOfMemory`: there is no memory for so many messages.
        pub fn init(options: Options) InitError!Self {
            status.checkLibrary();
            const raw = options.raw(@sizeOf(T));
            var producer: ?*c.annulus_producer = null;
            var consumer: ?*c.annulus_consumer = null;
            try status.check(InitError, c.annulus_queue_new(@backingInt(queue), &raw, &producer, &consumer));
            return .{ .producer = .{ .raw = producer }, .consumer = .{ .raw = consumer } };
        }

        /// Frees those of the two handles that were not freed yet. Other producers and consumers of the queue stay.
        ///
        /// One thread may call this, when no other one uses the two handles any more.
        pub fn deinit(self: *Self) void {
            self.producer.deinit();
            self.consumer.deinit();
        }
    };
}
