//! Rivals in other languages, and annulus from C++: programs of their own (`guests/`), which do the work of a
//! row and say how long it took.
//!
//! They are compiled where they are missing or older than their source. Where that can't be done, a line on
//! stderr says why, once, and rows are without them.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use rustix::thread::{CpuSet, Pid, sched_setaffinity};
use serde::Deserialize;

use super::Named;
use crate::cores::{Cores, unpin};
use crate::row::{Entry, Kind, Plan, Sample};
use crate::timing::LIVE_WARM_UP;

/// The queues of moodycamel, in C++.
pub struct Moodycamel;

/// The Disruptor of LMAX, in Java.
pub struct Lmax;

/// Annulus from C++, by the functions of `annulus_inline.h`.
pub struct Inline;

/// Annulus from C, by calls of the library.
pub struct Calls;

impl Named for Inline {
    const NAME: &'static str = "annulus, C++ inline";
}

impl Named for Calls {
    const NAME: &'static str = "annulus, C by calls";
}

impl Named for Moodycamel {
    const NAME: &'static str = "moodycamel, C++";
}

impl Named for Lmax {
    const NAME: &'static str = "LMAX Disruptor, Java";
}

const JAR: &str = "disruptor-4.0.0.jar";
const JAR_FROM: &str = "https://repo1.maven.org/maven2/com/lmax/disruptor/4.0.0/disruptor-4.0.0.jar";
const JAR_SHA256: &str = "c2ba80841541272bc815bcadab910d2d716aa563eca15762450ab4c889440505";

pub trait Guest: Named {
    const KIND: Kind;

    /// Whether there is such a program; it is made at the first question.
    fn is_there() -> bool;
}

impl Guest for Inline {
    const KIND: Kind = Kind::Other;

    fn is_there() -> bool {
        static MADE: OnceLock<bool> = OnceLock::new();
        *MADE.get_or_init(|| tried("annulus", "annulus from C and C++", "g++", make_annulus))
    }
}

impl Guest for Calls {
    const KIND: Kind = Kind::Other;

    fn is_there() -> bool {
        Inline::is_there()
    }
}

impl Guest for Moodycamel {
    const KIND: Kind = Kind::Rival;

    fn is_there() -> bool {
        static MADE: OnceLock<bool> = OnceLock::new();
        const NEEDS: &str = "g++, libconcurrentqueue-dev and libreaderwriterqueue-dev";
        *MADE.get_or_init(|| tried("moodycamel", Self::NAME, NEEDS, make_moodycamel))
    }
}

impl Guest for Lmax {
    const KIND: Kind = Kind::Rival;

    fn is_there() -> bool {
        static MADE: OnceLock<bool> = OnceLock::new();
        const NEEDS: &str = "a JDK, and curl with a network the first time";
        *MADE.get_or_init(|| tried("lmax", Self::NAME, NEEDS, make_lmax))
    }
}

/// What could not be made is not tried again for a while, nor complained of: this program runs itself many
/// times.
fn tried(file: &str, name: &str, needs: &str, make: fn() -> Result<(), String>) -> bool {
    const AGAIN: Duration = Duration::from_secs(15 * 60);
    let failed = made(file).with_extension("failed");
    let when = fs::metadata(&failed).and_then(|metadata| metadata.modified());
    if when.is_ok_and(|when| when.elapsed().is_ok_and(|since| since < AGAIN)) {
        return false;
    }
    let result = make_folder().and_then(|()| make());
    if let Err(why) = &result {
        eprintln!("without {name}, which needs {needs}: {why}");
        // Where this can't be written, the next one complains again.
        _ = fs::write(failed, why);
    }
    result.is_ok()
}

fn is_in_path(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("guests").join(name)
}

fn made(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target/guests").join(name)
}

fn is_up_to_date(made: &Path, source: &Path) -> bool {
    let changed = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified());
    matches!((changed(made), changed(source)), (Ok(made), Ok(source)) if made >= source)
}

/// The same for a program that has all that lies in a folder.
fn is_up_to_date_with(made: &Path, folder: &Path) -> bool {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files
        .map(|file| file.path())
        .all(|path| if path.is_dir() { is_up_to_date_with(made, &path) } else { is_up_to_date(made, &path) })
}

/// Runs it to its end; the first line of what it complains of, where it fails.
fn succeed(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    Err(format!("{name}: {}", complaint.lines().next().unwrap_or("failed")))
}

fn make_moodycamel() -> Result<(), String> {
    let (program, parts) = (made("moodycamel"), ["moodycamel.cpp", "guest.hpp"].map(source));
    if parts.iter().all(|part| is_up_to_date(&program, part)) {
        return Ok(());
    }
    compile(&program, &["-std=c++17".as_ref(), parts[0].as_os_str()])
}

fn make_annulus() -> Result<(), String> {
    let (program, parts) = (made("annulus"), ["annulus.cpp", "guest.hpp"].map(source));
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let folders = ["annulus/src", "annulus-c/src", "annulus-c/include"].map(|folder| crates.join(folder));
    if parts.iter().all(|part| is_up_to_date(&program, part))
        && folders.iter().all(|folder| is_up_to_date_with(&program, folder))
    {
        return Ok(());
    }
    let built = made("annulus-c");
    succeed(
        Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(["build", "--release", "-p", "annulus-c", "--target-dir"])
            .arg(&built)
            .arg("--manifest-path")
            .arg(crates.join("annulus-c/Cargo.toml")),
    )?;
    let library = built.join("release/libannulus_c.a");
    let include = ["-std=c++20".as_ref(), "-I".as_ref(), folders[2].as_os_str()];
    compile(
        &program,
        &[&include[..], &[parts[0].as_os_str(), library.as_os_str(), "-ldl".as_ref(), "-lm".as_ref()]]
            .concat(),
    )
}

