//! Each verb for tasks has a stand-in for programs without the feature, so that the compiler names that. And
//! each stand-in is of a verb that is there.

use std::collections::BTreeMap;

use crate::Report;
use crate::cancelling::verb_for_tasks;
use crate::source::Line;
use crate::tree::Tree;

const CODE: &str = "crates/annulus/src/";

/// Where the stand-ins are.
const STAND_INS: &str = "crates/annulus/src/unavailable_verbs.rs";

/// How those begin that need the feature, and others.
const NEED_THE_FEATURE: &str = "need HasTasks:";
const NEED: &str = "need ";

/// A type by its module's name and its own, and a verb of it.
type Verb = (String, String, String);

pub(crate) fn check(tree: &Tree, report: &mut Report) {
    let mut verbs = BTreeMap::new();
    for (path, lines) in tree.rust().filter(|(path, _)| path.starts_with(CODE) && *path != STAND_INS) {
        let module = path.rsplit('/').nth(1).unwrap_or_default();
        let in_types = in_types(lines, |line| verb_for_tasks(line).map(str::to_owned));
        verbs.extend(
            in_types.map(|(number, (_, name), verb)| {
                ((module.to_owned(), name, verb), format!("{path}:{number}"))
            }),
        );
    }
    let Some((_, lines)) = tree.rust().find(|(path, _)| *path == STAND_INS) else {
        return report.errors.push(format!("{STAND_INS} is not there"));
    };
    let mut needs_the_feature = false;
    let is_stand_in = |line: &Line| {
        let code = line.code.trim_start();
        let name = code.split(['(', '<']).next().filter(|name| *name != code)?;
        name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_').then(|| name.to_owned())
    };
    let of_feature: Vec<Line> = lines
        .iter()
        .map(|line| {
            let code = line.code.trim_start();
            if code.starts_with(NEED) {
                needs_the_feature = code.starts_with(NEED_THE_FEATURE);
            }
            Line {
                code: if needs_the_feature { line.code.clone() } else { String::new() },
                ..Line::default()
            }
        })
        .collect();
    let mut stand_ins: Vec<(Verb, usize)> = in_types(&of_feature, is_stand_in)
        .map(|(number, (module, name), verb)| ((module, name, verb), number))
        .collect();
    // One whose path names no module stands for a type of that name anywhere.
    for (verb, place) in &verbs {
        let before = stand_ins.len();
        stand_ins.retain(|(stand_in, _)| !is_for(stand_in, verb));
        if stand_ins.len() == before {
            report.errors.push(format!("{place}: {} of {} has no stand-in in {STAND_INS}", verb.2, verb.1));
        }
    }
    for ((_, name, verb), number) in stand_ins {
        report.errors.push(format!("{STAND_INS}:{number}: {name} has no verb {verb}"));
    }
}

fn is_for(stand_in: &Verb, verb: &Verb) -> bool {
    let is_of_module = ["", "crate"].contains(&stand_in.0.as_str()) || stand_in.0 == verb.0;
    is_of_module && (&stand_in.1, &stand_in.2) == (&verb.1, &verb.2)
}

/// What `find` finds in lines between `impl` and its end: the line's number, the type by the last two names
/// of its path, and what was found.
fn in_types<'l>(
    lines: &'l [Line],
    find: impl Fn(&Line) -> Option<String> + 'l,
) -> impl Iterator<Item = (usize, (String, String), String)> + 'l {
    let mut head = String::new();
    let mut of = None;
    (1..).zip(lines).filter_map(move |(number, line)| {
        let code = line.code.trim();
        if line.code.starts_with('}') {
            of = None;
        }
        // The head of an implementation may be of several lines.
        if code.starts_with("impl") || !head.is_empty() {
            head.push_str(code);
            if code.contains('{') && !code.ends_with("<{") {
                of = type_of(&head);
                head.clear();
            }
            return None;
        }
        Some((number, of.clone()?, find(line)?))
    })
}

/// The type that is implemented: the last two names of its path.
fn type_of(head: &str) -> Option<(String, String)> {
    let rest = head.strip_prefix("impl")?;
    let rest = if rest.starts_with('<') { after_parameters(rest)? } else { rest };
    let rest = rest.split(" for ").last()?.trim();
    let path = rest.split(['<', '{', ' ']).next()?;
    let mut names = path.rsplit("::");
    let name = names.next()?.to_owned();
    Some((names.next().unwrap_or_default().to_owned(), name))
}

/// What comes after the parameters in angles.
fn after_parameters(text: &str) -> Option<&str> {
    let mut depth = 0;
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        match letter {
            '<' => depth += 1,
            // No arrow.
            '>' if before != '-' => depth -= 1,
            _ => {}
        }
        before = letter;
        if depth == 0 {
            return text.get(at + 1..);
        }
    }
    None
}
