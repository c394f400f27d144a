//! The steps in `include/annulus_inline.h`, and those in Zig, are those that `ci/litmus` decides: the same
//! access, with the same ordering, one behind the other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// An access to an atomic, and its ordering.
type Access = (&'static str, String);

/// What a line of C does: `load`, `store` or `fence`, by these names of functions, and the word that says in
/// which order.
fn access(line: &str, names: [(&'static str, &str); 3], order: &str) -> Option<Access> {
    let (kind, at) = names.iter().find_map(|&(kind, name)| Some((kind, line.find(name)?)))?;
    let ordering = line[at..].split(order).nth(1).unwrap_or_else(|| panic!("no ordering: {line}"));
    let ordering: String = ordering.chars().take_while(char::is_ascii_alphabetic).collect();
    Some((kind, ordering.to_lowercase()))
}

fn of_header(line: &str) -> Option<Access> {
    let names =
        [("load", "__atomic_load_n("), ("store", "__atomic_store_n("), ("fence", "__atomic_thread_fence(")];
    access(line, names, "__ATOMIC_")
}

fn of_litmus(line: &str) -> Option<Access> {
    let names = [
        ("load", "atomic_load_explicit("),
        ("store", "atomic_store_explicit("),
        ("fence", "atomic_thread_fence("),
    ];
    access(line, names, "memory_order_")
}

/// (`monotonic` is LLVM's word for `relaxed`. Zig has no fences.)
fn of_zig(line: &str) -> Option<Access> {
    let (kind, begin) = ["@atomicLoad(", "@atomicStore("]
        .into_iter()
        .zip(["load", "store"])
        .find_map(|(name, kind)| Some((kind, line.find(name)?)))?;
    let ordering = ["monotonic", "acquire", "release", "acq_rel", "seq_cst"]
        .into_iter()
        .find(|word| line[begin..].contains(&format!(", .{word})")))
        .unwrap_or_else(|| panic!("no ordering: {line}"));
    Some((kind, ordering.replace("monotonic", "relaxed")))
}

fn is_label(word: &str) -> bool {
    word.split_once('.').is_some_and(|(protocol, step)| {
        protocol.chars().all(|letter| letter.is_ascii_lowercase())
            && step.ends_with(|letter: char| letter.is_ascii_digit())
    })
}

/// The label behind `comment` in this line.
fn label<'l>(line: &'l str, comment: &str) -> Option<&'l str> {
    line.rsplit_once(comment)?.1.split_whitespace().next().filter(|word| is_label(word))
}

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn header() -> String {
    fs::read_to_string(folder().join("include/annulus_inline.h")).unwrap()
}

fn zig() -> String {
    fs::read_to_string(folder().join("../../bindings/zig/src/spsc.zig")).unwrap()
}

/// What each step does in the litmus files.
fn decided() -> BTreeMap<String, BTreeSet<Access>> {
    let mut steps = BTreeMap::<_, BTreeSet<_>>::new();
    for file in fs::read_dir(folder().join("../../verify/litmus/c11")).unwrap() {
        for line in fs::read_to_string(file.unwrap().path()).unwrap().lines() {
            if let (Some(access), Some(label)) = (of_litmus(line), label(line, "//")) {
                steps.entry(label.to_owned()).or_default().insert(access);
            }
        }
    }
    steps
}

/// Compares each access of a text with the litmus files, and returns the steps that were found there.
fn compared(text: &str, of: fn(&str) -> Option<Access>, comment: &str) -> Vec<String> {
    let decided = decided();
    let mut compared = BTreeSet::new();
    for line in text.lines() {
        let Some(access) = of(line) else { continue };
        let Some(label) = label(line, comment) else {
            assert_eq!(access, ("load", "relaxed".into()), "what is no hint has a label: {line}");
            continue;
        };
        match decided.get(label) {
            Some(found) => {
                assert!(found.contains(&access), "{label}: {access:?} here, {found:?} in verify/litmus");
                compared.insert(label.to_owned());
            }
            None => assert_eq!(label, "end.send4", "no litmus file has it: {line}"),
        }
    }
    compared.into_iter().collect()
}

#[test]
fn steps_match_litmus_files() {
    let expected = [
        "event.wake3",
        "head.pass1",
        "lane.send3",
        "lane.take5",
        "lane.take7",
        "slot.r1",
        "slot.r2",
        "slot.r3",
        "slot.r4",
        "slot.w1",
        "slot.w2",
        "slot.w3",
        "slot.w4",
    ];
    assert_eq!(compared(&header(), of_header, "/* "), expected);
    let expected = ["event.wake3", "lane.send3", "lane.take5", "lane.take7"];
    assert_eq!(compared(&zig(), of_zig, "// "), expected);
}

/// In each function, the steps of one side of a protocol come in their order.
fn come_in_order<'t>(functions: impl Iterator<Item = &'t str>, comment: &str) -> usize {
    let mut steps = 0;
    for function in functions {
        let mut last = BTreeMap::new();
        for label in function.lines().filter_map(|line| label(line, comment)) {
            let (side, number) = label.split_at(label.len() - 1);
            let before = last.insert(side.to_owned(), number.to_owned());
            assert!(before.is_none_or(|before| before.as_str() <= number), "{label} in {function}");
            steps += 1;
        }
    }
    steps
}

#[test]
fn steps_come_in_order() {
    let steps = come_in_order(header().split("\nANNULUS_INLINE_ ").skip(1), "/* ");
    assert!(steps > 20, "only {steps}");
    let zig = zig();
    let steps = come_in_order(zig.split("\n    }\n"), " // ");
    assert!(steps >= 12, "only {steps}");
}
