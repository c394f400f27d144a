//! Rings between processes: made in one, joined by others, which may be written in Zig, Rust, C or C++. (Linux.)

const std = @import("std");
const c = @import("c");
const handle = @import("handle.zig");
const message = @import("message.zig");
const options_of = @import("options.zig");
const queues = @import("queue.zig");
const records = @import("bytes.zig");
const broadcasting = @import("broadcast.zig");
const status = @import("status.zig");

/// What a ring is made of, and what a process that joins asks for.
pub const Options = struct {
    /// How many messages the ring holds, exactly, or how many bytes of records. A process that joins has the ring's.
    capacity: usize = 0,
    /// How threads of this process wait that have to.
    wait: options_of.Wait = .default,
    /// How many producers, publishers, or subscribers of a lossless ring of one publisher there can be; 0 is 16.
    places: u32 = 0,
    /// How many consumers of `Mpmc`, or subscribers of `MpLossless`, there can be; 0 is 16.
    receivers: u32 = 0,
    statistics: bool = false,
    /// When the process of the consumer has ended without a close, the queue stays open for a next one.
    wait_for_next_consumer: bool = false,
    /// A ring of several producers or publishers ends with the last of them.
    close_with_last_producer: bool = false,
    /// An `Mpmc` ends with the last of its consumers. Without it, producers wait for the next ones.
    close_with_last_consumer: bool = false,
    /// What a consumer of an `Mpmc` had claimed when its process died is dropped. Without it, another consumer has it.
    drop_unreceived: bool = false,
    /// Of one that publishes: a promise not to be silent for longer than so many nanoseconds. Of one that subscribes: after how long it calls the
    /// publisher overdue, whatever that has promised. 0: no promise, or the publisher's.
    deadline_ns: u64 = 0,
    /// Of a broadcast ring of one publisher: the name whose numbers it goes on with, and the directory of that; null is that of the user.
    numbering: ?[:0]const u8 = null,
    numbering_directory: ?[:0]const u8 = null,

    fn raw(options: Options, comptime T: type) c.annulus_shared_options {
        var flags: u32 = 0;
        if (options.statistics) flags |= c.ANNULUS_STATISTICS;
        if (options.wait_for_next_consumer) flags |= c.ANNULUS_WAIT_FOR_NEXT_CONSUMER;
        if (options.close_with_last_producer) flags |= c.ANNULUS_CLOSE_WITH_LAST_PRODUCER;
        if (options.close_with_last_consumer) flags |= c.ANNULUS_CLOSE_WITH_LAST_CONSUMER;
        if (options.drop_unreceived) flags |= c.ANNULUS_DROP_UNRECEIVED;
        return .{
            .size = @sizeOf(c.annulus_shared_options),
            .capacity = options.capacity,
            .message_size = @sizeOf(T),
            .message_alignment = @alignOf(T),
            .schema = schema(T),
            .wait = options.wait.raw(),
            .places = options.places,
            .flags = flags,
            .receivers = options.receivers,
            .deadline_ns = options.deadline_ns,
            .numbering = if (options.numbering) |name| name.ptr else null,
            .numbering_directory = if (options.numbering_directory) |path| path.ptr else null,
        };
    }
};

/// What a message is made of, as text, which is equal on both sides of a ring (`docs/SCHEMA.md`). A message is a number, a `bool`, an `enum`
/// with an integer, a `Text`, an array, or an `extern struct` of these. The struct is called as in Zig, or `pub const annulus_name = "quote";`
/// says how.
pub fn schema(comptime T: type) [:0]const u8 {
    return comptime (if (@typeInfo(T) == .@"struct") nameOf(T) else "") ++ kindOf(T);
}

/// Without the path of its file.
fn nameOf(comptime T: type) [:0]const u8 {
    if (@hasDecl(T, "annulus_name")) return T.annulus_name;
    const path = @typeName(T);
    const begin = if (std.mem.lastIndexOfScalar(u8, path, '.')) |dot| dot + 1 else 0;
    return path[begin..];
}

fn kindOf(comptime T: type) [:0]const u8 {
    switch (@typeInfo(T)) {
        .int => |int| if (int.bits >= 8 and int.bits <= 128 and std.math.isPowerOfTwo(int.bits)) {
            return std.fmt.comptimePrint("{s}{d}", .{ if (int.signedness == .signed) "i" else "u", int.bits });
        },
        .float => |float| if (float.bits == 32 or float.bits == 64) return std.fmt.comptimePrint("f{d}", .{float.bits}),
        .bool => return "bool",
        .@"enum" => return "enum " ++ kindOf(@typeInfo(T).@"enum".tag_type) ++ variantsOf(T),
        .array => |array| return std.fmt.comptimePrint("[{s};{d}]", .{ kindOf(array.child), array.len }),
        .@"struct" => |of| if (@hasDecl(T, "annulus_text")) {
            return std.fmt.comptimePrint("text {d}", .{T.annulus_text});
        } else if (of.layout == .@"extern") return fieldsOf(T),
        else => {},
    }
    @compileError(@typeName(T) ++ " is no message between processes: use a number, a bool, an enum(u8), an annulus.shm.Text(n), an array, or an extern struct of these");
}

