//! Another project, which uses the module as the README says.

const std = @import("std");

pub fn build(b: *std.Build) void {
    const target = b.standardTargetOptions(.{});
    const optimize = b.standardOptimizeOption(.{});
    const library = b.option(std.Build.LazyPath, "annulus-lib", "The static library").?;
    const annulus = b.dependency("annulus", .{ .target = target, .optimize = optimize, .@"annulus-lib" = library });
    const exe = b.addExecutable(.{
        .name = "dependent",
        .root_module = b.createModule(.{
            .root_source_file = b.path("src/main.zig"),
            .target = target,
            .optimize = optimize,
        }),
    });
    exe.root_module.addImport("annulus", annulus.module("annulus"));
    const run = b.addRunArtifact(exe);
    run.expectExitCode(0);
    b.getInstallStep().dependOn(&run.step);
}
