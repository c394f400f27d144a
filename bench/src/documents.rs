//! The documents of the project that are made from results: those of all processors lie in one folder.

use std::fs;
use std::path::Path;

use crate::report::{index, landing, page, scaling};
use crate::results::{self, Results};

const FOLDER: &str = "docs/benchmarks";

/// Puts `results` among those of the checkout in `root`, and writes what is made from them.
pub fn write(root: &Path, results: &Results) -> Result<(), String> {
    let folder = root.join(FOLDER);
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let name = results.machine.file();
    put(&folder.join(format!("{name}.json")), results::json(results)?)?;
    put(&folder.join(format!("{name}.md")), page::page(results))?;
    let all = all(root)?;
    put(&folder.join("README.md"), index::page(&all))?;
    for (name, picture) in pictures(&all) {
        put(&folder.join(name), picture)?;
    }
    let path = root.join("README.md");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    put(&path, landing::with_figures(&text, &all)?)
}

/// Each of the newest results that have its rows.
pub fn pictures(all: &[Results]) -> impl Iterator<Item = (&'static str, String)> {
    let speed = landing::picture(all).map(|picture| ("speed.svg", picture));
    let many_cores = all.iter().find_map(scaling::picture).map(|picture| ("many-cores.svg", picture));
    speed.into_iter().chain(many_cores)
}

/// The results of all processors, the newest first.
pub fn all(root: &Path) -> Result<Vec<Results>, String> {
    let folder = root.join(FOLDER);
    let files = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let paths = files.filter_map(|file| Some(file.ok()?.path()));
    let paths = paths.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    let mut all = paths.map(|path| results::read(&path)).collect::<Result<Vec<_>, _>>()?;
    all.sort_by_key(|results| results.machine.file());
    // Stable, so that those of one day are in the order of their names.
    all.sort_by(|a, b| b.machine.date.cmp(&a.machine.date));
    Ok(all)
}

pub fn put(path: &Path, text: String) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}