fn variantsOf(comptime T: type) [:0]const u8 {
    comptime var text: [:0]const u8 = "{";
    const of = @typeInfo(T).@"enum";
    for (of.field_names, of.field_values) |name, value| {
        text = text ++ std.fmt.comptimePrint("{s}={d},", .{ name, value });
    }
    return text ++ "}";
}

/// Up to `space` bytes of UTF-8, in a message between processes. A receive has checked it.
pub fn Text(comptime space: u16) type {
    return extern struct {
        const Self = @This();
        /// That it is one, and of how many bytes.
        pub const annulus_text = space;

        /// As in a ring, where it is not aligned.
        size: [2]u8 = .{ 0, 0 },
        bytes: [space]u8 = @splat(0),

        /// `error.TooLong`: it has more than `space` bytes. It has to be UTF-8: other processes count anything else as corrupt.
        pub fn of(text: []const u8) error{TooLong}!Self {
            if (text.len > space) return error.TooLong;
            var self: Self = .{ .size = @bitCast(@as(u16, @intCast(text.len))) };
            @memcpy(self.bytes[0..text.len], text);
            return self;
        }

        /// What is in it.
        pub fn slice(self: *const Self) []const u8 {
            return self.bytes[0..@as(u16, @bitCast(self.size))];
        }
    };
}

/// What the compiler has put between fields is a gap.
fn fieldsOf(comptime T: type) [:0]const u8 {
    comptime var text: [:0]const u8 = "{";
    comptime var end = 0;
    const of = @typeInfo(T).@"struct";
    for (of.field_names, of.field_types) |name, Field| {
        text = text ++ gap(@offsetOf(T, name) - end) ++ name ++ ":" ++ kindOf(Field) ++ ",";
        end = @offsetOf(T, name) + @sizeOf(Field);
    }
    return text ++ gap(@sizeOf(T) - end) ++ "}";
}

fn gap(comptime bytes: usize) [:0]const u8 {
    return if (bytes == 0) "" else std.fmt.comptimePrint("_:[u8;{d}],", .{bytes});
}

/// Why a ring was not made, joined or found: give a pointer to one, and look at it where there was an error.
pub const Diagnosis = struct {
    raw: c.annulus_shared_error = .{ .size = @sizeOf(c.annulus_shared_error) },

    /// Where two values differ (`error.Mismatch`): the ring's.
    pub fn found(diagnosis: *const Diagnosis) u64 {
        return diagnosis.raw.found;
    }
    /// And the one that this process asked for.
    pub fn wanted(diagnosis: *const Diagnosis) u64 {
        return diagnosis.raw.wanted;
    }
    /// All of it in English.
    pub fn text(diagnosis: *const Diagnosis) []const u8 {
        return std.mem.sliceTo(std.mem.asBytes(&diagnosis.raw.text), 0);
    }

    fn of(why: ?*Diagnosis) ?*c.annulus_shared_error {
        return if (why) |diagnosis| &diagnosis.raw else null;
    }
};

/// Whether the process on the other side is there.
pub const Peer = handle.Peer;

/// `error.Occupied`: another publisher has the numbers of that name.
pub const MakeError = error{ InvalidCapacity, OutOfMemory, SystemResources, Occupied, Unsupported };
pub const JoinError = error{ Mismatch, Closed, PeerDied, NoRing } || MakeError;

/// The name of a ring. Its owner takes it back by `deinit`; it also ends with the process.
pub const Name = struct {
    raw: ?*c.annulus_name,

    pub fn deinit(name: *Name) void {
        status.expect(c.annulus_name_free(name.raw));
        name.raw = null;
    }
};

/// What another process needs to join a ring. Any thread may use it, several at once, too.
pub const Invitation = struct {
    raw: ?*c.annulus_invitation,

    /// Sends it through a Unix socket. It can be sent to any number of processes.
    pub fn send(invitation: *const Invitation, socket: std.posix.fd_t) error{ SystemResources, Unsupported }!void {
        return status.check(error{ SystemResources, Unsupported }, c.annulus_invitation_send(invitation.raw, socket));
    }

    /// Receives one from a Unix socket. The caller owns it.
    pub fn receive(socket: std.posix.fd_t) error{ SystemResources, Unsupported }!Invitation {
        var raw: ?*c.annulus_invitation = null;
        try status.check(error{ SystemResources, Unsupported }, c.annulus_invitation_receive(socket, &raw));
        return .{ .raw = raw };
    }

    /// Gives the ring a name, by which other processes of this user find it, in a directory: null is that of the user. The caller owns
    /// the name. It is misuse if `name` is none.
    pub fn publish(
        invitation: *const Invitation,
        directory: ?[:0]const u8,
        name: [:0]const u8,
        why: ?*Diagnosis,
    ) error{ Occupied, SystemResources, NoRing, Unsupported }!Name {
        var raw: ?*c.annulus_name = null;
        const code = c.annulus_invitation_publish(invitation.raw, if (directory) |path| path.ptr else null, name.ptr, &raw, Diagnosis.of(why));
        try status.check(error{ Occupied, SystemResources, NoRing, Unsupported }, code);
        return .{ .raw = raw };
    }

    /// The invitation to the ring of a name, which the caller owns. It waits for so many nanoseconds until a ring has the name: not at all
    /// with 0, and for as long as it takes with `forever`. If it has to ask the ring's process for its descriptors, it waits for the answer,
    /// within that time, but with 0 for two seconds at most.
    pub fn find(
        directory: ?[:0]const u8,
        name: [:0]const u8,
        timeout_ns: u64,
        why: ?*Diagnosis,
    ) error{ NotFound, Timeout, SystemResources, NoRing, Unsupported }!Invitation {
        var raw: ?*c.annulus_invitation = null;
        const code = c.annulus_invitation_find(if (directory) |path| path.ptr else null, name.ptr, timeout_ns, &raw, Diagnosis.of(why));
        try status.check(error{ NotFound, Timeout, SystemResources, NoRing, Unsupported }, code);
        return .{ .raw = raw };
    }

    /// Frees it. Rings that were joined by it stay. No effect the second time.
    pub fn deinit(invitation: *Invitation) void {
        status.expect(c.annulus_invitation_free(invitation.raw));
        invitation.raw = null;
    }
};

