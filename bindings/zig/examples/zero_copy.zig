//! Frames that are too large to copy lie in a pool; their handles of 4 bytes go through a queue.

const std = @import("std");
const annulus = @import("annulus");

const frames = 1000;
const Frame = extern struct { number: u64, pixels: [64 * 64]u8 };
const Pool = annulus.Pool(Frame);
const Channel = annulus.spsc.Channel(Pool.Handle);

fn produce(pool: *const Pool, producer: *Channel.Producer) !void {
    defer producer.deinit();
    for (0..frames) |number| {
        const frame = while (true) {
            if (pool.alloc()) |frame| break frame;
            try std.Thread.yield(); // all buffers are under way
        };
        frame.value.number = number;
        @memset(&frame.value.pixels, @intCast(number % 251));
        try producer.send(frame.handle); // from here on, the frame is the receiver's
    }
}

pub fn main() !void {
    var pool = try Pool.init(4);
    defer pool.deinit();
    var channel = try Channel.init(.{ .capacity = 4 });
    defer channel.deinit();
    const thread = try std.Thread.spawn(.{}, produce, .{ &pool, &channel.producer });

    var next: u64 = 0;
    while (channel.consumer.recv()) |handle| : (next += 1) {
        const frame = try pool.redeem(handle);
        defer pool.release(frame.handle);
        try std.testing.expectEqual(next, frame.value.number);
        try std.testing.expectEqual(next % 251, frame.value.pixels[4095]);
    } else |err| switch (err) {
        error.Closed => {},
    }
    thread.join();
    try std.testing.expectEqual(frames, next);
}
