//! The module `annulus` for other projects: `b.dependency("annulus", .{ .target = target, .optimize = optimize }).module("annulus")`.
//!
//! `zig build` builds the Rust library by cargo; `-Dannulus-lib=PATH` names one that is there. `zig build test` runs the tests, the
//! examples and the programs of the README.

const std = @import("std");

pub fn build(b: *std.Build) void {
    const target = b.standardTargetOptions(.{});
    const optimize = b.standardOptimizeOption(.{});
    const library = b.option(std.Build.LazyPath, "annulus-lib", "The static library (libannulus.a); without it, cargo builds one") orelse
        byCargo(b, target);
    const include = b.option(std.Build.LazyPath, "annulus-include", "The folder with annulus.h; without it, that of the crate annulus-c") orelse
        b.path("../../crates/annulus-c/include");

    const header = b.addTranslateC(.{
        .root_source_file = include.path(b, "annulus.h"),
        .target = target,
        .optimize = optimize,
    });
    const annulus = b.addModule("annulus", .{
        .root_source_file = b.path("src/annulus.zig"),
        .target = target,
        .optimize = optimize,
        .link_libc = true,
        .imports = &.{.{ .name = "c", .module = header.createModule() }},
    });
    annulus.addObjectFile(library);
    // By which Rust's panics unwind, so that none crosses the border.
    annulus.linkSystemLibrary("unwind", .{});

    b.getInstallStep().dependOn(&b.addInstallLibFile(library, "libannulus.a").step);
    // Another project needs no more.
    if (!b.isRoot()) return;

    const programs: Programs = .{ .b = b, .annulus = annulus, .target = target, .optimize = optimize };
    const tests = b.addTest(.{ .root_module = programs.module(b.path("tests/tests.zig")) });
    const all = b.step("test", "Run the tests, the examples and the programs of the README");
    all.dependOn(&b.addRunArtifact(tests).step);
    for (examples) |name| {
        const run = programs.run(b.fmt("example-{s}", .{name}), b.path(b.fmt("examples/{s}.zig", .{name})));
        b.step(b.fmt("example-{s}", .{name}), "Run this example").dependOn(&run.step);
        all.dependOn(&run.step);
    }
    for (programs.ofTheReadme(), 0..) |source, number| {
        all.dependOn(&programs.run(b.fmt("readme-{d}", .{number}), source).step);
    }
    for (refused) |one| all.dependOn(programs.refuse(one[0], one[1], one[2]));

    // For the test that pairs the languages, which has to know where it is.
    const peer = b.addExecutable(.{ .name = "peer", .root_module = programs.module(b.path("tests/peer.zig")) });
    const install_peer = b.addInstallArtifact(peer, .{});
    b.step("peer", "Build one side of a ring between processes, for a test").dependOn(&install_peer.step);
    all.dependOn(&install_peer.step);

    const bench = programs.run("bench", b.path("tests/bench.zig"));
    bench.stdio = .inherit;
    b.step("bench", "Print how long a message takes; use -Doptimize=fast").dependOn(&bench.step);
}

const examples = [_][]const u8{ "quick_start", "mpsc_pipeline", "back_pressure", "worker", "zero_copy", "records", "shared_memory" };

/// What must not compile: its name, the program, and the end of the line that the compiler has to say.
const refused = [_]struct { []const u8, []const u8, []const u8 }{
    .{ "no size", "_ = annulus.spsc.Channel(void);", "a message has at least a byte, and void has none: send a u8" },
    .{ "only at compile time", "_ = annulus.mpsc.Channel(comptime_int);", "choose a type such as u64 or f64" },
    .{ "a function", "_ = annulus.spsc.Channel(fn () void);", "send a pointer, *const fn () void" },
    .{ "too large", "_ = annulus.mpmc.Channel([5000]u8);", "put values in an annulus.Pool([5000]u8), and send their handles" },
    .{ "too large to broadcast", "_ = annulus.broadcast.Lossy([5000]u8);", "an annulus.Pool([5000]u8), and send their handles" },
    .{ "not in place", "_ = &annulus.spsc.Producer(u32).tryReserve;", "use Channel(annulus.Padded(u32)), or send and receive copies" },
    .{ "reserved, and many consumers", "_ = &annulus.spmc.Producer(u64).reserve;", "no reservations: use annulus.spsc or mpsc" },
    .{ "shown to many consumers", "_ = &annulus.spmc.Consumer(u64).readable;", "shows no messages: use annulus.spsc or mpsc" },
    .{ "a second producer", "_ = &annulus.spsc.Producer(u64).clone;", "a queue of one producer: use annulus.mpsc, mpmc or ordered" },
    .{ "a second consumer", "_ = &annulus.mpsc.Consumer(u64).clone;", "a queue of one consumer: use annulus.spmc, mpmc or ordered" },
    .{ "no layout", "_ = annulus.shm.Spsc(struct { a: u64 }).producer(.{}, null) catch {};", "an array, or an extern struct of these" },
    .{ "shown, and checked", "_ = &annulus.shm.Spsc(bool).Consumer.tryReadable;", "use recv or tryRecvBatch" },
    .{ "claimed in one process", "_ = &annulus.mpmc.Consumer(u64).claim;", "use annulus.shm.Mpmc" },
    .{ "a second publisher", "_ = &annulus.broadcast.Lossy(u64).Publisher.clone;", "use annulus.broadcast.MpLossy or MpLossless" },
};

