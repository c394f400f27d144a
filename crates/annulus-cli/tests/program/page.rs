//! Reports as people see them: lines that fit the terminal, and colours.

use std::process::Command;

use unicode_width::UnicodeWidthStr;

use crate::support::{Folder, annulus, demo};

/// What it prints.
#[track_caller]
fn printed(command: &mut Command) -> String {
    let output = command.output().expect("the program was built");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

fn widest(text: &str) -> usize {
    // (Commands that are to be copied stay whole.)
    text.lines().filter(|line| !line.starts_with("  echo ")).map(UnicodeWidthStr::width).max().unwrap_or(0)
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let folder = Folder::new("narrow");
    let orders = folder.0.join("orders.csv");
    let short = ["--messages", "3000"];
    let lossy = ["--messages", "20000", "--capacity", "64", "--subscribers", "3"];
    for columns in [40, 60, 80, 120] {
        let mut commands = vec![demo(), demo(), demo(), annulus("doctor")];
        commands[0].args(short).current_dir(&folder.0).args(["--output", "orders.csv"]);
        commands[1].args(lossy);
        commands[2].args(short).args(["--rate", "1e6", "--lossless"]);
        commands[3].arg("--quick");
        #[cfg(target_os = "linux")]
        for subcommand in ["bench", "ls", "top"] {
            let mut command = annulus(subcommand);
            command.current_dir(&folder.0).args(["--directory", "names"]);
            if subcommand == "bench" {
                command.args(["load", "--seconds", "0.1"]);
            }
            commands.push(command);
        }
        for mut command in commands {
            let text = printed(command.env("COLUMNS", columns.to_string()));
            assert!(widest(&text) <= columns, "{columns} columns:\n{text}");
        }
    }
    assert!(orders.exists());
}

/// Also of a subcommand that watches for no signals.
#[cfg(target_os = "linux")]
#[test]
fn page_in_a_file_that_may_not_grow_is_refused() {
    let folder = Folder::new("no-growth");
    for arguments in
        [&["--help"][..], &["doctor", "--quick"], &["ls", "--help"], &["man", "ls"], &["completions", "bash"]]
    {
        let page = std::fs::File::create(folder.0.join("page")).unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-c", "ulimit -f 0; exec \"$@\"", "sh"]).arg(env!("CARGO_BIN_EXE_annulus"));
        let output = shell.args(arguments).stdout(page).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}, {}", output.status);
        assert!(said.starts_with("error: standard output cannot be written: File too large"), "{said}");
    }
}

/// All that there is room for at 120 columns is there, and at 80 what matters most.
#[test]
fn narrow_terminal_has_fewer_columns() {
    let with = |columns: &str| printed(demo().args(["--messages", "3000"]).env("COLUMNS", columns));
    let (wide, narrow) = (with("120"), with("80"));
    for title in ["strategy ┆ subscriber ┆ lost ┆ orders", "p90", "p99.9", "mean spread"] {
        assert!(wide.contains(title), "{wide}");
    }
    for title in ["strategy ┆ lost ┆ orders", "p50", "p99", "max"] {
        assert!(narrow.contains(title), "{narrow}");
    }
    assert!(!narrow.contains("strategy ┆ subscriber"), "{narrow}");
}

#[test]
fn colours_are_for_terminals_or_on_request() {
    let mut command = demo();
    command.args(["--messages", "100"]);
    assert!(!printed(&mut command).contains('\u{1b}'), "it goes to a pipe");
    let coloured = printed(command.env("CLICOLOR_FORCE", "1"));
    assert!(coloured.contains("\u{1b}[1m\u{1b}[32mCheck passed:\u{1b}[0m"), "{coloured:?}");
    assert!(!printed(command.env("NO_COLOR", "1")).contains('\u{1b}'));
}

#[test]
fn percentiles_of_a_few_messages_are_left_out() {
    let few = printed(demo().args(["--messages", "10"]));
    assert!(few.contains("┆   – ┆   – ┆") && few.contains("A percentile is left out (–)"), "{few}");
}

/// A quote whose bid is above its ask is data, and is told.
#[test]
fn crossed_quote_is_reported() {
    let folder = Folder::new("crossed");
    let input = folder.file("eurusd.csv", "20200101 170000065,1.3,1.2,0\n20200101 170000066,1.1,1.2,0\n");
    let output = demo().arg("--input").arg(&input).arg("--json").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let expected = "eurusd.csv:1: the bid 1.3 is above the ask 1.2; such quotes are published as they are\n";
    assert!(output.status.success() && said.ends_with(expected), "{said}");
}
