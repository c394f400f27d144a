//! The programs in `examples` and `tests/c`, and those in the pages: each compiles without a warning as C11
//! and as C++20, with each compiler that is there, and does what it checks. (Without exceptions, C++ is only
//! compiled, but under a sanitizer: the way to the library is the same.)
#![cfg(all(target_os = "linux", not(miri)))]

use std::ffi::CString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

#[path = "../../annulus/tests/support/hang.rs"]
mod hang;

const STRICT: [&str; 5] = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-O1"];

/// With the sanitizers of the C compiler that `ANNULUS_SANITIZE` names, if it is set (`ci/c-sanitizers`), and
/// the lines that they report.
fn sanitized() -> Vec<String> {
    let names = env::var("ANNULUS_SANITIZE").ok();
    names
        .iter()
        .flat_map(|names| [format!("-fsanitize={names}"), "-fno-sanitize-recover=all".into(), "-g".into()])
        .collect()
}

/// What programs are compiled as.
struct Language {
    name: &'static str,
    flags: &'static [&'static str],
    /// Those that have to be there first.
    compilers: &'static [&'static str],
    /// How the names of programs in it end.
    sources: &'static [&'static str],
    /// They only compile. What they do is seen in another language.
    is_only_compiled: bool,
}

const C11: Language = Language {
    name: "c11",
    flags: &["-x", "c", "-std=c11", "-D_GNU_SOURCE"],
    compilers: &["cc", "clang"],
    sources: &["c"],
    is_only_compiled: false,
};

/// C++ compiles the programs in C, too. None of them asks for exceptions or types at run time.
const CPP20: Language = Language {
    name: "c++20",
    flags: &["-x", "c++", "-std=c++20", "-fno-exceptions", "-fno-rtti"],
    compilers: &["c++", "clang++"],
    sources: &["c", "cpp"],
    is_only_compiled: true,
};

