//! The rounds of a run in a file, each as soon as it was measured: a run that was cut off goes on from there.
//!
//! The first line says which program measures on which machine, and every other line is a round. A line that
//! was cut off is left out.

use std::collections::hash_map::{DefaultHasher, HashMap};
use std::env;
use std::fs::{self, File};
use std::hash::{Hash, Hasher};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::cores::Cores;
use crate::load::Spent;
use crate::machine::Machine;
use crate::rounds::Round;

/// Whose rounds may be taken together.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Measuring {
    /// Of the file that is run: another build may lie otherwise in memory.
    program: String,
    machine: String,
    kernel: String,
    cores: String,
}

#[derive(Serialize, Deserialize)]
struct Line<R> {
    row: String,
    /// What the cores did meanwhile.
    spent: Spent,
    round: R,
}

pub struct Journal {
    path: PathBuf,
    file: File,
    /// Those that it had at the beginning, by their rows.
    rounds: HashMap<String, Vec<Round>>,
    /// What the cores did during these.
    spent: Spent,
}

impl Measuring {
    pub fn here(cores: Cores) -> Result<Self, String> {
        let program = env::current_exe().and_then(fs::read).map_err(|error| error.to_string())?;
        let mut hasher = DefaultHasher::new();
        program.hash(&mut hasher);
        let machine = Machine::here();
        Ok(Self {
            program: format!("{:016x}", hasher.finish()),
            machine: machine.name(),
            kernel: machine.kernel,
            cores: cores.to_string(),
        })
    }
}

impl Journal {
    /// Creates the file, or goes on with it.
    pub fn open(path: &Path, measuring: &Measuring) -> Result<Self, String> {
        Self::read(path, measuring).map_err(|error| format!("{}: {error}", path.display()))
    }

    fn read(path: &Path, measuring: &Measuring) -> Result<Self, String> {
        let text = match fs::read_to_string(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            text => text.map_err(|error| error.to_string())?,
        };
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        let mut lines = whole.lines().enumerate();
        let (mut rounds, mut spent) = (HashMap::<String, Vec<Round>>::new(), Spent::default());
        if let Some((_, first)) = lines.next() {
            let of: Measuring = serde_json::from_str(first)
                .map_err(|error| format!("its first line does not say what measured it: {error}"))?;
            if of != *measuring {
                return Err(format!(
                    "its rounds are of {of:?}, and this is {measuring:?}: they do not go together; name a new file"
                ));
            }
        }
        for (number, line) in lines {
            let Line { row, spent: meanwhile, round } =
                serde_json::from_str(line).map_err(|error| format!("line {}: {error}", number + 1))?;
            rounds.entry(row).or_default().push(round);
            spent += meanwhile;
        }
        let file = File::options().create(true).append(true).open(path).map_err(|error| error.to_string())?;
        file.set_len(whole.len() as u64).map_err(|error| error.to_string())?;
        let mut journal = Self { path: path.to_owned(), file, rounds, spent };
        if whole.is_empty() {
            journal.write(measuring)?;
        }
        Ok(journal)
    }

    /// Those of a row that were there at the beginning.
    pub fn take(&mut self, row: &str) -> Vec<Round> {
        self.rounds.remove(row).unwrap_or_default()
    }

    /// What the cores did during the rounds that were there at the beginning.
    pub fn spent(&self) -> Spent {
        self.spent
    }

    pub fn add(&mut self, row: &str, spent: Spent, round: &Round) -> Result<(), String> {
        let line = Line { row: row.to_owned(), spent, round };
        self.write(&line).map_err(|error| format!("{}: {error}", self.path.display()))
    }

    fn write(&mut self, line: &impl Serialize) -> Result<(), String> {
        let line = serde_json::to_string(line).map_err(|error| error.to_string())? + "\n";
        self.file.write_all(line.as_bytes()).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measuring(program: &str) -> Measuring {
        let name = |name: &str| name.to_owned();
        Measuring { program: name(program), machine: name("A"), kernel: name("1"), cores: name("0 and 1") }
    }

    /// A file of its own for each test.
    fn path(name: &str) -> PathBuf {
        let path = env::temp_dir().join(format!("annulus-bench-{name}-{}", std::process::id()));
        _ = fs::remove_file(&path);
        path
    }

    fn round(ns: f64) -> Round {
        Round { samples: vec![ns.into()], probes: Some([1.0, 2.0, 3.0]) }
    }

    fn spent() -> Spent {
        serde_json::from_str(r#"{"others": 1, "all": 10}"#).unwrap()
    }

    #[test]
    fn run_goes_on_where_it_was_cut_off() {
        let path = path("cut-off");
        let mut journal = Journal::open(&path, &measuring("p")).unwrap();
        for (row, ns) in [("a", 1.0), ("b", 2.0), ("a", 3.0)] {
            journal.add(row, spent(), &round(ns)).unwrap();
        }
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, &text[..text.len() - 9]).unwrap();
        let mut journal = Journal::open(&path, &measuring("p")).unwrap();
        journal.add("a", spent(), &round(4.0)).unwrap();
        let mut journal = Journal::open(&path, &measuring("p")).unwrap();
        let mut all = spent();
        all += spent();
        all += spent();
        assert_eq!(journal.spent(), all);
        let ns = |rounds: Vec<Round>| rounds.iter().map(|round| round.samples[0].ns).collect::<Vec<_>>();
        assert_eq!(ns(journal.take("a")), [1.0, 4.0]);
        assert_eq!(ns(journal.take("b")), [2.0]);
        assert!(journal.take("c").is_empty());
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn rounds_of_another_program_are_not_taken() {
        let path = path("another");
        Journal::open(&path, &measuring("p")).unwrap();
        let error = Journal::open(&path, &measuring("q")).err().unwrap();
        assert!(error.contains("do not go together") && error.contains("\"p\""), "{error}");
        fs::write(&path, "{}\n").unwrap();
        let error = Journal::open(&path, &measuring("p")).err().unwrap();
        assert!(error.contains("its first line"), "{error}");
        fs::remove_file(path).unwrap();
    }
}
