//! Each check fails where there is something to see: every fault is made in a copy of the project, and the
//! check must report it.

use crate::check;
use crate::list::PAGE;
use crate::tree::Tree;

const CODE: &str = "crates/annulus/src";

const ARCHITECTURE: &str = "docs/ARCHITECTURE.md";

const ORDERING: &str = "docs/ORDERING.md";

const MIGRATING: &str = "docs/MIGRATING.md";

/// How a table begins, behind its head.
const TABLE: &str = "| --- | --- |\n";

/// A fault: its name, how it is made, and what the report says of it.
type Fault = (&'static str, fn(&mut Tree), &'static str);

const FAULTS: [Fault; 38] = [
    (
        "a wide comment",
        |tree| add(tree, "handle_count.rs", &format!("// {}\n", "a word ".repeat(20)).repeat(2000)),
        "are wider than",
    ),
    (
        "nanoseconds in documentation",
        |tree| add(tree, "handle_count.rs", "/// It takes 12.5 ns.\n"),
        "a figure in nanoseconds",
    ),
    (
        "nanoseconds in the next line",
        |tree| add(tree, "handle_count.rs", "/// It takes 1,000\n/// nanoseconds.\n"),
        "a figure in nanoseconds",
    ),
    (
        "a verb for tasks that does not say what a drop of its future does",
        |tree| add(tree, "handle_count.rs", "/// Waits.\n#[cold]\npub async fn unheard() {}\n"),
        "the documentation of unheard has no",
    ),
    (
        "another one, behind one that says it",
        |tree| {
            let text =
                "/// *Cancel safety*: none.\npub fn unheard_async() {}\n/// Of all.\npub fn stream() {}\n";
            add(tree, "handle_count.rs", text);
        },
        "the documentation of stream has no",
    ),
    (
        "a step with two rows",
        |tree| append(tree, ORDERING, "| slot.w1 | store |\n"),
        "slot.w1 is defined twice",
    ),
    (
        "a row for a step that no code speaks of",
        |tree| append(tree, ORDERING, "| slot.w9 | store |\n"),
        "no file of its section speaks of slot.w9",
    ),
    (
        "a comment of a step that has no row",
        |tree| add(tree, "ring/slot.rs", "// See slot.w9.\n"),
        "slot.w9, which no row of",
    ),
    (
        "a model of a step that has no row",
        |tree| append(tree, "verify/promela/gate.pml", "/* gate.join9 */\n"),
        "gate.pml speaks of gate.join9",
    ),
    (
        "a comment of a step that is another section's",
        |tree| add(tree, "shutdown.rs", "// See slot.w1.\n"),
        "shutdown.rs speaks of slot.w1, its sections of",
    ),
    (
        "atomics in a file that no section is about",
        |tree| add(tree, "error.rs", "const A: Ordering = Ordering::Acquire;\n"),
        "error.rs has atomics",
    ),
    (
        "a weaker ordering that is not on the page",
        |tree| add(tree, "ring/slot.rs", "const A: bool = mutated!(\"unheard_of_relaxed\");\n"),
        "unheard_of_relaxed weakens an ordering",
    ),
    (
        "a row with a bug that is gone",
        |tree| append(tree, ORDERING, "| of | `unheard_of`: loom `slot` |\n"),
        "names unheard_of, which is nowhere",
    ),
    (
        "a litmus test that the page does not name",
        |tree| tree.write("verify/litmus/c11/unheard.litmus", String::new()),
        "does not name litmus unheard",
    ),
    (
        "a module that no list names",
        |tree| append_before(tree, "verify/tools/src/main.rs", "mod list;\n", "mod unheard_of;\n"),
        "has the module unheard_of, which its list does not name",
    ),
    (
        "a list that names what is gone",
        |tree| {
            append_before(tree, "verify/tools/src/main.rs", "//! ```text\n", "//! unheard_of  nothing\n");
        },
        "lists the module unheard_of, which is not there",
    ),
    (
        "a page that names a file that is gone",
        |tree| append(tree, "docs/ARCHITECTURE.md", "See `ring/unheard_of.rs`.\n"),
        "names ring/unheard_of.rs, which is not there",
    ),
    (
        "a comment that names a file that is gone",
        |tree| add(tree, "handle_count.rs", "// See `unheard_of.rs`.\n"),
        "names unheard_of.rs, which is not there",
    ),
    (
        "a decision that is not there",
        |tree| add(tree, "handle_count.rs", "// By value (decision 9999).\n"),
        "cites decision 9999, which is not there",
    ),
    (
        "a room that no page names",
        |tree| add(tree, "lib.rs", "mod unheard_of;\n"),
        "does not name the library's module unheard_of",
    ),
    (
        "a folder for which nobody says what to run",
        |tree| write(tree, "unheard/of.rs", ""),
        "does not say which checks to run for unheard/",
    ),
    (
        "a row of code that is in no program",
        |tree| append_before(tree, MIGRATING, TABLE, "| `there` | `unheard_of(capacity)` |\n"),
        "`unheard_of(capacity)` is in no program of its section",
    ),
    (
        "a row of the same, which is not there",
        |tree| append_before(tree, MIGRATING, TABLE, "| `unheard_of()` | the same |\n"),
        "`unheard_of()` is in no program of its section",
    ),
    (
        "a row without code",
        |tree| append_before(tree, MIGRATING, TABLE, "| `there` | something else |\n"),
        "the row of `there` has no code here",
    ),
    (
        "a name there that the search does not find",
        |tree| append_before(tree, MIGRATING, TABLE, "| `Builder::unheard_of(capacity)` | `capacity` |\n"),
        "no item has `#[doc(alias = \"unheard_of\")]`",
    ),
    (
        "an alias that is gone",
        |tree| {
            let path = format!("{CODE}/error.rs");
            let text = tree.text(&path).replace("#[doc(alias = \"PollError\")]", "");
            tree.write(&path, text);
        },
        "no item has `#[doc(alias = \"PollError\")]`",
    ),
    (
        "a program that is not run",
        |tree| {
            let text = tree.text(MIGRATING).replacen("```rust\n", "```rust,ignore\n", 1);
            tree.write(MIGRATING, text);
        },
        "a block of `rust,ignore` is not run",
    ),
    (
        "a page whose programs are no tests",
        |tree| {
            let path = format!("{CODE}/lib.rs");
            let text = tree.text(&path).replace("docs/MIGRATING.md", "docs/LAYOUT.md");
            tree.write(&path, text);
        },
        "so the programs of docs/MIGRATING.md are no tests",
    ),
    (
        "a long file",
        |tree| add(tree, "handle_count.rs", &"const _: () = ();\n".repeat(401)),
        "handle_count.rs: ",
    ),
    (
        "an old word",
        |tree| {
            append(tree, PAGE, "\n## Old words\n\n- `unheardof`: nothing\n");
            add(tree, "handle_count.rs", "struct UnheardofThing;\n");
        },
        "unheardof is no longer a word of ours: nothing",
    ),
    (
        "a word that no glossary has",
        |tree| add(tree, "handle_count.rs", "struct UnheardOf;\n"),
        "`unheard` is not in the glossary",
    ),
    (
        "a term with two rows",
        |tree| append(tree, ARCHITECTURE, "| run | another | `ring/slot` |\n"),
        "the glossary has `run` twice",
    ),
    (
        "a term that is at home nowhere",
        |tree| append(tree, ARCHITECTURE, "| unheard | of | `ring/unheard` |\n"),
        "the glossary names ring/unheard, which is not there",
    ),
    (
        "a word of a module that does not explain it",
        |tree| append(tree, PAGE, "\n## Words of one module\n\n- `sleeper`: `handle_count.rs`\n"),
        "no comment of crates/annulus/src/handle_count.rs has the word `sleeper`",
    ),
    (
        "a page that nobody reads to its end",
        |tree| append(tree, ARCHITECTURE, &"A line.\n".repeat(60)),
        "lines, of at most 150",
    ),
    (
        "two files that use each other",
        |tree| {
            write(tree, "wait/first.rs", "use super::second::Second;\npub(super) struct First(Second);\n");
            write(tree, "wait/second.rs", "pub(super) struct Second(Option<crate::wait::first::First>);\n");
        },
        "first uses Second of second",
    ),
    (
        "two folders that use each other, through a facade",
        |tree| {
            write(tree, "one/mod.rs", "mod inner;\npub(crate) use inner::One;\n");
            write(tree, "one/inner.rs", "pub(crate) struct One(Option<Box<crate::two::Two>>);\n");
            write(tree, "two.rs", "use crate::one::{One as First};\npub(crate) struct Two(First);\n");
        },
        "one uses Two of two",
    ),
    (
        "an exception that nothing needs",
        |tree| append(tree, PAGE, "\n## Circles\n\n- `crates/annulus/src: nothing at all`: none\n"),
        "is no longer there: remove it",
    ),
];

