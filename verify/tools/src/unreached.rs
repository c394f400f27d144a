//! Lines of the library's protocols that no test reached, in a report of llvm-cov.

use crate::source::Line;
use crate::tree::Tree;

const CODE: &str = "crates/annulus/src/";

/// What a comment begins with that excuses the code behind it: one line, or, where a block begins in that
/// line, all of the block. The reason follows.
const EXCUSE: &str = "Unreached: ";

/// What no test reached, in the format of lcov: the lines that nothing excuses, and how many are excused.
/// Lines without a letter, unit tests, what says `unreachable!`, and what a seeded bug does are passed over.
pub(crate) fn lines(tree: &Tree, lcov: &str) -> (Vec<String>, usize) {
    let (mut found, mut excused) = (Vec::new(), 0);
    let mut path = "";
    let tests = tree.files_of_tests();
    let mut excuses: Vec<Option<bool>> = Vec::new();
    for line in lcov.lines() {
        if let Some(file) = line.strip_prefix("SF:") {
            path = file.find(CODE).map_or("", |at| &file[at..]);
            let lines = tree.rust().find(|(file, _)| *file == path && !tests.contains(path));
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
        } else if (line.code.contains("if seeded!(") || line.code.contains("if crate::sync::seeded!("))
            && line.code.ends_with('{')
        {
            kinds[index + 1..=end_of_block(lines, index)].fill(None);
        }
    }
    kinds
}

/// The last line of what begins in this one: behind the bounds of a function, too.
fn end_of_block(lines: &[Line], first: usize) -> usize {
    let is_where = |index: usize| lines.get(index).is_some_and(|line| line.code.trim() == "where");
    let (mut depth, mut has_bounds) = (0_usize, false);
    for (index, line) in lines.iter().enumerate().skip(first) {
        has_bounds = is_where(index) || has_bounds && !line.code.contains('{');
        for letter in line.code.chars() {
            match letter {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        let goes_on = line.code.ends_with('=') || has_bounds || is_where(index + 1);
        if depth == 0 && !goes_on || line.code.starts_with('}') && index > first {
            return index;
        }
    }
    lines.len() - 1
}

#[cfg(test)]
mod tests {
    use super::lines;
    use crate::tree::Tree;

    #[test]
    fn excuse_is_for_a_line_or_a_block() {
        let mut tree = Tree::default();
        let text = "fn first() {\n    // Unreached: luck\n    one();\n    two();\n}\n// Unreached: luck\n#[cold]\nfn second(\n\
            ) {\n    one();\n}\nfn third() {\n    if seeded!(\"bug\") {\n        one();\n    }\n}\n";
        tree.write("crates/annulus/src/ring/a.rs", text.to_owned());
        let (found, excused) = lines(&tree, &lcov("ring/a.rs", 16));
        let numbers: Vec<_> = found.iter().filter_map(|line| line.split(':').nth(1)).collect();
        assert_eq!((numbers, excused), (vec!["1", "4", "12", "13"], 4));
    }

    #[test]
    fn excuse_is_for_the_bounds_of_a_function() {
        let mut tree = Tree::default();
        let text = "// Unreached: luck\nfn first() -> u8\nwhere\n    T: Copy,\n{\n    one()\n}\nfn second() {\n    one();\n}\n";
        tree.write("crates/annulus/src/ring/a.rs", text.to_owned());
        let (found, excused) = lines(&tree, &lcov("ring/a.rs", 10));
        let numbers: Vec<_> = found.iter().filter_map(|line| line.split(':').nth(1)).collect();
        assert_eq!((numbers, excused), (vec!["8", "9"], 4));
    }

    /// Of any folder, and not of tests, whether a line or a file of its own.
    #[test]
    fn files_but_those_of_tests_are_looked_at() {
        let mut tree = Tree::default();
        let mut write =
            |path: &str, text: &str| tree.write(&format!("crates/annulus/src/{path}"), text.to_owned());
        write("lib.rs", "mod any;\n#[cfg(all(test, not(miri)))]\nmod checks;\n");
        write("any/mod.rs", "mod new;\n#[cfg(test)]\nmod checks;\n");
        write("any/new.rs", "fn one() {}\n#[cfg(test)]\nmod tests {}\n#[cfg(test)]\nmod more;\n");
        for tests in ["checks.rs", "any/checks.rs", "any/new/more.rs"] {
            write(tests, "fn one() {}\n");
        }
        let all = ["any/new.rs", "checks.rs", "any/checks.rs", "any/new/more.rs", "../tests/hang.rs"];
        let report: String = all.map(|file| lcov(file, 3)).concat();
        let (found, excused) = lines(&tree, &report);
        assert_eq!((found, excused), (vec!["crates/annulus/src/any/new.rs:1: fn one() {}".to_owned()], 0));
    }

    /// So many lines of a file, which nothing reached.
    fn lcov(file: &str, count: usize) -> String {
        let counts = (1..=count).map(|number| format!("DA:{number},0")).collect::<Vec<_>>().join("\n");
        format!("SF:/there/crates/annulus/src/{file}\n{counts}\n")
    }
}
