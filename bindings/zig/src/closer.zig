//! What closes a ring from any thread.

const c = @import("c");
const status = @import("status.zig");

/// Closes a ring from any thread, at any time. It keeps neither the ring nor its memory.
pub const Closer = struct {
    raw: ?*c.annulus_closer,

    /// The closer of a handle, which the caller owns.
    pub fn of(handle: anytype, function: anytype) Closer {
        var raw: ?*c.annulus_closer = null;
        status.expect(function(handle, &raw));
        return .{ .raw = raw };
    }

    /// Closes the ring, and wakes all threads that wait. No effect on a ring that is closed, or gone.
    ///
    /// Any thread may call this, several at once, too, until `deinit`.
    pub fn close(closer: *const Closer) void {
        status.expect(c.annulus_closer_close(closer.raw));
    }

    /// Frees the closer; the ring stays as it is. No effect the second time.
    ///
    /// One thread may call this, when no other one uses the closer any more.
    pub fn deinit(closer: *Closer) void {
        status.expect(c.annulus_closer_free(closer.raw));
        closer.raw = null;
    }
};
