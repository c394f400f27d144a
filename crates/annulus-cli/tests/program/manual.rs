//! `annulus completions` and `annulus man`: both know all subcommands.

use annulus::shm::Shared;
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
fn completions_have_all_subcommands() {
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

/// Names of rings, one of which would be a command if the shell expanded it.
#[cfg(target_os = "linux")]
const RINGS: [&str; 6] =
    ["$(touch expanded)", "it's \"q\"", "market-orders", "market-quotes", "q:eur", "with space"];

/// What a shell says that has the program in its path, the script in a file, and a directory of [`RINGS`].
#[cfg(target_os = "linux")]
fn completed(shell: &str, script: &str) -> Option<String> {
    use annulus::shm::{Directory, broadcast};

    let folder = crate::support::Folder::new("complete");
    folder.file("script", printed(annulus("completions").arg(shell)));
    let directory = Directory::open(folder.0.join("names")).unwrap();
    let rings: Vec<_> = RINGS
        .map(|name| {
            let settings = annulus::Settings::new(2);
            let Shared { handle: publisher, invitation, .. } = broadcast::lossy::<u64>(settings).unwrap();
            (invitation.publish(&directory, name).unwrap(), publisher)
        })
        .into();
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_annulus")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new(shell);
    command.args(["-c", script]).current_dir(&folder.0).env("PATH", path).env("HOME", &folder.0);
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => {
            eprintln!("there is no {shell} here ({error}): not tested");
            return None;
        }
    };
    drop(rings);
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert!(!folder.0.join("expanded").exists(), "a name was run");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[cfg(target_os = "linux")]
#[test]
fn bash_completes_names_of_rings() {
    // Each line, and the words that bash makes of it.
    let script = r#"source ./script
        ask() { COMP_LINE="annulus $1" COMP_POINT=$((8 + ${#1})) COMP_WORDS=(annulus "${@:2}") COMP_CWORD=$(($# - 1))
            _annulus_rings annulus "${!#}" "${COMP_WORDS[$# - 2]}"
            echo "$1: ${COMPREPLY[*]}"; }
        for name in info rm sub watch get hz top bench pub; do
            ask "$name --directory names market" $name --directory names market
        done
        ask 'rm --directory=names market-orders ' rm --directory = names market-orders ''
        ask 'info --directory "~/names" w' info --directory '"~/names"' w
        ask 'sub --directory names --from ol' sub --directory names --from ol
        ask 'sub --directory names --fol' sub --directory names --fol
        ask inf inf
        ask 'info --directory names with\ ' info --directory names 'with\ '
        ask 'info --directory names with\ spac' info --directory names 'with\ spac'
        ask "info --directory names 'with s" info --directory names "'with s"
        ask 'info --directory names "it' info --directory names '"it'
        ask "info --directory names it\\'" info --directory names "it\\'"
        ask 'info --directory names q' info --directory names q
        ask 'info --directory names q:' info --directory names q :
        ask 'info --directory names q:e' info --directory names q : e
        ask 'info --directory names q : e' info --directory names q : e"#;
    let said = completed("bash", script).unwrap();
    let said: Vec<_> = said.lines().collect();
    for (line, name) in said.iter().zip(["info", "rm", "sub", "watch", "get", "hz", "top", "bench", "pub"]) {
        assert_eq!(*line, format!("{name} --directory names market: market-orders market-quotes"));
    }
    let expected = [
        r#"rm --directory=names market-orders : \$\(touch\ expanded\) it\'s\ \"q\" market-orders market-quotes q:eur with\ space"#,
        "info --directory \"~/names\" w: with\\ space",
        "sub --directory names --from ol: oldest",
        "sub --directory names --fol: --follow",
        "inf: info",
        r"info --directory names with\ : with\ space",
        r"info --directory names with\ spac: with\ space",
        r"info --directory names 'with s: with space",
        r#"info --directory names "it: it's \"q\""#,
        r#"info --directory names it\': it\'s\ \"q\""#,
        "info --directory names q: q:eur",
        "info --directory names q:: eur",
        "info --directory names q:e: eur",
        "info --directory names q : e: ",
    ];
    assert_eq!(said[9..], expected);
}

#[cfg(target_os = "linux")]
#[test]
fn fish_completes_names_of_rings() {
    let script = "source ./script
        for line in 'sub --directory names ' 'rm --directory=names market-o' 'info --directory ~/names w'
            echo $line (complete -C \"annulus $line\" | string match -v -- '-*')
        end";
    let Some(said) = completed("fish", script) else { return };
    let said: Vec<_> = said.lines().collect();
    let all = RINGS.join(" ");
    assert_eq!(said[0], format!("sub --directory names  {all}"));
    assert_eq!(
        said[1..],
        ["rm --directory=names market-o market-orders", "info --directory ~/names w with space"]
    );
}

/// In a terminal of its own, as zsh completes nowhere else.
#[cfg(target_os = "linux")]
#[test]
fn zsh_completes_names_of_rings() {
    let script = r#"zmodload zsh/zpty
        zpty -b shell zsh -f -i
        zpty -w shell 'PS1=; unset zle_bracketed_paste; autoload -Uz compinit; compinit -u -D; source ./script'
        zpty -w shell 'zstyle ":completion:*" insert-tab false; echo re""ady'
        zpty -r -m shell seen '*ready*'
        zpty -w shell 'annulus() { print -r -- "$*" >said }'
        zpty -w -n shell $'annulus info --directory names w\t\n'
        zpty -w shell 'echo do""ne'
        zpty -r -m shell seen '*done*'
        cat said"#;
    if let Some(said) = completed("zsh", script) {
        assert_eq!(said, "info --directory names with space\n");
    }
}

/// Scripts rely on them.
#[test]
fn subcommands_say_their_exit_codes() {
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
fn page_on_a_full_disk_is_an_error() {
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
fn subcommands_have_pages() {
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
