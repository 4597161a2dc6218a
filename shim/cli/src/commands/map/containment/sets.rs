//! The sets in which SCR, FTI or VELOC protect checkpoints, and an improved order of hosts.

use std::path::Path;

use treepie_base::{Leaf, List, Rank, Slice, write_atomically};
use treepie_launch::error::CommandError;
use treepie_report::redundancy::{Broken, Redundancy};
use treepie_resilience::containment::redundancy::{
    FTI_SET_SIZE, NamedHost, Scheme, Sets, VELOC_SET_SIZE, dealt, fti, fti_config, hosts_in_order,
    moved_to, scr, scr_config, veloc, veloc_config,
};
use treepie_resilience::containment::{ContainmentError, Domains};

use super::machine::{DomainKind, Machine};
use crate::commands::map::containment::error::refused;
use crate::commands::map::containment::options::{Library, RedundancyOptions};
use crate::commands::map::result::MapResult;

/// Hosts in an order that spreads failure domains over the sets.
struct Mended {
    /// The numbers of the hosts.
    order: Vec<usize>,
    /// The leaf of each rank in this order.
    leaves: List<Rank, Leaf>,
    /// The sets in this order.
    sets: Sets,
}

/// A library with its settings, for hosts on a machine.
struct Question<'a> {
    library: Library,
    size: usize,
    scheme: Scheme,
    machine: &'a Machine,
}

impl RedundancyOptions {
    /// The files to write, by option.
    pub fn outputs(&self) -> [(&'static str, Option<&Path>); 2] {
        [
            ("--spread-output", self.spread_output.as_deref()),
            ("--redundancy-config", self.redundancy_config.as_deref()),
        ]
    }

    /// Reports on the computed placement, if requested, and writes the files. `interval` is in
    /// seconds.
    ///
    /// # Errors
    /// The library refuses to form the sets, or a file cannot be written.
    pub fn report(
        &self,
        machine: &Machine,
        found: &MapResult,
        interval: f64,
    ) -> Result<Option<Redundancy>, CommandError> {
        let Some(library) = self.redundancy else {
            return Ok(None);
        };
        let question = Question {
            library,
            size: self.size(library)?,
            scheme: match library {
                // FTI's third level, and the number of members of a set that it can lose.
                Library::Fti => Scheme::ReedSolomon(self.size(library)? / 2),
                Library::Scr | Library::Veloc => Scheme::Xor,
            },
            machine,
        };
        let (launched, leaves) = (&*found.before, found.assignment());
        let today = question.sets(leaves, &machine.hosts).map_err(refused)?;
        let broken = |sets: &Sets, leaves: &Slice<Rank, Leaf>| question.broken(sets, leaves);
        let before = broken(&today, leaves);
        // A library may refuse the hosts as launched and accept those of the placement.
        let launched = match question.sets(launched, &machine.hosts) {
            Ok(sets) if launched != leaves => broken(&sets, launched),
            _ => Vec::new(),
        };
        let mended = question.mended(leaves);
        let dealt = match &mended {
            Ok(mended) => broken(&mended.sets, &mended.leaves),
            Err(_) => Vec::new(),
        };
        let failing = &machine.failing;
        let by_group = if library == Library::Scr && failing.name != machine.hosts.name {
            broken(&question.sets(leaves, failing).map_err(refused)?, leaves)
        } else {
            Vec::new()
        };
        let sum = |all: &[Broken]| all.iter().map(|one| one.breaking).sum::<usize>();
        let mends = mended.is_ok() && sum(&dealt) < sum(&before);
        let undealt = mended.as_ref().err().map(ToString::to_string);
        let order = match &mended {
            Ok(mended) if mends => mended.order.clone(),
            _ => Vec::new(),
        };
        let mut files = Vec::new();
        if let Some(path) = &self.spread_output {
            let leaves = mended.map_err(refused)?.leaves;
            found.file_with(leaves)?.write(path)?;
            files.push(path.display().to_string());
        }
        if let Some(path) = &self.redundancy_config {
            let text = question.config(interval, leaves);
            write_atomically(path, |out| out.write_all(text.as_bytes()))?;
            files.push(path.display().to_string());
        }
        let smallest = today.members.iter().map(Vec::len).min().unwrap_or(1);
        Ok(Some(Redundancy {
            library: library.name(),
            cost: question.scheme.cost(smallest),
            unprotected: today.unprotected(),
            launched,
            today: before,
            dealt: if mends { dealt } else { Vec::new() },
            undealt,
            by_group,
            hosts: order
                .iter()
                .map(|&host| machine.hosts.names[host].clone())
                .collect(),
            files,
            caution: library.caution(),
        }))
    }

    fn size(&self, library: Library) -> Result<usize, CommandError> {
        match (library, self.set_size) {
            (Library::Veloc, Some(size)) if size != VELOC_SET_SIZE => {
                Err(CommandError::usage(format!(
                    "--set-size {size}: VELOC's sets have {VELOC_SET_SIZE} hosts or more, and no \
                     setting changes that; leave it out"
                )))
            }
            (Library::Fti, size) => Ok(size.unwrap_or(FTI_SET_SIZE)),
            (_, size) => Ok(size.unwrap_or(VELOC_SET_SIZE)),
        }
    }
}

impl Question<'_> {
    /// The sets for ranks on these leaves; SCR's across the failure groups of `group`.
    fn sets(
        &self,
        leaves: &Slice<Rank, Leaf>,
        group: &DomainKind,
    ) -> Result<Sets, ContainmentError> {
        let hosts = || self.machine.hosts.domains(leaves);
        match self.library {
            Library::Scr => scr(&group.domains(leaves), self.size, self.scheme),
            Library::Fti => fti(&hosts(), self.size, self.scheme),
            Library::Veloc => Ok(veloc(&hosts())),
        }
    }