/// Compiles a guest.
fn compile(program: &Path, arguments: &[&OsStr]) -> Result<(), String> {
    // Under another name until it is whole: somebody else may be about to do the same.
    let new = program.with_extension(format!("{}", std::process::id()));
    let mut compiler = Command::new("g++");
    succeed(compiler.args(["-O3", "-pthread", "-Wall", "-Wextra", "-o"]).arg(&new).args(arguments))?;
    fs::rename(new, program).map_err(|error| error.to_string())
}

fn make_lmax() -> Result<(), String> {
    let (source, class, jar) = (source("Lmax.java"), made("Lmax.class"), made(JAR));
    if !["java", "javac"].into_iter().all(is_in_path) {
        return Err("no java or no javac".to_owned());
    }
    if is_up_to_date(&class, &source) && jar.exists() {
        return Ok(());
    }
    if !jar.exists() {
        let new = jar.with_extension(format!("{}", std::process::id()));
        succeed(Command::new("curl").args(["-sSf", "--max-time", "60", "-o"]).arg(&new).arg(JAR_FROM))?;
        let sum = succeed(Command::new("sha256sum").arg(&new))?;
        if !sum.starts_with(JAR_SHA256) {
            _ = fs::remove_file(new);
            return Err(format!("{JAR_FROM} is not the file that it was"));
        }
        fs::rename(new, &jar).map_err(|error| error.to_string())?;
    }
    let folder = made("");
    succeed(Command::new("javac").arg("-cp").arg(jar).arg("-d").arg(folder).arg(source)).map(drop)
}

fn make_folder() -> Result<(), String> {
    fs::create_dir_all(made("")).map_err(|error| format!("target/guests: {error}"))
}

#[derive(Deserialize)]
struct Answer {
    ns: f64,
}

fn parse(line: &str) -> Sample {
    let answer: Answer = serde_json::from_str(line).unwrap_or_else(|error| panic!("{line:?}: {error}"));
    answer.ns.into()
}

/// An entry of a row, if there is such a program.
pub fn entry<G: Guest>(run: fn(&Plan) -> Sample) -> Option<Entry> {
    G::is_there().then_some(Entry { name: G::NAME, kind: G::KIND, run })
}

/// Has moodycamel's queues do `work`.
pub fn run_moodycamel(work: &str, plan: &Plan) -> Sample {
    run_compiled("moodycamel", work, plan)
}

/// Has annulus do `work`, from C++.
pub fn run_annulus(work: &str, plan: &Plan) -> Sample {
    run_compiled("annulus", work, plan)
}

fn run_compiled(program: &str, work: &str, plan: &Plan) -> Sample {
    let numbers =
        [plan.capacity as u64, LIVE_WARM_UP, plan.messages, plan.cores.here as u64, plan.cores.there as u64];
    let mut command = Command::new(made(program));
    let command = command.arg(work).args(numbers.map(|number| number.to_string()));
    parse(&on_both(plan.cores, || succeed(command)).unwrap_or_else(|error| panic!("{work}: {error}")))
}

/// Has the Disruptor do `work`. Java knows no cores, so its threads are found by their names and pinned from
/// here.
pub fn run_lmax(work: &str, plan: &Plan) -> Sample {
    let mut command = Command::new("java");
    command.args(["-XX:+UseSerialGC", "-Xms64m", "-Xmx64m", "-cp"]);
    command.arg(format!("{}:{}", made("").display(), made(JAR).display()));
    command.args(["Lmax", work, &plan.capacity.to_string(), &plan.messages.to_string()]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = on_both(plan.cores, || command.spawn()).expect("java was there");
    let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    let mut line = || lines.next().and_then(Result::ok).unwrap_or_default();
    assert!(line() == "ready");
    pin_named(&child, "bench-here", plan.cores.here);
    pin_named(&child, "bench-there", plan.cores.there);
    child.stdin.take().expect("it is piped").write_all(b"go\n").expect("it listens");
    let sample = line();
    assert!(child.wait().is_ok_and(|status| status.success()), "{work} failed");
    parse(&sample)
}

/// Calls `start` on a thread that may use both cores, as then what it starts may.
fn on_both<R: Send>(cores: Cores, start: impl FnOnce() -> R + Send) -> R {
    thread::scope(|scope| {
        let starter = scope.spawn(|| {
            unpin(cores);
            start()
        });
        starter.join().expect("it does not panic")
    })
}

/// A thread has its name a moment after it was started.
fn pin_named(child: &Child, name: &str, core: usize) {
    let mut set = CpuSet::new();
    set.set(core);
    let begun = Instant::now();
    loop {
        if let Some(thread) = thread_named(child.id(), name) {
            return sched_setaffinity(Some(thread), &set).expect("it is ours");
        }
        assert!(begun.elapsed() < Duration::from_secs(10), "no thread {name}");
        thread::sleep(Duration::from_millis(1));
    }
}

fn thread_named(process: u32, name: &str) -> Option<Pid> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).ok()?;
    tasks.flatten().find_map(|task| {
        let found = fs::read_to_string(task.path().join("comm")).ok()?;
        let number = task.file_name().to_str()?.parse().ok()?;
        (found.trim_end() == name).then(|| Pid::from_raw(number)).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guest_older_than_its_source_or_missing_is_not_up_to_date() {
        let [source, missing] = ["guests/Lmax.java", "guests/missing"]
            .map(|name| Path::new(env!("CARGO_MANIFEST_DIR")).join(name));
        assert!(is_up_to_date(&source, &source));
        assert!(!is_up_to_date(&missing, &source));
    }

    #[test]
    fn answers_are_read() {
        assert_eq!(parse("{\"ns\": 12.5}\n").ns, 12.5);
    }
}
