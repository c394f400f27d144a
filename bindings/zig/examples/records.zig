//! Records of any length: lines of text, written in the ring and read there, and broadcast to subscribers.

const std = @import("std");
const annulus = @import("annulus");

const lines = 1000;
const Queue = annulus.bytes.Queue;

fn produce(producer: *Queue.Producer) !void {
    defer producer.deinit();
    for (0..lines) |number| {
        var room = try producer.reserve(64); // for the longest line
        defer room.cancel(); // no effect once it was sent
        const line = try std.fmt.bufPrint(room.bytes, "line {d}", .{number});
        try room.commit(line.len);
    }
}

pub fn main() !void {
    var queue = try Queue.init(.{ .capacity = 4096 }); // bytes; a record may have half of them
    defer queue.deinit();
    const thread = try std.Thread.spawn(.{}, produce, .{&queue.producer});
    var number: usize = 0;
    while (queue.consumer.readable()) |line| : (number += 1) {
        try std.testing.expectEqual(number, try std.fmt.parseInt(usize, line["line ".len..], 10));
        queue.consumer.advance(); // its room goes back
    } else |err| switch (err) {
        error.Closed => {},
    }
    thread.join();
    try std.testing.expectEqual(lines, number);

    var ring = try annulus.bytes.Lossy.init(.{ .capacity = 4096 });
    defer ring.deinit();
    var subscriber = ring.subscribe(.next);
    defer subscriber.deinit();
    try ring.publisher.publish("to all subscribers"); // waits for nobody
    var buffer: [100]u8 = undefined; // error.TooSmall: subscriber.needed bytes would do
    try std.testing.expectEqualStrings("to all subscribers", try subscriber.recv(&buffer));
}
