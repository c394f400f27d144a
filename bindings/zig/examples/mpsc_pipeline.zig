//! Many producers, and a consumer that takes what is there, where it lies. Each producer's messages arrive in its order.

const std = @import("std");
const annulus = @import("annulus");

const producers = 4;
const each = 5000;

const Reading = struct { producer: u32, number: u32, celsius: f64 };
const Channel = annulus.mpsc.Channel(Reading);

fn produce(producer: *Channel.Producer, index: u32) !void {
    defer producer.deinit(); // with the last one, the queue closes
    var number: u32 = 0;
    while (number < each) {
        const slots = try producer.reserve(@min(32, each - number)); // waits while the ring is full
        for (slots) |*slot| {
            slot.* = .{ .producer = index, .number = number, .celsius = 20.5 };
            number += 1;
        }
        try producer.commit(slots.len); // all at once
    }
}

pub fn main() !void {
    var channel = try Channel.init(.{ .capacity = 100 });
    defer channel.deinit();

    var handles: [producers]Channel.Producer = undefined;
    var threads: [producers]std.Thread = undefined;
    for (&handles, &threads, 0..) |*handle, *thread, index| {
        handle.* = try channel.producer.clone();
        thread.* = try std.Thread.spawn(.{}, produce, .{ handle, @as(u32, @intCast(index)) });
    }
    channel.producer.deinit();

    var next: [producers]u32 = @splat(0);
    while (channel.consumer.readable()) |readings| { // waits while nothing is there
        for (readings) |reading| {
            try std.testing.expectEqual(next[reading.producer], reading.number);
            next[reading.producer] += 1;
        }
        channel.consumer.advance(readings.len); // the slots go back
    } else |err| switch (err) {
        error.Closed => {}, // every producer is gone, and every message was received
    }
    for (threads) |thread| thread.join();
    try std.testing.expectEqualSlices(u32, &@as([producers]u32, @splat(each)), &next);
}
