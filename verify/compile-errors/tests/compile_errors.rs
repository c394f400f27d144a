//! Each file in `cases/` is a program that someone new to the library might write, and that does not compile,
//! except for some that do. Its first lines say what the compiler has to say:
//!
//! - `// errors: 1`: how many errors there are,
//! - `// says: …`: text that is in one of them,
//! - `// at: …`: the line of the program that one of them points to, or the beginning of it.
//!
//! And none may speak of `bytemuck`, which is how the library does it, not what its user has to do.
//!
//! Only our own words are compared. How the compiler sets them, and what it adds, is another matter in each
//! version.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use serde_json::Value;

struct Case {
    name: String,
    file: PathBuf,
    program: String,
}

impl Case {
    /// What the lines say that begin so.
    fn lines<'a>(&'a self, begin: &'a str) -> impl Iterator<Item = &'a str> {
        self.program
            .lines()
            .filter_map(move |line| line.strip_prefix("// ")?.strip_prefix(begin)?.strip_prefix(": "))
    }

    /// What is not as it says, of these errors, and of whether it was compiled to its end.
    fn complaints(&self, errors: &[Value], is_compiled: bool) -> Vec<String> {
        let rendered: String = errors.iter().filter_map(|error| error["rendered"].as_str()).collect();
        let lines = |error: &Value| -> Vec<String> {
            let spans =
                error["spans"].as_array().into_iter().flatten().filter(|span| span["is_primary"] == true);
            spans
                .map(|span| span["text"][0]["text"].as_str().unwrap_or_default().trim().to_string())
                .collect()
        };
        let at: Vec<String> = errors.iter().flat_map(lines).collect();

        let mut complaints = Vec::new();
        let wanted = self.lines("errors").next().expect("a case says how many errors it has");
        if errors.len().to_string() != wanted {
            complaints.push(format!("{} errors instead of {wanted}", errors.len()));
        }
        if (wanted == "0") != is_compiled {
            complaints.push(format!("compiled to its end: {is_compiled}"));
        }
        complaints.extend(
            self.lines("says")
                .filter(|text| !rendered.contains(text))
                .map(|text| format!("nothing says: {text}")),
        );
        let points = |line: &str| at.iter().any(|seen| seen.starts_with(line));
        complaints.extend(
            self.lines("at").filter(|line| !points(line)).map(|line| format!("nothing points to: {line}")),
        );
        if rendered.contains("bytemuck") && self.lines("may speak of bytemuck").next().is_none() {
            complaints.push("it speaks of bytemuck".to_string());
        }
        if !complaints.is_empty() {
            complaints.push(rendered);
        }
        complaints
    }
}

/// The errors of each case, and the names of those that compile. They are programs of one package, so that
/// the library is compiled once.
fn compile(cases: &[Case]) -> (BTreeMap<String, Vec<Value>>, BTreeSet<String>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let package = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cases");
    fs::create_dir_all(&package).unwrap();
    let mut manifest = format!(
        "[workspace]\n[package]\nname = 'cases'\nedition = '2024'\n[dependencies]\nannulus = {{ path = '{}', features = ['bus', 'derive', 'pipeline', 'shm'] }}\n",
        root.join("crates/annulus").display()
    );
    for Case { name, file, .. } in cases {
        write!(manifest, "[[bin]]\nname = '{name}'\npath = '{}'\n", file.display()).unwrap();
    }
    fs::write(package.join("Cargo.toml"), manifest).unwrap();
    // The versions that were fetched for the test itself.
    fs::copy(root.join("Cargo.lock"), package.join("Cargo.lock")).unwrap();
    let output = Command::new(env::var("CARGO").unwrap())
        .args(["check", "--offline", "--keep-going", "--bins", "--message-format=json"])
        .current_dir(&package)
        .env("CARGO_TARGET_DIR", package.join("target"))
        // What the compiler says, where these tests themselves are built by clippy.
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .output()
        .unwrap();

    let (mut errors, mut compiled) = (BTreeMap::<String, Vec<Value>>::new(), BTreeSet::new());
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let (message, target) = (&line["message"], line["target"]["name"].as_str());
        if line["reason"] == "compiler-artifact" {
            compiled.extend(target.map(str::to_string));
        }
        let is_error =
            message["level"] == "error" && message["spans"].as_array().is_some_and(|spans| !spans.is_empty());
        if let (true, Some(target)) = (is_error, target) {
            let errors = errors.entry(target.to_string()).or_default();
            // What is the same to the letter is shown once.
            if errors.iter().all(|error| error["rendered"] != message["rendered"]) {
                errors.push(message.clone());
            }
        }
    }
    assert!(!errors.is_empty(), "nothing was compiled: {}", String::from_utf8_lossy(&output.stderr));
    (errors, compiled)
}

#[test]
fn compile_errors_give_advice() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let mut cases: Vec<Case> = fs::read_dir(folder)
        .unwrap()
        .map(|file| {
            let file = file.unwrap().path();
            let name = file.file_stem().unwrap().to_string_lossy().into_owned();
            Case { program: fs::read_to_string(&file).unwrap(), name, file }
        })
        .collect();
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    let (errors, compiled) = compile(&cases);
    let mut failed = false;
    for case in &cases {
        let complaints =
            case.complaints(errors.get(&case.name).map_or(&[], Vec::as_slice), compiled.contains(&case.name));
        if !complaints.is_empty() {
            println!("{}: {}\n", case.name, complaints.join("\n"));
            failed = true;
        }
    }
    assert!(!failed, "some errors do not say what they should");
}
