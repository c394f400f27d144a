//! A consumer in a worker of epoll, beside other descriptors: it costs no time while nothing comes. (Linux)

const std = @import("std");
const annulus = @import("annulus");
const linux = std.os.linux;

const messages = 2000;
const Channel = annulus.mpsc.Channel(u64);

fn produce(producer: *Channel.Producer) !void {
    defer producer.deinit();
    for (0..messages) |number| try producer.send(number);
}

pub fn main() !void {
    var channel = try Channel.init(.{ .capacity = 16 });
    defer channel.deinit();
    const consumer = &channel.consumer;

    const fd = try consumer.fd(); // the consumer's own
    const epoll: linux.fd_t = @intCast(linux.epoll_create1(linux.EPOLL.CLOEXEC));
    defer _ = linux.close(epoll);
    var event: linux.epoll_event = .{ .events = linux.EPOLL.IN, .data = .{ .fd = fd } };
    if (linux.errno(linux.epoll_ctl(epoll, linux.EPOLL.CTL_ADD, fd, &event)) != .SUCCESS) return error.NoEpoll;

    const thread = try std.Thread.spawn(.{}, produce, .{&channel.producer});
    defer thread.join();
    var next: u64 = 0;
    loop: while (true) {
        // Armed before each wait; where a message is there already, it need not wait.
        if (!consumer.arm()) {
            var events: [1]linux.epoll_event = undefined;
            while (linux.errno(linux.epoll_wait(epoll, &events, events.len, -1)) == .INTR) {}
        }
        while (consumer.tryRecv() catch break :loop) |number| : (next += 1) {
            try std.testing.expectEqual(next, number);
        }
    }
    try std.testing.expectEqual(messages, next);
}
