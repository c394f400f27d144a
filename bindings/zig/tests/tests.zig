//! All tests of the binding.

comptime {
    _ = @import("queues.zig");
    _ = @import("shared.zig");
    _ = @import("in_place.zig");
    _ = @import("broadcasts.zig");
    _ = @import("bytes.zig");
    _ = @import("events.zig");
    _ = @import("pools.zig");
}