/// The library, by cargo, in the cache of Zig.
fn byCargo(b: *std.Build, target: std.Build.ResolvedTarget) std.Build.LazyPath {
    if (!target.query.isNativeTriple()) {
        const fail = b.addFail("for another system than this one, build the library by cargo, and name it: -Dannulus-lib=PATH");
        return .{ .generated = .{ .index = b.graph.addGeneratedFile(&fail.step) } };
    }
    const cargo = b.addSystemCommand(&.{ "cargo", "build", "--quiet", "--release", "--locked", "--package", "annulus-c" });
    cargo.setCwd(b.path("../.."));
    cargo.addArg("--target-dir");
    const built = cargo.addOutputDirectoryArg("cargo");
    // Cargo knows what is to be built again.
    cargo.has_side_effects = true;
    return built.path(b, "release/libannulus_c.a");
}

/// Programs that use the module.
const Programs = struct {
    b: *std.Build,
    annulus: *std.Build.Module,
    target: std.Build.ResolvedTarget,
    optimize: std.builtin.Optimize,

    fn module(programs: Programs, source: std.Build.LazyPath) *std.Build.Module {
        return programs.b.createModule(.{
            .root_source_file = source,
            .target = programs.target,
            .optimize = programs.optimize,
            .imports = &.{.{ .name = "annulus", .module = programs.annulus }},
        });
    }

    fn run(programs: Programs, name: []const u8, source: std.Build.LazyPath) *std.Build.Step.Run {
        const b = programs.b;
        const step = b.addRunArtifact(b.addExecutable(.{ .name = name, .root_module = programs.module(source) }));
        step.expectExitCode(0);
        return step;
    }

    /// The programs in the README, each in a file of its own.
    fn ofTheReadme(programs: Programs) []const std.Build.LazyPath {
        const b = programs.b;
        const path = b.path("README.md");
        b.dependOnFileContents(path);
        const text = b.root.root_dir.handle.readFileAlloc(b.graph.io, b.pathJoin(&.{ b.root.sub_path, "README.md" }), b.graph.arena, .unlimited) catch
            @panic("no README.md");
        const files = b.addWriteFiles();
        var sources: std.ArrayList(std.Build.LazyPath) = .empty;
        var blocks = std.mem.splitSequence(u8, text, "```zig\n");
        _ = blocks.next();
        while (blocks.next()) |rest| {
            const block = rest[0 .. std.mem.find(u8, rest, "```") orelse rest.len];
            // A part of a build.zig is no program.
            if (std.mem.find(u8, block, "pub fn main(") == null) continue;
            const source = files.add(b.fmt("readme_{d}.zig", .{sources.items.len}), block);
            sources.append(b.graph.arena, source) catch @panic("OOM");
        }
        return sources.items;
    }

    /// A step that succeeds where the compiler refuses the program, and says why.
    fn refuse(programs: Programs, name: []const u8, body: []const u8, why: []const u8) *std.Build.Step {
        const b = programs.b;
        const text = b.fmt("const annulus = @import(\"annulus\");\npub fn main() void {{\n    {s}\n}}\n", .{body});
        const program = b.addExecutable(.{
            .name = b.fmt("refused: {s}", .{name}),
            .root_module = programs.module(b.addWriteFiles().add("refused.zig", text)),
        });
        program.expect_errors = .{ .contains = why };
        return &program.step;
    }
};
