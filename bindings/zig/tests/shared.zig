//! Rings between processes, here with both sides in one process. (`peer.zig` is one side of a pair.)

const std = @import("std");
const annulus = @import("annulus");
const shm = annulus.shm;
const testing = std.testing;

const Quote = extern struct {
    number: u32,
    price: f32,
    pub const annulus_name = "quote";
};
const Other = extern struct {
    number: u32,
    price: f32,
};

const Gaps = extern struct { first: u8, second: u16, of: [2]Other, last: u8 };

test "what messages are made of" {
    try testing.expectEqualStrings("u64", shm.schema(u64));
    try testing.expectEqualStrings("[[f32;3];2]", shm.schema([2][3]f32));
    try testing.expectEqualStrings("quote{number:u32,price:f32,}", shm.schema(Quote));
    const gaps = "Gaps{first:u8,_:[u8;1],second:u16,of:[{number:u32,price:f32,};2],last:u8,_:[u8;3],}";
    try testing.expectEqualStrings(gaps, shm.schema(Gaps));
    // The library takes it.
    var made = try shm.Spsc(Gaps).producer(.{ .capacity = 1 }, null);
    made.invitation.deinit();
    made.handle.deinit();
}

const Side = enum(u8) { buy = 0, sell = 1 };
const Order = extern struct {
    name: shm.Text(4),
    side: Side,
    live: bool,
    pub const annulus_name = "order";
};

test "what is no message is told, and counted" {
    try testing.expectEqualStrings("order{name:text 4,side:enum u8{buy=0,sell=1,},live:bool,}", shm.schema(Order));
    try testing.expectError(error.TooLong, shm.Text(4).of("EURUSD"));
    try testing.expectEqualStrings("EUR", (try shm.Text(4).of("EUR")).slice());

    const Queue = shm.Spsc(Order);
    var made = try Queue.producer(.{ .capacity = 600 }, null);
    defer made.invitation.deinit();
    var consumer = try Queue.consumer(&made.invitation, .{}, null);
    defer consumer.deinit();
    const order: Order = .{ .name = try .of("EURO"), .side = .sell, .live = true };
    try made.handle.send(order);
    try testing.expectEqual(order, try consumer.recv());
    for (0..256) |byte| {
        // As a process in another language could.
        var bad = order;
        std.mem.asBytes(&bad)[@offsetOf(Order, "side")] = @intCast(byte);
        try made.handle.send(bad);
    }
    try testing.expectEqual(.buy, (try consumer.recv()).side);
    try testing.expectEqual(.sell, (try consumer.tryRecv()).?.side);
    for (0..254) |_| try testing.expectError(error.Corrupt, consumer.recv());
    try testing.expectEqual(254, consumer.corrupt());
    made.handle.deinit();
    try testing.expectError(error.Closed, consumer.recv());
}

test "a queue of one producer" {
    const made = try shm.Spsc(Quote).producer(.{ .capacity = 3 }, null);
    var producer, var invitation = .{ made.handle, made.invitation };
    defer invitation.deinit();
    try testing.expectEqual(.none, producer.peer());

    // Another type of the same size: both sides' numbers, and words.
    var why: shm.Diagnosis = .{};
    try testing.expectError(error.Mismatch, shm.Spsc(Other).consumer(&invitation, .{}, &why));
    try testing.expect(why.found() != why.wanted() and why.text().len > 0);

    var consumer = try shm.Spsc(Quote).consumer(&invitation, .{}, null);
    defer consumer.deinit();
    try testing.expectError(error.Occupied, shm.Spsc(Quote).consumer(&invitation, .{}, null));
    try testing.expectEqual(.alive, producer.peer());

    try producer.send(.{ .number = 1, .price = 1.5 });
    (try producer.tryReserve(2))[0] = .{ .number = 2, .price = 2.5 };
    try producer.commit(1);
    try testing.expectEqual(1, (try consumer.recv()).number);
    const shown = (try consumer.tryReadable()).?;
    try testing.expectEqual(2.5, shown[0].price);
    consumer.advance(1);
    try testing.expectError(error.Timeout, consumer.recvTimeout(0));
    producer.deinit();
    try testing.expectError(error.Closed, consumer.recv());
    try testing.expectEqual(.closed, consumer.peer());
}