/// As programs are compiled that say nothing of that.
const CPP20_WHOLE: Language = Language {
    name: "c++20-whole",
    flags: &["-x", "c++", "-std=c++20"],
    compilers: &["c++"],
    sources: &["cpp"],
    is_only_compiled: false,
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
    let is_only_compiled = language.is_only_compiled && sanitized().is_empty();
    let mut failed = Vec::new();
    for source in programs {
        let name = source.file_name().unwrap().to_str().unwrap();
        let program = scratch.join(name).with_extension("");
        let mut compile = Command::new(compiler);
        compile.args(STRICT).args(sanitized());
        compile.args(language.flags);
        compile
            .args(["include", "tests/c"].map(|name| format!("-I{}", folder().join(name).display())))
            .arg(&source);
        if is_only_compiled {
            compile.arg("-fsyntax-only");
        } else {
            // `-x` holds for the files behind it, too.
            compile.args(["-x", "none"]).args(&link).arg("-o").arg(&program);
        }
        // The names of rings that it gives are no other's.
        let mut start = Command::new(&program);
        start.env("XDG_RUNTIME_DIR", scratch);
        if !run(&mut compile) || !(is_only_compiled || run(&mut start)) {
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

/// A pointer goes through each way, and what it points to is written after that by both sides.
const RACE: &str = r#"
#include <annulus_inline.h>
#include <pthread.h>
#include "check.h"

static void *receive(void *consumer) {
    int *number = NULL;
    if (WITH_VIEWS) {
        annulus_spsc_consumer in;
        WORKS(annulus_spsc_consumer_open(&in, (annulus_consumer *)consumer));
        WORKS(annulus_spsc_recv(&in, &number, sizeof number));
        WORKS(annulus_spsc_consumer_end(&in));
    } else {
        WORKS(annulus_consumer_recv((annulus_consumer *)consumer, &number, sizeof number));
    }
    *number += 1;
    return NULL;
}

int main(void) {
    static int target;
    int *number = &target;
    annulus_options options = ANNULUS_OPTIONS(4, sizeof number);
    annulus_producer *producer;
    annulus_consumer *consumer;
    pthread_t thread;
    WORKS(annulus_queue_new(ANNULUS_SPSC, &options, &producer, &consumer));
    SPAWN(&thread, receive, consumer);
    *number = 1;
    WORKS(annulus_producer_send(producer, &number, sizeof number));
    if (WITH_RACE) {
        *number += 1;
    }
    JOIN(thread);
    return 0;
}
"#;

/// Compiles a program under `ThreadSanitizer`.
fn with_tsan(compiler: &str, source: &Path, program: &Path, more: &[&str]) -> Command {
    let mut compile = Command::new(compiler);
    compile.args(STRICT).args(C11.flags).args(["-fsanitize=thread", "-g"]).args(more);
    compile.args(["include", "tests/c"].map(|name| format!("-I{}", folder().join(name).display())));
    compile.arg(source).args(["-x", "none"]).args(Linked::Shared.arguments(program.parent().unwrap()));
    compile.arg("-o").arg(program);
    compile
}

/// The compilers that have a `ThreadSanitizer` that runs on this kernel.
fn compilers_with_tsan(scratch: &Path) -> Vec<&'static str> {
    let (empty, program) = (scratch.join("empty.c"), scratch.join("empty"));
    fs::write(&empty, "int main(void) { return 0; }\n").unwrap();
    let is_usable = |compiler: &&str| {
        let is_usable = is_there(compiler)
            && with_tsan(compiler, &empty, &program, &[])
                .output()
                .is_ok_and(|output| output.status.success())
            && Command::new(&program).output().is_ok_and(|output| output.status.success());
        if !is_usable {
            println!("skipped: {compiler}, which has no ThreadSanitizer here");
        }
        is_usable
    };
    C11.compilers.iter().copied().filter(is_usable).collect()
}

/// What the program itself does wrong is still told, and only that.
#[test]
fn race_in_a_program_is_reported() {
    if env::var("ANNULUS_SANITIZE").is_ok_and(|names| names != "thread") {
        return;
    }
    let scratch = &Path::new(env!("CARGO_TARGET_TMPDIR")).join("annulus-c-race");
    fs::create_dir_all(scratch).unwrap();
    let (source, program) = (scratch.join("race.c"), scratch.join("race"));
    fs::write(&source, RACE).unwrap();
    for compiler in compilers_with_tsan(scratch) {
        for with_views in [0, 1] {
            for with_race in [0, 1] {
                let defined = [format!("-DWITH_VIEWS={with_views}"), format!("-DWITH_RACE={with_race}")];
                let more = defined.each_ref().map(String::as_str);
                assert!(run(&mut with_tsan(compiler, &source, &program, &more)));
                let output = Command::new(&program).output().unwrap();
                let said = String::from_utf8_lossy(&output.stderr);
                let is_told = said.contains("WARNING: ThreadSanitizer: data race");
                assert_eq!(is_told, with_race == 1, "{compiler}, {defined:?}: {said}");
                assert_eq!(output.status.success(), with_race == 0, "{compiler}, {defined:?}: {said}");
            }
        }
    }
    fs::remove_dir_all(scratch).unwrap();
}

/// All that a ring orders is told: what came before a close, a slot that goes back, a subscriber that leaves.
#[test]
fn correct_program_is_not_reported() {
    if env::var("ANNULUS_SANITIZE").is_ok() {
        return; // With all the others.
    }
    let scratch = &Path::new(env!("CARGO_TARGET_TMPDIR")).join("annulus-c-orders");
    fs::create_dir_all(scratch).unwrap();
    let (source, program) = (folder().join("tests/c/orders.c"), scratch.join("orders"));
    for compiler in compilers_with_tsan(scratch) {
        assert!(run(&mut with_tsan(compiler, &source, &program, &[])));
        // Each report, though the parts of the program look alike.
        let mut start = Command::new(&program);
        start.env("TSAN_OPTIONS", "suppress_equal_stacks=0 suppress_equal_addresses=0");
        assert!(run(start.env("XDG_RUNTIME_DIR", scratch)), "{compiler}");
    }
    fs::remove_dir_all(scratch).unwrap();
}

/// What the library needs is in it: one program of each kind tells, and each takes a second to link.
#[test]
fn programs_that_are_linked_statically() {
    compile_and_run(&C11, "cc", Linked::Statically, Some("shared_kinds"));
    compile_and_run(&CPP20_WHOLE, "c++", Linked::Statically, Some("typed"));
}

/// What is no message does not compile, and the compiler says why.
#[test]
fn type_that_is_not_trivially_copyable_is_refused() {
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
fn headers_for_cpp_compile_alone() {
    if !is_there("c++") {
        println!("skipped: there is no c++");
        return;
    }
    let headers = fs::read_dir(folder().join("include/annulus")).unwrap();
    let headers: Vec<_> = headers.map(|entry| entry.unwrap().path()).collect();
    assert!(headers.len() >= 8, "{headers:?}");
    for header in headers {
        let mut compile = Command::new("c++");
        compile.args(STRICT).args(CPP20.flags).args(["-fsyntax-only", "-I"]);
        assert!(run(compile.arg(folder().join("include")).arg(&header)), "{}", header.display());
    }
}

/// What programs compile with that have their own habits: the headers have nothing to say to it.
const CAREFUL: [&str; 5] = ["-Wshadow", "-Wconversion", "-Wsign-conversion", "-Wcast-qual", "-Wundef"];
const CAREFUL_CPP: [&str; 4] =
    ["-Wold-style-cast", "-Wzero-as-null-pointer-constant", "-Wextra-semi", "-Wnon-virtual-dtor"];

#[test]
fn headers_are_silent_with_more_warnings() {
    let scratch = &Path::new(env!("CARGO_TARGET_TMPDIR")).join("annulus-c-careful");
    fs::create_dir_all(scratch).unwrap();
    let source = scratch.join("inline.c");
    fs::write(&source, "#include <annulus_inline.h>\nint main(void) { return 0; }\n").unwrap();
    let typed =
        ["typed.cpp", "shared_typed.cpp", "bytes_typed.cpp"].map(|name| folder().join("tests/c").join(name));
    let mut seen = 0;
    for (language, sources, more) in
        [(&C11, &[source][..], &["-Wc++-compat"][..]), (&CPP20, &typed[..], &CAREFUL_CPP[..])]
    {
        for compiler in language.compilers.iter().filter(|compiler| is_there(compiler)) {
            for source in sources {
                let mut compile = Command::new(compiler);
                compile.args(STRICT).args(CAREFUL).args(more).args(language.flags).arg("-fsyntax-only");
                compile
                    .args(["include", "tests/c"].map(|name| format!("-I{}", folder().join(name).display())));
                assert!(run(compile.arg(source)), "{compiler}: {}", source.display());
                seen += 1;
            }
        }
    }
    assert!(seen >= 3, "only {seen}");
    fs::remove_dir_all(scratch).unwrap();
}

/// With `-Os`, gcc sees less of what is inline, and warns of what it can't see.
#[test]
fn headers_are_silent_when_optimized_for_size() {
    if !is_there("c++") {
        println!("skipped: there is no c++");
        return;
    }
    let scratch = &Path::new(env!("CARGO_TARGET_TMPDIR")).join("annulus-c-small");
    fs::create_dir_all(scratch).unwrap();
    let mut compile = Command::new("c++");
    compile.args(STRICT).args(["-Os", "-Wnull-dereference"]).args(CPP20_WHOLE.flags);
    compile.args(["include", "tests/c"].map(|name| format!("-I{}", folder().join(name).display())));
    compile.arg("-c").arg(folder().join("tests/c/typed.cpp")).arg("-o").arg(scratch.join("typed.o"));
    assert!(run(&mut compile));
    fs::remove_dir_all(scratch).unwrap();
}

/// A program may have another static library in Rust: what both have of Rust's own library is there once.
#[test]
fn two_static_libraries_in_rust_are_one_program() {
    let scratch = &Path::new(env!("CARGO_TARGET_TMPDIR")).join("annulus-c-two");
    fs::create_dir_all(scratch).unwrap();
    let (other, program) = (scratch.join("other.rs"), scratch.join("two"));
    let threads = "std::thread::spawn(|| format!(\"{}\", 42).len() as i32).join().unwrap_or(-1)";
    let function = "#[unsafe(no_mangle)] pub extern \"C\" fn other() -> i32 {";
    fs::write(&other, format!("{function} {threads} }}\n")).unwrap();
    let source = scratch.join("two.c");
    let main = "#include <annulus.h>\n#include <string.h>\nint other(void);\nint main(void) {\n\
                return other() == 2 && strcmp(annulus_version(), ANNULUS_VERSION) == 0 ? 0 : 1; }\n";
    fs::write(&source, main).unwrap();
    let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or("rustc".into()));
    rustc.args(["--edition=2024", "--crate-type=staticlib", "--crate-name=other", "-o"]);
    assert!(run(rustc.arg(scratch.join("libother.a")).arg(&other)));
    for turned in [false, true] {
        let mut archives = [libraries().join("libannulus_c.a"), scratch.join("libother.a")];
        if turned {
            archives.reverse();
        }
        let mut compile = Command::new("cc");
        compile.arg("-I").arg(folder().join("include")).arg(&source).args(archives);
        compile.args(["-lpthread", "-ldl", "-lm", "-o"]).arg(&program);
        assert!(run(&mut compile) && run(&mut Command::new(&program)), "turned: {turned}");
    }
    fs::remove_dir_all(scratch).unwrap();
}

/// A library whose threads may run stays where it is when a program closes it.
#[test]
fn library_that_is_closed_stays() {
    let path = CString::new(libraries().join("libannulus_c.so").into_os_string().into_vec()).unwrap();
    let header = fs::read_to_string(folder().join("include/annulus.h")).unwrap();
    // SAFETY: the library has no constructor; the texts end with a zero.
    let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
    assert!(!library.is_null());
    let function = |name: &str| {
        let name = CString::new(name).unwrap();
        // SAFETY: the handle is open, or the library stays, which is asked here.
        unsafe { libc::dlsym(library, name.as_ptr()) }
    };
    let is_name = |letter: char| letter.is_ascii_lowercase() || letter == '_' || letter.is_ascii_digit();
    let names: Vec<_> = (header.lines().filter(|line| !line.starts_with([' ', '#', '/'])))
        .filter_map(|line| line.split_once('('))
        .map(|(before, _)| before.rsplit(|letter| !is_name(letter)).next().unwrap())
        .collect();
    assert!(names.len() > 80, "{names:?}");
    for name in names {
        assert!(!function(name).is_null(), "annulus.h has {name}, and the library has not");
    }
    // SAFETY: it has this function, of this type.
    let abi_version: extern "C" fn() -> u32 = unsafe { std::mem::transmute(function("annulus_abi_version")) };
    let before = abi_version();
    // SAFETY: the handle is open.
    assert_eq!(unsafe { libc::dlclose(library) }, 0);
    // SAFETY: as above; it opens nothing that is not there.
    let again = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD) };
    assert!(!again.is_null(), "it is gone");
    assert_eq!(abi_version(), before);
}