/// As a timeout: for as long as it takes.
pub const forever: u64 = c.ANNULUS_FOREVER;

/// The first handle of a ring, and the invitation to it. The caller owns both.
fn Made(comptime Handle: type) type {
    return struct { handle: Handle, invitation: Invitation };
}

fn make(comptime T: type, comptime Handle: type, function: anytype, before: anytype, options: Options, why: ?*Diagnosis) MakeError!Made(Handle) {
    message.check(T, false);
    return makeOf(&options.raw(T), Handle, function, before, why);
}

fn makeOf(of: *const c.annulus_shared_options, comptime Handle: type, function: anytype, before: anytype, why: ?*Diagnosis) MakeError!Made(Handle) {
    status.checkLibrary();
    var raw: @FieldType(Handle, "raw") = null;
    var invitation: ?*c.annulus_invitation = null;
    try status.check(MakeError, @call(.auto, function, before ++ .{ of, &raw, &invitation, Diagnosis.of(why) }));
    return .{ .handle = .{ .raw = raw }, .invitation = .{ .raw = invitation } };
}

fn join(comptime T: type, comptime Handle: type, function: anytype, by: *const Invitation, options: Options, why: ?*Diagnosis) JoinError!Handle {
    message.check(T, false);
    return joinOf(&options.raw(T), Handle, function, by, why);
}

fn joinOf(of: *const c.annulus_shared_options, comptime Handle: type, function: anytype, by: *const Invitation, why: ?*Diagnosis) JoinError!Handle {
    status.checkLibrary();
    var raw: @FieldType(Handle, "raw") = null;
    try status.check(JoinError, function(by.raw, of, &raw, Diagnosis.of(why)));
    return .{ .raw = raw };
}

/// A queue from one process to another one.
pub fn Spsc(comptime T: type) type {
    return struct {
        pub const Producer = queues.Producer(.spsc_across, T);
        pub const Consumer = queues.Consumer(.spsc_across, T);

        /// Makes the queue: this process sends.
        pub fn producer(options: Options, why: ?*Diagnosis) MakeError!Made(Producer) {
            return make(T, Producer, c.annulus_shared_producer_new, .{}, options, why);
        }
        /// Joins it: this process receives, behind the last message that was received.
        pub fn consumer(by: *const Invitation, options: Options, why: ?*Diagnosis) JoinError!Consumer {
            return join(T, Consumer, c.annulus_invitation_consumer, by, options, why);
        }
    };
}

/// A queue of records of any length, up to half its capacity, from one process to another one. The capacity is in bytes.
pub const Bytes = struct {
    pub const Producer = records.ProducerOf(true);
    pub const Consumer = records.ConsumerOf(true);

    /// Makes the queue: this process sends.
    pub fn producer(options: Options, why: ?*Diagnosis) MakeError!Made(Producer) {
        return makeOf(&of(options), Producer, c.annulus_shared_bytes_producer_new, .{}, why);
    }
    /// Joins it: this process receives, behind the last record that was received.
    pub fn consumer(by: *const Invitation, options: Options, why: ?*Diagnosis) JoinError!Consumer {
        return joinOf(&of(options), Consumer, c.annulus_invitation_bytes_consumer, by, why);
    }

    /// Nothing is known of what a record is made of.
    fn of(options: Options) c.annulus_shared_options {
        var raw = options.raw(u8);
        raw.schema = null;
        return raw;
    }
};

/// What a ring of frames is made of, beside its `Options`.
pub const FrameOptions = struct {
    /// How many bytes a frame may have.
    frame_bytes: usize,
    /// At multiples of how many bytes frames begin: a power of two, 64 to 2 MiB; 0 is 64.
    alignment: usize = 0,
    /// How many frames a subscriber may hold at one time; 0 is 2.
    held: u32 = 0,
    /// Whether the publisher waits for the slowest subscriber.
    lossless: bool = false,
};

/// Where a subscriber of frames begins, and whether the publisher of a lossless ring waits for it.
pub const FrameStart = struct { from: broadcasting.From = .next, awaited: bool = true };