test "a queue of several producers" {
    var made = try shm.Mpsc(u64).consumer(.{ .capacity = 4, .places = 2, .close_with_last_producer = true }, null);
    defer made.handle.deinit();
    defer made.invitation.deinit();
    var one = try shm.Mpsc(u64).producer(&made.invitation, .{}, null);
    var two = try shm.Mpsc(u64).producer(&made.invitation, .{}, null);
    try testing.expectError(error.Occupied, shm.Mpsc(u64).producer(&made.invitation, .{}, null));
    try one.send(3);
    try two.send(4);
    one.deinit();
    two.deinit();
    try testing.expectEqual(7, try made.handle.recv() + try made.handle.recv());
    try testing.expectError(error.Closed, made.handle.recv());
}

test "a queue of several consumers" {
    const Queue = shm.Mpmc(Order);
    var made = try Queue.queue(.{ .capacity = 4, .places = 1, .receivers = 2 }, null);
    defer made.invitation.deinit();
    defer made.handle.deinit();
    var producer = try Queue.producer(&made.invitation, .{}, null);
    defer producer.deinit();
    try testing.expectError(error.Occupied, Queue.producer(&made.invitation, .{}, null));
    var one = try Queue.consumer(&made.invitation, .{}, null);
    defer one.deinit();
    var two = try Queue.consumer(&made.invitation, .{}, null);
    defer two.deinit();
    try testing.expectEqual(2, made.handle.consumers());
    try testing.expectEqual(null, try one.tryClaim());
    try testing.expectError(error.Timeout, one.claim(1));

    var order: Order = .{ .name = try .of("EURO"), .side = .sell, .live = true };
    try producer.send(order);
    std.mem.asBytes(&order)[@offsetOf(Order, "side")] = 7;
    try producer.send(order);
    var claimed = try one.claim(shm.forever);
    try testing.expectEqual(.sell, claimed.message.side);
    claimed.deinit();
    claimed.deinit();
    var again = (try two.tryClaim()).?;
    try testing.expectEqual(1, again.givenBefore());
    again.done();
    again.deinit();
    try testing.expectError(error.Corrupt, two.claim(shm.forever));
    try testing.expectEqual(1, two.corrupt());
    try testing.expectEqual(1, made.handle.givenAgain());
    var looks = try Queue.look(&made.invitation, .{}, null);
    defer looks.deinit();
    try testing.expectEqual(0, looks.len() + producer.len() + one.len());
    looks.close();
    try testing.expect(made.handle.isClosed());
    try testing.expectError(error.Closed, one.recv());
}

test "a publisher that hangs, and numbers that go on" {
    const deadline = 1_000_000;
    var buffer: [100]u8 = undefined;
    const directory = try std.fmt.bufPrintSentinel(&buffer, "/tmp/annulus-zig-numbers-{d}", .{std.os.linux.getpid()}, 0);
    defer std.Io.Dir.cwd().deleteTree(testing.io, directory) catch {};
    const options: shm.Options = .{ .capacity = 8, .deadline_ns = deadline, .numbering = "prices", .numbering_directory = directory };
    for (0..2) |life| {
        var made = try shm.Lossy(f64).publisher(options, null);
        defer made.handle.deinit();
        defer made.invitation.deinit();
        try testing.expectError(error.Occupied, shm.Lossless(f64).publisher(options, null));
        var subscribable = try shm.Lossy(f64).subscribable(&made.invitation, .{}, null);
        defer subscribable.deinit();
        var subscriber = try subscribable.join(.next);
        defer subscriber.deinit();
        try testing.expectEqual(deadline, subscriber.deadline());
        try testing.expectEqual(life, subscriber.cursor());
        try testing.expectEqual(null, subscriber.overdue());
        try testing.expectError(error.Timeout, subscriber.recvTimeout(deadline));
        try testing.expect(subscriber.overdue().? >= deadline);
        try made.handle.publish(1.5);
        try testing.expectEqual(null, subscriber.overdue());
    }
}

test "broadcast rings" {
    inline for (.{ shm.Lossy, shm.Lossless, shm.MpLossy, shm.MpLossless }) |Ring| {
        var made = try Ring(f64).publisher(.{ .capacity = 8 }, null);
        defer made.handle.deinit();
        defer made.invitation.deinit();
        var subscribable = try Ring(f64).subscribable(&made.invitation, .{}, null);
        defer subscribable.deinit();
        var subscriber = try subscribable.join(.next);
        defer subscriber.deinit();
        try testing.expectEqual(.alive, subscriber.peer());
        try made.handle.publish(0.25);
        try testing.expectEqual(0.25, try subscriber.recv());
        try testing.expectEqual(0, subscriber.lagged());
        made.handle.close();
        try testing.expectError(error.Closed, subscriber.recv());
    }
}

