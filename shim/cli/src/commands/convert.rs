//! `treepie convert`: a profile or a matrix in another format.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use treepie_core::affinity::formats::Format;
use treepie_core::files::write_atomically;

use super::Outcome;
use super::options::MatrixChoice;
use crate::error::CommandError;
use crate::input::traffic::Input;
use crate::output;
use crate::report::words::some;

/// Write a profile or a matrix in another format
#[derive(Debug, Args)]
pub struct Arguments {
    /// Profile, or matrix in any of the formats below
    input: PathBuf,
    /// Matrix to write; the format follows from its ending
    output: PathBuf,
    #[command(flatten)]
    choice: MatrixChoice,
}

/// Reads the one, writes the other.
pub fn run(arguments: &Arguments) -> Outcome {
    let format = Format::of_path(&arguments.output).ok_or_else(|| {
        CommandError::usage(format!(
            "{}: no format has this ending; use one of {}",
            arguments.output.display(),
            Format::ENDINGS.join(", ")
        ))
    })?;
    let input = Input::read(&arguments.input)?;
    let matrix = input.matrix(&arguments.choice);
    write_atomically(&arguments.output, |out: &mut dyn Write| -> io::Result<()> {
        format.write(&matrix, out)
    })?;
    output::print(&format!(
        "{}: written, {} and {}\n",
        arguments.output.display(),
        some(matrix.order(), "rank"),
        some(matrix.non_zeros(), "entry")
    ))?;
    Ok(ExitCode::SUCCESS)
}
