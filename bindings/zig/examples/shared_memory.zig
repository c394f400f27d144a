//! Two processes: one publishes prices under a name, the other one finds them there. A process in Rust does that by
//!
//!     let ring = Invitation::find(&Directory::open(path)?.wait_for("prices", None)?)?.accept::<[f64; 2]>()?;
//!     for [bid, ask] in ring.subscribable().subscribe_from_oldest() { … }

const std = @import("std");
const annulus = @import("annulus");
const shm = annulus.shm;

/// A bid and an ask. (A struct would be `extern`.)
const Price = [2]f64;

fn subscribe(directory: [:0]const u8) !void {
    var invitation = try shm.Invitation.find(directory, "prices", shm.forever, null); // waits for the publisher
    defer invitation.deinit();
    var why: shm.Diagnosis = .{};
    errdefer std.debug.print("{s}\n", .{why.text()}); // both sides' values, where they differ
    var subscribable = try shm.Lossy(Price).subscribable(&invitation, .{}, &why); // mapped read-only
    defer subscribable.deinit();
    var subscriber = try subscribable.join(.oldest);
    defer subscriber.deinit();
    var count: usize = 0;
    while (subscriber.recv()) |price| : (count += 1) {
        try std.testing.expectEqual(0.5, price[1] - price[0]);
    } else |err| try std.testing.expectEqual(error.Closed, err); // error.PeerDied: it was killed
    try std.testing.expectEqual(100, count);
}

pub fn main(init: std.process.Init) !void {
    var buffer: [100]u8 = undefined;
    // Null is the directory of the user.
    const directory = try std.fmt.bufPrintSentinel(&buffer, "/tmp/annulus-prices-{d}", .{std.os.linux.getpid()}, 0);
    const child = std.c.fork(); // before there is a ring
    if (child == 0) {
        try subscribe(directory);
        return;
    }
    defer std.Io.Dir.cwd().deleteTree(init.io, directory) catch {};

    var made = try shm.Lossy(Price).publisher(.{ .capacity = 128 }, null);
    defer made.handle.deinit();
    defer made.invitation.deinit();
    var name = try made.invitation.publish(directory, "prices", null);
    defer name.deinit();
    for (0..100) |cents| {
        const bid = @as(f64, @floatFromInt(cents)) * 0.25;
        try made.handle.publish(.{ bid, bid + 0.5 });
    }
    made.handle.close(); // a subscriber that comes later still finds what the ring has, while its name is there
    var status: c_int = 1;
    _ = std.c.waitpid(child, &status, 0);
    try std.testing.expectEqual(0, status);
}
