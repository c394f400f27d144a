//! A file of Rust, line by line: what is code, and what is comment.

/// A line of Rust.
#[derive(Default)]
pub(crate) struct Line {
    /// Its code. The texts of literals are left out.
    pub(crate) code: String,
    /// Its comment, from the slashes on.
    pub(crate) comment: String,
    /// How many letters it has in all.
    pub(crate) width: usize,
    /// Whether it is part of a unit test.
    pub(crate) is_test: bool,
}

impl Line {
    /// The text of a comment for documentation, without its marker.
    pub(crate) fn documentation(&self) -> Option<&str> {
        let text = self.comment.strip_prefix("//!").or_else(|| self.comment.strip_prefix("///"))?;
        Some(text.strip_prefix(' ').unwrap_or(text))
    }

    /// The text of any comment of a line that has nothing else, without its marker.
    pub(crate) fn text(&self) -> Option<&str> {
        if !self.code.trim().is_empty() || self.comment.is_empty() {
            return None;
        }
        let text = self.comment.trim_start_matches('/');
        Some(text.strip_prefix('!').unwrap_or(text).trim_start())
    }
}

/// Where a reader of Rust is.
enum State {
    Code,
    /// In a comment between `/*` and `*/`, so deep.
    Block(u32),
    /// In a literal that ends with a quote and so many `#`; `None` for one that has escapes.
    Literal(Option<usize>),
}

/// The lines of a file.
pub(crate) fn lines(text: &str) -> Vec<Line> {
    let mut state = State::Code;
    let mut lines: Vec<Line> = text.lines().map(|line| read_line(line, &mut state)).collect();
    mark_tests(&mut lines);
    lines
}

fn read_line(text: &str, state: &mut State) -> Line {
    let letters: Vec<char> = text.chars().collect();
    let mut line = Line { width: letters.len(), ..Line::default() };
    let ahead = |at: usize, expected: &str| {
        expected.chars().enumerate().all(|(offset, letter)| letters.get(at + offset) == Some(&letter))
    };
    let mut at = 0;
    while at < letters.len() {
        match state {
            State::Block(depth) => {
                let step = if ahead(at, "*/") {
                    *depth -= 1;
                    2
                } else if ahead(at, "/*") {
                    *depth += 1;
                    2
                } else {
                    1
                };
                line.comment.extend(&letters[at..at + step]);
                at += step;
                if matches!(state, State::Block(0)) {
                    *state = State::Code;
                }
            }
            State::Literal(Some(signs)) => {
                let end = format!("\"{}", "#".repeat(*signs));
                if ahead(at, &end) {
                    at += end.len();
                    line.code.push('"');
                    *state = State::Code;
                } else {
                    at += 1;
                }
            }
            State::Literal(None) => match letters[at] {
                '\\' => at += 2,
                '"' => {
                    line.code.push('"');
                    at += 1;
                    *state = State::Code;
                }
                _ => at += 1,
            },
            State::Code if ahead(at, "//") => {
                line.comment = letters[at..].iter().collect();
                break;
            }
            State::Code if ahead(at, "/*") => *state = State::Block(0),
            State::Code => at = read_code(&letters, at, &mut line.code, state),
        }
    }
    line
}

/// Reads one letter of code, or the beginning of a literal, or all of a character; returns where it goes on.
fn read_code(letters: &[char], at: usize, code: &mut String, state: &mut State) -> usize {
    let letter = letters[at];
    let in_a_name = at > 0 && (letters[at - 1].is_alphanumeric() || letters[at - 1] == '_');
    if letter == '"' {
        code.push('"');
        *state = State::Literal(None);
        return at + 1;
    }
    if letter == 'r' && !(in_a_name && letters[at - 1] != 'b') {
        let signs = letters[at + 1..].iter().take_while(|letter| **letter == '#').count();
        if letters.get(at + 1 + signs) == Some(&'"') {
            code.push('"');
            *state = State::Literal(Some(signs));
            return at + 2 + signs;
        }
    }
    if letter == '\'' {
        // A character, or else a lifetime.
        if letters.get(at + 1) == Some(&'\\') {
            let end = letters[at + 3..].iter().position(|letter| *letter == '\'');
            return end.map_or(letters.len(), |end| at + 4 + end);
        }
        if letters.get(at + 2) == Some(&'\'') {
            return at + 3;
        }
    }
    code.push(letter);
    at + 1
}

/// Marks the items behind `#[cfg(test)]` and `#[cfg(all(test, …))]`.
fn mark_tests(lines: &mut [Line]) {
    let mut at = 0;
    while at < lines.len() {
        let code = lines[at].code.trim();
        if !(code.starts_with("#[cfg(test)]") || code.starts_with("#[cfg(all(test")) {
            at += 1;
            continue;
        }
        let mut depth = 0_usize;
        let mut is_over = false;
        while at < lines.len() && !is_over {
            lines[at].is_test = true;
            for letter in lines[at].code.chars() {
                match letter {
                    '{' => depth += 1,
                    '}' => {
                        depth -= 1;
                        is_over |= depth == 0;
                    }
                    ';' if depth == 0 => is_over = true,
                    _ => {}
                }
            }
            at += 1;
        }
    }
}
