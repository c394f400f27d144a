//! `include/annulus.h` is what cbindgen makes of the functions.

use std::path::Path;
use std::{env, fs};

/// How to renew the header.
const RENEW: &str = "ANNULUS_RENEW_HEADER=1 cargo test -p annulus-c --test header";

#[test]
fn header_matches_functions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).unwrap();
    let bindings = cbindgen::generate_with_config(folder, config).unwrap();
    let mut fresh = Vec::new();
    bindings.write(&mut fresh);
    let fresh = with_one_name(for_c(&String::from_utf8(fresh).unwrap()));

    let path = folder.join("include/annulus.h");
    if env::var_os("ANNULUS_RENEW_HEADER").is_some() {
        fs::write(&path, &fresh).unwrap();
    }
    let here = fs::read_to_string(&path).unwrap_or_default();
    let differs = here.lines().zip(fresh.lines()).position(|(here, fresh)| here != fresh);
    assert!(
        here == fresh,
        "include/annulus.h differs, from line {differs:?} (from 0) on: renew it by {RENEW}"
    );
}

/// Each list of what a function returns names `ANNULUS_VIEWED`, where a view is in the way of the function.
#[test]
fn docs_of_verbs_with_views_name_annulus_viewed() {
    let verbs: [(&str, &[&str]); 4] = [
        ("producer", &["try_send", "try_reserve", "commit", "free", "view"]),
        ("consumer", &["try_recv", "readable", "advance", "arm", "free", "view"]),
        ("publisher", &["publish", "free", "view"]),
        ("subscriber", &["try_recv", "arm", "free", "view"]),
    ];
    all_name("ANNULUS_VIEWED", &verbs);
}

/// Each list of what a function returns names `ANNULUS_PEER_DIED`, where it says so between processes.
#[test]
fn docs_of_verbs_between_processes_name_annulus_peer_died() {
    let verbs: [(&str, &[&str]); 5] = [
        ("producer", &["try_send", "try_reserve", "commit"]),
        ("consumer", &["try_recv", "readable"]),
        ("subscriber", &["try_recv"]),
        ("bytes_producer", &["try_send", "try_reserve", "commit"]),
        ("bytes_consumer", &["try_recv", "readable"]),
    ];
    all_name("ANNULUS_PEER_DIED", &verbs);
}

/// What is said of each of these verbs of these handles names this status.
fn all_name(status: &str, verbs: &[(&str, &[&str])]) {
    let header = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("include/annulus.h")).unwrap();
    for (handle, verbs) in verbs {
        for verb in *verbs {
            let declared = format!("annulus_status annulus_{handle}_{verb}(");
            let (before, _) = header.split_once(&declared).unwrap_or_else(|| panic!("no {declared}"));
            let said = before.rsplit("/**").next().unwrap();
            assert!(said.contains(status), "annulus_{handle}_{verb}");
        }
    }
}

/// An enum of a fixed size is a number in C before C23. There it has no tag, which `-Wc++-compat` would not
/// have beside a type of the same name.
fn with_one_name(header: String) -> String {
    const SIZED: &str = "#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L\n";
    const END: &str = "#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L\n";
    ["annulus_status", "annulus_peer"].into_iter().fold(header, |header, name| {
        let from = format!("enum {name}\n{SIZED}  : int32_t\n{END}");
        assert_eq!(header.matches(&from).count(), 1, "cbindgen writes {name} in another way");
        header.replace(&from, &format!("{SIZED}enum {name} : int32_t\n#else\nenum\n{END}"))
    })
}

/// What Rust's documentation says to Rust only is left out: the sections on safety, which say in Rust's words
/// what the rest says in C's.
fn for_c(header: &str) -> String {
    let (mut text, mut skips) = (String::new(), false);
    let mut lines = header.lines().peekable();
    while let Some(line) = lines.next() {
        skips |= line.trim() == "* # Safety";
        // The empty line before the section goes, too.
        let before = line.trim() == "*" && lines.peek().is_some_and(|next| next.trim() == "* # Safety");
        skips &= line.trim() != "*/";
        if !skips && !before {
            text += &line.replace('`', "");
            text.push('\n');
        }
    }
    text
}
