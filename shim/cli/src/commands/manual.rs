//! `treepie manual`: the manual pages, one for the command and one for each of its subcommands
//! (section 1), or one for each page of the book (section 7).

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use treepie_base::write_atomically;
use treepie_book::{PAGES, Page};
use treepie_launch::error::CommandError;

use crate::commands::outcome::Outcome;
use crate::output;

/// Write the manual pages into a directory
#[derive(Debug, Args)]
pub struct Arguments {
    /// Directory of the section, such as ~/.local/share/man/man1; must exist
    directory: PathBuf,
    /// Section: 1 for the commands, 7 for the pages of the book
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=7))]
    section: u8,
}

/// Writes the pages.
pub fn run(arguments: &Arguments, mut command: clap::Command) -> Outcome {
    let directory = &arguments.directory;
    if !directory.is_dir() {
        return Err(CommandError::usage(format!(
            "{}: there is no such directory; make it first",
            directory.display()
        )));
    }
    command.build();
    let pages = match arguments.section {
        1 => write_commands(directory, &command)?,
        7 => write_book(directory)?,
        other => {
            return Err(CommandError::usage(format!(
                "--section {other}: there are sections 1 and 7"
            )));
        }
    };
    output::print(&format!("{}: {pages} pages written\n", directory.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the pages of the commands, and returns their number.
fn write_commands(directory: &Path, command: &Command) -> Result<usize, CommandError> {
    let mut pages = 1;
    write(directory, command, "treepie")?;
    for subcommand in command.get_subcommands() {
        let name = format!("treepie-{}", subcommand.get_name());
        write(directory, subcommand, &name)?;
        pages += 1;
    }
    Ok(pages)
}

/// Writes the pages of the book, and returns their number.
fn write_book(directory: &Path) -> Result<usize, CommandError> {
    for page in PAGES {
        let file = directory.join(format!("treepie-{}.7", page.name));
        let text = formatted(page);
        write_atomically(&file, |out: &mut dyn std::io::Write| {
            out.write_all(text.as_bytes())
        })?;
    }
    Ok(PAGES.len())
}

/// Formats a page of the book for `man`, which does not break its lines.
fn formatted(page: &Page) -> String {
    let name = format!("treepie-{}", page.name);
    let mut roff = Roff::new();
    roff.control("TH", [name.as_str(), "7"]);
    roff.control("SH", ["NAME"]);
    roff.text([roman(format!("{name} - {}", page.title()))]);
    roff.control("SH", ["DESCRIPTION"]);
    roff.control("nf", []);
    for line in page.plain().lines() {
        roff.text([roman(line)]);
    }
    roff.control("fi", []);
    roff.render()
}

/// Writes one page: `NAME.1`.
fn write(directory: &Path, command: &Command, name: &str) -> Result<(), CommandError> {
    let page = Man::new(command.clone()).title(name);
    let file = directory.join(format!("{name}.1"));
    write_atomically(&file, |out: &mut dyn std::io::Write| page.render(out))?;
    Ok(())
}