/// A broadcast ring of frames of `T`s (`u8`: of any bytes): images, point clouds, tensors. They are written once, where all subscribers of
/// all processes read them. The capacity is how many frames stay for subscribers that come late, or are slow.
pub fn Frames(comptime T: type) type {
    message.check(T, false);
    return struct {
        /// A frame that is held: it stays as it is until `deinit`, which any thread may call once.
        pub const Frame = struct {
            raw: c.annulus_frame,

            /// The values in place. Another process wrote them, and could do so again: unless you trust it not to, copy what you need, then
            /// check the copy, and use the copy. (Bytes behind the last whole value are not shown.)
            pub fn values(frame: *const Frame) []const T {
                const first: [*]const T = @ptrCast(@alignCast(frame.raw.bytes orelse return &.{}));
                return first[0 .. frame.raw.length / @sizeOf(T)];
            }
            /// The number of the message, from 0 on: a gap is what was lost.
            pub fn sequence(frame: *const Frame) u64 {
                return frame.raw.sequence;
            }
            /// Which of the ring's frames it is: what goes with each frame has the same number.
            pub fn index(frame: *const Frame) usize {
                return frame.raw.index;
            }
            /// Gives it back. No effect the second time.
            pub fn deinit(frame: *Frame) void {
                status.expect(c.annulus_held_frame_free(frame.raw.held));
                frame.raw = std.mem.zeroes(c.annulus_frame);
            }
        };

        pub const Publisher = struct {
            raw: ?*c.annulus_frame_publisher,

            /// Lends a frame of so many values to write to. What is not written has old content. Never waits.
            pub fn loan(publisher_: *Publisher, count: usize) error{TooLong}![]T {
                var bytes: ?*anyopaque = null;
                const length = std.math.mul(usize, count, @sizeOf(T)) catch return error.TooLong;
                try status.check(error{TooLong}, c.annulus_frame_publisher_loan(publisher_.raw, length, &bytes));
                const first: [*]T = @ptrCast(@alignCast(bytes.?));
                return first[0..count];
            }
            /// Publishes the first `count` values of the frame that was lent, and returns the number of the message. Waits for so many
            /// nanoseconds at most where the ring is lossless (`forever` is no limit). With an error, the frame stays lent. It is misuse if no
            /// frame was lent, or it has fewer values.
            pub fn publish(publisher_: *Publisher, count: usize, timeout_ns: u64) error{ Full, Timeout, Closed }!u64 {
                var sequence: u64 = 0;
                const code = c.annulus_frame_publisher_publish(publisher_.raw, count * @sizeOf(T), timeout_ns, &sequence);
                try status.check(error{ Full, Timeout, Closed }, code);
                return sequence;
            }
            /// Which of the ring's frames the one is that is lent; null if none is.
            pub fn lent(publisher_: *const Publisher) ?usize {
                const index = c.annulus_frame_publisher_lent(publisher_.raw);
                return if (index == std.math.maxInt(usize)) null else index;
            }
            /// How many frames there are.
            pub fn frames(publisher_: *const Publisher) usize {
                return c.annulus_frame_publisher_frames(publisher_.raw);
            }
            /// How many frames subscribers hold, of those that the ring no longer keeps.
            pub fn held(publisher_: *Publisher) usize {
                return c.annulus_frame_publisher_held(publisher_.raw);
            }
            /// Ends the ring. No effect the second time.
            pub fn deinit(publisher_: *Publisher) void {
                status.expect(c.annulus_frame_publisher_free(publisher_.raw));
                publisher_.raw = null;
            }
        };

        pub const RecvError = error{ Timeout, TooManyHeld, Closed, PeerDied };

        pub const Subscriber = struct {
            raw: ?*c.annulus_frame_subscriber,

            /// The next frame, which the caller gives back by `deinit`. Waits for it for so many nanoseconds at most; `forever` is no limit.
            pub fn recv(subscriber_: *Subscriber, timeout_ns: u64) RecvError!Frame {
                return (try found(c.annulus_frame_subscriber_recv, .{ subscriber_.raw, timeout_ns })) orelse error.Timeout;
            }
            /// The next frame, if it is there.
            pub fn tryRecv(subscriber_: *Subscriber) RecvError!?Frame {
                return found(c.annulus_frame_subscriber_recv, .{ subscriber_.raw, 0 });
            }
            /// The newest frame, if there is a new one; those before it are passed. It is misuse where the publisher waits for it.
            pub fn latest(subscriber_: *Subscriber) RecvError!?Frame {
                return found(c.annulus_frame_subscriber_latest, .{subscriber_.raw});
            }
            fn found(function: anytype, before: anytype) RecvError!?Frame {
                var raw: c.annulus_frame = undefined;
                switch (@call(.auto, function, before ++ .{&raw})) {
                    c.ANNULUS_EMPTY => return null,
                    c.ANNULUS_VIEWED => return error.TooManyHeld,
                    else => |code| try status.check(error{ Timeout, Closed, PeerDied }, code),
                }
                return .{ .raw = raw };
            }
            /// How many frames it has lost, or passed.
            pub fn lagged(subscriber_: *const Subscriber) u64 {
                return c.annulus_frame_subscriber_lagged(subscriber_.raw);
            }
            /// How many frames the ring has.
            pub fn frames(subscriber_: *const Subscriber) usize {
                return c.annulus_frame_subscriber_frames(subscriber_.raw);
            }
            /// Frames that were received stay the caller's. No effect the second time.
            pub fn deinit(subscriber_: *Subscriber) void {
                status.expect(c.annulus_frame_subscriber_free(subscriber_.raw));
                subscriber_.raw = null;
            }
        };

        /// Makes the ring: this process publishes.
        pub fn publisher(options: Options, frame_options: FrameOptions, why: ?*Diagnosis) MakeError!Made(Publisher) {
            const of: c.annulus_frame_options = .{
                .size = @sizeOf(c.annulus_frame_options),
                .frame_bytes = frame_options.frame_bytes,
                .alignment = frame_options.alignment,
                .held = frame_options.held,
                .lossless = frame_options.lossless,
            };
            status.checkLibrary();
            var raw: ?*c.annulus_frame_publisher = null;
            var invitation: ?*c.annulus_invitation = null;
            try status.check(MakeError, c.annulus_shared_frames_new(&content(options), &of, &raw, &invitation, Diagnosis.of(why)));
            return .{ .handle = .{ .raw = raw }, .invitation = .{ .raw = invitation } };
        }
        /// Joins it: this process reads.
        pub fn subscriber(by: *const Invitation, options: Options, start: FrameStart, why: ?*Diagnosis) JoinError!Subscriber {
            status.checkLibrary();
            var raw: ?*c.annulus_frame_subscriber = null;
            const code = c.annulus_invitation_frames(by.raw, &content(options), start.from == .oldest, start.awaited, &raw, Diagnosis.of(why));
            try status.check(JoinError, code);
            return .{ .raw = raw };
        }

        /// Nothing is known of bytes.
        fn content(options: Options) c.annulus_shared_options {
            return if (T == u8) Bytes.of(options) else options.raw(T);
        }
    };
}

