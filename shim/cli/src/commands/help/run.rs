//! Arguments of `treepie help`, and the selection of the output.

use std::process::ExitCode;

use clap::Args;
use treepie_base::nearest::did_you_mean;
use treepie_book::{PAGES, Page};
use treepie_launch::error::CommandError;

use crate::commands::outcome::Outcome;
use crate::output;

/// Show the help of a subcommand, or a page of the book
#[derive(Debug, Args)]
pub struct Arguments {
    /// A subcommand or a topic; without one, all of them are listed
    #[arg(value_name = "TOPIC")]
    words: Vec<String>,
}

/// Prints the help or page.
pub fn run(arguments: &Arguments, mut command: clap::Command) -> Outcome {
    match arguments.words.as_slice() {
        [] => {
            // The reader may have closed the pipe, which is not an error.
            let _ = command.print_help();
            output::print(&format!("\n{}", list()))?;
        }
        [word] => match help_of_subcommand(command, word) {
            Some(help) => return output::usage(&help, None),
            None => output::print(&topic(word)?.plain())?,
        },
        words => {
            return Err(CommandError::usage(format!(
                "help {}: one topic at a time was expected",
                words.join(" ")
            )));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Output of `treepie WORD --help`, if there is such a subcommand.
fn help_of_subcommand(command: clap::Command, word: &str) -> Option<clap::Error> {
    command.find_subcommand(word)?;
    command
        .try_get_matches_from(["treepie", word, "--help"])
        .err()
}

/// All topics by part of the book, with their titles.
fn list() -> String {
    let mut text = "Topics of `treepie help TOPIC`:\n".to_owned();
    let mut part = "";
    for page in PAGES {
        if page.part != part {
            part = page.part;
            text += &format!("\n{part}:\n");
        }
        text += &format!("  {:<20} {}\n", page.name, page.title());
    }
    text
}

fn topic(word: &str) -> Result<&'static Page, CommandError> {
    Page::named(word).ok_or_else(|| {
        let names = PAGES.iter().map(|page| page.name);
        CommandError::usage(format!(
            "help {word}: no such subcommand or topic{}; `treepie help` lists them",
            did_you_mean(word, names)
        ))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use clap::CommandFactory;

    use super::*;
    use crate::commands::command_line::CommandLine;

    #[test]
    fn a_word_is_a_subcommand_or_a_topic_or_refused_with_the_nearest() {
        let help = help_of_subcommand(CommandLine::command(), "map")
            .unwrap()
            .to_string();
        assert!(help.contains("--topology"), "{help}");
        assert!(help_of_subcommand(CommandLine::command(), "variables").is_none());
        assert!(topic("variables").unwrap().plain().contains("TREEPIE_MODE"));
        let error = topic("variable").unwrap_err().to_string();
        assert!(error.contains("did you mean `variables`?"), "{error}");
    }

    #[test]
    fn topics_are_no_subcommands_and_have_one_page_each() {
        let command = CommandLine::command();
        for page in PAGES {
            let same = PAGES.iter().filter(|other| other.name == page.name);
            assert_eq!(same.count(), 1, "{}", page.name);
            assert!(
                command.find_subcommand(page.name).is_none(),
                "{}",
                page.name
            );
        }
    }
}
