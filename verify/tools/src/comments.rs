//! Comments: no wider than code, and no nanoseconds in documentation.

use crate::Report;
use crate::source::Line;
use crate::tree::Tree;

/// Lines of comments that are wider than `max_width` of `rustfmt.toml`, but for those that can't be broken.
pub(crate) fn width(tree: &Tree, report: &mut Report) {
    let width = tree
        .text("rustfmt.toml")
        .lines()
        .find_map(|line| line.strip_prefix("max_width = ")?.trim().parse::<usize>().ok())
        .unwrap_or(100);
    let mut wide = Vec::new();
    for (path, lines) in tree.rust() {
        let mut is_fenced = false;
        for (number, line) in lines.iter().enumerate() {
            let is_fence = line.text().is_some_and(|text| text.starts_with("```"));
            is_fenced = (is_fenced != is_fence) && !line.comment.is_empty();
            if line.width > width && !is_fence && !is_fenced && can_be_broken(line) {
                wide.push(format!("{path}:{}", number + 1));
            }
        }
    }
    if !wide.is_empty() {
        let first = wide.iter().take(20).map(String::as_str).collect::<Vec<_>>().join(" ");
        report.errors.push(format!("{} lines of comments are wider than {width}: {first}", wide.len()));
    }
}

/// Whether a comment could go on in the next line: it is no table, no heading, and has more than one word.
fn can_be_broken(line: &Line) -> bool {
    match line.text() {
        Some(text) => !text.starts_with('|') && !text.starts_with('#') && text.contains(' '),
        None => !line.comment.is_empty(),
    }
}

/// A figure in nanoseconds ages with the machine; it belongs to the benchmark that made it.
pub(crate) fn figures(tree: &Tree, report: &mut Report) {
    for (path, lines) in tree.rust() {
        let mut previous = String::new();
        let mut is_code = false;
        for (number, line) in lines.iter().enumerate() {
            let Some(text) = line.documentation() else {
                previous.clear();
                is_code = false;
                continue;
            };
            if text.starts_with("```") {
                is_code = !is_code;
            } else if !is_code {
                let plain = without_code(text);
                let mut words: Vec<&str> = previous.split_whitespace().collect();
                let from = words.len();
                words.extend(plain.split_whitespace());
                let is_figure = |at: usize| {
                    at >= from && is_nanoseconds(words[at]) && at > 0 && ends_in_number(words[at - 1])
                };
                if (0..words.len()).any(|at| is_figure(at) || at >= from && is_one_word(words[at])) {
                    report
                        .errors
                        .push(format!("{path}:{}: a figure in nanoseconds in documentation", number + 1));
                }
                previous = words.last().map(|word| (*word).to_owned()).unwrap_or_default();
            }
        }
    }
}

/// Without what stands between backticks.
fn without_code(text: &str) -> String {
    text.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

fn letters(word: &str) -> &str {
    word.trim_matches(|letter: char| !letter.is_alphanumeric())
}

fn is_nanoseconds(word: &str) -> bool {
    let word = letters(word);
    word == "ns" || word.starts_with("nanosecond")
}

fn ends_in_number(word: &str) -> bool {
    letters(word).ends_with(|letter: char| letter.is_ascii_digit())
}

/// `5ns`.
fn is_one_word(word: &str) -> bool {
    letters(word).strip_suffix("ns").is_some_and(|number| {
        number.starts_with(|letter: char| letter.is_ascii_digit())
            && number.chars().all(|letter| letter.is_ascii_digit() || ".,_".contains(letter))
    })
}
