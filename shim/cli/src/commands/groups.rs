//! The subcommands by purpose, in help and in the reference.

use clap::Command;

/// Subcommands for one purpose.
pub struct Group {
    /// Its name, also of its page in the reference.
    pub name: &'static str,
    /// Its purpose.
    pub about: &'static str,
    /// The names of its subcommands.
    pub commands: &'static [&'static str],
}

const fn group(
    name: &'static str,
    about: &'static str,
    commands: &'static [&'static str],
) -> Group {
    Group {
        name,
        about,
        commands,
    }
}

/// All groups, in the order in which users need them.
pub const GROUPS: [Group; 6] = [
    group(
        "place",
        "count the traffic, and put ranks where they belong",
        &[
            "profile", "map", "replay", "exec", "hosts", "compare", "show", "report", "convert",
        ],
    ),
    group(
        "learn",
        "get faster from run to run, and prove it",
        &["run", "history", "forget", "prove"],
    ),
    group(
        "platform",
        "measure clusters and collectives, and predict",
        &["probe", "predict", "tune"],
    ),
    group(
        "debug",
        "find out what a job does, and what would fail",
        &["why", "cut", "doctor"],
    ),
    group("resilience", "survive failures", &["supervise"]),
    group(
        "other",
        "help, completions and manual pages",
        &["help", "completions", "manual"],
    ),
];

/// The subcommands of a group.
pub fn members<'a>(group: &Group, command: &'a Command) -> Vec<&'a Command> {
    let named = group
        .commands
        .iter()
        .map(|name| command.find_subcommand(name));
    named.flatten().collect()
}

/// The command with a help that lists its subcommands by group.
pub fn grouped(command: Command) -> Command {
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for group in &GROUPS {
        text += &format!("\n{}: {}\n", group.name, group.about);
        for one in members(group, &command) {
            let about = one.get_about().map_or(String::new(), ToString::to_string);
            text += &format!("  {:<12} {about}\n", one.get_name());
        }
    }
    text += "\nOptions:\n{options}{after-help}";
    command.help_template(text)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::commands::command_line::CommandLine;

    #[test]
    fn every_subcommand_for_users_is_in_one_group() {
        let command = CommandLine::command();
        for one in command.get_subcommands().filter(|one| !one.is_hide_set()) {
            let name = one.get_name();
            let groups = GROUPS.iter().filter(|group| group.commands.contains(&name));
            assert_eq!(groups.count(), 1, "{name}");
        }
        for group in &GROUPS {
            assert_eq!(
                members(group, &command).len(),
                group.commands.len(),
                "{}",
                group.name
            );
        }
    }
}
