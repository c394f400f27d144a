//! `annulus completions` and `annulus man`: both know all subcommands.

use std::process::{Command, Output};

use crate::support::annulus;

/// Those of every system.
const SUBCOMMANDS: [&str; 4] = ["demo", "doctor", "completions", "man"];

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
        for word in SUBCOMMANDS.into_iter().chain(["lossless"]) {
            assert!(script.contains(word), "{shell}: {word} is not in\n{script}");
        }
    }
    let output = annulus("completions").arg("abacus").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn each_subcommand_has_a_page() {
    let all = printed(&mut annulus("man"));
    for name in SUBCOMMANDS {
        assert!(all.contains(&format!("annulus\\-{name}(1)")), "{name} is not in\n{all}");
        let page = printed(annulus("man").arg(name));
        assert!(page.contains(&format!(".TH annulus-{name} 1")), "{page}");
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
