//! The programs in `examples` and `tests/c`, and those in the pages: each compiles without a warning as C11
//! and as C++20, with each compiler that is there, and does what it checks.
#![cfg(all(target_os = "linux", not(miri)))]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

#[path = "../../annulus/tests/support/hang.rs"]
mod hang;

const STRICT: [&str; 6] = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-g"];

/// With the sanitizers of the C compiler, if `ANNULUS_SANITIZE` is set (`ci/asan`).
const SANITIZED: [&str; 2] = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

/// What programs are compiled as.
struct Language {
    name: &'static str,
    flags: &'static [&'static str],
    /// Those that have to be there first.
    compilers: &'static [&'static str],
    /// How the names of programs in it end.
    sources: &'static [&'static str],
}

const C11: Language = Language {
    name: "c11",
    flags: &["-x", "c", "-std=c11", "-D_GNU_SOURCE"],
    compilers: &["cc", "clang"],
    sources: &["c"],
};

/// C++ compiles the programs in C, too. None of them asks for exceptions or types at run time.
const CPP20: Language = Language {
    name: "c++20",
    flags: &["-x", "c++", "-std=c++20", "-fno-exceptions", "-fno-rtti"],
    compilers: &["c++", "clang++"],
    sources: &["c", "cpp"],
};

/// As programs are compiled that say nothing of that.
const CPP20_WHOLE: Language = Language {
    name: "c++20-whole",
    flags: &["-x", "c++", "-std=c++20"],
    compilers: &["c++"],
    sources: &["cpp"],
};

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
#[derive(Clone, Copy, Debug)]
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
                [&library("libannulus_c.a"), "-lpthread", "-ldl", "-lm", "-Wl,-S,--gc-sections"]
                    .map(String::from)
                    .into()
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

/// The programs in the pages, each in a file of its own.
fn of_the_pages(scratch: &Path, ending: &str) -> Vec<PathBuf> {
    let pages = ["README.md", "CPP.md"].map(|name| fs::read_to_string(folder().join(name)).unwrap()).concat();
    let begin = format!("```{ending}\n");
    let blocks = pages.split(&begin).skip(1).map(|block| block.split("```").next().unwrap());
    let programs = blocks.enumerate().map(|(number, block)| {
        let path = scratch.join(format!("page_{number}.{ending}"));
        fs::write(&path, block).unwrap();
        path
    });
    programs.collect()
}

/// The programs in this language: those in files, and those in the pages.
fn programs(language: &Language, scratch: &Path) -> Vec<PathBuf> {
    let sources = language.sources;
    let folders = ["examples", "tests/c"].map(|name| fs::read_dir(folder().join(name)).unwrap());
    let mut programs: Vec<_> = folders
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path())
        .filter(|path| sources.iter().any(|&ending| path.extension().is_some_and(|found| found == ending)))
        .collect();
    programs.sort();
    programs.extend(sources.iter().flat_map(|ending| of_the_pages(scratch, ending)));
    programs
}

/// Compiles these programs, or all, by one compiler, and runs them.
fn compile_and_run(language: &Language, compiler: &str, linked: Linked, only: Option<&str>) {
    let name = format!("annulus-c-{}-{compiler}-{linked:?}", language.name);
    let scratch = &Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(scratch).unwrap();
    let mut programs = programs(language, scratch);
    programs.retain(|path| only.is_none_or(|only| path.file_stem().is_some_and(|name| name == only)));
    assert!(!programs.is_empty(), "where are they?");
    let link = linked.arguments(scratch);
    let mut failed = Vec::new();
    for source in programs {
        let name = source.file_name().unwrap().to_str().unwrap();
        let program = scratch.join(name).with_extension("");
        let mut compile = Command::new(compiler);
        compile.args(STRICT).args(env::var_os("ANNULUS_SANITIZE").iter().flat_map(|_| SANITIZED));
        compile.args(language.flags);
        compile
            .args(["include", "tests/c"].map(|name| format!("-I{}", folder().join(name).display())))
            .arg(&source);
        // `-x` holds for the files behind it, too.
        compile.args(["-x", "none"]).args(&link).arg("-o").arg(&program);
        if !run(&mut compile) || !run(&mut Command::new(&program)) {
            failed.push(name.to_owned());
        }
    }
    assert!(failed.is_empty(), "{compiler} as {}: {failed:?}", language.name);
    fs::remove_dir_all(scratch).unwrap();
}

fn with_all(language: &Language) {
    for compiler in language.compilers {
        if is_there(compiler) {
            compile_and_run(language, compiler, Linked::Shared, None);
        } else {
            println!("skipped: {} by {compiler}, which is not there", language.name);
        }
    }
}

#[test]
fn programs_in_c() {
    // Rust's own linker is `cc`.
    assert!(is_there("cc"));
    with_all(&C11);
}

#[test]
fn programs_in_cpp() {
    with_all(&CPP20);
}

#[test]
fn programs_in_cpp_with_exceptions() {
    with_all(&CPP20_WHOLE);
}

/// What the library needs is in it: one program of each kind tells, and each takes a second to link.
#[test]
fn programs_that_are_linked_statically() {
    compile_and_run(&C11, "cc", Linked::Statically, Some("shared_kinds"));
    compile_and_run(&CPP20_WHOLE, "c++", Linked::Statically, Some("typed"));
}

