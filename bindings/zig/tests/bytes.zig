//! Records of any length: copied and in place, in buffers that are too small, lost and counted.

const std = @import("std");
const annulus = @import("annulus");
const shm = annulus.shm;
const testing = std.testing;

const count = 2000;
const capacity = 300;
const longest = capacity / 2;

/// Of each length that there can be.
fn fill(buffer: *[longest]u8, number: usize) []u8 {
    const record = buffer[0 .. number * 37 % (longest + 1)];
    for (record, 0..) |*byte, at| byte.* = @truncate(number + at);
    return record;
}

fn produce(producer: *annulus.bytes.Queue.Producer) !void {
    defer producer.deinit();
    var buffer: [longest]u8 = undefined;
    for (0..count) |number| {
        const record = fill(&buffer, number);
        if (number % 2 == 0) {
            try producer.send(record);
        } else {
            // More than is sent.
            var reservation = try producer.reserve(longest);
            defer reservation.cancel();
            @memcpy(reservation.bytes[0..record.len], record);
            try reservation.commit(record.len);
        }
    }
}

test "each record arrives whole" {
    var queue = try annulus.bytes.Queue.init(.{ .capacity = capacity });
    defer queue.deinit();
    const consumer = &queue.consumer;
    try testing.expectEqual(capacity, consumer.capacity());
    try testing.expectEqual(longest, consumer.maxLen());
    const thread = try std.Thread.spawn(.{}, produce, .{&queue.producer});
    defer thread.join();
    errdefer consumer.close(); // so the thread ends
    var buffer: [longest]u8 = undefined;
    var expected: [longest]u8 = undefined;
    for (0..count) |number| {
        const record = fill(&expected, number);
        switch (number % 3) {
            0 => try testing.expectEqualSlices(u8, record, try consumer.recv(&buffer)),
            1 => {
                try testing.expectEqualSlices(u8, record, try consumer.readable());
                consumer.advance();
            },
            else => {
                if (record.len > 0) try testing.expectError(error.TooSmall, consumer.recv(buffer[0 .. record.len - 1]));
                try testing.expectEqualSlices(u8, record, try consumer.recvTimeout(buffer[0..record.len], shm.forever));
            },
        }
    }
    try testing.expectError(error.Closed, consumer.recv(&buffer));
    try testing.expectError(error.Closed, consumer.readable());
    try testing.expect(consumer.isClosed() and consumer.isEmpty());
}

/// What both kinds of queue do.
fn run(producer: anytype, consumer: anytype) !void {
    var buffer: [32]u8 = undefined;
    try testing.expectEqual(null, try consumer.tryRecv(&buffer));
    try testing.expectEqual(null, try consumer.tryReadable());
    try testing.expectError(error.Timeout, consumer.recvTimeout(&buffer, 1000));
    try testing.expectError(error.Timeout, consumer.readableTimeout(0));
    try testing.expectError(error.TooLong, producer.send(&@as([33]u8, @splat(1))));
    try testing.expectError(error.TooLong, producer.reserve(33));
    try testing.expectEqual(32, producer.maxLen());
    try testing.expect(producer.isEmpty());

    try producer.send("hello");
    try producer.trySend("");
    try producer.sendTimeout("and more", 0);
    try testing.expectEqualStrings("hello", (try consumer.tryReadable()).?);
    try testing.expectEqualStrings("hello", try consumer.recv(&buffer)); // the one that was shown
    try testing.expectEqualStrings("", (try consumer.tryRecv(&.{})).?);
    try testing.expectError(error.TooSmall, consumer.tryRecv(buffer[0..7]));
    try testing.expectEqual(8, consumer.needed);
    try testing.expectEqualStrings("and more", try consumer.recv(buffer[0..consumer.needed]));

    // What is cancelled is not sent.
    var cancelled = try producer.tryReserve(8);
    cancelled.cancel();
    cancelled.cancel();
    var reservation = try producer.reserveTimeout(20, 1000);
    @memcpy(reservation.bytes[0..2], "up");
    try reservation.commit(2);
    try testing.expectEqual(0, reservation.bytes.len);
    reservation.cancel();
    try testing.expectEqualStrings("up", try consumer.readableTimeout(0));
    consumer.advance();
    try testing.expectEqual(null, try consumer.tryReadable());

    try producer.send(&@as([32]u8, @splat(7)));
    try testing.expectError(error.Full, producer.trySend(&@as([32]u8, @splat(8))));
    try testing.expectError(error.Full, producer.tryReserve(32));
    try testing.expectError(error.Timeout, producer.sendTimeout(&@as([32]u8, @splat(8)), 1000));
    // In words: a length, and 32 bytes. What stays empty at the end of the ring counts, too.
    try testing.expect(consumer.stats().pending >= 5 and consumer.stats().writers == 1);
    consumer.close();
    try testing.expectError(error.Closed, producer.send("no more"));
    try testing.expectEqual(32, (try consumer.recv(&buffer)).len);
    try testing.expectError(error.Closed, consumer.tryRecv(&buffer));
}

