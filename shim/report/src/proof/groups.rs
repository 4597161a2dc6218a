//! The times of two groups of profiles: the verdict on runs that others started.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use treepie_base::printable::one_line;
use treepie_base::proof::Limits;
use treepie_launch::error::CommandError;
use treepie_profile::Profile;
use treepie_profile::any::{AnyFile, read_any};
use treepie_traffic::formats::Format as MatrixFormat;

use crate::input::ranks::require_equal;
use crate::proof::{Comparison, Pairing, Run};
use crate::summary::Summary;
use crate::words::{file_name, pluralize};

/// Number of pairs below which one group may well be first in all of them by chance.
const FEW_PAIRS: usize = 6;

/// A run, and the properties that it must share with the others.
struct Member {
    path: PathBuf,
    run: Run,
    ranks: usize,
    /// Name of each property, and its value in this run.
    circumstances: [(&'static str, String); 3],
}

/// Compares `candidates` with `baseline`; a difference below this part of the time counts as none.
///
/// # Errors
/// Files are not profiles, have no times or have different numbers of ranks, or one is named twice.
pub fn compare(
    baseline: &[PathBuf],
    candidates: &[PathBuf],
    difference: f64,
) -> Result<Comparison, CommandError> {
    require_different(baseline.iter().chain(candidates))?;
    let mut job = None;
    let [first, second] = [baseline, candidates].map(|group| members(group, &mut job));
    let mut groups = [first?, second?];
    let all = groups.iter().flatten();
    for (one, other) in all.clone().zip(all.clone().skip(1)) {
        require_equal([(&one.path, one.ranks), (&other.path, other.ranks)])?;
    }
    let mut remarks = differences(all);
    for group in &mut groups {
        // Runs with the same second keep the order of the command line.
        group.sort_by(|one, other| one.run.date.cmp(&other.run.date));
    }
    let pairs = groups[0].len().min(groups[1].len());
    let left_out = groups.iter_mut().flat_map(|group| group.drain(pairs..));
    let left_out: Vec<String> = left_out.map(|one| one.path.display().to_string()).collect();
    if !left_out.is_empty() {
        remarks.push(format!(
            "{} without a partner left out: {}",
            pluralize(left_out.len(), "profile"),
            left_out.join(", ")
        ));
    }
    let limits = Limits { difference, pairs };
    let mut comparison = Comparison::new(names(&groups), Pairing::ByDate, limits);
    remarks.extend(doubt_about_order(&groups, &comparison.names));
    comparison.remarks = remarks;
    comparison.job = job;
    let [first, second] = groups;
    for (one, other) in first.into_iter().zip(second) {
        comparison.add([one.run, other.run]);
    }
    Ok(comparison)
}

/// Refuses a run that would be counted twice.
fn require_different<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> Result<(), CommandError> {
    let mut seen = HashSet::new();
    for path in paths {
        // A missing file is refused when it is read.
        if !seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())) {
            return Err(CommandError::usage(format!(
                "{}: is named twice, and a run counts once; name the profile of another run",
                path.display()
            )));
        }
    }
    Ok(())
}

/// Reads a group; the first profile of all describes the `job`.
fn members(paths: &[PathBuf], job: &mut Option<Summary>) -> Result<Vec<Member>, CommandError> {
    let read = |path: &PathBuf| {
        let profile = read(path)?;
        job.get_or_insert_with(|| Summary::new(path, &profile, None));
        Member::new(path, &profile)
    };
    paths.iter().map(read).collect()
}

fn read(path: &Path) -> Result<Profile, CommandError> {
    let refused = |kind: &str| {
        CommandError::usage(format!(
            "{}: is a {kind}, and groups are of profiles; name them alone, such as \
             plain-*.profile.yaml",
            path.display()
        ))
    };
    if MatrixFormat::from_path(path).is_some() {
        return Err(refused("matrix"));
    }
    match read_any(path)? {
        AnyFile::Profile(profile) => Ok(*profile),
        other => Err(refused(&other.kind().to_string())),
    }
}

impl Member {
    fn new(path: &Path, profile: &Profile) -> Result<Member, CommandError> {
        if !profile.missing_ranks.is_empty() {
            return Err(CommandError::failed(format!(
                "{}: {} left nothing, because the job ended before MPI_Finalize; leave this run out",
                path.display(),
                pluralize(profile.missing_ranks.len(), "rank")
            )));
        }
        let run = Run::from_profile(profile, Some(path.to_owned())).ok_or_else(|| {
            CommandError::failed(format!(
                "{}: has no times; take it with `treepie profile --times` or `treepie replay \
                 --times -o FILE`",
                path.display()
            ))
        })?;
        let mut hosts: Vec<&str> = profile.hosts.iter().map(|host| &*host.name).collect();
        hosts.sort_unstable();
        Ok(Member {
            path: path.to_owned(),
            run,
            ranks: profile.ranks,
            circumstances: [
                ("command", one_line(&profile.command.join(" "))),
                ("MPI", profile.mpi.library.trim().to_owned()),
                ("hosts", hosts.join(",")),
            ],
        })
    }
}

