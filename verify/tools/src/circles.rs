//! No file or folder uses what uses it. A folder is looked at with all that is in it, so an arrow between two
//! files is one between the folders, too, in which they are.

use std::collections::{BTreeMap, BTreeSet};

use crate::Report;
use crate::imports::{Edge, edges};
use crate::list::List;
use crate::tree::Tree;

/// The sources that are looked at.
const FOLDERS: [&str; 4] =
    ["crates/annulus/src", "crates/annulus-cli/src", "bench/src", "crates/annulus-c/src"];

/// The name of what a folder's own file defines: `mod.rs`, `lib.rs` or `main.rs`.
const OWN: &str = "mod";

/// Parts of a folder that use each other in a circle.
struct Circle {
    /// The folder.
    folder: String,
    parts: BTreeSet<String>,
    /// Which part uses which, and what of it.
    uses: BTreeMap<(String, String), BTreeSet<String>>,
}

/// The list may accept a circle, or what is left of it: "- `FOLDER: PART PART …`: the reason".
pub(crate) fn check(tree: &Tree, list: &List, report: &mut Report) {
    let accepted: Vec<(usize, &str, BTreeSet<&str>)> = list
        .below("Circles")
        .filter_map(|(number, entry)| {
            let (folder, parts) = entry.what.split_once(": ")?;
            Some((number, folder, parts.split(' ').collect()))
        })
        .collect();
    for circle in circles(tree) {
        let parts: BTreeSet<&str> = circle.parts.iter().map(String::as_str).collect();
        let known = accepted
            .iter()
            .find(|(_, folder, accepted)| *folder == circle.folder && parts.is_subset(accepted));
        match known {
            Some((number, _, accepted)) => {
                list.needed(*number);
                if accepted.len() > parts.len() {
                    report.notes.push(format!(
                        "the circle in {} is smaller now: {}",
                        circle.folder,
                        words(&circle.parts)
                    ));
                }
            }
            None => report.errors.push(format!("a circle in {}: {}", circle.folder, describe(&circle))),
        }
    }
}

/// Prints every circle, accepted or not.
pub(crate) fn print(tree: &Tree) {
    for circle in circles(tree) {
        println!("{}: {}", circle.folder, describe(&circle));
    }
}

fn words(parts: &BTreeSet<String>) -> String {
    parts.iter().map(String::as_str).collect::<Vec<_>>().join(" ")
}

fn describe(circle: &Circle) -> String {
    let uses =
        circle.uses.iter().map(|((from, to), names)| format!("\n    {from} uses {} of {to}", words(names)));
    words(&circle.parts) + &uses.collect::<String>()
}

fn circles(tree: &Tree) -> Vec<Circle> {
    FOLDERS.into_iter().flat_map(|folder| circles_below(folder, &edges(tree, folder))).collect()
}

fn circles_below(root: &str, edges: &BTreeSet<Edge>) -> Vec<Circle> {
    let folders: BTreeSet<&[String]> = edges
        .iter()
        .flat_map(|edge| [&edge.from, &edge.to])
        .flat_map(|module| (0..=module.len()).map(|to| &module[..to]))
        .collect();
    let mut found = Vec::new();
    for folder in folders {
        let mut uses: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
        for edge in edges {
            let part = |module: &[String]| {
                let inner = module.strip_prefix(folder)?;
                Some(inner.first().map_or(OWN, String::as_str).to_owned())
            };
            if let (Some(from), Some(to)) = (part(&edge.from), part(&edge.to))
                && from != to
            {
                uses.entry((from, to)).or_default().insert(edge.name.clone());
            }
        }
        let name = [&[root.to_owned()], folder].concat().join("/");
        for parts in circles_of(&uses) {
            let inside = |(from, to): &(String, String)| parts.contains(from) && parts.contains(to);
            let uses = uses
                .iter()
                .filter(|(pair, _)| inside(pair))
                .map(|(pair, names)| (pair.clone(), names.clone()))
                .collect();
            found.push(Circle { folder: name.clone(), parts, uses });
        }
    }
    found
}

/// The largest sets of parts of which each reaches each.
fn circles_of<T>(uses: &BTreeMap<(String, String), T>) -> BTreeSet<BTreeSet<String>> {
    let reached = |start: &String| {
        let mut reached = BTreeSet::new();
        let mut open = vec![start.clone()];
        while let Some(part) = open.pop() {
            for (_, to) in uses.keys().filter(|(from, _)| *from == part) {
                if reached.insert(to.clone()) {
                    open.push(to.clone());
                }
            }
        }
        reached
    };
    let all: BTreeMap<String, BTreeSet<String>> =
        uses.keys().map(|(from, _)| (from.clone(), reached(from))).collect();
    let each_other = |part: &String| {
        let to = &all[part];
        to.iter()
            .filter(|other| all.get(*other).is_some_and(|back| back.contains(part)))
            .cloned()
            .collect::<BTreeSet<_>>()
    };
    all.keys().map(each_other).filter(|circle| circle.len() > 1).collect()
}