    /// Effect of failures of hosts, and of the levels above them, on sets.
    fn broken(&self, sets: &Sets, leaves: &Slice<Rank, Leaf>) -> Vec<Broken> {
        let kinds = std::iter::once(&self.machine.hosts).chain(&self.machine.above);
        let broken = kinds.map(|kind| {
            let found = sets.breakage(&kind.domains(leaves));
            Broken {
                domain: kind.name.clone(),
                domains: found.domains,
                breaking: found.breaking.len(),
                inside: found.inside,
                sets: sets.members.len(),
            }
        });
        broken.collect()
    }

    /// Orders the hosts so that the smallest domains above hosts are spread over the sets.
    fn mended(&self, leaves: &Slice<Rank, Leaf>) -> Result<Mended, ContainmentError> {
        let hosts = self.machine.hosts.domains(leaves);
        let ordered = hosts_in_order(&hosts);
        let of_host = |kind: &DomainKind| -> Vec<usize> {
            let firsts = ordered.iter().map(|ranks| leaves[Rank(ranks[0])]);
            firsts.map(|leaf| kind.of_leaf[leaf]).collect()
        };
        let numbers = of_host(&self.machine.hosts);
        let (order, leaves) = match self.machine.above.last() {
            None => (numbers, leaves.to_owned()),
            Some(above) => {
                let domains = Domains::from_labels(&of_host(above));
                let order = dealt(domains.of_rank(), self.size);
                let moved = moved_to(&order, &hosts, leaves)?;
                (order.iter().map(|&place| numbers[place]).collect(), moved)
            }
        };
        Ok(Mended {
            sets: self.sets(&leaves, &self.machine.hosts)?,
            order,
            leaves,
        })
    }

    fn config(&self, interval: f64, leaves: &Slice<Rank, Leaf>) -> String {
        let hosts = self.machine.hosts.domains(leaves);
        match self.library {
            Library::Scr => {
                let group = match self.machine.above.last() {
                    Some(kind) => kind.name.to_uppercase(),
                    None => "NODE".to_owned(),
                };
                scr_config(&self.named(), &group, self.size, self.scheme, interval)
            }
            Library::Fti => {
                let first = hosts_in_order(&hosts);
                fti_config(first.first().map_or(0, Vec::len), self.size)
            }
            Library::Veloc => veloc_config(),
        }
    }

    /// Each host of the machine, with the names of the nodes above it: SCR requires a line for
    /// every host of the allocation, including those that have no rank yet.
    fn named(&self) -> Vec<NamedHost> {
        let hosts = &self.machine.hosts;
        let mut leaf_of = vec![Leaf(0); hosts.names.len()];
        for (leaf, &host) in hosts.of_leaf.iter_enumerated() {
            leaf_of[host] = leaf;
        }
        let name = |kind: &DomainKind, leaf: Leaf| kind.names[kind.of_leaf[leaf]].clone();
        let named = leaf_of.into_iter().map(|leaf| {
            let above = self.machine.above.iter();
            let above = above.map(|kind| (kind.name.to_uppercase(), name(kind, leaf)));
            (name(hosts, leaf), above.collect())
        });
        named.collect()
    }
}
