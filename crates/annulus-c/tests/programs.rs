//! The programs in `tests/c`: each compiles without a warning as C11 and as C++20, with each compiler that is
//! there, and does what it checks.
#![cfg(all(target_os = "linux", not(miri)))]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

#[path = "../../annulus/tests/support/hang.rs"]
mod hang;

const STRICT: [&str; 6] = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-g"];

/// What a program is compiled as: the compilers, those that have to be there first.
const C11: (&str, &[&str], &[&str]) = ("c11", &["-x", "c", "-std=c11", "-D_GNU_SOURCE"], &["cc", "clang"]);
const CPP20: (&str, &[&str], &[&str]) = ("c++20", &["-x", "c++", "-std=c++20"], &["c++", "clang++"]);

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Where cargo has put the libraries of this crate: beside this program.
fn libraries() -> PathBuf {
    env::current_exe().unwrap().parent().unwrap().to_owned()
}

fn is_there(compiler: &str) -> bool {
    Command::new(compiler).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Runs it, and returns whether it went well. Prints what it says if not.
fn run(command: &mut Command) -> bool {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    if !output.status.success() {
        println!("{command:?}\n{}", output.status);
        print!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    }
    output.status.success()
}

/// How a program gets the library.
#[derive(Clone, Copy)]
enum Linked {
    Statically,
    /// By the names that an installed one has.
    Shared,
}

impl Linked {
    /// What the linker is told.
    fn arguments(self, scratch: &Path) -> Vec<String> {
        let library = |name: &str| libraries().join(name).into_os_string().into_string().unwrap();
        match self {
            Self::Statically => {
                [&library("libannulus_c.a"), "-lpthread", "-ldl", "-lm"].map(String::from).into()
            }
            Self::Shared => {
                for name in ["libannulus.so", "libannulus.so.0"] {
                    _ = fs::remove_file(scratch.join(name));
                    std::os::unix::fs::symlink(library("libannulus_c.so"), scratch.join(name)).unwrap();
                }
                let scratch = scratch.display();
                vec![
                    format!("-L{scratch}"),
                    format!("-Wl,-rpath,{scratch}"),
                    "-lannulus".into(),
                    "-lpthread".into(),
                ]
            }
        }
    }
}

/// Compiles all programs by one compiler, and runs them.
fn compile_and_run(language: &str, flags: &[&str], compiler: &str, linked: Linked) {
    let programs = fs::read_dir(folder().join("tests/c")).unwrap().map(|entry| entry.unwrap().path());
    let mut programs: Vec<_> =
        programs.filter(|path| path.extension().is_some_and(|extension| extension == "c")).collect();
    programs.sort();
    assert!(programs.len() > 3, "where are they?");
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("annulus-c-{language}-{compiler}"));
    fs::create_dir_all(&scratch).unwrap();
    let link = linked.arguments(&scratch);
    let mut failed = Vec::new();
    for source in programs {
        let name = source.file_stem().unwrap().to_str().unwrap();
        let program = scratch.join(name);
        let mut compile = Command::new(compiler);
        compile.args(STRICT).args(flags).arg("-I").arg(folder().join("include")).arg(&source);
        // `-x` holds for the files behind it, too.
        compile.args(["-x", "none"]).args(&link).arg("-o").arg(&program);
        if !run(&mut compile) || !run(&mut Command::new(&program)) {
            failed.push(name.to_owned());
        }
    }
    assert!(failed.is_empty(), "{compiler} as {language}: {failed:?}");
    fs::remove_dir_all(&scratch).unwrap();
}

fn with_all((language, flags, compilers): (&str, &[&str], &[&str]), linked: Linked) {
    for compiler in compilers {
        if is_there(compiler) {
            compile_and_run(language, flags, compiler, linked);
        } else {
            println!("skipped: {language} by {compiler}, which is not there");
        }
    }
}

#[test]
fn programs_in_c() {
    // Rust's own linker is `cc`.
    assert!(is_there("cc"));
    with_all(C11, Linked::Statically);
}

#[test]
fn programs_in_cpp() {
    with_all(CPP20, Linked::Shared);
}
