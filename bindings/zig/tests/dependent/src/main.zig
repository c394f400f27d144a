const annulus = @import("annulus");

pub fn main() !void {
    var channel = try annulus.spsc.Channel(u64).init(.{ .capacity = 4 });
    defer channel.deinit();
    try channel.producer.send(42);
    if (try channel.consumer.recv() != 42) return error.Another;
}
