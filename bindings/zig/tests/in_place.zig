//! Messages that are written and read where they lie in the ring.

const std = @import("std");
const annulus = @import("annulus");
const testing = std.testing;

const kinds = .{ annulus.spsc, annulus.mpsc };
const count = 10_000;

const Wide = struct { number: u64, more: [7]u64 align(32) };

fn produce(producer: anytype, value: anytype) !void {
    defer producer.deinit();
    var number: u64 = 0;
    while (number < count) {
        const slots = try producer.reserve(5);
        std.debug.assert(slots.len >= 1 and slots.len <= 5);
        // One less than there is room for, if that is any.
        const sent = @min(@max(slots.len - 1, 1), count - number);
        for (slots[0..sent]) |*slot| {
            slot.* = value(number);
            number += 1;
        }
        try producer.commit(sent);
    }
}

fn run(comptime kind: anytype, comptime T: type, comptime value: fn (u64) T) !void {
    var channel = try kind.Channel(T).init(.{ .capacity = 7 });
    defer channel.deinit();
    const thread = try std.Thread.spawn(.{}, produce, .{ &channel.producer, value });
    var next: u64 = 0;
    while (channel.consumer.readable()) |messages| {
        try testing.expect(messages.len >= 1 and messages.len <= 7);
        try testing.expect(@intFromPtr(messages.ptr) % @alignOf(T) == 0);
        for (messages) |message| {
            try testing.expectEqual(value(next), message);
            next += 1;
        }
        channel.consumer.advance(messages.len);
    } else |err| try testing.expectEqual(error.Closed, err);
    thread.join();
    try testing.expectEqual(count, next);
}

fn same(number: u64) u64 {
    return number;
}

fn padded(number: u64) annulus.Padded(u32) {
    return .{ .value = @intCast(number) };
}

fn wide(number: u64) Wide {
    return .{ .number = number, .more = @splat(number) };
}

test "each message is written and read in the ring" {
    inline for (kinds) |kind| {
        try run(kind, u64, same);
        try run(kind, annulus.Padded(u32), padded);
        try run(kind, Wide, wide);
    }
}

test "what is not there now" {
    inline for (kinds) |kind| {
        var channel = try kind.Channel(u64).init(.{ .capacity = 4 });
        defer channel.deinit();
        const producer, const consumer = .{ &channel.producer, &channel.consumer };
        try testing.expectEqual(null, try consumer.tryReadable());
        try testing.expectError(error.Timeout, consumer.readableTimeout(0));
        try testing.expectError(error.Timeout, consumer.readableTimeout(1000));

        const slots = try producer.tryReserve(10);
        try testing.expectEqual(4, slots.len);
        @memset(slots, 7);
        try testing.expectEqual(null, try consumer.tryReadable()); // nothing is sent before the commit
        try producer.commit(0);
        try testing.expectEqual(null, try consumer.tryReadable());
        @memset(try producer.reserveTimeout(4, 1000), 8);
        try producer.commit(4);
        try testing.expectError(error.Full, producer.tryReserve(1));
        try testing.expectError(error.Timeout, producer.reserveTimeout(1, 1000));

        const shown = (try consumer.tryReadable()).?;
        try testing.expectEqualSlices(u64, &.{ 8, 8, 8, 8 }, shown);
        consumer.advance(3);
        try testing.expectEqual(1, consumer.len());
        try testing.expectEqual(8, try consumer.recv());

        channel.producer.close();
        try testing.expectError(error.Closed, producer.tryReserve(1));
        try testing.expectError(error.Closed, producer.reserve(1));
        try testing.expectError(error.Closed, consumer.tryReadable());
    }
}
