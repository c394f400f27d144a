//! The tables of `docs/MIGRATING.md` are made of code that compiles: what a row says "here" stands in the
//! program below the table, word for word, and that program is a doc test. What a row says "there" is found
//! by the search of the documentation.

use std::collections::BTreeSet;

use crate::Report;
use crate::tree::Tree;

const PAGE: &str = "docs/MIGRATING.md";

/// Where the page becomes doc tests.
const TESTED_BY: (&str, &str) =
    ("crates/annulus/src/lib.rs", "#[doc = include_str!(\"../../../docs/MIGRATING.md\")]");

/// How a cell begins whose row has nothing here, and so no code.
const NOTHING: [&str; 2] = ["none", "not yet"];

/// How a cell begins whose row has the code of the row's first cell.
const THE_SAME: &str = "the same";

/// Names of other libraries that no item here has, and that stand in no table, but that have an item which
/// does the same: the search finds it, and so does the compiler where it suggests a function.
const OTHER_NAMES: [(&str, &str); 5] = [
    (
        "crossbeam, flume and std",
        "Sender Receiver SyncSender bounded unbounded sync_channel ReadyTimeoutError TryReadyError \
         SelectTimeoutError Disconnected is_disconnected drain ArrayQueue SegQueue force_push",
    ),
    (
        "tokio",
        "UnboundedSender UnboundedReceiver WeakSender unbounded_channel blocking_send recv_many \
         blocking_recv_many poll_recv_many reserve Permit OwnedPermit max_capacity receiver_count strong_count \
         new_subscriber",
    ),
    (
        "rtrb",
        "RingBuffer push pop slots is_abandoned read_chunk write_chunk write_chunk_uninit ReadChunk WriteChunk \
         WriteChunkUninit commit commit_all as_slices fill_from_iter PushError PopError PeekError ChunkError \
         push_partial_slice pop_partial_slice",
    ),
    (
        "disruptor",
        "build_single_producer build_multi_producer handle_events_with handle_events_and_state_with pin_at_core \
         thread_name EventPoller EventGuard Polling RingBufferFull MissingFreeSlots try_batch_publish \
         SingleProducer MultiProducer SingleConsumerBarrier BusySpinWithSpinLoopHint",
    ),
    ("thingbuf", "recv_ref"),
];

/// Where the library's items are.
const LIBRARY: &str = "crates/annulus/src/";

/// What stands between two headings.
#[derive(Default)]
struct Section {
    /// Each is a line of a table: its number, and its cells.
    rows: Vec<(usize, Vec<String>)>,
    /// The programs, as words and signs.
    programs: Vec<Vec<String>>,
}

pub(crate) fn check(tree: &Tree, report: &mut Report) {
    let (file, line) = TESTED_BY;
    if !tree.text(file).lines().any(|text| text == line) {
        report.errors.push(format!("{file}: has no line `{line}`, so the programs of {PAGE} are no tests"));
    }
    let aliases = aliases(tree);
    for (library, names) in OTHER_NAMES {
        for name in names.split(' ').filter(|name| !aliases.contains(name)) {
            report
                .errors
                .push(format!("{LIBRARY}: no item has `#[doc(alias = \"{name}\")]`, a name of {library}"));
        }
    }
    for section in sections(tree.text(PAGE), report) {
        for (number, cells) in &section.rows {
            for wrong in wrong_in(cells, &section.programs).into_iter().chain(not_found(cells, &aliases)) {
                report.errors.push(format!("{PAGE}:{number}: {wrong}"));
            }
        }
    }
}

