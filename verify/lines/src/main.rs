//! Prints what the model predicts, or writes it to `docs/SCALING.md` and its picture (`--write`), or says
//! whether it is what they have (`--check`). `--transfer-ns NS` is of another machine: what a line takes from
//! one core to another. `--pairs`: the other line of a pair comes along.

#[cfg(annulus_lines)]
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "figures are printed with three digits"
)]
fn main() -> std::process::ExitCode {
    use std::path::Path;
    use std::process::ExitCode;
    use std::{env, fs};

    use annulus_lines::machine::Costs;
    use annulus_lines::measured::Measured;
    use annulus_lines::{all, page, shapes};

    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let measured = Measured::read(&root);
    let arguments: Vec<String> = env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let after = arguments.iter().position(|argument| argument == "--transfer-ns").map(|at| at + 1);
    let transfer = match after.and_then(|at| arguments.get(at)) {
        Some(ns) => (ns.parse::<f64>().expect("a number of nanoseconds") * 1e3) as u64,
        None => shapes::transfer_of(measured.ping_pong_ns()),
    };
    let costs = Costs { pairs: has("--pairs"), ..Costs::of(transfer) };
    eprintln!("a line takes {:.1} ns", transfer as f64 / 1e3);
    let points = all(costs);
    let page = page::page(&points, &measured, transfer as f64 / 1e3);
    let files = [("docs/SCALING.md", page), ("docs/scaling.svg", page::drawn(&points, &measured))];
    if has("--write") {
        for (name, text) in files {
            fs::write(root.join(name), text).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    } else if has("--check") {
        for (name, text) in files {
            if fs::read_to_string(root.join(name)).ok() != Some(text) {
                eprintln!("error: {name} does not have these figures: run ci/lines --write");
                return ExitCode::FAILURE;
            }
        }
    } else {
        print!("{}", files[0].1);
    }
    ExitCode::SUCCESS
}

#[cfg(not(annulus_lines))]
fn main() {
    eprintln!("ci/lines builds and runs this");
}
