//! What the C library returns, as errors. A status that a function has no error for is misuse, or a fault of the library.
//! It ends the program: decision 0128.

const std = @import("std");
const c = @import("c");

const Every = error{ Full, Timeout, Closed, InvalidCapacity, OutOfMemory, SystemResources, Unsupported, VoidHandle, PeerDied, Mismatch, Occupied, NotFound, NoRing, Corrupt, TooLong, TooSmall, Refused };

/// Nothing for `ANNULUS_OK`; else the error of `Errors` that the status is, or the end of the program.
pub inline fn check(comptime Errors: type, status: c.annulus_status) Errors!void {
    if (status != c.ANNULUS_OK) return failed(Errors, status);
}

/// The error of `Errors` that the status is; if it has none, the end of the program, with a message.
pub fn failed(comptime Errors: type, status: c.annulus_status) Errors {
    @branchHint(.cold);
    const meant: Every = switch (status) {
        c.ANNULUS_FULL => error.Full,
        c.ANNULUS_TIMEOUT => error.Timeout,
        c.ANNULUS_CLOSED => error.Closed,
        c.ANNULUS_INVALID => error.InvalidCapacity,
        c.ANNULUS_NO_MEMORY => error.OutOfMemory,
        c.ANNULUS_SYSTEM => error.SystemResources,
        c.ANNULUS_UNSUPPORTED => error.Unsupported,
        c.ANNULUS_NOT_A_HANDLE => error.VoidHandle,
        c.ANNULUS_PEER_DIED => error.PeerDied,
        c.ANNULUS_MISMATCH => error.Mismatch,
        c.ANNULUS_OCCUPIED => error.Occupied,
        c.ANNULUS_NOT_FOUND => error.NotFound,
        c.ANNULUS_NO_RING => error.NoRing,
        c.ANNULUS_CORRUPT => error.Corrupt,
        c.ANNULUS_WRONG_SIZE => error.TooLong,
        c.ANNULUS_TOO_SMALL => error.TooSmall,
        c.ANNULUS_REFUSED => error.Refused,
        else => misused(status),
    };
    inline for (comptime @typeInfo(Errors).error_set.error_names.?) |name| {
        if (meant == @field(Every, name)) return @field(Errors, name);
    }
    misused(status);
}

/// Nothing for `ANNULUS_OK`; else the end of the program, with a message.
pub inline fn expect(status: c.annulus_status) void {
    if (status != c.ANNULUS_OK) misused(status);
}

fn misused(status: c.annulus_status) noreturn {
    @branchHint(.cold);
    std.debug.panic("annulus: {s}", .{std.mem.span(c.annulus_strerror(status))});
}

/// The end of the program, if the library is not the one that the header is from.
pub fn checkLibrary() void {
    const there = c.annulus_abi_version();
    if (there != c.ANNULUS_ABI_VERSION) {
        std.debug.panic("annulus: the library has interface {d}, and the header {d}", .{ there, c.ANNULUS_ABI_VERSION });
    }
}