fn sections(page: &str, report: &mut Report) -> Vec<Section> {
    let mut all = vec![Section::default()];
    // The program that this line is in: `None` for a block of another kind.
    let mut block: Option<Option<String>> = None;
    for (number, line) in (1..).zip(page.lines()) {
        let section = all.last_mut().expect("there is one from the beginning");
        match (&mut block, line.strip_prefix("```")) {
            (Some(program), Some(_)) => {
                section.programs.extend(program.as_deref().map(tokens));
                block = None;
            }
            (None, Some(kind)) => {
                if kind != "rust" {
                    report.errors.push(format!("{PAGE}:{number}: a block of `{kind}` is not run: `rust` is"));
                }
                block = Some((kind == "rust").then(String::new));
            }
            (Some(program), None) => {
                if let Some(program) = program {
                    // A comment is no code.
                    *program += line.split("//").next().unwrap_or_default();
                    program.push('\n');
                }
            }
            (None, None) if line.starts_with('#') => all.push(Section::default()),
            (None, None) if line.starts_with('|') => {
                let is_rule = line.contains("| --- |");
                // The line before a rule is the head of the table.
                if is_rule {
                    section.rows.pop();
                } else {
                    section.rows.push((number, cells(line)));
                }
            }
            (None, None) => {}
        }
    }
    all
}

/// The cells of a table's line.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim().trim_start_matches('|').trim_end_matches('|').replace("\\|", "\0");
    line.split('|').map(|cell| cell.trim().replace('\0', "|")).collect()
}

/// What is wrong with a row.
fn wrong_in(cells: &[String], programs: &[Vec<String>]) -> Vec<String> {
    let [there, here] = cells else {
        return vec![format!("a row has {} cells: it must have two, there and here", cells.len())];
    };
    let mut code: BTreeSet<&str> = spans(here).collect();
    if here.starts_with(THE_SAME) {
        code.extend(spans(there));
    }
    if code.is_empty() && !NOTHING.iter().any(|nothing| here.starts_with(nothing)) {
        return vec![format!("the row of {there} has no code here")];
    }
    let is_there = |span: &str| {
        let sought = parts(span);
        programs.iter().any(|program| sought.iter().all(|part| has(program, part)))
    };
    code.into_iter()
        .filter(|span| !is_there(span))
        .map(|span| format!("`{span}` is in no program of its section"))
        .collect()
}

/// The other names of the library's items: what stands in `#[doc(alias = "…")]`.
fn aliases(tree: &Tree) -> BTreeSet<&str> {
    tree.files()
        .filter(|(path, _)| path.starts_with(LIBRARY))
        .flat_map(|(_, text)| text.lines())
        .filter_map(|line| line.trim().strip_prefix("#[doc(alias = \"")?.strip_suffix("\")]"))
        .collect()
}

/// The names there that a search for them here does not find: the search goes by the names of items, of which
/// a part is enough, and by their aliases.
fn not_found(cells: &[String], aliases: &BTreeSet<&str>) -> Vec<String> {
    let [there, here] = cells else { return Vec::new() };
    if here.starts_with(THE_SAME) {
        return Vec::new();
    }
    let items: Vec<String> = spans(here).flat_map(tokens).map(|item| item.to_lowercase()).collect();
    let is_found =
        |name: &&str| aliases.contains(name) || items.iter().any(|item| item.contains(&name.to_lowercase()));
    spans(there)
        .map(name)
        .filter(|name| !is_found(name))
        .map(|name| format!("no item has `#[doc(alias = \"{name}\")]`, so the search does not find it"))
        .collect()
}

/// The name in a piece of code: `push` of `producer.push(value)`, `Full` of `PushError::Full`, and the type
/// in front of a `new`.
fn name(code: &str) -> &str {
    let path = code.split(|letter: char| !is_of_word(letter) && !":.".contains(letter)).next();
    let path = path.unwrap_or_default().trim_end_matches("::new");
    path.rsplit([':', '.']).next().unwrap_or_default()
}

/// What stands between backquotes.
fn spans(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// A span as code to look for: what `…` leaves out may be anything.
fn parts(span: &str) -> Vec<Vec<String>> {
    span.split('…').map(tokens).filter(|part| !part.is_empty()).collect()
}

/// The words and signs of a piece of code, without the blanks in between.
fn tokens(code: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut is_word = false;
    for letter in code.chars() {
        let goes_on = is_of_word(letter);
        match tokens.last_mut() {
            Some(word) if is_word && goes_on => word.push(letter),
            _ if letter.is_whitespace() => {}
            _ => tokens.push(letter.to_string()),
        }
        is_word = goes_on;
    }
    tokens
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn has(program: &[String], part: &[String]) -> bool {
    program.windows(part.len()).any(|window| window == part)
}
