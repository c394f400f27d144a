//! Messages through each kind of queue, and how queues end.

const std = @import("std");
const annulus = @import("annulus");
const testing = std.testing;

const every = .{ annulus.spsc, annulus.mpsc, annulus.spmc, annulus.mpmc, annulus.ordered };

/// With padding, and of a size that is no multiple of 8.
const Record = struct {
    number: u32,
    half: u16,
    text: [5]u8,
    maybe: ?u8,
};

fn record(number: u32) Record {
    return .{ .number = number, .half = @truncate(number), .text = "hello".*, .maybe = if (number % 2 == 0) null else 7 };
}

fn sendRecords(producer: anytype, count: u32) !void {
    defer producer.deinit(); // the last one closes the queue
    for (0..count) |number| try producer.send(record(@intCast(number)));
}

test "each message arrives once, in order, from another thread" {
    inline for (every) |kind| {
        var channel = try kind.Channel(Record).init(.{ .capacity = 10 });
        defer channel.deinit();
        const thread = try std.Thread.spawn(.{}, sendRecords, .{ &channel.producer, 3000 });
        var next: u32 = 0;
        while (channel.consumer.recv()) |got| : (next += 1) {
            try testing.expectEqual(record(next), got);
        } else |err| try testing.expectEqual(error.Closed, err);
        thread.join();
        try testing.expectEqual(3000, next);
    }
}

test "an empty queue and a full one" {
    const waits = [_]annulus.Wait{ .default, .pause_spin, .backoff_spin, .{ .adaptive = .{} }, .{ .block = .{ .spin = 3, .pause = 2 } } };
    inline for (every) |kind| for (waits) |wait| {
        var channel = try kind.Channel(u32).init(.{ .capacity = 2, .wait = wait });
        defer channel.deinit();
        const producer, const consumer = .{ &channel.producer, &channel.consumer };
        try testing.expectEqual(null, try consumer.tryRecv());
        try testing.expectError(error.Timeout, consumer.recvTimeout(1000));
        try producer.trySend(0);
        try producer.sendTimeout(1, 0);
        try testing.expectError(error.Full, producer.trySend(2));
        try testing.expectError(error.Timeout, producer.sendTimeout(2, 1_000_000));
        try testing.expectEqual(2, producer.len());
        try testing.expectEqual(2, consumer.len());
        try testing.expectEqual(2, producer.capacity());
        try testing.expectEqual(2, consumer.capacity());
        try testing.expectEqual(0, try consumer.recv());
        try testing.expectEqual(1, try consumer.recvTimeout(0));
    };
}

test "batches" {
    inline for (every) |kind| {
        var channel = try kind.Channel(u16).init(.{ .capacity = 4 });
        defer channel.deinit();
        var buffer: [16]u16 = undefined;
        try testing.expectEqual(null, try channel.consumer.tryRecvBatch(&buffer));
        try testing.expectEqual(0, try channel.producer.trySendBatch(&.{}));
        var sent: u16 = 0;
        var received: u16 = 0;
        while (sent < 100) {
            const more = [_]u16{ sent, sent + 1, sent + 2 };
            sent += @intCast(channel.producer.trySendBatch(&more) catch |err| switch (err) {
                error.Full => 0,
                else => return err,
            });
            for ((try channel.consumer.tryRecvBatch(buffer[0..2])).?) |value| {
                try testing.expectEqual(received, value);
                received += 1;
            }
        }
        while (try channel.consumer.tryRecvBatch(&buffer)) |values| received += @intCast(values.len);
        try testing.expectEqual(sent, received);
    }
}

fn sendRange(producer: anytype, first: u64, count: u64) !void {
    defer producer.deinit();
    for (first..first + count) |number| try producer.send(number);
}

fn sumUp(consumer: anytype, sum: *u64) void {
    defer consumer.deinit();
    while (consumer.recv()) |number| sum.* += number else |_| {}
}

test "many producers and many consumers" {
    const threads = 3;
    const each = 3000;
    inline for (every) |kind| {
        const Channel = kind.Channel(u64);
        var channel = try Channel.init(.{ .capacity = 10 });
        defer channel.deinit();
        const producers = if (comptime Channel.kind.manyProducers()) threads else 1;
        const consumers = if (comptime Channel.kind.manyConsumers()) threads else 1;
        var sending: [producers]Channel.Producer = @splat(.{ .raw = null });
        var receiving: [consumers]Channel.Consumer = @splat(.{ .raw = null });
        var sums: [consumers]u64 = @splat(0);
        var all: [producers + consumers]std.Thread = undefined;
        // Where there is one, it is that of the channel, which no longer has it.
        if (producers > 1) {
            for (&sending) |*producer| producer.* = try channel.producer.clone();
            channel.producer.deinit();
        } else std.mem.swap(Channel.Producer, &sending[0], &channel.producer);
        if (consumers > 1) {
            for (&receiving) |*consumer| consumer.* = channel.consumer.clone();
            channel.consumer.deinit();
        } else std.mem.swap(Channel.Consumer, &receiving[0], &channel.consumer);
        for (&receiving, &sums, all[0..consumers]) |*consumer, *sum, *thread| {
            thread.* = try std.Thread.spawn(.{}, sumUp, .{ consumer, sum });
        }
        for (&sending, all[consumers..], 0..) |*producer, *thread, index| {
            thread.* = try std.Thread.spawn(.{}, sendRange, .{ producer, 1 + index * each, each });
        }
        for (all) |thread| thread.join();
        var sum: u64 = 0;
        for (sums) |part| sum += part;
        const last: u64 = producers * each;
        try testing.expectEqual(last * (last + 1) / 2, sum);
    }
}

