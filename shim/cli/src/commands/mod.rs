//! The subcommands, one file each, and options shared by several of them.

mod command_line;
mod compare;
mod completions;
mod convert;
mod cut;
mod doctor;
mod exec;
mod groups;
mod hang;
mod help;
mod hosts;
mod learning;
mod manual;
mod map;
mod options;
mod order;
mod outcome;
mod predict;
mod probe;
mod profile;
mod prove;
mod read_hwloc_file;
mod reference;
mod replay;
mod report;
mod show;
mod supervise;
mod tune;
mod why;

pub use command_line::CommandLine;
pub use help::hint;
