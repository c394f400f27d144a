//! `annulus completions` and `annulus man`: what shells complete, and the pages of the manual. Both are made
//! from the arguments, so they say what `--help` says.

use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::completion;
use crate::outcome::{Failure, Outcome};
use crate::output;
use crate::text::quoted;

/// Prints what a shell needs to complete the subcommands and options of this program.
///
/// In bash, zsh and fish it also completes the names of rings, by `annulus ls --names`.
#[derive(Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub(crate) struct CompletionsArguments {
    /// For this shell
    shell: Shell,
}

/// Prints a page of the manual, for `man`: the program's, or a subcommand's.
#[derive(Args)]
#[command(after_help = MAN_EXAMPLES)]
pub(crate) struct ManArguments {
    /// Which subcommand [default: the program]
    subcommand: Option<String>,
}

const COMPLETIONS_EXAMPLES: &str = "\
EXAMPLES:
  annulus completions bash >~/.local/share/bash-completion/completions/annulus
      for each new shell
  source <(annulus completions zsh)
      for this one

EXIT CODES:
  0    it is printed
  2    there is no such shell";

const MAN_EXAMPLES: &str = "\
EXAMPLES:
  annulus man demo | man -l -
      to read it
  annulus man >/usr/local/share/man/man1/annulus.1
      to install it

EXIT CODES:
  0    it is printed
  2    there is no such subcommand";

/// `annulus completions`, of this `program`.
pub(crate) fn completions(arguments: &CompletionsArguments, program: Command) -> Result<Outcome, Failure> {
    output::print(&completion::script(arguments.shell, program)).map(|()| Outcome::Passed)
}

/// `annulus man`, of this `program`.
pub(crate) fn man(arguments: &ManArguments, mut program: Command) -> Result<Outcome, Failure> {
    // From here on subcommands know the name of the program.
    program.build();
    let described = match &arguments.subcommand {
        None => program,
        Some(name) => program.find_subcommand(name).cloned().ok_or_else(|| {
            let names: Vec<_> = program.get_subcommands().map(Command::get_name).collect();
            let (wrong, right) = (quoted(name), names.join(", "));
            Failure::new(format!("{wrong} is no subcommand: it must be one of {right}"))
        })?,
    };
    let mut page = Vec::new();
    Man::new(described).render(&mut page).expect("there is memory for a page");
    output::print(&String::from_utf8_lossy(&page)).map(|()| Outcome::Passed)
}
