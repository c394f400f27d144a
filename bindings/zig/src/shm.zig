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
    /// How many messages the ring holds, exactly, or how many bytes of records. Who joins has the ring's.
    capacity: usize = 0,
    /// How threads of this process wait that have to.
    wait: options_of.Wait = .default,
    /// How many producers, publishers, or subscribers of a lossless ring there can be; 0 is 16.
    places: u32 = 0,
    statistics: bool = false,
    /// When the process of the consumer has ended without a close, the queue stays open for a next one.
    wait_for_next_consumer: bool = false,
    /// A ring of several producers or publishers ends with the last of them.
    close_with_last_producer: bool = false,

    fn raw(options: Options, comptime T: type) c.annulus_shared_options {
        var flags: u32 = 0;
        if (options.statistics) flags |= c.ANNULUS_STATISTICS;
        if (options.wait_for_next_consumer) flags |= c.ANNULUS_WAIT_FOR_NEXT_CONSUMER;
        if (options.close_with_last_producer) flags |= c.ANNULUS_CLOSE_WITH_LAST_PRODUCER;
        return .{
            .size = @sizeOf(c.annulus_shared_options),
            .capacity = options.capacity,
            .message_size = @sizeOf(T),
            .message_alignment = @alignOf(T),
            .schema = schema(T),
            .wait = options.wait.raw(),
            .places = options.places,
            .flags = flags,
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

pub const MakeError = error{ InvalidCapacity, OutOfMemory, SystemResources, Unsupported };
pub const JoinError = error{ Mismatch, Occupied, Closed, PeerDied, NoRing } || MakeError;

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
    /// with 0, and for as long as it takes with `forever`.
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

fn Broadcast(comptime kind: u32, comptime across: broadcasting.Kind, comptime T: type) type {
    return struct {
        pub const Publisher = broadcasting.PublisherOf(across, T);
        pub const Subscribable = broadcasting.SubscribableOf(across, T);
        pub const Subscriber = broadcasting.SubscriberOf(across, T);

        /// Makes the ring: this process publishes.
        pub fn publisher(options: Options, why: ?*Diagnosis) MakeError!Made(Publisher) {
            return make(T, Publisher, c.annulus_shared_publisher_new, .{kind}, options, why);
        }
        /// Joins it as another publisher: `MpLossy` only.
        pub fn anotherPublisher(by: *const Invitation, options: Options, why: ?*Diagnosis) JoinError!Publisher {
            if (kind != c.ANNULUS_MP_LOSSY) @compileError("a ring of one publisher: use annulus.shm.MpLossy");
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