/// Newest values of type `T`, in one cell or in a table of many, by number or by key: a configuration, a state, prices. A reader that comes has
/// the newest value at once. The capacity is how many cells there are.
pub fn Watch(comptime T: type) type {
    message.check(T, false);
    return struct {
        /// Writes the values. It never waits.
        pub const Sender = struct {
            raw: ?*c.annulus_watch_sender,

            /// Replaces the value of a cell. It is misuse if there is no such cell.
            pub fn send(sender_: *Sender, cell_: usize, value: T) void {
                status.expect(c.annulus_watch_sender_send(sender_.raw, cell_, &value, @sizeOf(T)));
            }
            /// The newest value of a cell; null if nothing was sent to it.
            pub fn get(sender_: *Sender, cell_: usize) ?T {
                var value: T = undefined;
                const code = c.annulus_watch_sender_get(sender_.raw, cell_, &value, @sizeOf(T));
                if (code == c.ANNULUS_EMPTY) return null;
                status.expect(code);
                return value;
            }
            /// The cell of this key, which gets one if it has none yet. A key is UTF-8, of 1 to 64 bytes; any other one is misuse.
            /// `error.Occupied`: all cells have other keys.
            pub fn cell(sender_: *Sender, key_: [:0]const u8) error{Occupied}!usize {
                var found: usize = 0;
                try status.check(error{Occupied}, c.annulus_watch_sender_cell(sender_.raw, key_.ptr, &found));
                return found;
            }
            /// How many cells there are.
            pub fn cells(sender_: *const Sender) usize {
                return c.annulus_watch_sender_cells(sender_.raw);
            }
            /// Ends the table; the values stay. No effect the second time.
            pub fn deinit(sender_: *Sender) void {
                status.expect(c.annulus_watch_sender_free(sender_.raw));
                sender_.raw = null;
            }
        };

        /// The key of a cell.
        pub const Key = struct {
            bytes: [c.ANNULUS_WATCH_KEY_SIZE]u8 = @splat(0),

            pub fn slice(key_: *const Key) []const u8 {
                return std.mem.sliceTo(&key_.bytes, 0);
            }
        };

        pub const GetError = error{
            /// The sender has replaced the value at each of 1,000 looks: try again.
            Timeout,
            Corrupt,
        };

        /// Reads the values.
        pub const Reader = struct {
            raw: ?*c.annulus_watch_reader,

            /// The newest value of a cell, without a wait; null if nothing was sent to it. It is misuse if there is no such cell.
            pub fn get(reader_: *Reader, cell_: usize) GetError!?T {
                var value: T = undefined;
                const code = c.annulus_watch_reader_get(reader_.raw, cell_, &value, @sizeOf(T));
                if (code == c.ANNULUS_EMPTY) return null;
                try status.check(GetError, code);
                return value;
            }
            /// The cell of a key; null if no cell has it yet. It looks at all cells, so keep what it finds.
            pub fn cell(reader_: *const Reader, key_: [:0]const u8) ?usize {
                var found: usize = 0;
                const code = c.annulus_watch_reader_cell(reader_.raw, key_.ptr, &found);
                if (code == c.ANNULUS_NOT_FOUND) return null;
                status.expect(code);
                return found;
            }
            /// The key of a cell; null if it has none yet. It is misuse if there is no such cell.
            pub fn key(reader_: *const Reader, cell_: usize) ?Key {
                var found: Key = .{};
                const code = c.annulus_watch_reader_key(reader_.raw, cell_, @ptrCast(&found.bytes));
                if (code == c.ANNULUS_NOT_FOUND) return null;
                status.expect(code);
                return found;
            }
            /// How many cells there are.
            pub fn cells(reader_: *const Reader) usize {
                return c.annulus_watch_reader_cells(reader_.raw);
            }
            /// Changes of a cell, or with null of all. It begins with the values that are there, and lives on without the reader.
            pub fn changes(reader_: *const Reader, cell_: ?usize) Changes {
                var raw: ?*c.annulus_watch_changes = null;
                status.expect(c.annulus_watch_reader_changes(reader_.raw, cell_ orelse std.math.maxInt(usize), &raw));
                return .{ .raw = raw };
            }
            /// No effect the second time.
            pub fn deinit(reader_: *Reader) void {
                status.expect(c.annulus_watch_reader_free(reader_.raw));
                reader_.raw = null;
            }
        };

        /// A cell, and its newest value.
        pub const Change = struct { cell: usize, value: T };

        pub const RecvError = error{ Timeout, Closed, PeerDied, Corrupt };

        /// Receives changes: each cell comes once, with the value that is newest then.
        pub const Changes = struct {
            raw: ?*c.annulus_watch_changes,

            /// The next change. Waits for it for so many nanoseconds at most; `forever` is no limit.
            pub fn recv(changes_: *Changes, timeout_ns: u64) RecvError!Change {
                return (try found(changes_, timeout_ns)) orelse error.Timeout;
            }
            /// The next change, if there is one.
            pub fn tryRecv(changes_: *Changes) RecvError!?Change {
                return found(changes_, 0);
            }
            fn found(changes_: *Changes, timeout_ns: u64) RecvError!?Change {
                var change: Change = undefined;
                const code = c.annulus_watch_changes_recv(changes_.raw, timeout_ns, &change.value, @sizeOf(T), &change.cell);
                if (code == c.ANNULUS_EMPTY) return null;
                try status.check(RecvError, code);
                return change;
            }
            /// No effect the second time.
            pub fn deinit(changes_: *Changes) void {
                status.expect(c.annulus_watch_changes_free(changes_.raw));
                changes_.raw = null;
            }
        };

        /// Makes the cells: this process writes.
        pub fn sender(options: Options, why: ?*Diagnosis) MakeError!Made(Sender) {
            status.checkLibrary();
            var raw: ?*c.annulus_watch_sender = null;
            var invitation: ?*c.annulus_invitation = null;
            try status.check(MakeError, c.annulus_shared_watch_new(&options.raw(T), &raw, &invitation, Diagnosis.of(why)));
            return .{ .handle = .{ .raw = raw }, .invitation = .{ .raw = invitation } };
        }
        /// Opens them: this process reads.
        pub fn reader(by: *const Invitation, options: Options, why: ?*Diagnosis) JoinError!Reader {
            status.checkLibrary();
            var raw: ?*c.annulus_watch_reader = null;
            try status.check(JoinError, c.annulus_invitation_watch(by.raw, &options.raw(T), &raw, Diagnosis.of(why)));
            return .{ .raw = raw };
        }
    };
}

