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
    let fresh = for_c(&String::from_utf8(fresh).unwrap());

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
    let header = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("include/annulus.h")).unwrap();
    let of = |handle: &str, verb: &str| {
        let declared = format!("annulus_status annulus_{handle}_{verb}(");
        let (before, _) = header.split_once(&declared).unwrap_or_else(|| panic!("no {declared}"));
        before.rsplit("/**").next().unwrap().to_owned()
    };
    let verbs: [(&str, &[&str]); 4] = [
        ("producer", &["try_send", "try_reserve", "commit", "free", "view"]),
        ("consumer", &["try_recv", "readable", "advance", "arm", "free", "view"]),
        ("publisher", &["publish", "free", "view"]),
        ("subscriber", &["try_recv", "arm", "free", "view"]),
    ];
    for (handle, verbs) in verbs {
        for verb in verbs {
            assert!(of(handle, verb).contains("ANNULUS_VIEWED"), "annulus_{handle}_{verb}");
        }
    }
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
