//! `annulus completions` and `annulus man`: both know all subcommands.

use std::process::{Command, Output};

use crate::support::{annulus, help, subcommands};

/// The options of a subcommand, by its help: those that begin a line.
fn options(subcommand: &str) -> Vec<String> {
    let help = help(subcommand);
    let words = help.lines().filter_map(|line| {
        let line = line.trim_start();
        // (`-h, --help`)
        let option =
            line.split_once(", ").filter(|(short, _)| short.len() == 2).map_or(line, |(_, long)| long);
        option.strip_prefix("--")?.split([' ', '=', '[']).next().map(String::from)
    });
    words.collect()
}

#[track_caller]
fn printed(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap();
    assert_eq!((stderr.as_slice(), status.code()), (&b""[..], Some(0)));
    String::from_utf8(stdout).unwrap()
}

#[test]
fn each_shell_is_told_all_subcommands() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = printed(annulus("completions").arg(shell));
        for name in subcommands() {
            for word in options(&name).into_iter().chain([name]) {
                assert!(script.contains(&word), "{shell}: {word} is not in\n{script}");
            }
        }
    }
    let output = annulus("completions").arg("abacus").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

/// Scripts rely on them.
#[test]
fn each_subcommand_says_its_exit_codes() {
    for name in subcommands() {
        let help = help(&name);
        let (_, codes) =
            help.split_once("EXIT CODES:\n").unwrap_or_else(|| panic!("{name} has none:\n{help}"));
        assert!(codes.starts_with("  0    ") && codes.contains("\n  2    "), "{name}:\n{codes}");
    }
}

/// A help that a full disk swallows is no success, for whatever makes a page or a script of it.
#[cfg(target_os = "linux")]
#[test]
fn what_can_not_be_written_is_an_error() {
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut asked =
        vec![vec!["--help".into()], vec!["-h".into()], vec!["--version".into()], vec!["help".into()]];
    asked.extend([vec!["man".into()], vec!["completions".into(), "bash".into()]]);
    asked.extend(subcommands().into_iter().map(|name| vec![name, "--help".into()]));
    asked.extend(subcommands().into_iter().map(|name| vec!["help".into(), name]));
    for arguments in asked {
        let mut command = Command::new(env!("CARGO_BIN_EXE_annulus"));
        let output = command.args(&arguments).stdout(full()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.starts_with("error: standard output cannot be written: "), "{arguments:?}: {said}");
    }
}

#[test]
fn each_subcommand_has_a_page() {
    let all = printed(&mut annulus("man"));
    for name in subcommands() {
        assert!(all.contains(&format!("annulus\\-{name}(1)")), "{name} is not in\n{all}");
        let page = printed(annulus("man").arg(&name));
        assert!(page.contains(&format!(".TH annulus-{name} 1")), "{page}");
        let options = options(&name);
        assert!(options.contains(&"help".into()), "{name}: {options:?}");
        for option in options {
            assert!(page.contains(&option.replace('-', "\\-")), "{name}: {option} is not in\n{page}");
        }
    }
    assert!(!printed(annulus("man").arg("demo")).contains("\\-\\-part"), "it is for the program itself");
    let output = annulus("man").arg("abacus").output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.starts_with("error: `abacus` is no subcommand: it must be one of demo, doctor, "),
        "{stderr}"
    );
    assert_eq!(output.status.code(), Some(2));
}
