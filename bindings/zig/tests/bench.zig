//! How long a message takes through `spsc.Channel(u64)`, between two threads: medians of 31 rounds, in nanoseconds. Both threads poll, so
//! that nobody's sleep is measured. What sends and what receives is the binding's own, and each message is read.

const std = @import("std");
const annulus = @import("annulus");

const messages = 512_000;
const rounds = 31;
const batch = 256;
const Channel = annulus.spsc.Channel(u64);

const Way = enum {
    /// `send` and `recv`.
    @"one by one, copied",
    /// `reserve(1)` and `readable`.
    @"one by one, in place",
    /// `trySendBatch` and `tryRecvBatch`.
    @"batches of 256, copied",
    /// `reserve(256)` and `readable`.
    @"batches of 256, in place",
};

fn produce(way: Way, producer: *Channel.Producer) !void {
    defer producer.deinit();
    var next: u64 = 0;
    switch (way) {
        .@"one by one, copied" => while (next < messages) : (next += 1) try producer.send(next),
        .@"one by one, in place" => while (next < messages) : (next += 1) {
            (try producer.reserve(1))[0] = next;
            try producer.commit(1);
        },
        .@"batches of 256, copied" => {
            var values: [batch]u64 = undefined;
            while (next < messages) : (next += batch) {
                for (&values, next..) |*value, number| value.* = number;
                var rest: []const u64 = &values;
                while (rest.len > 0) {
                    const sent = producer.trySendBatch(rest) catch |err| switch (err) {
                        error.Full => {
                            std.atomic.spinLoopHint();
                            continue;
                        },
                        else => return err,
                    };
                    rest = rest[sent..];
                }
            }
        },
        .@"batches of 256, in place" => while (next < messages) {
            const slots = try producer.reserve(@min(batch, messages - next));
            for (slots, next..) |*slot, number| slot.* = number;
            next += slots.len;
            try producer.commit(slots.len);
        },
    }
}

fn consume(way: Way, consumer: *Channel.Consumer) u64 {
    var sum: u64 = 0;
    switch (way) {
        .@"one by one, copied" => while (consumer.recv()) |value| {
            sum += value;
        } else |_| {},
        .@"batches of 256, copied" => {
            var buffer: [batch]u64 = undefined;
            while (consumer.tryRecvBatch(&buffer)) |values| {
                for (values orelse continue) |value| sum += value;
            } else |_| {}
        },
        else => while (consumer.readable()) |values| {
            for (values) |value| sum += value;
            consumer.advance(values.len);
        } else |_| {},
    }
    return sum;
}

pub fn main(init: std.process.Init) !void {
    for (std.enums.values(Way)) |way| {
        var nanoseconds: [rounds]f64 = undefined;
        for (&nanoseconds) |*each| {
            var channel = try Channel.init(.{ .capacity = 1024, .wait = .pause_spin });
            defer channel.deinit();
            const begun = std.Io.Timestamp.now(init.io, .awake);
            const thread = try std.Thread.spawn(.{}, produce, .{ way, &channel.producer });
            const sum = consume(way, &channel.consumer);
            thread.join();
            const took = begun.untilNow(init.io, .awake).toNanoseconds();
            if (sum != @as(u64, messages) * (messages - 1) / 2) return error.Lost;
            each.* = @as(f64, @floatFromInt(took)) / messages;
        }
        std.mem.sort(f64, &nanoseconds, {}, std.sort.asc(f64));
        std.debug.print("{s}: {d:.2} ns ({d:.2} to {d:.2})\n", .{
            @tagName(way), nanoseconds[rounds / 2], nanoseconds[0], nanoseconds[rounds - 1],
        });
    }
}
