//! The subcommands, one file each, and options shared by several of them.

mod answer;
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
mod show;
mod supervise;
mod tune;
mod why;

pub use command_line::CommandLine;
