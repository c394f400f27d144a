//! As `crates/annulus-c/tests/peers/peer.c`, in Zig: one side of a ring between processes, for the test that pairs the languages.

const std = @import("std");
const annulus = @import("annulus");
const shm = annulus.shm;

const Side = enum(u8) { buy = 0, sell = 1 };

/// A number, and what proves it.
const Message = extern struct {
    number: u64,
    check: u64,
    name: shm.Text(4),
    side: Side,
    live: bool,
    pub const annulus_name = "tick";

    fn of(number: u64) Message {
        return .{
            .number = number,
            .check = mixed(number),
            .name = shm.Text(4).of(names[number % 3]) catch unreachable,
            .side = if (number % 2 == 0) .buy else .sell,
            .live = number % 5 == 0,
        };
    }
};

const names = [_][]const u8{ "", "EUR", "ßß" };

fn mixed(number: u64) u64 {
    return number *% 0x9E3779B97F4A7C15 +% 1;
}

var why: shm.Diagnosis = .{};

fn say(io: std.Io, comptime line: []const u8, values: anytype) !void {
    var buffer: [100]u8 = undefined;
    try std.Io.File.stdout().writeStreamingAll(io, try std.fmt.bufPrint(&buffer, line ++ "\n", values));
}

fn waitForTheEnd(io: std.Io) void {
    while (true) {
        var input: [16]u8 = undefined;
        _ = std.Io.File.stdin().readStreaming(io, &.{&input}) catch return;
    }
}

fn sends(io: std.Io, made: anytype, comptime verb: []const u8, directory: [:0]const u8, name: [:0]const u8, count: u64) !void {
    var handle, var invitation = .{ made.handle, made.invitation };
    defer handle.deinit();
    defer invitation.deinit();
    var given = try invitation.publish(directory, name, &why);
    defer given.deinit();
    for (0..count) |number| {
        @field(@TypeOf(handle), verb)(&handle, .of(number)) catch |err| {
            if (!std.mem.eql(u8, @errorName(err), "PeerDied")) return err;
            try say(io, "died", .{});
            return waitForTheEnd(io);
        };
    }
    try say(io, "sent", .{});
    waitForTheEnd(io);
}

fn receives(io: std.Io, receiver: anytype, count: u64) !void {
    var handle = receiver;
    defer handle.deinit();
    try say(io, "joined", .{});
    var received: u64 = 0;
    var sum: u64 = 0;
    var end: []const u8 = "stopped";
    while (count == 0 or received < count) : (received += 1) {
        const message = handle.recv() catch |err| {
            end = switch (err) {
                error.Closed => "closed",
                error.PeerDied => "died",
                error.Corrupt => return err,
            };
            break;
        };
        const expected: Message = .of(received);
        if (!std.mem.eql(u8, message.name.slice(), expected.name.slice())) return error.Wrong;
        if (!std.meta.eql(message, expected)) return error.Wrong;
        sum +%= message.check;
    }
    try say(io, "{s} {d} {d}", .{ end, received, sum });
    waitForTheEnd(io);
}

pub fn main(init: std.process.Init) !void {
    errdefer if (why.text().len > 0) std.debug.print("{s}\n", .{why.text()});
    const arguments = try init.minimal.args.toSlice(init.arena.allocator());
    const is_queue = std.mem.eql(u8, arguments[2], "queue");
    const directory, const name = .{ arguments[3], arguments[4] };
    const count = try std.fmt.parseInt(u64, arguments[5], 10);
    const options: shm.Options = .{ .capacity = 256 };
    if (std.mem.eql(u8, arguments[1], "send")) {
        if (is_queue) {
            return sends(init.io, try shm.Spsc(Message).producer(options, &why), "send", directory, name, count);
        }
        return sends(init.io, try shm.Lossy(Message).publisher(options, &why), "publish", directory, name, count);
    }
    var invitation = try shm.Invitation.find(directory, name, shm.forever, &why);
    defer invitation.deinit();
    if (is_queue) return receives(init.io, try shm.Spsc(Message).consumer(&invitation, .{}, &why), count);
    var subscribable = try shm.Lossy(Message).subscribable(&invitation, .{}, &why);
    defer subscribable.deinit();
    try receives(init.io, try subscribable.join(.oldest), count);
}
