//! What a message may be. All is checked when the program is compiled.

const std = @import("std");
const c = @import("c");

/// The size of the largest message in rings whose slots are claimed.
pub const claimed_max: usize = c.ANNULUS_MESSAGE_MAX;

/// No slot is aligned more than that.
const alignment_max = 128;

/// A message of any type `T`, of a size that lies in a ring as in an array: `Channel(Padded(u32))`, where `Channel(u32)` has no
/// `reserve` and no `readable`, because messages lie a multiple of 8 bytes apart.
pub fn Padded(comptime T: type) type {
    return struct {
        value: T align(@max(8, @alignOf(T))),
    };
}

/// Fails to compile where `T` is no type of messages. `claimed` is whether slots are claimed one by one.
pub fn check(comptime T: type, comptime claimed: bool) void {
    const name = @typeName(T);
    switch (@typeInfo(T)) {
        .@"opaque", .@"fn" => @compileError("a message has a size, and " ++ name ++ " has none: send a pointer, *const " ++ name),
        .type, .comptime_int, .comptime_float, .enum_literal, .null, .undefined, .noreturn => @compileError(
            "a message is a value at run time, and " ++ name ++ " has none: choose a type such as u64 or f64",
        ),
        else => {},
    }
    if (@sizeOf(T) == 0) @compileError("a message has at least a byte, and " ++ name ++ " has none: send a u8");
    if (@alignOf(T) > alignment_max) @compileError(std.fmt.comptimePrint(
        "slots are aligned to {d} bytes at most, and {s} needs {d}: put values in an array of your own, and send pointers",
        .{ alignment_max, name, @alignOf(T) },
    ));
    if (claimed and @sizeOf(T) > claimed_max) @compileError(std.fmt.comptimePrint(
        "messages of this kind of ring have {d} bytes at most, and {s} has {d}: put values in an annulus.Pool({s}), and send their handles",
        .{ claimed_max, name, @sizeOf(T), name },
    ));
}

/// Whether any bytes are a value of this type of messages between processes (`shm.schema`).
pub fn isAnyBytes(comptime T: type) bool {
    switch (@typeInfo(T)) {
        .int, .float => return true,
        .array => |array| return array.len == 0 or isAnyBytes(array.child),
        .@"struct" => |of| {
            if (@hasDecl(T, "annulus_text")) return false;
            inline for (of.field_types) |Field| {
                if (!isAnyBytes(Field)) return false;
            }
            return true;
        },
        else => return false,
    }
}

/// Fails to compile where messages of type `T` don't lie in a ring as in an array.
pub fn checkInPlace(comptime T: type) void {
    if (@sizeOf(T) % 8 != 0) @compileError(std.fmt.comptimePrint(
        "messages lie a multiple of 8 bytes apart, and {s} has {d}: use Channel(annulus.Padded({s})), or send and receive copies",
        .{ @typeName(T), @sizeOf(T), @typeName(T) },
    ));
}
