//! A ring between processes, one side in each of Rust, C and C++, and in Zig and Python where
//! `ANNULUS_ZIG_PEER` and `ANNULUS_PYTHON_PEER` are their programs (`ci/zig`, `ci/python`): all pairs. Each
//! message comes whole and in order, to the end, and either side survives a `kill -9` of the other one.
//!
//! The sides are programs that say in a line what came of it, and go on when this one closes their input. So
//! the order of all steps is decided here, and nothing depends on time.
#![cfg(all(target_os = "linux", target_pointer_width = "64", not(miri)))]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::{env, fs};

#[path = "../../../annulus/tests/support/hang.rs"]
mod hang;
mod rust_peer;

/// One side of a ring: a process.
struct Peer {
    name: String,
    child: Child,
    says: BufReader<ChildStdout>,
}

impl Peer {
    /// The next line that says something. (What a test program of Rust prints around it does not.)
    fn says(&mut self) -> String {
        loop {
            let mut line = String::new();
            assert!(self.says.read_line(&mut line).unwrap() > 0, "{} ended", self.name);
            let line = line.trim();
            if ["joined", "sent", "died", "closed", "stopped"].iter().any(|word| line.starts_with(word)) {
                return line.to_owned();
            }
        }
    }

    fn says_that(&mut self, expected: &str) {
        assert_eq!(self.says(), expected, "{}", self.name);
    }

    /// It has its end, in peace.
    fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success(), "{}", self.name);
    }

    /// `kill -9`.
    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// A language, and how a program in it begins.
struct Language {
    name: &'static str,
    program: PathBuf,
}

impl Language {
    fn begin(&self, verb: &str, ring: &Ring, count: u64) -> Peer {
        let mut command = Command::new(&self.program);
        let arguments = [verb, ring.kind, ring.directory.to_str().unwrap(), &ring.name, &count.to_string()];
        if self.name == "rust" {
            command.args(["--ignored", "--exact", "rust_peer::peer", "--nocapture"]);
            command.env(rust_peer::ARGUMENTS, arguments.join("\n"));
        } else {
            command.args(arguments);
        }
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let says = BufReader::new(child.stdout.take().unwrap());
        Peer { name: format!("{} in {} ({})", verb, self.name, ring.kind), child, says }
    }
}

struct Ring {
    kind: &'static str,
    directory: PathBuf,
    name: String,
}

/// The sum of what is sent with so many messages.
fn sum(count: u64) -> u64 {
    (0..count).map(rust_peer::mixed).fold(0, u64::wrapping_add)
}

fn pair(from: &Language, to: &Language, ring: &mut dyn FnMut() -> Ring) {
    // To the end.
    let (this, count) = (ring(), 200);
    let (mut receiver, mut sender) = (to.begin("recv", &this, 0), from.begin("send", &this, count));
    sender.says_that("sent");
    receiver.says_that("joined");
    sender.end();
    receiver.says_that(&format!("closed {count} {}", sum(count)));
    receiver.end();

    // The sender dies when all is sent.
    let this = ring();
    let (mut sender, mut receiver) = (from.begin("send", &this, count), to.begin("recv", &this, 0));
    sender.says_that("sent");
    receiver.says_that("joined");
    sender.kill();
    receiver.says_that(&format!("died {count} {}", sum(count)));
    receiver.end();

    // The receiver dies when it has half of it. The sender of a queue is told, as soon as it has to wait for
    // room; a publisher waits for nobody.
    let this = ring();
    let is_queue = this.kind == "queue";
    let mut sender = from.begin("send", &this, if is_queue { 10_000 } else { count });
    let mut receiver = to.begin("recv", &this, count / 2);
    receiver.says_that("joined");
    receiver.says_that(&format!("stopped {} {}", count / 2, sum(count / 2)));
    receiver.kill();
    sender.says_that(if is_queue { "died" } else { "sent" });
    sender.end();
}

/// Compiles the program of C or C++; none where there is no compiler.
fn compiled(name: &'static str, compiler: &str, flags: &[&str], scratch: &Path) -> Option<Language> {
    if !Command::new(compiler).arg("--version").output().is_ok_and(|output| output.status.success()) {
        println!("skipped: {name}, because there is no {compiler}");
        return None;
    }
    let (folder, program) = (Path::new(env!("CARGO_MANIFEST_DIR")), scratch.join(name));
    let library = env::current_exe().unwrap().with_file_name("libannulus_c.a");
    let mut compile = Command::new(compiler);
    compile.args(flags).args(["-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-o"]).arg(&program);
    compile.args(["include", "tests/c"].map(|part| format!("-I{}", folder.join(part).display())));
    compile.arg(folder.join("tests/peers").join(format!("peer.{name}"))).arg(&library);
    let output = compile.args(["-lpthread", "-ldl", "-lm", "-Wl,-S,--gc-sections"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(Language { name, program })
}

#[test]
fn languages_read_each_other() {
    let scratch = env::temp_dir().join(format!("annulus-pairs-{}", std::process::id()));
    fs::create_dir_all(&scratch).unwrap();
    let c = compiled("c", "cc", &["-std=c11", "-D_GNU_SOURCE"], &scratch);
    let cpp = compiled("cpp", "c++", &["-std=c++20", "-fno-exceptions", "-fno-rtti"], &scratch);
    let zig = env::var_os("ANNULUS_ZIG_PEER").map(|path| Language { name: "zig", program: path.into() });
    let python =
        env::var_os("ANNULUS_PYTHON_PEER").map(|path| Language { name: "python", program: path.into() });
    // The pairs of the others run where the variables are not set.
    let new = if python.is_some() { Some("python") } else { zig.as_ref().map(|language| language.name) };
    let rust = Language { name: "rust", program: env::current_exe().unwrap() };
    let languages: Vec<_> = [Some(rust), c, cpp, zig, python].into_iter().flatten().collect();
    let mut pairs = 0;
    for kind in ["queue", "lossy"] {
        for from in &languages {
            for to in &languages {
                if new.is_some_and(|new| from.name != new && to.name != new) {
                    continue;
                }
                pair(from, to, &mut || {
                    pairs += 1;
                    Ring { kind, directory: scratch.join("names"), name: format!("ring-{pairs}") }
                });
            }
        }
    }
    println!("{pairs} rings");
    fs::remove_dir_all(&scratch).unwrap();
}
