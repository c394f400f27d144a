//! The plain paths of a queue of one producer and one consumer, without a call: those of `annulus_inline.h`, over the same views. Each step has the
//! ordering that a test compares with the proof of the protocol, and the label of `docs/ORDERING.md`.
//!
//! A view begins at the first look, so a program that needs the handle itself (to arm a descriptor) ends the view, and goes on.

const std = @import("std");
const c = @import("c");

/// What a view looks at that is yet to begin: a queue that is empty and closed, so it calls the library.
const nothing: u64 = 0;
const is_closed: u32 = c.ANNULUS_CLOSES;

/// The light fence of `annulus_inline.h`: for the compiler.
inline fn lightFence() void {
    asm volatile ("" ::: .{ .memory = true });
}

inline fn at(comptime Pointer: type, origin: usize, number: u64) Pointer {
    return @ptrFromInt(origin +% @as(usize, @truncate(number)) *% 8);
}

/// How many words of a ring a message takes.
inline fn stride(comptime T: type) u64 {
    return (@sizeOf(T) + 7) / 8;
}

/// How a producer sends.
pub const Sender = struct {
    view: c.annulus_spsc_producer,
    /// So many messages are reserved.
    reserved: usize = 0,

    pub fn init() Sender {
        return .{ .view = std.mem.zeroInit(c.annulus_spsc_producer, .{ .wakes = &is_closed, .closes = &is_closed }) };
    }

    /// Ends the view. The next look begins another one.
    pub fn end(sender: *Sender) c.annulus_status {
        sender.reserved = 0;
        return c.annulus_producer_view_end(&sender.view);
    }

    /// Whether the queue is closed, so that nothing may be sent. What was done before the close then comes before what follows: that is for the
    /// library to say.
    inline fn isRefused(view: *const c.annulus_spsc_producer) bool {
        if (@atomicLoad(u32, @as(*const u32, view.closes), .monotonic) & c.ANNULUS_CLOSES != 0) {
            @branchHint(.unlikely);
            return c.annulus_producer_is_closed(view.producer);
        }
        return false;
    }

    /// Makes sure that a slot is free, or says why not.
    inline fn room(sender: *Sender, raw: ?*c.annulus_producer, timeout_ns: u64) c.annulus_status {
        const view = &sender.view;
        if (view.tail == view.stop) {
            @branchHint(.unlikely);
            return look(view, raw, timeout_ns); // lane.send1
        }
        return if (isRefused(view)) c.ANNULUS_CLOSED else c.ANNULUS_OK;
    }

    noinline fn look(view: *c.annulus_spsc_producer, raw: ?*c.annulus_producer, timeout_ns: u64) c.annulus_status {
        @branchHint(.cold);
        if (view.producer == null) {
            const begun = c.annulus_producer_view(raw, c.ANNULUS_VIEW_VERSION, view);
            if (begun != c.ANNULUS_OK) return begun;
        }
        return c.annulus_producer_view_look(view, timeout_ns);
    }

    /// lane.send3 and lane.send4 of so many words, which are written and in the run.
    inline fn publish(view: *c.annulus_spsc_producer, words: u64) c.annulus_status {
        view.tail +%= words;
        @atomicStore(u64, @as(*u64, view.own), view.tail, .release); // lane.send3
        lightFence(); // event.wake2
        if (@atomicLoad(u32, @as(*const u32, view.wakes), .monotonic) & (c.ANNULUS_WAKES | c.ANNULUS_CLOSES) != 0) { // event.wake3
            @branchHint(.unlikely);
            return c.annulus_producer_view_settle(view, @intCast(words)); // lane.send4
        }
        return c.ANNULUS_OK;
    }

    /// As `annulus_spsc_send_timeout`.
    pub inline fn send(sender: *Sender, raw: ?*c.annulus_producer, comptime T: type, value: *const T, timeout_ns: u64) c.annulus_status {
        if (sender.reserved != 0) return c.ANNULUS_RESERVED;
        const status = sender.room(raw, timeout_ns);
        if (status != c.ANNULUS_OK) {
            @branchHint(.unlikely);
            return status;
        }
        at(*align(8) T, sender.view.origin, sender.view.tail).* = value.*; // lane.send2
        return publish(&sender.view, stride(T));
    }

    /// As `annulus_producer_try_send_batch`.
    pub fn sendBatch(sender: *Sender, raw: ?*c.annulus_producer, comptime T: type, values: []const T, sent: *usize) c.annulus_status {
        // Up to the end of the ring, and from its begin on.
        for (0..2) |_| {
            var first: ?*anyopaque = null;
            var count: usize = 0;
            var status = sender.reserve(raw, T, values.len - sent.*, 0, &first, &count);
            if (status == c.ANNULUS_OK) {
                for (values[sent.*..][0..count], 0..) |*value, index| at(*align(8) T, @intFromPtr(first.?), index * stride(T)).* = value.*;
                status = sender.commit(raw, T, count);
            }
            if (status != c.ANNULUS_OK) return if (sent.* > 0) c.ANNULUS_OK else status;
            sent.* += count;
            if (sent.* == values.len) break;
        }
        return c.ANNULUS_OK;
    }

    /// As `annulus_producer_reserve`; with 0 it does not wait.
    pub fn reserve(sender: *Sender, raw: ?*c.annulus_producer, comptime T: type, most: usize, timeout_ns: u64, first: *?*anyopaque, count: *usize) c.annulus_status {
        if (most == 0) return c.ANNULUS_INVALID;
        if (sender.reserved != 0) return c.ANNULUS_RESERVED;
        const status = sender.room(raw, timeout_ns);
        if (status != c.ANNULUS_OK) return status;
        const view = &sender.view;
        if ((view.stop -% view.tail) / stride(T) < most) {
            // There may be more by now.
            const again = look(view, raw, 0);
            if (again != c.ANNULUS_OK) return again;
        }
        count.* = @min(most, @as(usize, @intCast((view.stop -% view.tail) / stride(T))));
        first.* = at(*anyopaque, view.origin, view.tail);
        sender.reserved = count.*;
        return c.ANNULUS_OK;
    }

    /// As `annulus_producer_commit`.
    pub fn commit(sender: *Sender, _: ?*c.annulus_producer, comptime T: type, count: usize) c.annulus_status {
        if (count > sender.reserved) return c.ANNULUS_INVALID;
        sender.reserved = 0;
        if (count == 0) return c.ANNULUS_OK;
        return if (isRefused(&sender.view)) c.ANNULUS_CLOSED else publish(&sender.view, count * stride(T));
    }
};