/// Questions `Q` of several clients to a server, and answers `A` in any order.
pub fn Service(comptime Q: type, comptime A: type) type {
    message.check(Q, false);
    message.check(A, true);
    return struct {
        /// A question that is to be answered, once, by any thread.
        pub const Request = struct {
            raw: ?*c.annulus_request,
            question: Q,

            /// Answers it, which ends the request. Never waits. `error.Closed`: the client is gone, and the request has ended, too.
            pub fn answer(request: *Request, value: A) error{Closed}!void {
                const code = c.annulus_request_answer(request.raw, &value, @sizeOf(A));
                request.raw = null;
                try status.check(error{Closed}, code);
            }
            /// Whether the client can still receive an answer, as the kernel says.
            pub fn isClientThere(request: *const Request) bool {
                return c.annulus_request_client_is_there(request.raw);
            }
            /// Refuses it, if it is not answered. No effect the second time.
            pub fn deinit(request: *Request) void {
                status.expect(c.annulus_request_free(request.raw));
                request.raw = null;
            }
        };

        /// The answer to a question, which is to come.
        pub const PendingAnswer = struct {
            raw: ?*c.annulus_pending_answer,

            pub const RecvError = error{ Timeout, Refused, PeerDied, Corrupt };

            /// The answer. Waits for it for so many nanoseconds at most; `forever` is no limit. It comes once: it is misuse to receive another.
            pub fn recv(pending: *PendingAnswer, timeout_ns: u64) RecvError!A {
                return (try pending.got(timeout_ns)) orelse error.Timeout;
            }
            /// The answer, if it is there.
            pub fn tryRecv(pending: *PendingAnswer) RecvError!?A {
                return pending.got(0);
            }
            fn got(pending: *PendingAnswer, timeout_ns: u64) RecvError!?A {
                var value: A = undefined;
                switch (c.annulus_pending_answer_recv(pending.raw, &value, @sizeOf(A), timeout_ns)) {
                    c.ANNULUS_EMPTY => return null,
                    else => |code| try status.check(RecvError, code),
                }
                return value;
            }
            /// Gives the answer up if it has not come. No effect the second time.
            pub fn deinit(pending: *PendingAnswer) void {
                status.expect(c.annulus_pending_answer_free(pending.raw));
                pending.raw = null;
            }
        };

        pub const Server = struct {
            raw: ?*c.annulus_server,

            pub const RecvError = error{ Timeout, Closed, Corrupt };

            /// The next question, which the caller answers, or refuses by `deinit`. Waits for it for so many nanoseconds at most; `forever` is no
            /// limit.
            pub fn recv(server_: *Server, timeout_ns: u64) RecvError!Request {
                return (try server_.got(timeout_ns)) orelse error.Timeout;
            }
            /// The next question, if it is there.
            pub fn tryRecv(server_: *Server) RecvError!?Request {
                return server_.got(0);
            }
            fn got(server_: *Server, timeout_ns: u64) RecvError!?Request {
                var request: Request = .{ .raw = null, .question = undefined };
                switch (c.annulus_server_recv(server_.raw, &request.question, @sizeOf(Q), timeout_ns, &request.raw)) {
                    c.ANNULUS_EMPTY => return null,
                    else => |code| try status.check(RecvError, code),
                }
                return request;
            }
            /// How many clients are there.
            pub fn clients(server_: *const Server) usize {
                return c.annulus_server_clients(server_.raw);
            }
            /// Clients can ask no more; what they had asked is received.
            pub fn close(server_: *Server) void {
                status.expect(c.annulus_server_close(server_.raw));
            }
            /// Closes the service, and refuses what was not received. No effect the second time.
            pub fn deinit(server_: *Server) void {
                status.expect(c.annulus_server_free(server_.raw));
                server_.raw = null;
            }
        };

        pub const Client = struct {
            raw: ?*c.annulus_client,

            /// Asks. Never waits. `error.Full`: as many questions are open as may be.
            pub fn ask(client_: *Client, question: Q) error{ Full, Closed }!PendingAnswer {
                var pending: PendingAnswer = .{ .raw = null };
                try status.check(error{ Full, Closed }, c.annulus_client_ask(client_.raw, &question, @sizeOf(Q), &pending.raw));
                return pending;
            }
            /// How many questions are open.
            pub fn open(client_: *const Client) usize {
                return c.annulus_client_open(client_.raw);
            }
            /// Pending answers stay the caller's. No effect the second time.
            pub fn deinit(client_: *Client) void {
                status.expect(c.annulus_client_free(client_.raw));
                client_.raw = null;
            }
        };

        /// Makes the service: this process answers. The capacity is how many questions each client may have open, `places` how many clients
        /// there can be.
        pub fn server(options: Options, why: ?*Diagnosis) MakeError!Made(Server) {
            status.checkLibrary();
            var raw: ?*c.annulus_server = null;
            var invitation: ?*c.annulus_invitation = null;
            const answers: Options = .{};
            const code = c.annulus_shared_service_new(&options.raw(Q), &answers.raw(A), &raw, &invitation, Diagnosis.of(why));
            try status.check(MakeError, code);
            return .{ .handle = .{ .raw = raw }, .invitation = .{ .raw = invitation } };
        }
        /// Joins it: this process asks.
        pub fn client(by: *const Invitation, options: Options, why: ?*Diagnosis) JoinError!Client {
            status.checkLibrary();
            var raw: ?*c.annulus_client = null;
            const answers: Options = .{};
            const code = c.annulus_invitation_client(by.raw, &options.raw(Q), &answers.raw(A), &raw, Diagnosis.of(why));
            try status.check(JoinError, code);
            return .{ .raw = raw };
        }
    };
}

