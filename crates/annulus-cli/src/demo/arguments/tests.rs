//! The tests of `arguments`.

use super::*;
use clap::Parser;

/// A program of this subcommand alone.
#[derive(Parser)]
struct Program {
    #[command(flatten)]
    arguments: Arguments,
}

fn parse(arguments: &[&str]) -> Result<Arguments, String> {
    match Program::try_parse_from([&["annulus"], arguments].concat()) {
        Ok(program) => Ok(program.arguments),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn demo_without_arguments_is_a_walk_that_fits_the_ring() {
    let arguments = parse(&[]).unwrap();
    let feed = arguments.feed().unwrap();
    assert_eq!(feed.describe(), "1,000,000 quotes of 8 symbols, a random walk with seed 1");
    assert_eq!(arguments.capacity(feed.total), 1_000_000);
    assert!((2..=4).contains(&arguments.subscribers()));
    assert_eq!(arguments.graph(feed.total).strategies.len(), 4);
    assert_eq!(arguments.rate, None);
}

#[test]
fn default_capacity_has_bounds() {
    let arguments = parse(&[]).unwrap();
    assert_eq!([1, 2, 9_500, u64::MAX].map(|total| arguments.capacity(total)), [2, 2, 9_500, 1_048_576]);
    assert_eq!(parse(&["--capacity", "3"]).unwrap().capacity(1_000), 3);
}

#[test]
fn rate_is_a_positive_number() {
    for (text, rate) in [("100000", 1e5), ("0.5", 0.5), ("1e6", 1e6)] {
        assert_eq!(parse(&["--rate", text]).unwrap().rate, Some(rate));
    }
    for text in ["0", "-0", "-5", "NaN", "inf", "-1e3", "-inf", "fast", ""] {
        let error = parse(&["--rate", text]).err().unwrap();
        let expected = format!("`{text}` is no rate: it must be a positive number of messages a second");
        assert!(error.contains(&expected), "{error}");
    }
}

#[test]
fn numbers_out_of_range_say_the_range() {
    for (arguments, expected) in [
        (["--subscribers", "0"], "'0' for '--subscribers <COUNT>': must be a whole number from 1 to 4096"),
        (["--subscribers", "4097"], "must be a whole number from 1 to 4096"),
        (["--messages", "0"], "must be a whole number from 1 to 18446744073709551615"),
        (["--messages", "1.5"], "must be a whole number from 1 to 18446744073709551615"),
        (["--seed", "-1"], "'-1' for '--seed <NUMBER>': must be a whole number from 0 to"),
        (["--capacity", "many"], "must be a whole number of slots, 2 or more, such as 1048576"),
    ] {
        let error = parse(&arguments).err().unwrap();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn strategies_are_told_apart() {
    let arguments = parse(&["--strategies", "1/2,3/4", "--strategies", "3/5"]).unwrap();
    arguments.check().unwrap();
    assert_eq!(arguments.graph(1).strategies.len(), 3);
    let twice = parse(&["--strategies", "1/2,3/4,1/2"]).unwrap();
    let failure = twice.check().unwrap_err().to_string();
    assert_eq!(failure, "--strategies: `1/2` is there twice: once will do");
    let many = (2..=66).map(|slow| format!("1/{slow}")).collect::<Vec<_>>().join(",");
    let failure = parse(&["--strategies", &many]).unwrap().check().unwrap_err().to_string();
    assert_eq!(failure, "--strategies: 65 are too many: at most 64");
}

#[test]
fn graph_is_printed_in_one_form() {
    let form = |arguments: &[&str]| {
        let arguments = parse(arguments)?;
        arguments.check().map_err(|failure| failure.to_string())?;
        Ok::<_, String>(arguments.describe())
    };
    for (arguments, expected) in [
        (&[][..], None),
        (&["--json"], None),
        (&["--describe"], Some(Form::Text)),
        (&["--describe", "--lossless"], Some(Form::Text)),
        (&["--describe", "dot"], Some(Form::Dot)),
        (&["--describe=mermaid"], Some(Form::Mermaid)),
        (&["--describe", "--json"], Some(Form::Json)),
        (&["--describe=json", "--json"], Some(Form::Json)),
    ] {
        assert_eq!(form(arguments), Ok(expected), "{arguments:?}");
    }
    for name in ["dot", "mermaid"] {
        let error = form(&[&format!("--describe={name}"), "--json"]).unwrap_err();
        assert_eq!(error, format!("--describe={name} is no JSON: use --describe=json, or leave out --json"));
    }
    for name in ["svg", "Dot", ""] {
        let error = form(&[&format!("--describe={name}")]).unwrap_err();
        let expected = format!("`{name}` is no form of a graph: it must be `text`, `mermaid`, `dot` or");
        assert!(error.contains(&expected), "{error}");
    }
}

#[test]
fn processes_are_fewer_than_threads() {
    let parsed = |arguments: &[&str]| parse(&[&["--shared", "a"], arguments].concat()).unwrap();
    let failure = |arguments: &Arguments| arguments.check().unwrap_err().to_string();
    if cfg!(target_os = "linux") {
        parsed(&["--subscribers", "64"]).check().unwrap();
        assert_eq!(
            failure(&parsed(&["--subscribers", "65"])),
            "--subscribers 65: with --shared each is a process: at most 64"
        );
    } else {
        assert!(failure(&parsed(&[])).contains("need Linux"));
    }
    let error = parse(&["--directory", "/tmp"]).err().unwrap();
    assert!(error.contains("--shared <NAME>"), "{error}");
}

#[test]
fn walk_and_files_exclude_each_other() {
    for arguments in [["--messages", "5"], ["--seed", "5"]] {
        let error = parse(&[&["--input", "q.csv"], &arguments[..]].concat()).err().unwrap();
        assert!(error.contains("cannot be used with"), "{error}");
    }
    let failure = parse(&["--repeat", "2"]).unwrap().check().unwrap_err().to_string();
    assert!(failure.contains("--input") && failure.contains("--messages"), "{failure}");
    let replayed = parse(&["--input", "q.csv", "--repeat", "2"]).unwrap();
    replayed.check().unwrap();
    assert_eq!(replayed.repeat, Some(2));
}

#[test]
fn numbers_are_written_in_several_ways() {
    for text in ["1000000", "1_000_000", "1e6"] {
        let arguments = ["--messages", text, "--capacity", text, "--seed", text, "--rate", text];
        let arguments = parse(&arguments).unwrap();
        assert_eq!((arguments.messages, arguments.seed), (1_000_000, 1_000_000));
        assert_eq!((arguments.capacity, arguments.rate), (Some(1_000_000), Some(1e6)));
    }
    let error = parse(&["--messages", "1,000,000"]).err().unwrap();
    assert!(error.contains("write `1000000` or `1_000_000`"), "{error}");
}