test "names" {
    var buffer: [100]u8 = undefined;
    const directory = try std.fmt.bufPrintSentinel(&buffer, "/tmp/annulus-zig-{d}", .{std.os.linux.getpid()}, 0);
    defer std.Io.Dir.cwd().deleteTree(testing.io, directory) catch {};
    try testing.expectError(error.NotFound, shm.Invitation.find(directory, "prices", 0, null));
    var made = try shm.MpLossy(f64).publisher(.{ .capacity = 8, .places = 2 }, null);
    defer made.handle.deinit();
    defer made.invitation.deinit();
    var name = try made.invitation.publish(directory, "prices", null);
    var invitation = try shm.Invitation.find(directory, "prices", shm.forever, null);
    defer invitation.deinit();
    var another = try shm.MpLossy(f64).anotherPublisher(&invitation, .{}, null);
    defer another.deinit();
    name.deinit();
    try testing.expectError(error.NotFound, shm.Invitation.find(directory, "prices", 0, null));
}

test "frames are written once, and read in place" {
    const Ring = shm.Frames(Quote);
    const made = try Ring.publisher(.{ .capacity = 2, .places = 2 }, .{ .frame_bytes = 800, .lossless = true }, null);
    var publisher, var invitation = .{ made.handle, made.invitation };
    defer invitation.deinit();
    try testing.expectEqual(2 + 1 + 2 * 2 + 1, publisher.frames());
    var why: shm.Diagnosis = .{};
    try testing.expectError(error.Mismatch, shm.Frames(f64).subscriber(&invitation, .{}, .{}, &why));
    try testing.expect(why.found() != why.wanted());
    var subscriber = try Ring.subscriber(&invitation, .{}, .{}, null);
    var viewer = try Ring.subscriber(&invitation, .{}, .{ .awaited = false }, null);
    try testing.expectError(error.Occupied, Ring.subscriber(&invitation, .{}, .{}, null));
    try testing.expectError(error.TooLong, publisher.loan(101));
    try testing.expectEqual(null, try subscriber.tryRecv());
    try testing.expectError(error.Timeout, subscriber.recv(1000));

    for (0..2) |number| {
        const loan = try publisher.loan(100);
        for (loan) |*quote| quote.* = .{ .number = @intCast(number), .price = 1.5 };
        try testing.expectEqual(number, try publisher.publish(50, shm.forever));
    }
    try testing.expectEqual(null, publisher.lent());
    _ = try publisher.loan(1);
    try testing.expect(publisher.lent().? < publisher.frames());
    try testing.expectError(error.Full, publisher.publish(1, 0));
    try testing.expectError(error.Timeout, publisher.publish(1, 1000));

    var first = try subscriber.recv(shm.forever);
    var second = (try subscriber.tryRecv()).?;
    for ([_]*Ring.Frame{ &first, &second }, 0..) |frame, number| {
        try testing.expectEqual(number, frame.sequence());
        try testing.expectEqual(50, frame.values().len);
        try testing.expectEqual(Quote{ .number = @intCast(number), .price = 1.5 }, frame.values()[49]);
    }
    try testing.expectEqual(2, try publisher.publish(0, 0));
    try testing.expectError(error.TooManyHeld, subscriber.recv(shm.forever));
    var newest = (try viewer.latest()).?;
    try testing.expectEqual(2, newest.sequence());
    try testing.expectEqual(2, viewer.lagged());
    newest.deinit();
    first.deinit();
    first.deinit();
    publisher.deinit();
    var last = try subscriber.recv(0);
    try testing.expectEqual(0, last.values().len);
    last.deinit();
    try testing.expectError(error.Closed, subscriber.recv(shm.forever));
    subscriber.deinit();
    viewer.deinit();
    try testing.expectEqual(1, second.values()[0].number);
    second.deinit();
}