/// A queue from several processes to one.
pub fn Mpsc(comptime T: type) type {
    return struct {
        pub const Producer = queues.Producer(.mpsc_across, T);
        pub const Consumer = queues.Consumer(.mpsc_across, T);

        /// Makes the queue: this process receives.
        pub fn consumer(options: Options, why: ?*Diagnosis) MakeError!Made(Consumer) {
            return make(T, Consumer, c.annulus_shared_consumer_new, .{}, options, why);
        }
        /// Joins it: this process sends, in a ring of its own.
        pub fn producer(by: *const Invitation, options: Options, why: ?*Diagnosis) JoinError!Producer {
            return join(T, Producer, c.annulus_invitation_producer, by, options, why);
        }
        /// Joins it where the consumer before is gone.
        pub fn nextConsumer(by: *const Invitation, options: Options, why: ?*Diagnosis) JoinError!Consumer {
            return join(T, Consumer, c.annulus_invitation_consumer, by, options, why);
        }
    };
}

/// A queue of several processes to several: each message reaches one consumer, also if a process dies that had claimed it.
pub fn Mpmc(comptime T: type) type {
    message.check(T, true);
    return struct {
        pub const Producer = queues.Producer(.mpmc_across, T);
        pub const Consumer = queues.Consumer(.mpmc_across, T);

        /// The queue as a whole, which neither sends nor receives. Any thread may use it, several at once, too.
        pub const Queue = struct {
            raw: ?*c.annulus_shared_queue,

            /// How many messages wait to be received for the first time.
            pub fn len(queue_: *const Queue) usize {
                return c.annulus_shared_queue_len(queue_.raw);
            }
            /// How many producers are there.
            pub fn producers(queue_: *const Queue) usize {
                return c.annulus_shared_queue_producers(queue_.raw);
            }
            /// How many consumers are there.
            pub fn consumers(queue_: *const Queue) usize {
                return c.annulus_shared_queue_consumers(queue_.raw);
            }
            /// How many messages were given again, of consumers that died with them, or gave them back.
            pub fn givenAgain(queue_: *const Queue) u64 {
                return c.annulus_shared_queue_given_again(queue_.raw);
            }
            /// How many messages of dead consumers were dropped.
            pub fn dropped(queue_: *const Queue) u64 {
                return c.annulus_shared_queue_dropped(queue_.raw);
            }
            /// Closes the queue, for all processes. What was sent before is received.
            pub fn close(queue_: *const Queue) void {
                status.expect(c.annulus_shared_queue_close(queue_.raw));
            }
            pub fn isClosed(queue_: *const Queue) bool {
                return c.annulus_shared_queue_is_closed(queue_.raw);
            }
            /// The queue stays. No effect the second time.
            pub fn deinit(queue_: *Queue) void {
                status.expect(c.annulus_shared_queue_free(queue_.raw));
                queue_.raw = null;
            }
        };

        /// Makes the queue: `places` for producers, each with a ring of its own, and `receivers` for consumers.
        pub fn queue(options: Options, why: ?*Diagnosis) MakeError!Made(Queue) {
            return makeOf(&options.raw(T), Queue, c.annulus_shared_queue_new, .{}, why);
        }
        /// Looks at it.
        pub fn look(by: *const Invitation, options: Options, why: ?*Diagnosis) JoinError!Queue {
            return joinOf(&options.raw(T), Queue, c.annulus_invitation_queue, by, why);
        }
        /// Joins it: this process sends.
        pub fn producer(by: *const Invitation, options: Options, why: ?*Diagnosis) JoinError!Producer {
            return joinOf(&options.raw(T), Producer, c.annulus_invitation_producer, by, why);
        }
        /// Joins it: this process receives.
        pub fn consumer(by: *const Invitation, options: Options, why: ?*Diagnosis) JoinError!Consumer {
            return joinOf(&options.raw(T), Consumer, c.annulus_invitation_consumer, by, why);
        }
    };
}

