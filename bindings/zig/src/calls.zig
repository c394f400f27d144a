//! By calls of the library: what `spsc.zig` does without a call, for the kinds that it does not know.

const c = @import("c");

/// How a producer sends.
pub const Sender = struct {
    pub fn init() Sender {
        return .{};
    }

    pub fn end(_: *Sender) c.annulus_status {
        return c.ANNULUS_OK;
    }

    pub inline fn send(_: *Sender, raw: ?*c.annulus_producer, comptime T: type, value: *const T, timeout_ns: u64) c.annulus_status {
        return switch (timeout_ns) {
            0 => c.annulus_producer_try_send(raw, @ptrCast(value), @sizeOf(T)),
            c.ANNULUS_FOREVER => c.annulus_producer_send(raw, @ptrCast(value), @sizeOf(T)),
            else => c.annulus_producer_send_timeout(raw, @ptrCast(value), @sizeOf(T), timeout_ns),
        };
    }

    pub fn sendBatch(_: *Sender, raw: ?*c.annulus_producer, comptime T: type, values: []const T, sent: *usize) c.annulus_status {
        return c.annulus_producer_try_send_batch(raw, @ptrCast(values.ptr), values.len, @sizeOf(T), sent);
    }

    pub fn reserve(_: *Sender, raw: ?*c.annulus_producer, comptime T: type, most: usize, timeout_ns: u64, first: *?*anyopaque, count: *usize) c.annulus_status {
        _ = T;
        if (timeout_ns == 0) return c.annulus_producer_try_reserve(raw, most, first, count);
        return c.annulus_producer_reserve(raw, most, timeout_ns, first, count);
    }

    pub fn commit(_: *Sender, raw: ?*c.annulus_producer, comptime T: type, count: usize) c.annulus_status {
        _ = T;
        return c.annulus_producer_commit(raw, count);
    }
};

/// A receive by the functions `annulus_NAME_…`.
fn Recv(comptime Way: type, comptime Raw: type, comptime name: []const u8) type {
    const prefix = "annulus_" ++ name ++ "_";
    return struct {
        inline fn recv(_: *Way, raw: ?*Raw, comptime T: type, value: *T, timeout_ns: u64) c.annulus_status {
            return switch (timeout_ns) {
                0 => @field(c, prefix ++ "try_recv")(raw, @ptrCast(value), @sizeOf(T)),
                c.ANNULUS_FOREVER => @field(c, prefix ++ "recv")(raw, @ptrCast(value), @sizeOf(T)),
                else => @field(c, prefix ++ "recv_timeout")(raw, @ptrCast(value), @sizeOf(T), timeout_ns),
            };
        }
    };
}

/// How a subscriber receives.
pub const Subscriber = struct {
    pub fn init() Subscriber {
        return .{};
    }

    pub fn end(_: *Subscriber) c.annulus_status {
        return c.ANNULUS_OK;
    }

    pub const recv = Recv(Subscriber, c.annulus_subscriber, "subscriber").recv;
};

/// How a consumer receives.
pub const Receiver = struct {
    pub const recv = Recv(Receiver, c.annulus_consumer, "consumer").recv;

    pub fn init() Receiver {
        return .{};
    }

    pub fn end(_: *Receiver) c.annulus_status {
        return c.ANNULUS_OK;
    }

    pub fn recvBatch(_: *Receiver, raw: ?*c.annulus_consumer, comptime T: type, buffer: []T, received: *usize) c.annulus_status {
        return c.annulus_consumer_try_recv_batch(raw, @ptrCast(buffer.ptr), buffer.len, @sizeOf(T), received);
    }

    pub fn readable(_: *Receiver, raw: ?*c.annulus_consumer, comptime T: type, timeout_ns: u64, first: *?*const anyopaque, count: *usize) c.annulus_status {
        _ = T;
        return c.annulus_consumer_readable(raw, timeout_ns, first, count);
    }

    pub fn advance(_: *Receiver, raw: ?*c.annulus_consumer, comptime T: type, count: usize) c.annulus_status {
        _ = T;
        return c.annulus_consumer_advance(raw, count);
    }
};
