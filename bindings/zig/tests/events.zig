//! File descriptors: poll tells of messages and of the end.

const std = @import("std");
const annulus = @import("annulus");
const testing = std.testing;

const kinds = .{ annulus.spsc, annulus.mpsc, annulus.spmc, annulus.mpmc, annulus.ordered };
const count = 2000;

fn produce(producer: anytype) !void {
    defer producer.deinit();
    for (0..count) |number| try producer.send(number);
}

fn isReadable(fd: std.posix.fd_t, timeout_ms: i32) !bool {
    var fds = [_]std.posix.pollfd{.{ .fd = fd, .events = std.posix.POLL.IN, .revents = 0 }};
    return try std.posix.poll(&fds, timeout_ms) == 1;
}

/// Receives all that comes, by the descriptor.
fn receiveAll(receiver: anytype) !void {
    const fd = try receiver.fd();
    var next: u64 = 0;
    while (true) {
        if (!receiver.arm()) try testing.expect(try isReadable(fd, 60_000));
        while (receiver.tryRecv() catch |err| switch (err) {
            error.Closed => return testing.expectEqual(count, next),
        }) |number| : (next += 1) try testing.expectEqual(next, number);
    }
}

test "a consumer in a worker" {
    inline for (kinds) |kind| {
        var channel = try kind.Channel(u64).init(.{ .capacity = 16 });
        defer channel.deinit();
        const fd = try channel.consumer.fd();
        try testing.expectEqual(fd, try channel.consumer.fd());
        try testing.expect(!channel.consumer.arm());
        try testing.expect(!try isReadable(fd, 0));
        try channel.producer.send(0);
        try testing.expect(try isReadable(fd, 60_000));
        try testing.expect(channel.consumer.arm()); // receive first
        try testing.expectEqual(0, try channel.consumer.recv());
        const thread = try std.Thread.spawn(.{}, produce, .{&channel.producer});
        defer thread.join();
        try receiveAll(&channel.consumer);
    }
}

fn publish(publisher: anytype) !void {
    defer publisher.deinit();
    for (0..count) |number| try publisher.publish(number);
}

test "a subscriber in a worker" {
    inline for (.{ annulus.broadcast.Lossless(u64), annulus.broadcast.MpLossless(u64) }) |Channel| {
        var channel = try Channel.init(.{ .capacity = 16 });
        defer channel.deinit();
        var subscriber = channel.subscribe(.next);
        defer subscriber.deinit();
        const thread = try std.Thread.spawn(.{}, publish, .{&channel.publisher});
        defer thread.join();
        try receiveAll(&subscriber);
    }
}