/// Installs for this prefix, below `staged`.
fn install(prefix: &Path, staged: &Path) {
    let mut make = Command::new("make");
    make.arg("-C").arg(folder()).args(["-s", "install"]).arg(format!("PREFIX={}", prefix.display()));
    make.arg(format!("DESTDIR={}", staged.display())).arg(format!("BUILT={}", libraries().display()));
    assert!(run(&mut make));
}

/// What `make install` puts there is found by `pkg-config` and by `cmake`, and works.
#[test]
fn installed_library_is_found() {
    if !is_there("make") {
        println!("skipped: there is no make");
        return;
    }
    let staged = Path::new(env!("CARGO_TARGET_TMPDIR")).join("annulus-c-installed");
    _ = fs::remove_dir_all(&staged);
    install(Path::new("/opt/annulus"), &staged);
    let lib = staged.join("opt/annulus/lib");
    for header in ["annulus.h", "annulus_inline.h", "annulus_message.h", "annulus.hpp", "annulus/spsc.hpp"] {
        assert!(staged.join("opt/annulus/include").join(header).exists(), "{header}");
    }
    for file in ["libannulus.a", "libannulus.so", "libannulus.so.0", "pkgconfig/annulus.pc"] {
        assert!(fs::metadata(lib.join(file)).is_ok_and(|file| file.len() > 0), "{file}");
    }
    for file in ["libannulus.a", "libannulus.so"] {
        let sections = Command::new("readelf").arg("-SW").arg(lib.join(file)).output().unwrap().stdout;
        let sections = String::from_utf8(sections).unwrap();
        assert!(sections.contains(".text"), "{file}: {sections}");
        assert!(!sections.contains(".debug_info"), "{file} has what only a debugger needs");
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
            let mut program = Command::new(&program);
            // The static one has no need of the library any more.
            if way.is_empty() {
                program.env("LD_LIBRARY_PATH", &lib)
            } else {
                program.env_remove("LD_LIBRARY_PATH")
            };
            assert!(run(&mut program), "{answer}");
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

/// Where `/lib` is a link to `/usr/lib`, cmake finds the library there, and its headers in `/usr/include`:
/// where it was installed, and where all was moved.
#[test]
fn installed_library_is_found_through_a_link() {
    if !is_there("make") || !is_there("cmake") {
        println!("skipped: there is no make, or no cmake");
        return;
    }
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("annulus-c-merged");
    for is_moved in [false, true] {
        _ = fs::remove_dir_all(&root);
        let usr = root.join("usr");
        let (prefix, staged) = if is_moved { (Path::new("/usr"), &*root) } else { (&*usr, Path::new("")) };
        install(prefix, staged);
        std::os::unix::fs::symlink("usr/lib", root.join("lib")).unwrap();
        let mut configure = Command::new("cmake");
        configure.arg("-S").arg(folder().join("tests/cmake")).arg("-B").arg(root.join("build"));
        // (It refuses a folder of headers that is not there.)
        configure.arg(format!("-Dannulus_DIR={}", root.join("lib/cmake/annulus").display()));
        assert!(run(&mut configure), "moved: {is_moved}");
        let build = root.join("build");
        assert!(run(Command::new("cmake")
            .arg("--build")
            .arg(build)
            .args(["--target", "quick_start_annulus"])));
    }
    fs::remove_dir_all(&root).unwrap();
}