fn receiveOne(consumer: anytype, closed: *bool) void {
    std.debug.assert((consumer.recv() catch unreachable) == 1);
    _ = consumer.recv() catch {
        closed.* = true; // woken by the close
    };
}

test "a closer wakes who waits" {
    inline for (every) |kind| {
        var channel = try kind.Channel(u64).init(.{ .capacity = 4 });
        defer channel.deinit();
        var closer = channel.producer.closer();
        defer closer.deinit();
        try testing.expect(!channel.producer.isClosed() and !channel.consumer.isClosed());
        try channel.producer.send(1);
        var closed = false;
        const thread = try std.Thread.spawn(.{}, receiveOne, .{ &channel.consumer, &closed });
        while (channel.producer.len() > 0) std.atomic.spinLoopHint();
        closer.close();
        thread.join();
        try testing.expect(closed and channel.producer.isClosed() and channel.consumer.isClosed());
        try testing.expectError(error.Closed, channel.producer.send(2));
        try testing.expectError(error.Closed, channel.producer.trySend(2));
        try testing.expectError(error.Closed, channel.producer.sendTimeout(2, 1000));
        try testing.expectError(error.Closed, channel.consumer.tryRecv());
        channel.producer.deinit();
        channel.producer.deinit(); // no effect the second time
        try testing.expect(channel.producer.isClosed() and channel.producer.len() == 0);
        closer.close(); // it does not keep the ring
    }
}

test "a queue closes with its last consumer, or by hand" {
    inline for (every) |kind| {
        var channel = try kind.Channel(u64).init(.{ .capacity = 4 });
        defer channel.deinit();
        try channel.producer.send(1);
        channel.producer.close();
        try testing.expectEqual(1, try channel.consumer.recv());
        try testing.expectError(error.Closed, channel.consumer.recv());

        var other = try kind.Channel(u64).init(.{ .capacity = 4 });
        defer other.deinit();
        var closer = other.consumer.closer();
        defer closer.deinit();
        other.consumer.deinit();
        try testing.expectError(error.Closed, other.producer.trySend(1));
    }
}

test "capacities that can't be" {
    inline for (every) |kind| {
        try testing.expectError(error.InvalidCapacity, kind.Channel(u64).init(.{ .capacity = 0 }));
        try testing.expectError(error.OutOfMemory, kind.Channel(u64).init(.{ .capacity = std.math.maxInt(usize) / 8 }));
    }
}

test "numbers of a queue" {
    inline for (every) |kind| {
        var channel = try kind.Channel([3]u8).init(.{ .capacity = 5, .statistics = true });
        defer channel.deinit();
        for (0..3) |_| try channel.producer.send("abc".*);
        _ = try channel.consumer.recv();
        const stats = channel.consumer.stats();
        try testing.expectEqual(3, stats.published);
        try testing.expectEqual(1, stats.received);
        try testing.expectEqual(2, stats.pending);
        try testing.expectEqual(5, stats.capacity);
        try testing.expectEqual(1, stats.writers);
        try testing.expectEqual(1, stats.readers);
        try testing.expect(!stats.closed);
        channel.producer.close();
        try testing.expect(channel.producer.stats().closed);
    }
}

test "messages of many types" {
    const Tagged = union(enum) { number: u64, text: []const u8, nothing };
    inline for (every) |kind| {
        inline for (.{
            @as(bool, true),
            @as(u3, 5),
            @as(i128, -1),
            @as(f64, 1.5),
            @as([]const u8, "a slice goes as it is"),
            @as(?*const u8, null),
            @as(anyerror!u8, error.Closed),
            Tagged{ .text = "text" },
            @as(@Vector(4, f32), .{ 1, 2, 3, 4 }),
            @as([4096]u8, @splat(9)),
        }) |value| {
            var channel = try kind.Channel(@TypeOf(value)).init(.{ .capacity = 3 });
            defer channel.deinit();
            try channel.producer.send(value);
            try testing.expectEqualDeep(value, try channel.consumer.recv());
        }
    }
}