fn Broadcast(comptime kind: u32, comptime across: broadcasting.Kind, comptime T: type) type {
    return struct {
        pub const Publisher = broadcasting.PublisherOf(across, T);
        pub const Subscribable = broadcasting.SubscribableOf(across, T);
        pub const Subscriber = broadcasting.SubscriberOf(across, T);

        /// Makes the ring: this process publishes.
        pub fn publisher(options: Options, why: ?*Diagnosis) MakeError!Made(Publisher) {
            return make(T, Publisher, c.annulus_shared_publisher_new, .{kind}, options, why);
        }
        /// Joins it as another publisher: `MpLossy` and `MpLossless` only.
        pub fn anotherPublisher(by: *const Invitation, options: Options, why: ?*Diagnosis) JoinError!Publisher {
            if (kind != c.ANNULUS_MP_LOSSY and kind != c.ANNULUS_MP_LOSSLESS) @compileError("a ring of one publisher: use annulus.shm.MpLossy or MpLossless");
            return join(T, Publisher, c.annulus_invitation_publisher, by, options, why);
        }
        /// Joins it: makes subscribers in this process. A ring of one publisher is mapped read-only.
        pub fn subscribable(by: *const Invitation, options: Options, why: ?*Diagnosis) JoinError!Subscribable {
            return join(T, Subscribable, c.annulus_invitation_subscribable, by, options, why);
        }
    };
}

/// A broadcast ring of one publisher, which waits for nobody.
pub fn Lossy(comptime T: type) type {
    return Broadcast(c.ANNULUS_LOSSY, .lossy_across, T);
}

/// A broadcast ring of one publisher, which waits for the slowest subscriber.
pub fn Lossless(comptime T: type) type {
    return Broadcast(c.ANNULUS_LOSSLESS, .lossless_across, T);
}

/// A broadcast ring of publishers in several processes, which wait for nobody.
pub fn MpLossy(comptime T: type) type {
    return Broadcast(c.ANNULUS_MP_LOSSY, .mp_lossy_across, T);
}

/// A broadcast ring of publishers in several processes, which wait for the slowest of so many `receivers`.
pub fn MpLossless(comptime T: type) type {
    return Broadcast(c.ANNULUS_MP_LOSSLESS, .mp_lossless_across, T);
}
