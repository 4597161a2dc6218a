//! `treepie manual`: the manual pages, one for the command and one for each of
//! its subcommands.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Command};
use clap_mangen::Man;
use treepie_base::write_atomically;
use treepie_launch::error::CommandError;

use crate::commands::outcome::Outcome;
use crate::output;

/// Write the manual pages into a directory
#[derive(Debug, Args)]
pub struct Arguments {
    /// Directory of section 1, such as ~/.local/share/man/man1; must exist
    directory: PathBuf,
}

/// Writes them.
pub fn run(arguments: &Arguments, mut command: clap::Command) -> Outcome {
    let directory = &arguments.directory;
    if !directory.is_dir() {
        return Err(CommandError::usage(format!(
            "{}: there is no such directory; make it first",
            directory.display()
        )));
    }
    command.build();
    let mut pages = 1;
    write(directory, &command, "treepie")?;
    for subcommand in command.get_subcommands() {
        let name = format!("treepie-{}", subcommand.get_name());
        write(directory, subcommand, &name)?;
        pages += 1;
    }
    output::print(&format!("{}: {pages} pages written\n", directory.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// Writes one page: `NAME.1`.
fn write(directory: &Path, command: &Command, name: &str) -> Result<(), CommandError> {
    let page = Man::new(command.clone()).title(name);
    let file = directory.join(format!("{name}.1"));
    write_atomically(&file, |out: &mut dyn std::io::Write| page.render(out))?;
    Ok(())
}