/// A line for each property that differs between runs although it should not.
fn differences<'a>(members: impl Iterator<Item = &'a Member> + Clone) -> Vec<String> {
    let Some(first) = members.clone().next() else {
        return Vec::new();
    };
    let differing = |(at, (name, usual)): (usize, &(&str, String))| {
        let other = members
            .clone()
            .find(|one| one.circumstances[at].1 != *usual)?;
        Some(format!(
            "CAUTION: another {name} in {} ({}) than in {} ({usual}); that may be the difference",
            other.path.display(),
            other.circumstances[at].1,
            first.path.display(),
        ))
    };
    let circumstances = first.circumstances.iter().enumerate();
    circumstances.filter_map(differing).collect()
}

/// Doubts that remain because the order of the runs was not random.
fn doubt_about_order(groups: &[Vec<Member>; 2], names: &[String; 2]) -> Option<String> {
    let [first, second] = groups.each_ref().map(|group| {
        let dates = group.iter().map(|one| &*one.run.date);
        dates.collect::<Vec<&str>>()
    });
    if first.len() < 2 || first == second {
        return None;
    }
    let [one, other] = names;
    match (order_of(&first, &second), order_of(&second, &first)) {
        (Order::Before, _) => Some(one_before(one, other)),
        (_, Order::Before) => Some(one_before(other, one)),
        (Order::First, _) => Some(one_first(one)),
        (_, Order::First) => Some(one_first(other)),
        (Order::Mixed, Order::Mixed) => None,
    }
}

/// Order of the runs of one group relative to another.
enum Order {
    /// All before any of the other group.
    Before,
    /// Each before its partner.
    First,
    /// Some before, others not.
    Mixed,
}

fn order_of(one: &[&str], other: &[&str]) -> Order {
    if one.last() <= other.first() {
        return Order::Before;
    }
    let is_first = one.iter().zip(other).all(|(one, other)| one < other);
    if is_first && one.len() > FEW_PAIRS {
        Order::First
    } else {
        Order::Mixed
    }
}

fn one_before(one: &str, other: &str) -> String {
    format!(
        "CAUTION: all runs of {one} were before those of {other}: a change of the machine in \
         between would look the same; run them in turn, or give `treepie prove` the job"
    )
}

fn one_first(one: &str) -> String {
    format!(
        "CAUTION: in every pair {one} ran first, which may be the difference; draw lots, or have \
         `treepie prove` run the job"
    )
}

/// Names of both groups: the common part of the names of their files.
fn names(groups: &[Vec<Member>; 2]) -> [String; 2] {
    let ways: [fn(&Path) -> String; 2] =
        [|path| file_name(path), |path| path.display().to_string()];
    for way in ways {
        let named = groups.each_ref().map(|group| {
            let files: Vec<String> = group.iter().map(|one| way(&one.path)).collect();
            pattern(&files)
        });
        if let [Some(first), Some(second)] = named
            && first != second
        {
            return [first, second];
        }
    }
    groups.each_ref().map(|group| match &group[..] {
        [] => String::new(),
        [one] => one.path.display().to_string(),
        [one, more @ ..] => format!("{} and {} more", one.path.display(), more.len()),
    })
}

/// `plain-*.yaml` for `plain-1.yaml` and `plain-2.yaml`; `None` if names begin differently.
fn pattern(names: &[String]) -> Option<String> {
    let (first, others) = names.split_first()?;
    if others.is_empty() {
        return Some(first.clone());
    }
    let letters = || first.char_indices().map(|(at, _)| at);
    let cuts = || letters().chain([first.len()]);
    let begins = |at: &usize| others.iter().all(|other| other.starts_with(&first[..*at]));
    let begin = cuts().rfind(begins).filter(|&at| at > 0)?;
    let ends = |at: &usize| others.iter().all(|other| other.ends_with(&first[*at..]));
    let end = cuts().filter(|at| *at >= begin).find(ends)?;
    Some(format!("{}*{}", &first[..begin], &first[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_named_by_what_its_files_have_in_common() {
        for (names, expected) in [
            (&["plain-1.yaml", "plain-2.yaml"][..], Some("plain-*.yaml")),
            (&["a/1.yaml", "a/10.yaml"], Some("a/1*.yaml")),
            (&["only.yaml"], Some("only.yaml")),
            (&["before", "before-2"], Some("before*")),
            (&["one.yaml", "two.yaml"], None),
        ] {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(pattern(&names).as_deref(), expected, "{names:?}");
        }
    }
}
