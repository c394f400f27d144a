//! A queue that is full: the producer is told, waits for some time, or waits for as long as it takes.

const std = @import("std");
const annulus = @import("annulus");

const messages = 2000;
const Channel = annulus.spsc.Channel(u64);

fn consume(consumer: *Channel.Consumer, sum: *u64) void {
    while (consumer.recv()) |number| sum.* += number else |_| {}
}

pub fn main() !void {
    var channel = try Channel.init(.{ .capacity = 2, .wait = .{ .adaptive = .{} }, .statistics = true });
    defer channel.deinit();
    const producer = &channel.producer;

    // Nobody receives yet.
    try producer.send(0);
    try producer.send(1);
    try std.testing.expectError(error.Full, producer.trySend(2)); // does not wait
    try std.testing.expectError(error.Timeout, producer.sendTimeout(2, std.time.ns_per_ms)); // waits in vain

    var sum: u64 = 0;
    const thread = try std.Thread.spawn(.{}, consume, .{ &channel.consumer, &sum });
    for (2..messages) |number| {
        // A program that has something else to do meanwhile looks again later.
        while (true) {
            producer.sendTimeout(number, 100 * std.time.ns_per_us) catch |err| switch (err) {
                error.Timeout => continue,
                error.Closed => return err,
            };
            break;
        }
    }
    producer.close();
    thread.join();
    try std.testing.expectEqual(messages * (messages - 1) / 2, sum);
    const stats = channel.consumer.stats();
    try std.testing.expectEqual(messages, stats.published);
    try std.testing.expectEqual(messages, stats.received);
    if (stats.high_water > 2) return error.MoreThanItHolds;
}
