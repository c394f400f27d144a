//! `tidy`: rules of the project that a program can check in its text. `ci/tidy` runs it.
//!
//! ```text
//! tree       the files, and a copy of them with a fault
//! source     one file of Rust, as code and comments
//! list       verify/tidy.md: the exceptions, each with its reason
//! comments   comments fit the width of the code; no nanoseconds in documentation
//! cancelling each verb for tasks says what a drop of its future does
//! ordering   docs/ORDERING.md and the code have the same steps, seeded bugs and litmus tests
//! missing    each verb for tasks has a stand-in for programs without the feature
//! modules    lists of modules, and names of files, agree with the files
//! migrating  the tables of docs/MIGRATING.md are made of code that compiles
//! words      no word is used that has a better one
//! glossary   each term has one row, whose paths are there
//! length     files are short
//! imports    which file uses which
//! circles    no file or folder uses what uses it
//! unreached  what no test reached, and no comment excuses
//! seeded     each row of ci/seeded selects a test
//! self_test  each check fails where there is something to see
//! ```

mod cancelling;
mod circles;
mod comments;
mod glossary;
mod imports;
mod length;
mod list;
mod migrating;
mod missing;
mod modules;
mod ordering;
mod seeded;
mod self_test;
mod source;
mod tree;
mod unreached;
mod words;

use std::path::Path;
use std::process::ExitCode;

use list::List;
use tree::Tree;

/// What the checks found.
#[derive(Default)]
struct Report {
    /// Each is a line, and makes the run fail.
    errors: Vec<String>,
    /// What could be better and does not fail.
    notes: Vec<String>,
}

/// A check of the tree, which asks the list of exceptions.
type Check = fn(&Tree, &List, &mut Report);

/// Every check; those that take longest are last.
const CHECKS: [Check; 13] = [
    |tree, _, report| comments::width(tree, report),
    |tree, _, report| comments::figures(tree, report),
    |tree, _, report| cancelling::check(tree, report),
    |tree, _, report| missing::check(tree, report),
    |tree, _, report| modules::check(tree, report),
    |tree, _, report| migrating::check(tree, report),
    words::check,
    glossary::check,
    |tree, _, report| length::check(tree, report),
    |tree, _, report| seeded::check(tree, report),
    |tree, _, report| ordering::check(tree, report),
    circles::check,
    // Known once all others have asked.
    |_, list, report| list.unused(report),
];

/// What each check finds, one after the other: each runs when its report is asked for.
fn reports(tree: &Tree) -> impl Iterator<Item = Report> {
    let list = List::of(tree);
    CHECKS.into_iter().map(move |check| {
        let mut report = Report::default();
        check(tree, &list, &mut report);
        report
    })
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let tree = match Tree::read(Path::new(".")) {
        Ok(tree) => tree,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {
            let mut errors = 0;
            for report in reports(&tree) {
                for note in &report.notes {
                    println!("note: {note}");
                }
                for error in &report.errors {
                    println!("error: {error}");
                }
                errors += report.errors.len();
            }
            println!("{} files, {errors} errors", tree.files().count());
            if errors == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        ["--circles"] => {
            circles::print(&tree);
            ExitCode::SUCCESS
        }
        ["--unreached", report] => {
            let (found, excused) =
                unreached::lines(&tree, &std::fs::read_to_string(report).unwrap_or_default());
            for line in found {
                println!("{line}");
            }
            eprintln!("{excused} lines are not reached, each with its reason");
            // There are always some: none is a report about something else.
            if excused > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        ["--self-test"] => {
            let failed = self_test::run(&tree);
            if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        _ => {
            eprintln!("usage: tidy [--self-test | --circles | --unreached REPORT]");
            ExitCode::from(2)
        }
    }
}
