//! Each verb for tasks says what a drop of its future does.

use crate::Report;
use crate::source::Line;
use crate::tree::Tree;

const CODE: &str = "crates/annulus/src/";

/// The words with which it says so.
const SAYS: &str = "*Cancel safety*";

pub(crate) fn check(tree: &Tree, report: &mut Report) {
    for (path, lines) in tree.rust().filter(|(path, _)| path.starts_with(CODE)) {
        let mut says = false;
        for (number, line) in lines.iter().enumerate() {
            if let Some(name) = verb_for_tasks(line).filter(|_| !says) {
                let number = number + 1;
                report.errors.push(format!("{path}:{number}: the documentation of {name} has no {SAYS}"));
            }
            says = match line.documentation() {
                Some(text) => says || text.starts_with(SAYS),
                // Attributes come between.
                None => says && line.code.trim_start().starts_with("#["),
            };
        }
    }
}

/// The name of a verb that returns a future or a stream, where this line begins one that users see.
pub(crate) fn verb_for_tasks(line: &Line) -> Option<&str> {
    let rest = line.code.trim_start().strip_prefix("pub ")?;
    let (rest, is_async) = rest.strip_prefix("async ").map_or((rest, false), |rest| (rest, true));
    let name = rest.strip_prefix("fn ")?.split(['(', '<']).next()?;
    let is_verb = is_async || name.ends_with("_async") || ["stream", "into_stream"].contains(&name);
    is_verb.then_some(name)
}
