//! `treepie completions`: completion scripts for shells.

use std::process::ExitCode;

use clap::Args;
use clap_complete::{Shell, generate};

use crate::commands::outcome::Outcome;
use crate::output;

/// Print the completions for a shell
///
/// Bash: save them as treepie in ~/.local/share/bash-completion/completions.
/// Zsh: as _treepie in a directory of $fpath. Fish: as treepie.fish in
/// ~/.config/fish/completions. `scripts/install` does so for all users.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The shell
    shell: Shell,
}

/// Prints the script.
pub fn run(arguments: &Arguments, mut command: clap::Command) -> Outcome {
    let mut text = Vec::new();
    generate(arguments.shell, &mut command, "treepie", &mut text);
    output::print(&String::from_utf8_lossy(&text))?;
    Ok(ExitCode::SUCCESS)
}
