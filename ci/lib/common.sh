# Sourced by the checks. Each begins in the project's root and stops at the first error.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export CARGO_TERM_COLOR=never
# What the scripts fetch for themselves.
export PATH="$PWD/target/tools/bin:$PATH"

# The exit code of a check that could not run here.
SKIPPED=77

# All of the library's features that this system has.
FEATURES=annulus/derive,annulus/async,annulus/numa,annulus/metrics
[ "$(uname)" != Linux ] || FEATURES+=,annulus/shm

say() { printf '%s\n' "$*"; }

# each COMMAND: runs it with each line that comes, as many beside each other as there are cores. Fails if one of them does. What COMMAND needs of
# functions and variables must be exported.
each() { in_turns "$(nproc)" "$1"; }

# alone COMMAND: the same, one after the other.
alone() { in_turns 1 "$1"; }

# TURN numbers those that run beside each other.
in_turns() { xargs -P "$1" --process-slot-var=TURN -I{} bash -euo pipefail -c "$2 {}"; }

# end_at_first_failure: from here on, cargo's test programs end with the first test that fails or hangs (see ci/lib/test-run).
end_at_first_failure() {
    local host
    host=$(rustc -vV | sed -n 's/^host: //p' | tr 'a-z-' 'A-Z_')
    export "CARGO_TARGET_${host}_RUNNER=$PWD/ci/lib/test-run"
}

# What a search begins with, where the command line has no other: the number of the day.
today() { say $(($(date +%s) / 86400)); }

# need COMMAND HOW...: runs HOW where COMMAND fails, and says so where that did not help. With ANNULUS_NO_INSTALL it says what is missing, and runs
# nothing.
need() {
    local test_command=$1
    shift
    if eval "$test_command" >/dev/null 2>&1; then return 0; fi
    if [ -n "${ANNULUS_NO_INSTALL:-}" ]; then
        say "missing (ANNULUS_NO_INSTALL is set): $test_command"
        say "without it this would run: $*"
        return 1
    fi
    say "installing (ANNULUS_NO_INSTALL=1 forbids it): $*"
    # One at a time, of all checks: neither rustup nor apt-get likes company.
    mkdir -p target/tools
    if (
        ! command -v flock >/dev/null || flock 9
        eval "$test_command" >/dev/null 2>&1 || "$@"
    ) 9>target/tools/lock && eval "$test_command" >/dev/null 2>&1; then return 0; fi
    say "error: could not get it: $*"
    return 1
}
# Nor does rustup get a toolchain by itself then.
[ -z "${ANNULUS_NO_INSTALL:-}" ] || export RUSTUP_AUTO_INSTALL=0

need_component() { need "cargo $1 --version" rustup component add "$2"; }
# lint_each_build: from here on cargo builds by clippy's driver in the place of the compiler, every warning an error. So a check that builds need not have
# all of it looked at once more by `cargo clippy`. The checks of the gate that share a folder share these builds.
lint_each_build() {
    need_component clippy clippy
    export RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS='-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__'
}
need_target() { need "rustup target list --installed | grep -qx $1" rustup target add "$1"; }

# need_nightly COMPONENT...: the nightly toolchain, with these.
need_nightly() {
    need 'cargo +nightly --version' rustup toolchain install nightly --profile minimal || return 1
    local component
    for component in "$@"; do
        need "rustup component list --toolchain nightly --installed | grep -q ^$component" rustup component add --toolchain nightly "$component" || return 1
    done
}

# need_miri: Miri, its build folder, and its flags for threads.
need_miri() {
    need_nightly rust-src miri || return 1
    export CARGO_TARGET_DIR=target/miri
    export MIRIFLAGS='-Zmiri-disable-isolation -Zmiri-preemption-rate=0.2'
    # Tests panic on purpose, and a stack that Miri unwinds for its names takes seconds each time.
    export RUST_BACKTRACE=0
}

# need_debian TEST PACKAGE...: what Debian has, where TEST fails. A user other than root needs a sudo that does not ask.
need_debian() {
    local test_command=$1 as_root=
    shift
    [ "$(id -u)" -eq 0 ] || as_root='sudo -n'
    need "$test_command" sh -c "$as_root apt-get update -qq && $as_root apt-get install -y -qq $*"
}

# need_tool NAME VERSION: a cargo subcommand from crates.io, kept in the project's target folder. (Another version may find other things.)
need_tool() {
    # Not optimized: it only starts what takes the time.
    need "cargo ${1#cargo-} --version | grep -qF '$2'" cargo install --locked --quiet --debug --force --root target/tools "$1" --version "=$2"
}

# loom_fence MODEL: loom goes without the waker's fence, which would hide a missing order elsewhere. Where a thread of this process sleeps, it needs
# the fence: the name ends in `wake`. In models of two processes (`across_`) another fence stands for the barrier. Where rings are to begin with full
# fences, and go on with light ones, the name is `young`.
loom_fence() {
    if [[ $1 == young ]]; then export ANNULUS_LOOM_YOUNG=1; else unset ANNULUS_LOOM_YOUNG; fi
    if [[ $1 == *wake && $1 != across_* ]]; then unset ANNULUS_LOOM_ASYMMETRIC; else export ANNULUS_LOOM_ASYMMETRIC=1; fi
}

# must_see BUG REPORT COMMAND...: COMMAND fails where the library is built with that bug (see ci/lib/seeded-rustc), and says REPORT.
must_see() {
    local bug=$1 report=$2 log=$CARGO_TARGET_DIR/$1.log
    # To Cargo another wrapper is another build: it keeps the two apart, and nobody else gets the bug.
    local wrapper=$PWD/target/seeded/wrappers/$bug
    shift 2
    mkdir -p "$(dirname "$wrapper")"
    ln -sf "$PWD/ci/lib/seeded-rustc" "$wrapper"
    if RUSTC_WORKSPACE_WRAPPER=$wrapper ANNULUS_SEEDED=$bug "$@" >"$log" 2>&1 || ! grep -qE "$report" "$log"; then
        tail -40 "$log"
        say "SURVIVED $bug"
        return 1
    fi
    say "caught   $bug: $(grep -oEm1 "$report" "$log")"
}

# copy_library FOLDER: the published crates alone, in a workspace of their own there.
copy_library() {
    rm -rf "$1"
    mkdir -p "$1/crates" "$1/examples"
    cp -r crates/annulus crates/annulus-derive "$1/crates/"
    cp examples/*.rs "$1/examples/"
    cp README.md "$1/"
    sed 's/^members = .*/members = ["crates\/annulus", "crates\/annulus-derive"]/' Cargo.toml >"$1/Cargo.toml"
}
