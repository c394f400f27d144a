//! Gives the shared library the name by which the linker asks for it, and lets it stay where it is once it is
//! loaded: threads that it has begun may run when a program closes it.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libannulus.so.0,-z,nodelete");
    }
}
