//! `treepie help`: the help of a subcommand, or a chapter of LD_PRELOAD.md.

use std::process::ExitCode;

use clap::Args;
use treepie_launch::error::CommandError;

use crate::commands::outcome::Outcome;
use crate::output;

/// The document whose chapters are the topics, so that help and document agree.
const DOCUMENT: &str = include_str!("../../../../LD_PRELOAD.md");

/// Topics, their chapters, and what they are about.
const TOPICS: [(&str, &str, &str); 13] = [
    ("by-hand", "By hand", "preloading without this command"),
    ("variables", "Variables", "every setting of the library"),
    ("modes", "What happens in a job", "off, profile and replay"),
    (
        "applying",
        "Ways to apply a placement",
        "permute, bind, both, launch",
    ),
    (
        "profiles",
        "What a profile holds",
        "layers, models, phases, times, formats",
    ),
    (
        "mpis",
        "MPI libraries and languages",
        "which are known, and what was run",
    ),
    ("tools", "Other tools", "beside other tools that use PMPI"),
    (
        "containers",
        "Launchers and containers",
        "Slurm, containers, modules; ranks and variables",
    ),
    (
        "hangs",
        "Why does my job hang?",
        "what pages tell, and what they cost",
    ),
    (
        "order",
        "The same order again",
        "receives recorded and replayed",
    ),
    (
        "cuts",
        "All ranks at one cut",
        "how a job is stopped and saved, what no cut includes",
    ),
    ("limits", "Limits", "what cannot be done"),
    ("troubleshooting", "Troubleshooting", "by what you see"),
];

/// Show the help of a subcommand, or a topic
#[derive(Debug, Args)]
pub struct Arguments {
    /// A subcommand, or a topic; without it, all of them are listed
    #[arg(value_name = "TOPIC")]
    words: Vec<String>,
}

/// Prints it.
pub fn run(arguments: &Arguments, mut command: clap::Command) -> Outcome {
    match arguments.words.as_slice() {
        [] => {
            // The reader may have closed the pipe: then there is nothing to do.
            let _ = command.print_help();
            output::print(&format!("\n{}", list()))?;
        }
        [word] => match help_of_subcommand(command, word) {
            Some(help) => return output::usage(&help),
            None => output::print(&topic(word)?)?,
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

/// The names of all topics with what they are about.
fn list() -> String {
    let lines = TOPICS.map(|(name, _, about)| format!("  {name:<16} {about}\n"));
    format!("Topics of `treepie help TOPIC`:\n{}", lines.concat())
}

fn topic(word: &str) -> Result<String, CommandError> {
    let known = TOPICS.iter().find(|(name, _, _)| *name == word);
    let (_, heading, _) = known.ok_or_else(|| {
        let names = TOPICS.map(|(name, _, _)| name);
        CommandError::usage(format!(
            "help {word}: there is no such subcommand or topic; topics are {}",
            names.join(", ")
        ))
    })?;
    Ok(chapter(heading).unwrap_or_default())
}

/// A chapter of the document, from its heading to the next one of its rank.
fn chapter(heading: &str) -> Option<String> {
    let start = DOCUMENT.find(&format!("\n## {heading}\n"))?;
    let text = &DOCUMENT[start + 4..];
    let end = text.find("\n## ").map_or(text.len(), |end| end + 1);
    let lines = text[..end].lines();
    // Fences and comments belong to the rendered page.
    let shown = lines.filter(|line| !line.starts_with("```") && !line.starts_with("<!--"));
    let mut chapter = shown.collect::<Vec<_>>().join("\n");
    chapter.push('\n');
    Some(chapter)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use clap::CommandFactory;

    use super::*;
    use crate::commands::command_line::CommandLine;

    #[test]
    fn every_topic_is_a_chapter_of_the_document() {
        for (name, heading, _) in TOPICS {
            let text = chapter(heading).unwrap_or_else(|| panic!("{name}: no chapter {heading}"));
            assert!(
                text.starts_with(heading) && text.lines().count() > 4,
                "{text}"
            );
        }
    }

    #[test]
    fn a_word_is_a_subcommand_or_a_topic_or_refused_with_those_that_exist() {
        let help = help_of_subcommand(CommandLine::command(), "map")
            .unwrap()
            .to_string();
        assert!(help.contains("--topology"), "{help}");
        assert!(help_of_subcommand(CommandLine::command(), "variables").is_none());
        assert!(topic("variables").unwrap().contains("TREEPIE_MODE"));
        let error = topic("variable").unwrap_err().to_string();
        assert!(error.contains("topics are by-hand, variables"), "{error}");
    }
}