/// How many faults were not seen.
pub(crate) fn run(tree: &Tree) -> usize {
    let before = check(tree).errors;
    let mut failed = 0;
    for (name, make, expected) in FAULTS {
        let mut copy = tree.clone();
        make(&mut copy);
        let seen =
            check(&copy).errors.into_iter().find(|error| !before.contains(error) && error.contains(expected));
        if let Some(error) = seen {
            println!(
                "seen    {name}: {}",
                error.lines().next().unwrap_or_default().chars().take(100).collect::<String>()
            );
        } else {
            println!("MISSED  {name}");
            failed += 1;
        }
    }
    failed
}

fn append(tree: &mut Tree, path: &str, text: &str) {
    let whole = tree.text(path).to_owned() + text;
    tree.write(path, whole);
}

/// Puts a text behind the first `mark`.
fn append_before(tree: &mut Tree, path: &str, mark: &str, text: &str) {
    let whole = tree.text(path).replacen(mark, &format!("{mark}{text}"), 1);
    tree.write(path, whole);
}

/// Appends to a file of the library, before its unit tests.
fn add(tree: &mut Tree, file: &str, text: &str) {
    let path = format!("{CODE}/{file}");
    let old = tree.text(&path).to_owned();
    let at = old.find("#[cfg(all(test").unwrap_or(old.len());
    tree.write(&path, format!("{}{text}{}", &old[..at], &old[at..]));
}

fn write(tree: &mut Tree, file: &str, text: &str) {
    tree.write(&format!("{CODE}/{file}"), text.to_owned());
}
