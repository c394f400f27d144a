//! Notes what the compiler was, for the report.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let version = Command::new(rustc).arg("--version").output();
    let version = version.ok().filter(|output| output.status.success());
    let version = version.and_then(|output| String::from_utf8(output.stdout).ok());
    println!("cargo::rustc-env=BENCH_RUSTC={}", version.as_deref().unwrap_or("unknown").trim());
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default().replace('\u{1f}', " ");
    println!("cargo::rustc-env=BENCH_RUSTFLAGS={flags}");
    for name in ["OPT_LEVEL", "TARGET"] {
        println!("cargo::rustc-env=BENCH_{name}={}", env::var(name).unwrap_or_default());
    }
}
