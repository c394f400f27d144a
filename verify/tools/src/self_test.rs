//! Each check fails where there is something to see: every fault of `faults.txt` is made in a copy of the
//! project, and the check must report it.
//!
//! A fault is its name and what the report says of it. The changes follow, each in a line that is set in.
//! `add` is to a file of the library, before its unit tests; `append` is to any; `replace` is for the first
//! that is found. `*20` is so many times.

use std::sync::Mutex;
use std::thread;

use crate::reports;
use crate::tree::Tree;

/// How many faults were not seen. The machine's cores share them.
pub(crate) fn run(tree: &Tree) -> usize {
    let before: Vec<_> = reports(tree).flat_map(|report| report.errors).collect();
    let faults = include_str!("faults.txt").replace("\n  ", "\t");
    let faults = Mutex::new(faults.lines());
    let next = || faults.lock().expect("a line is there, or is not").next();
    let work = || std::iter::from_fn(next).filter(|fault| !is_seen(tree, fault, &before)).count();
    thread::scope(|scope| {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().expect("a check has no panics")).sum()
    })
}

/// Whether the check reports this fault, beside what it reports without.
fn is_seen(tree: &Tree, fault: &str, before: &[String]) -> bool {
    let mut parts = fault.split('\t');
    let (name, expected) = parts.next().and_then(|head| head.split_once(": ")).unwrap_or((fault, "no text"));
    let mut copy = tree.clone();
    parts.for_each(|change| make(&mut copy, change));
    let is_it = |error: &String| !before.contains(error) && error.contains(expected);
    let seen = reports(&copy).flat_map(|report| report.errors).find(is_it);
    match &seen {
        Some(error) => println!("seen    {name}: {:.100}", error.lines().next().unwrap_or_default()),
        None => println!("MISSED  {name}"),
    }
    seen.is_some()
}

fn make(tree: &mut Tree, change: &str) {
    let mut words = change.splitn(3, ' ');
    let (Some(verb), Some(path), Some(text)) = (words.next(), words.next(), words.next()) else {
        panic!("no change: {change}");
    };
    let (verb, times) = verb.split_once('*').unwrap_or((verb, "1"));
    let text = text.replace("\\n", "\n").repeat(times.parse().expect("a number"));
    let path = if verb == "add" { format!("crates/annulus/src/{path}") } else { path.to_owned() };
    let mut whole = tree.text(&path).to_owned();
    match verb {
        "add" => whole.insert_str(whole.find("#[cfg(all(test").unwrap_or(whole.len()), &text),
        "append" => whole.push_str(&text),
        _ => {
            let (old, new) = text.split_once(" => ").expect("what it becomes");
            whole = whole.replacen(old, new, 1);
        }
    }
    tree.write(&path, whole);
}
