//! The quick start of RingMPSC's README, line by line: its lines are the comments.

const std = @import("std");
// const ringmpsc = @import("ringmpsc");
const annulus = @import("annulus");

pub fn main() !void {
    // // SPSC ring buffer (zero-overhead, type alias for Ring)
    // var ring = ringmpsc.spsc.Channel(u64, .{}){};
    var ring = try annulus.spsc.Channel(u64).init(.{ .capacity = 1 << 16 });
    defer ring.deinit();
    // _ = ring.send(&[_]u64{1, 2, 3});
    _ = try ring.producer.trySendBatch(&[_]u64{ 1, 2, 3 });

    // // MPSC channel (multi-producer, heap-allocated rings)
    // var channel = try ringmpsc.mpsc.Channel(u64, .{}).init(allocator);
    var channel = try annulus.mpsc.Channel(u64).init(.{ .capacity = 1 << 16 });
    // defer channel.deinit();
    defer channel.deinit();
    // const producer = try channel.register();
    var producer = try channel.producer.clone();
    defer producer.deinit();
    // _ = producer.sendOne(42);
    try producer.send(42);

    // // MPMC channel (work-stealing consumers)
    // var mpmc = ringmpsc.mpmc.MpmcChannel(u64, .{}){};
    var mpmc = try annulus.mpmc.Channel(u64).init(.{ .capacity = 1 << 16 });
    defer mpmc.deinit();
    // const prod = try mpmc.register();
    var prod = try mpmc.producer.clone();
    defer prod.deinit();
    // var cons = try mpmc.registerConsumer();
    var cons = mpmc.consumer.clone();
    defer cons.deinit();
    // _ = prod.sendOne(42);
    try prod.send(42);
    // var buf: [16]u64 = undefined;
    var buf: [16]u64 = undefined;
    // _ = cons.steal(&buf);
    const stolen = try cons.tryRecvBatch(&buf);

    // What RingMPSC's README does not show: that all has arrived.
    try std.testing.expectEqualSlices(u64, &.{ 1, 2, 3 }, (try ring.consumer.tryReadable()).?);
    try std.testing.expectEqual(42, try channel.consumer.recv());
    try std.testing.expectEqualSlices(u64, &.{42}, stolen.?);
}