test "newest values are read at once, by number and by key" {
    const Values = shm.Watch(Quote);
    const made = try Values.sender(.{ .capacity = 3 }, null);
    var sender, var invitation = .{ made.handle, made.invitation };
    defer invitation.deinit();
    var why: shm.Diagnosis = .{};
    try testing.expectError(error.Mismatch, shm.Watch(u64).reader(&invitation, .{}, &why));
    try testing.expect(why.found() != why.wanted());
    var reader = try Values.reader(&invitation, .{}, null);
    try testing.expectEqual(3, reader.cells());
    try testing.expectEqual(null, try reader.get(0));
    try testing.expectEqual(null, reader.cell("EURUSD"));
    try testing.expectEqual(null, reader.key(0));

    for ([_][:0]const u8{ "EURUSD", "USDJPY", "EURUSD", "GBPUSD" }, [_]usize{ 0, 1, 0, 2 }) |key, cell| {
        try testing.expectEqual(cell, try sender.cell(key));
    }
    try testing.expectError(error.Occupied, sender.cell("more"));
    try testing.expectEqual(null, sender.get(1));
    sender.send(1, .{ .number = 1, .price = 1.5 });
    sender.send(1, .{ .number = 2, .price = 2.5 });
    const newest: Quote = .{ .number = 2, .price = 2.5 };
    try testing.expectEqual(newest, sender.get(1).?);
    try testing.expectEqual(newest, (try reader.get(reader.cell("USDJPY").?)).?);
    try testing.expectEqualStrings("GBPUSD", reader.key(2).?.slice());

    var all = reader.changes(null);
    var one = reader.changes(2);
    reader.deinit();
    try testing.expectEqual(Values.Change{ .cell = 1, .value = newest }, try all.recv(shm.forever));
    try testing.expectEqual(null, try all.tryRecv());
    try testing.expectError(error.Timeout, one.recv(1000));
    sender.send(2, newest);
    sender.deinit();
    sender.deinit();
    try testing.expectEqual(2, (try one.tryRecv()).?.cell);
    try testing.expectEqual(2, (try all.recv(shm.forever)).cell);
    try testing.expectError(error.Closed, all.recv(shm.forever));
    try testing.expectError(error.Closed, one.tryRecv());
    all.deinit();
    one.deinit();
}

test "questions are answered in any order" {
    const Prices = shm.Service(u32, Quote);
    const made = try Prices.server(.{ .capacity = 3, .places = 1 }, null);
    var server, var invitation = .{ made.handle, made.invitation };
    defer invitation.deinit();
    var why: shm.Diagnosis = .{};
    try testing.expectError(error.Mismatch, shm.Service(u32, f64).client(&invitation, .{}, &why));
    try testing.expect(why.found() != why.wanted());
    var client = try Prices.client(&invitation, .{}, null);
    try testing.expectError(error.Occupied, Prices.client(&invitation, .{}, null));
    try testing.expectEqual(1, server.clients());
    try testing.expectEqual(null, try server.tryRecv());
    try testing.expectError(error.Timeout, server.recv(1000));

    for (0..20) |round| {
        const number: u32 = @intCast(round);
        var pending = [3]Prices.PendingAnswer{ try client.ask(number), try client.ask(number + 1), try client.ask(number + 2) };
        try testing.expectError(error.Full, client.ask(7));
        try testing.expectEqual(3, client.open());
        try testing.expectEqual(null, try pending[0].tryRecv());
        try testing.expectError(error.Timeout, pending[0].recv(1000));
        var requests: [3]Prices.Request = undefined;
        for (&requests, 0..) |*request, at| {
            request.* = try server.recv(shm.forever);
            try testing.expectEqual(number + at, request.question);
            try testing.expect(request.isClientThere());
        }
        try requests[2].answer(.{ .number = number + 2, .price = 2.5 });
        requests[2].deinit();
        requests[1].deinit();
        try requests[0].answer(.{ .number = number, .price = 0.5 });
        try testing.expectEqual(Quote{ .number = number, .price = 0.5 }, try pending[0].recv(shm.forever));
        try testing.expectError(error.Refused, pending[1].recv(shm.forever));
        try testing.expectEqual(Quote{ .number = number + 2, .price = 2.5 }, (try pending[2].tryRecv()).?);
        for (&pending) |*one| one.deinit();
        pending[0].deinit();
        try testing.expectEqual(0, client.open());
    }
    var last = try client.ask(9);
    server.close();
    try testing.expectError(error.Closed, client.ask(9));
    var request = try server.recv(shm.forever);
    try testing.expectError(error.Closed, server.recv(shm.forever));
    server.deinit();
    try request.answer(.{ .number = 9, .price = 9.5 });
    try testing.expectEqual(9.5, (try last.recv(shm.forever)).price);
    last.deinit();
    client.deinit();
    client.deinit();
}