/// How a consumer receives.
pub const Receiver = struct {
    view: c.annulus_spsc_consumer,
    /// So many messages are shown.
    shown: usize = 0,

    pub fn init() Receiver {
        return .{ .view = std.mem.zeroInit(c.annulus_spsc_consumer, .{ .other = &nothing, .wakes = &is_closed, .closes = &is_closed }) };
    }

    /// Ends the view. The next look begins another one.
    pub fn end(receiver: *Receiver) c.annulus_status {
        receiver.shown = 0;
        return c.annulus_consumer_view_end(&receiver.view);
    }

    /// Makes sure that a message is there, or says why not.
    inline fn some(receiver: *Receiver, raw: ?*c.annulus_consumer, timeout_ns: u64) c.annulus_status {
        const view = &receiver.view;
        receiver.shown = 0;
        if (view.head == view.stop) {
            @branchHint(.unlikely);
            const there = @atomicLoad(u64, @as(*const u64, view.other), .acquire) -% view.head; // lane.take5
            const beside = view.lap_end -% view.head;
            if (there != 0 and beside != 0) {
                view.stop = view.head +% @min(there, beside);
                return c.ANNULUS_OK;
            }
            // The tail came first: what was sent before the end is found before the end.
            const ended = @atomicLoad(u32, @as(*const u32, view.closes), .monotonic) & c.ANNULUS_CLOSES != 0;
            if (there == 0 and timeout_ns == 0 and !ended) return c.ANNULUS_EMPTY;
            return look(view, raw, timeout_ns); // lane.take5
        }
        return c.ANNULUS_OK;
    }

    noinline fn look(view: *c.annulus_spsc_consumer, raw: ?*c.annulus_consumer, timeout_ns: u64) c.annulus_status {
        @branchHint(.cold);
        if (view.consumer == null) {
            const begun = c.annulus_consumer_view(raw, c.ANNULUS_VIEW_VERSION, view);
            if (begun != c.ANNULUS_OK) return begun;
        }
        return c.annulus_consumer_view_look(view, timeout_ns);
    }

    /// lane.take7 and lane.take8 of so many words, which are read.
    inline fn release(view: *c.annulus_spsc_consumer, words: u64) void {
        view.head +%= words;
        @atomicStore(u64, @as(*u64, view.own), view.head, .release); // lane.take7
        lightFence(); // event.wake2
        if (@atomicLoad(u32, @as(*const u32, view.wakes), .monotonic) & c.ANNULUS_WAKES != 0) { // event.wake3
            @branchHint(.unlikely);
            _ = c.annulus_consumer_view_wake(view); // lane.take8
        }
    }

    /// As `annulus_spsc_recv_timeout`.
    pub inline fn recv(receiver: *Receiver, raw: ?*c.annulus_consumer, comptime T: type, value: *T, timeout_ns: u64) c.annulus_status {
        const status = receiver.some(raw, timeout_ns);
        if (status != c.ANNULUS_OK) {
            @branchHint(.unlikely);
            return status;
        }
        value.* = at(*align(8) const T, receiver.view.origin, receiver.view.head).*; // lane.take6
        release(&receiver.view, stride(T));
        return c.ANNULUS_OK;
    }

    /// As `annulus_consumer_try_recv_batch`.
    pub fn recvBatch(receiver: *Receiver, raw: ?*c.annulus_consumer, comptime T: type, buffer: []T, received: *usize) c.annulus_status {
        if (buffer.len == 0) return c.ANNULUS_INVALID;
        for (0..2) |_| {
            var first: ?*const anyopaque = null;
            var count: usize = 0;
            const status = receiver.readable(raw, T, 0, &first, &count);
            if (status != c.ANNULUS_OK) return if (received.* > 0) c.ANNULUS_OK else status;
            count = @min(count, buffer.len - received.*);
            for (buffer[received.*..][0..count], 0..) |*value, index| value.* = at(*align(8) const T, @intFromPtr(first.?), index * stride(T)).*;
            release(&receiver.view, count * stride(T));
            receiver.shown = 0;
            received.* += count;
            if (received.* == buffer.len) break;
        }
        return c.ANNULUS_OK;
    }

    /// As `annulus_consumer_readable`.
    pub fn readable(receiver: *Receiver, raw: ?*c.annulus_consumer, comptime T: type, timeout_ns: u64, first: *?*const anyopaque, count: *usize) c.annulus_status {
        const status = receiver.some(raw, timeout_ns);
        if (status != c.ANNULUS_OK) return status;
        const view = &receiver.view;
        count.* = @intCast((view.stop -% view.head) / stride(T));
        first.* = at(*const anyopaque, view.origin, view.head);
        receiver.shown = count.*;
        return c.ANNULUS_OK;
    }

    /// As `annulus_consumer_advance`.
    pub fn advance(receiver: *Receiver, _: ?*c.annulus_consumer, comptime T: type, count: usize) c.annulus_status {
        if (count > receiver.shown) return c.ANNULUS_INVALID;
        receiver.shown -= count;
        if (count > 0) release(&receiver.view, count * stride(T));
        return c.ANNULUS_OK;
    }
};
