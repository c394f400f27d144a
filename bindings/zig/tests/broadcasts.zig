//! Each subscriber sees every message, or is told how many it lost.

const std = @import("std");
const annulus = @import("annulus");
const testing = std.testing;

const messages = 4000;
const readers = 3;

const Quote = struct { number: u64, bid: f64, ask: f64 };

fn quote(number: u64) Quote {
    const price: f64 = @floatFromInt(number);
    return .{ .number = number, .bid = price, .ask = price + 1 };
}

const Read = struct {
    sum: u64 = 0,
    failed: bool = false,
};

fn readAll(subscriber: anytype, read: *Read) void {
    var before: u64 = 0;
    while (subscriber.recv()) |got| {
        if (!std.meta.eql(got, quote(got.number)) or got.number <= before) read.failed = true;
        before = got.number;
        read.sum += got.number;
    } else |_| {}
}

fn run(comptime Channel: type, lossless: bool, comptime many: bool) !void {
    var channel = try Channel.init(.{ .capacity = 16, .statistics = true });
    defer channel.deinit();
    var second: Channel.Publisher = if (many) channel.publisher.clone() else .{ .raw = null };
    defer second.deinit();
    try testing.expectEqual(16, channel.publisher.capacity());

    var subscribers: [readers]Channel.Subscriber = undefined;
    var reads: [readers]Read = @splat(.{});
    var threads: [readers]std.Thread = undefined;
    for (&subscribers, &reads, &threads) |*subscriber, *read, *thread| {
        subscriber.* = channel.subscribe(.next);
        thread.* = try std.Thread.spawn(.{}, readAll, .{ subscriber, read });
    }
    for (1..messages + 1) |number| {
        try if (many and number % 2 == 1) second.publish(quote(number)) else channel.publisher.publish(quote(number));
    }
    const stats = channel.publisher.stats();
    try testing.expectEqual(messages, stats.published);
    try testing.expectEqual(readers, stats.readers);
    try testing.expectEqual(if (many) 2 else 1, stats.writers);
    channel.publisher.deinit();
    second.deinit();
    for (&subscribers, &reads, &threads) |*subscriber, *read, *thread| {
        thread.join();
        try testing.expect(!read.failed);
        try testing.expectEqual(messages, subscriber.received() + subscriber.lagged()); // exactly
        if (lossless) try testing.expectEqual(messages * (messages + 1) / 2, read.sum);
        if (lossless) try testing.expectEqual(0, subscriber.lagged());
        try testing.expect(subscriber.isClosed() and subscriber.len() == 0);
        subscriber.deinit();
        subscriber.deinit(); // no effect the second time
    }
}

test "every subscriber sees every message, or is told what it lost" {
    try run(annulus.broadcast.Lossy(Quote), false, false);
    try run(annulus.broadcast.Lossless(Quote), true, false);
    try run(annulus.broadcast.MpLossy(Quote), false, true);
    try run(annulus.broadcast.MpLossless(Quote), true, true);
}

test "a slow subscriber of a lossy ring" {
    inline for (.{ annulus.broadcast.Lossy(u64), annulus.broadcast.MpLossy(u64) }) |Channel| {
        var channel = try Channel.init(.{ .capacity = 4 });
        defer channel.deinit();
        var subscriber = channel.subscribe(.next);
        defer subscriber.deinit();
        try testing.expectEqual(null, try subscriber.tryRecv());
        try testing.expectError(error.Timeout, subscriber.recvTimeout(1000));
        for (1..11) |number| try channel.publisher.publish(number);
        var late = channel.subscribe(.oldest);
        defer late.deinit();
        try testing.expectEqual(7, try late.recv());
        try testing.expectEqual(0, late.lagged());
        var last = channel.subscribe(.oldest);
        defer last.deinit();
        try testing.expectEqual(2, last.beginWithLast(2));
        try testing.expectEqual(9, try last.recv());
        try testing.expectEqual(0, last.lagged());
        const first = (try subscriber.tryRecv()).?;
        try testing.expectEqual(first - 1, subscriber.lagged());
        channel.publisher.deinit();
        while (subscriber.recv()) |_| {} else |_| {}
        try testing.expectEqual(10, subscriber.received() + subscriber.lagged());
        try testing.expect(subscriber.stats().closed);
    }
}

test "a lossless publisher waits" {
    inline for (.{ annulus.broadcast.Lossless(u64), annulus.broadcast.MpLossless(u64) }) |Channel| {
        var channel = try Channel.init(.{ .capacity = 4 });
        defer channel.deinit();
        var closer = channel.publisher.closer();
        defer closer.deinit();
        var subscriber = channel.subscribe(.next);
        defer subscriber.deinit();
        for (0..4) |number| try channel.publisher.tryPublish(number);
        try testing.expectError(error.Full, channel.publisher.tryPublish(4));
        try testing.expectError(error.Timeout, channel.publisher.publishTimeout(4, 1000));
        try testing.expectEqual(0, try subscriber.recv());
        try channel.publisher.publishTimeout(4, 1000);
        closer.close();
        try testing.expect(channel.publisher.isClosed());
        try testing.expectError(error.Closed, channel.publisher.publish(5));
    }
}

test "nobody is left to receive" {
    var channel = try annulus.broadcast.Lossless(u64).init(.{ .capacity = 4 });
    defer channel.deinit();
    try testing.expectError(error.InvalidCapacity, annulus.broadcast.Lossy(u8).init(.{ .capacity = 0 }));
    try channel.publisher.publish(1); // somebody may still join
    channel.subscribable.deinit();
    try testing.expectError(error.Closed, channel.publisher.publish(2));
}
