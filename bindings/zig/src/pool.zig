//! Buffers for what is too large to copy. Their handles, of 4 bytes, go through a ring.

const c = @import("c");
const status = @import("status.zig");

/// Each buffer begins at a multiple of it: a cache line.
const buffer_alignment = 64;

/// A pool of buffers that each hold one `T`. Any thread may use it, several at once, too.
///
/// The code that has a handle owns its buffer, and one thread at a time has it. It goes to another thread through a ring, where `redeem`
/// takes it over; in the end `release` puts it back.
pub fn Pool(comptime T: type) type {
    if (@sizeOf(T) == 0) @compileError("a buffer has at least a byte, and " ++ @typeName(T) ++ " has none");
    if (@alignOf(T) > buffer_alignment) @compileError("a buffer begins at a multiple of 64, and " ++ @typeName(T) ++ " needs more");
    return struct {
        const Self = @This();

        /// The name of a buffer, in 4 bytes. Those of pools of another type don't fit.
        pub const Handle = enum(u32) { _ };

        /// A buffer, and its name.
        pub const Buffer = struct {
            handle: Handle,
            value: *T,
        };

        bytes: BytePool,

        /// Makes a pool of `count` buffers, which the caller owns. All memory is allocated here. Any thread may call this.
        ///
        /// `error.InvalidCapacity`: `count` is 0, or above 2^24. `error.OutOfMemory`: there is no memory for so many.
        pub fn init(count: usize) BytePool.InitError!Self {
            return .{ .bytes = try .init(@sizeOf(T), count) };
        }

        /// Takes a buffer out of the pool, or returns null if none is free. Its value is as its last owner left it; the bytes of a
        /// new one are 0. Never waits. Any thread may call this.
        pub fn alloc(self: *const Self) ?Buffer {
            return of(self.bytes.alloc() orelse return null);
        }

        /// Takes over the buffer with the handle received. It has a new handle, and the old one is void. Any thread may call this.
        ///
        /// `error.VoidHandle`: it was redeemed or released before, or is none of this pool. (This is told for all but the last of
        /// many uses of one buffer.)
        pub fn redeem(self: *const Self, received: Handle) error{VoidHandle}!Buffer {
            return of(try self.bytes.redeem(@fromBackingInt(@backingInt(received))));
        }

        /// Puts the buffer with this handle back into the pool. The handle is void, and the value is no longer the caller's. Any
        /// thread may call this. It is misuse if the handle is void.
        pub fn release(self: *const Self, handle: Handle) void {
            self.bytes.release(@fromBackingInt(@backingInt(handle)));
        }

        /// How many buffers are free. It may have changed when this returns. Any thread may call this.
        pub fn available(self: *const Self) usize {
            return self.bytes.available();
        }

        /// Frees the pool, and the memory of all of its buffers, whether they were released or not. No effect the second time.
        ///
        /// One thread may call this, when no other one uses the pool or any of its buffers any more.
        pub fn deinit(self: *Self) void {
            self.bytes.deinit();
        }

        fn of(buffer: BytePool.Buffer) Buffer {
            return .{ .handle = @fromBackingInt(@backingInt(buffer.handle)), .value = @ptrCast(buffer.bytes.ptr) };
        }
    };
}

/// A pool of buffers whose size is known at run time; else as `Pool`.
pub const BytePool = struct {
    pub const Handle = enum(u32) { _ };
    pub const InitError = error{ InvalidCapacity, OutOfMemory };

    /// A buffer, and its name.
    pub const Buffer = struct {
        handle: Handle,
        bytes: []align(buffer_alignment) u8,
    };

    raw: ?*c.annulus_pool,
    buffer_size: usize,

    /// As `Pool.init`. `error.InvalidCapacity` also if `buffer_size` is 0.
    pub fn init(buffer_size: usize, count: usize) InitError!BytePool {
        status.checkLibrary();
        var raw: ?*c.annulus_pool = null;
        try status.check(InitError, c.annulus_pool_new(buffer_size, count, &raw));
        return .{ .raw = raw, .buffer_size = buffer_size };
    }

    /// As `Pool.alloc`.
    pub fn alloc(self: *const BytePool) ?Buffer {
        var handle: u32 = 0;
        var bytes: ?*anyopaque = null;
        const code = c.annulus_pool_alloc(self.raw, &handle, &bytes);
        if (code == c.ANNULUS_EMPTY) return null;
        status.expect(code);
        return self.buffer(handle, bytes);
    }

    /// As `Pool.redeem`.
    pub fn redeem(self: *const BytePool, received: Handle) error{VoidHandle}!Buffer {
        var handle: u32 = 0;
        var bytes: ?*anyopaque = null;
        try status.check(error{VoidHandle}, c.annulus_pool_redeem(self.raw, @backingInt(received), &handle, &bytes));
        return self.buffer(handle, bytes);
    }

    /// As `Pool.release`.
    pub fn release(self: *const BytePool, handle: Handle) void {
        status.expect(c.annulus_pool_release(self.raw, @backingInt(handle)));
    }

    /// As `Pool.available`.
    pub fn available(self: *const BytePool) usize {
        return c.annulus_pool_available(self.raw);
    }

    /// As `Pool.deinit`.
    pub fn deinit(self: *BytePool) void {
        status.expect(c.annulus_pool_free(self.raw));
        self.raw = null;
    }

    fn buffer(self: *const BytePool, handle: u32, bytes: ?*anyopaque) Buffer {
        const first: [*]align(buffer_alignment) u8 = @ptrCast(@alignCast(bytes.?));
        return .{ .handle = @fromBackingInt(handle), .bytes = first[0..self.buffer_size] };
    }
};
