//! Lists of modules, and names of files in pages and comments, agree with the files.

use std::collections::BTreeSet;

use crate::Report;
use crate::source::Line;
use crate::tree::{Tree, has_extension};

/// Pages that speak of other projects' files, or of files that are gone.
const NOT_LOOKED_AT: [&str; 2] = ["docs/MIGRATING.md", "verify/tidy.md"];

pub(crate) fn check(tree: &Tree, report: &mut Report) {
    for (path, lines) in tree.rust() {
        list_of_modules(path, lines, report);
    }
    names(tree, report);
    rooms(tree, report);
}

/// The `text` block of a file's documentation in which most lines begin with the name of one of its modules
/// lists all of them, and no others.
fn list_of_modules(path: &str, lines: &[Line], report: &mut Report) {
    let declared: BTreeSet<&str> =
        lines.iter().filter(|line| !line.is_test).filter_map(|line| declared(&line.code)).collect();
    let mut blocks: Vec<Vec<&str>> = Vec::new();
    let mut is_block = false;
    for text in lines.iter().filter_map(|line| line.comment.strip_prefix("//!")).map(str::trim) {
        if text.starts_with("```") {
            is_block = !is_block && text == "```text";
            blocks.push(Vec::new());
        } else if let (true, Some(block)) = (is_block, blocks.last_mut()) {
            block.push(text);
        }
    }
    let is_known = |name: &str| declared.contains(name) || ["main", "mod", "lib"].contains(&name);
    let known_lines = |block: &[&str]| {
        block.iter().filter(|line| names_in_front(line).iter().any(|name| declared.contains(name))).count()
    };
    let Some(block) =
        blocks.iter().max_by_key(|block| known_lines(block)).filter(|block| known_lines(block) > 0)
    else {
        return;
    };
    for name in block.iter().flat_map(|line| names_in_front(line)).filter(|name| !is_known(name)) {
        report.errors.push(format!("{path}: lists the module {name}, which is not there"));
    }
    let words: BTreeSet<&str> = block
        .iter()
        .flat_map(|line| line.split(|letter: char| !(letter.is_alphanumeric() || letter == '_')))
        .collect();
    for name in declared.iter().filter(|name| !words.contains(**name)) {
        report.errors.push(format!("{path}: has the module {name}, which its list does not name"));
    }
}

/// `mod name;`, whatever stands before it.
fn declared(code: &str) -> Option<&str> {
    let (front, name) = code.trim().strip_suffix(';')?.rsplit_once("mod ")?;
    let is_declaration = front.is_empty() || front.starts_with("pub") && front.ends_with([' ', ')']);
    (is_declaration && !name.contains(|letter: char| !(letter.is_alphanumeric() || letter == '_')))
        .then_some(name)
}

/// The names with which a line begins: `a, b/`.
fn names_in_front(line: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for word in line.split(' ').filter(|word| !word.is_empty()) {
        let name = word.trim_end_matches(',').trim_end_matches('/');
        if !name.contains(|letter: char| {
            !(letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_')
        }) {
            names.push(name);
        }
        if !word.ends_with(',') {
            break;
        }
    }
    names
}

/// Every name of a Rust file is the end of a file's path, and every decision that is cited has a heading: in
/// comments, pages, scripts and models.
fn names(tree: &Tree, report: &mut Report) {
    let is_ours = |path: &str| !NOT_LOOKED_AT.contains(&path) && !path.starts_with("verify/tools/");
    for (path, lines) in tree.rust().filter(|(path, _)| is_ours(path)) {
        names_in(tree, path, lines.iter().map(|line| line.comment.as_str()), report);
    }
    let is_text = |path: &str| {
        path.starts_with("ci/")
            || ["md", "litmus", "pml"].iter().any(|extension| has_extension(path, extension))
    };
    for (path, text) in tree.files().filter(|(path, _)| is_ours(path) && is_text(path)) {
        names_in(tree, path, text.lines(), report);
    }
}

fn names_in<'a>(tree: &Tree, path: &str, lines: impl Iterator<Item = &'a str>, report: &mut Report) {
    for (number, line) in lines.enumerate() {
        let mut is_gone = Vec::new();
        if line.contains(".rs") {
            let names = paths(line).into_iter().filter(|name| !tree.has(name));
            is_gone.extend(names.map(|name| format!("names {name}")));
        }
        let cited = decisions(line).filter(|number| !has_decision(tree, number));
        is_gone.extend(cited.map(|number| format!("cites decision {number}")));
        let errors = is_gone.iter().map(|what| format!("{path}:{}: {what}, which is not there", number + 1));
        report.errors.extend(errors);
    }
}

/// The names of Rust files in a text.
pub(crate) fn paths(text: &str) -> Vec<String> {
    text.split(|letter: char| !(letter.is_alphanumeric() || "_/.*-{},$".contains(letter)))
        // A sentence may end behind a name.
        .map(|word| word.trim_end_matches([',', '.']))
        .map(|word| word.trim_start_matches("./").trim_start_matches("../"))
        .filter(|word| {
            has_extension(word, "rs") && !word.contains(['*', '{', '}', '$', ',']) && word.len() > 3
        })
        .filter(|word| !word.starts_with('.') && !word.starts_with('/'))
        .map(str::to_owned)
        .collect()
}

/// The numbers of decisions that a text cites: `decision 0042`.
fn decisions(text: &str) -> impl Iterator<Item = &str> {
    let ends = text.match_indices("decision").map(|(at, word)| &text[at + word.len()..]);
    ends.filter_map(|end| {
        let number = end.strip_prefix('s').unwrap_or(end).strip_prefix([' ', '/'])?.get(..4)?;
        number.bytes().all(|digit| digit.is_ascii_digit()).then_some(number)
    })
}

fn has_decision(tree: &Tree, number: &str) -> bool {
    let heading = format!("## {number}: ");
    let mut pages = tree.files().filter(|(path, _)| path.starts_with("docs/decisions/"));
    pages.any(|(_, page)| page.lines().any(|line| line.starts_with(&heading)))
}

/// `docs/ARCHITECTURE.md` names each of the library's outermost modules, and nothing in them that is gone.
fn rooms(tree: &Tree, report: &mut Report) {
    const PAGE: &str = "docs/ARCHITECTURE.md";
    let page = tree.text(PAGE);
    let rooms: BTreeSet<&str> = tree.text("crates/annulus/src/lib.rs").lines().filter_map(declared).collect();
    let is_other = |letter: char| !(letter.is_alphanumeric() || letter == '_');
    let words: BTreeSet<&str> = page.split(is_other).collect();
    for room in rooms.difference(&words) {
        report.errors.push(format!("{PAGE}: does not name the library's module {room}"));
    }
    for (number, line) in page.lines().enumerate() {
        // (`names` looks at those of files.)
        for name in line.split('`').skip(1).step_by(2).filter(|name| !name.contains('.')) {
            if !name.split_once('/').is_some_and(|(room, _)| rooms.contains(room)) {
                continue;
            }
            let path = format!("crates/annulus/src/{}", name.trim_end_matches('/'));
            let (file, folder) = (format!("{path}.rs"), format!("{path}/"));
            if !tree.files().any(|(path, _)| path == file || path.starts_with(&folder)) {
                let at = number + 1;
                report.errors.push(format!("{PAGE}:{at}: names {name}, which is not there"));
            }
        }
    }
}