test "what is not there now, what is too long, what is closed" {
    try testing.expectError(error.InvalidCapacity, annulus.bytes.Queue.init(.{ .capacity = 1 }));
    var queue = try annulus.bytes.Queue.init(.{ .capacity = 64 });
    defer queue.deinit();
    const fd = try queue.consumer.fd();
    try testing.expectEqual(fd, try queue.consumer.fd());
    try testing.expect(!queue.consumer.arm());
    try run(&queue.producer, &queue.consumer);
    try testing.expect(queue.consumer.arm());
}

test "records between processes" {
    var made = try shm.Bytes.producer(.{ .capacity = 64 }, null);
    defer made.handle.deinit();
    defer made.invitation.deinit();
    try testing.expectEqual(.none, made.handle.peer());
    var why: shm.Diagnosis = .{};
    try testing.expectError(error.Mismatch, shm.Spsc(u64).consumer(&made.invitation, .{}, &why));
    try testing.expect(why.text().len > 0);
    var consumer = try shm.Bytes.consumer(&made.invitation, .{}, &why);
    defer consumer.deinit();
    try testing.expectError(error.Occupied, shm.Bytes.consumer(&made.invitation, .{}, null));
    try testing.expectEqual(.alive, consumer.peer());
    try run(&made.handle, &consumer);
    try testing.expectEqual(.closed, consumer.peer());
}

test "each subscriber sees each record, or counts it" {
    var ring = try annulus.bytes.Lossy.init(.{ .capacity = 1000 });
    defer ring.deinit();
    try testing.expectEqual(1024, ring.publisher.capacity());
    try testing.expectEqual(512, ring.publisher.maxLen());
    var subscriber = ring.subscribe(.next);
    defer subscriber.deinit();
    var buffer: [512]u8 = undefined;
    var expected: [longest]u8 = undefined;
    try testing.expectEqual(null, try subscriber.tryRecv(&buffer));
    try testing.expectError(error.Timeout, subscriber.recvTimeout(&buffer, 1000));
    try testing.expectError(error.TooLong, ring.publisher.publish(&@as([513]u8, @splat(1))));

    // A record that does not fit is kept, whatever the publisher overwrites.
    for (1..100) |number| {
        try ring.publisher.publish(fill(&expected, number));
        if (number == 1) try testing.expectError(error.TooSmall, subscriber.recv(buffer[0..1]));
    }
    try testing.expectEqual(37, subscriber.needed);
    try testing.expectEqualSlices(u8, fill(&expected, 1), try subscriber.recv(buffer[0..37]));
    try testing.expectEqual(0, subscriber.lagged());
    var late = ring.subscribe(.oldest);
    defer late.deinit();
    ring.publisher.close();
    try testing.expectError(error.Closed, ring.publisher.publish("no more"));
    try testing.expectEqual(99, ring.publisher.stats().published);
    inline for (.{ &subscriber, &late }, .{ 99, 0 }) |each, all| {
        var next = 100 - each.len();
        while (each.recv(&buffer)) |record| : (next += 1) {
            try testing.expectEqualSlices(u8, fill(&expected, next), record);
        } else |err| try testing.expectEqual(error.Closed, err);
        try testing.expectEqual(100, next);
        if (all > 0) try testing.expectEqual(all, each.received() + each.lagged());
    }
}

test "no subscriber of a lossless ring loses a record" {
    var ring = try annulus.bytes.Lossless.init(.{ .capacity = 1024 });
    defer ring.deinit();
    var subscriber = ring.subscribe(.next);
    defer subscriber.deinit();
    var slow = ring.subscribe(.next);
    defer slow.deinit();
    var buffer: [512]u8 = undefined;
    var expected: [longest]u8 = undefined;
    try testing.expectError(error.TooLong, ring.publisher.tryPublish(&@as([513]u8, @splat(1))));
    try testing.expectError(error.TooLong, ring.publisher.publishTimeout(&@as([513]u8, @splat(1)), 1000));
    var sent: usize = 0;
    while (ring.publisher.tryPublish(fill(&expected, sent))) |_| sent += 1 else |err| try testing.expectEqual(error.Full, err);
    try testing.expectError(error.Timeout, ring.publisher.publishTimeout(fill(&expected, sent), 1000));
    for (0..sent) |number| try testing.expectEqualSlices(u8, fill(&expected, number), try subscriber.recv(&buffer));
    try testing.expectError(error.Full, ring.publisher.tryPublish(fill(&expected, sent)));
    slow.deinit();
    try ring.publisher.publish(fill(&expected, sent));
    try testing.expectEqualSlices(u8, fill(&expected, sent), try subscriber.recv(&buffer));
    try testing.expectEqual(0, subscriber.lagged());
    ring.publisher.close();
    try testing.expectError(error.Closed, ring.publisher.tryPublish("no more"));
    try testing.expectError(error.Closed, subscriber.recv(&buffer));
}
