//! Lines of the library's protocols that no test reached, in a report of llvm-cov.

use crate::Report;
use crate::source::Line;
use crate::tree::Tree;

const CODE: &str = "crates/annulus/src/";

/// The files that are looked at, but for `TESTS`. Others are for one system, or for the compiler.
const LOOKED_AT: &str = "base/ lane/ ring/ broadcast/ queue/ wait/ pool/ event_loop/ bus/ topology/ select/ \
    affinity/ memory/ stats/ shm/ receive/ transmit/ observer/";

/// A file of tests, which says so in another one.
const TESTS: &str = "shm/read_by_others.rs";

/// What a comment begins with that excuses the code behind it: one line, or, where a block begins in that
/// line, all of the block. The reason follows.
const EXCUSE: &str = "Unreached: ";

/// What is looked at is there.
pub(crate) fn check(tree: &Tree, report: &mut Report) {
    for start in LOOKED_AT.split(' ').chain([TESTS]) {
        let start = format!("{CODE}{start}");
        if !tree.files().any(|(path, _)| path.starts_with(&start)) {
            report.errors.push(format!("verify/tools/src/unreached.rs: no file is {start}, nor below it"));
        }
    }
}

/// What no test reached, in the format of lcov: the lines that nothing excuses, and how many are excused.
/// Lines without a letter, unit tests, what says `unreachable!`, and what a seeded bug does are passed over.
pub(crate) fn lines(tree: &Tree, lcov: &str) -> (Vec<String>, usize) {
    let (mut found, mut excused) = (Vec::new(), 0);
    let mut path = "";
    let mut excuses: Vec<Option<bool>> = Vec::new();
    for line in lcov.lines() {
        if let Some(file) = line.strip_prefix("SF:") {
            path = file.find(CODE).map_or("", |at| &file[at..]);
            let file = path.strip_prefix(CODE).unwrap_or_default();
            let is_looked_at = LOOKED_AT.split(' ').any(|start| file.starts_with(start));
            let lines = tree.rust().find(|(file, _)| is_looked_at && *file == path && !path.ends_with(TESTS));
            excuses = lines.map_or_else(Vec::new, |(_, lines)| kinds(lines));
        }
        let Some((number, "0")) = line.strip_prefix("DA:").and_then(|line| line.split_once(',')) else {
            continue;
        };
        let number: usize = number.parse().unwrap_or(0);
        match number.checked_sub(1).and_then(|index| excuses.get(index)) {
            Some(Some(true)) => excused += 1,
            Some(Some(false)) => {
                let text = tree.text(path).lines().nth(number - 1).unwrap_or_default().trim();
                found.push(format!("{path}:{number}: {text}"));
            }
            _ => {}
        }
    }
    (found, excused)
}

/// Of each line: `None` if nobody has to reach it, otherwise whether it is excused.
fn kinds(lines: &[Line]) -> Vec<Option<bool>> {
    let is_code = |line: &Line| {
        let says_so = line.is_test || line.code.contains("unreachable!(");
        !says_so && line.code.contains(|letter: char| letter.is_ascii_lowercase())
    };
    let mut kinds: Vec<Option<bool>> = lines.iter().map(|line| is_code(line).then_some(false)).collect();
    for (index, line) in lines.iter().enumerate() {
        if line.text().is_some_and(|text| text.starts_with(EXCUSE)) {
            let is_next = |line: &Line| !line.code.trim().is_empty() && !line.code.trim().starts_with("#[");
            let Some(next) = lines[index..].iter().position(is_next) else { continue };
            let block = index..=end_of_block(lines, index + next);
            kinds[block].iter_mut().flatten().for_each(|is_excused| *is_excused = true);
        } else if (line.code.contains("if mutated!(") || line.code.contains("if crate::sync::mutated!("))
            && line.code.ends_with('{')
        {
            kinds[index + 1..=end_of_block(lines, index)].fill(None);
        }
    }
    kinds
}

/// The last line of what begins in this one.
fn end_of_block(lines: &[Line], first: usize) -> usize {
    let mut depth = 0_usize;
    for (index, line) in lines.iter().enumerate().skip(first) {
        for letter in line.code.chars() {
            match letter {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        if depth == 0 && !line.code.ends_with('=') || line.code.starts_with('}') && index > first {
            return index;
        }
    }
    lines.len() - 1
}

#[cfg(test)]
mod tests {
    use super::{check, lines};
    use crate::Report;
    use crate::tree::Tree;

    /// Files that were moved would not be looked at any more.
    #[test]
    fn what_is_looked_at_is_there() {
        let (mut tree, mut report) = (Tree::default(), Report::default());
        tree.write("crates/annulus/src/ring/a.rs", String::new());
        check(&tree, &mut report);
        let says = |part: &str| report.errors.iter().any(|error| error.contains(part));
        assert!(says("src/lane/,") && says("src/shm/read_by_others.rs,") && !says("src/ring/,"));
    }

    #[test]
    fn an_excuse_is_for_a_line_or_a_block() {
        let mut tree = Tree::default();
        let text = "fn first() {\n    // Unreached: luck\n    one();\n    two();\n}\n// Unreached: luck\n#[cold]\nfn second(\n\
            ) {\n    one();\n}\nfn third() {\n    if mutated!(\"bug\") {\n        one();\n    }\n}\n";
        tree.write("crates/annulus/src/ring/a.rs", text.to_owned());
        let lcov = |from: &str| {
            let counts: Vec<String> = (1..=16).map(|number| format!("DA:{number},0")).collect();
            format!("SF:/there/crates/annulus/src/{from}\n{}", counts.join("\n"))
        };
        let (found, excused) = lines(&tree, &lcov("ring/a.rs"));
        let numbers: Vec<_> = found.iter().filter_map(|line| line.split(':').nth(1)).collect();
        assert_eq!((numbers, excused), (vec!["1", "4", "12", "13"], 4));
        assert_eq!(lines(&tree, &lcov("os/a.rs")), (Vec::new(), 0));
    }
}
