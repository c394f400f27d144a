//! Buffers whose handles go through a queue.

const std = @import("std");
const annulus = @import("annulus");
const testing = std.testing;

const Frame = extern struct { number: u64, pixels: [10_000]u8 };
const Frames = annulus.Pool(Frame);
const count = 1000;

fn produce(frames: *const Frames, producer: *annulus.spsc.Producer(Frames.Handle)) !void {
    defer producer.deinit();
    for (0..count) |number| {
        const frame = while (true) {
            if (frames.alloc()) |frame| break frame;
            try std.Thread.yield(); // all buffers are under way
        };
        frame.value.number = number;
        @memset(&frame.value.pixels, @intCast(number % 251));
        try producer.send(frame.handle);
    }
}

test "frames that are too large to copy" {
    var frames = try Frames.init(4);
    defer frames.deinit();
    var channel = try annulus.spsc.Channel(Frames.Handle).init(.{ .capacity = 4 });
    defer channel.deinit();
    const thread = try std.Thread.spawn(.{}, produce, .{ &frames, &channel.producer });
    var next: u64 = 0;
    while (channel.consumer.recv()) |handle| : (next += 1) {
        const frame = try frames.redeem(handle);
        try testing.expectError(error.VoidHandle, frames.redeem(handle));
        try testing.expectEqual(next, frame.value.number);
        for (frame.value.pixels) |pixel| try testing.expectEqual(next % 251, pixel);
        frames.release(frame.handle);
        try testing.expectError(error.VoidHandle, frames.redeem(frame.handle));
    } else |_| {}
    thread.join();
    try testing.expectEqual(count, next);
    try testing.expectEqual(4, frames.available());
}

test "buffers of a size that is known at run time" {
    var pool = try annulus.BytePool.init(100, 2);
    defer pool.deinit();
    const first, const second = .{ pool.alloc().?, pool.alloc().? };
    try testing.expectEqual(null, pool.alloc());
    try testing.expectEqual(100, first.bytes.len);
    try testing.expectEqual(0, pool.available());
    @memset(first.bytes, 1);
    @memset(second.bytes, 2);
    const taken = try pool.redeem(first.handle);
    try testing.expectEqual(1, taken.bytes[99]);
    pool.release(taken.handle);
    pool.release(second.handle);
    try testing.expectEqual(2, pool.available());
    try testing.expectError(error.InvalidCapacity, annulus.BytePool.init(0, 1));
    try testing.expectError(error.InvalidCapacity, Frames.init(0));
    try testing.expectError(error.OutOfMemory, annulus.BytePool.init(std.math.maxInt(usize) / 4, 3));
}