/// What is no message does not compile, and the compiler says why.
#[test]
fn what_is_not_trivially_copyable_is_no_message() {
    if !is_there("c++") {
        println!("skipped: there is no c++");
        return;
    }
    let scratch = &Path::new(env!("CARGO_TARGET_TMPDIR")).join("annulus-c-no-message");
    fs::create_dir_all(scratch).unwrap();
    let source = scratch.join("no_message.cpp");
    for (message, is_one) in [("int", true), ("std::string", false), ("std::unique_ptr<int>", false)] {
        let program = format!(
            "#include <annulus.hpp>\n#include <memory>\n#include <string>\n\
             int main() {{ return annulus::spsc::channel<{message}>({{.capacity = 1}}).error(); }}\n"
        );
        fs::write(&source, program).unwrap();
        let mut compile = Command::new("c++");
        compile.args(["-std=c++20", "-fsyntax-only", "-I"]).arg(folder().join("include")).arg(&source);
        let output = compile.output().unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.success(), is_one, "{message}: {complaint}");
        assert!(is_one || complaint.contains("it has to be trivially copyable"), "{message}: {complaint}");
    }
    fs::remove_dir_all(scratch).unwrap();
}

/// Each file of the library for C++ includes what it needs.
#[test]
fn each_header_for_cpp_compiles_alone() {
    if !is_there("c++") {
        println!("skipped: there is no c++");
        return;
    }
    let headers = fs::read_dir(folder().join("include/annulus")).unwrap();
    let headers: Vec<_> = headers.map(|entry| entry.unwrap().path()).collect();
    assert!(headers.len() >= 7, "{headers:?}");
    for header in headers {
        let mut compile = Command::new("c++");
        compile.args(STRICT).args(CPP20.flags).args(["-fsyntax-only", "-I"]);
        assert!(run(compile.arg(folder().join("include")).arg(&header)), "{}", header.display());
    }
}

/// Installs into a folder, and returns it.
fn installed(prefix: &str) -> PathBuf {
    let staged = Path::new(env!("CARGO_TARGET_TMPDIR")).join("annulus-c-installed");
    _ = fs::remove_dir_all(&staged);
    let mut make = Command::new("make");
    make.arg("-C").arg(folder()).args(["-s", "install"]).arg(format!("PREFIX={prefix}"));
    make.arg(format!("DESTDIR={}", staged.display())).arg(format!("BUILT={}", libraries().display()));
    assert!(run(&mut make));
    staged
}

/// What `make install` puts there is found by `pkg-config` and by `cmake`, and works.
#[test]
fn an_installed_library_is_found() {
    if !is_there("make") {
        println!("skipped: there is no make");
        return;
    }
    let staged = installed("/opt/annulus");
    let lib = staged.join("opt/annulus/lib");
    for header in ["annulus.h", "annulus_inline.h", "annulus.hpp", "annulus/spsc.hpp"] {
        assert!(staged.join("opt/annulus/include").join(header).exists(), "{header}");
    }
    for file in ["libannulus.a", "libannulus.so", "libannulus.so.0", "pkgconfig/annulus.pc"] {
        assert!(fs::metadata(lib.join(file)).is_ok_and(|file| file.len() > 0), "{file}");
    }
    let source = folder().join("examples/quick_start.c");
    if is_there("pkg-config") {
        for (way, program) in [(&[][..], "shared"), (&["--static"][..], "static")] {
            let mut ask = Command::new("pkg-config");
            ask.env("PKG_CONFIG_PATH", lib.join("pkgconfig")).env("PKG_CONFIG_SYSROOT_DIR", &staged);
            let answer = ask.args(["--cflags", "--libs", "annulus >= 0.1"]).args(way).output().unwrap();
            assert!(answer.status.success(), "{answer:?}");
            let answer = String::from_utf8(answer.stdout).unwrap();
            let program = staged.join(program);
            let mut compile = Command::new("cc");
            compile.arg(&source).arg("-o").arg(&program).arg("-I").arg(folder().join("tests/c"));
            compile.args(answer.split_whitespace()).arg("-lpthread");
            assert!(run(&mut compile));
            assert!(run(Command::new(&program).env("LD_LIBRARY_PATH", &lib)));
        }
    } else {
        println!("skipped: there is no pkg-config");
    }
    if is_there("cmake") {
        let build = staged.join("build");
        let mut configure = Command::new("cmake");
        configure.arg("-S").arg(folder().join("tests/cmake")).arg("-B").arg(&build);
        configure.arg(format!("-DCMAKE_PREFIX_PATH={}", staged.join("opt/annulus").display()));
        assert!(run(&mut configure));
        assert!(run(Command::new("cmake").arg("--build").arg(&build)));
        for way in ["annulus", "static"] {
            assert!(run(&mut Command::new(build.join(format!("quick_start_{way}")))));
        }
        assert!(run(&mut Command::new(build.join("typed"))));
    } else {
        println!("skipped: there is no cmake");
    }
    fs::remove_dir_all(&staged).unwrap();
}
