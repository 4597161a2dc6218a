//! The hosts of an allocation, without those left out.

use std::collections::BTreeMap;

use serde::Serialize;
use thiserror::Error;

/// Number of losses after which a host does not come back.
const MOST_LOSSES: usize = 2;

/// A host and its slots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Host {
    /// Its name.
    pub name: String,
    /// Number of ranks that it takes.
    pub slots: usize,
}

/// Reason why the remaining hosts do not suffice.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TooFew {
    /// They have fewer slots than the job has ranks.
    #[error(
        "the hosts that are left take {slots} ranks, and the job has {ranks}; give more hosts, or \
         allow more ranks on each with --ranks-per-host"
    )]
    Slots {
        /// Remaining slots.
        slots: usize,
        /// Number of ranks of the job.
        ranks: usize,
    },
    /// No spare host can replace a lost one.
    #[error(
        "no spare host takes the place of {host}, and with --local all other ranks stay with their \
         files; give spare hosts with at least {slots} slots"
    )]
    Spares {
        /// The lost host.
        host: String,
        /// Its number of slots.
        slots: usize,
    },
}

/// Reason why a host is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Out {
    /// It is gone, and comes back when it answers, unless it was lost twice.
    Lost,
    /// A signal ended a rank there: it comes back only if the others do not suffice.
    Suspect,
}

/// The hosts of an allocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roster {
    hosts: Vec<Host>,
    /// Maximum number of ranks on a host if hosts are missing; `None` for its slots.
    most: Option<usize>,
    out: BTreeMap<String, Out>,
    /// Number of losses of each host.
    losses: BTreeMap<String, usize>,
    /// The hosts in the order of the ranks, if these must stay where they are.
    stay: Option<Vec<Host>>,
    keeps_ranks: bool,
}

impl Roster {
    /// Creates a list of all hosts, in the order in which a launcher fills them. With
    /// `keeps_ranks`, a spare host replaces a lost one, and all other ranks stay where they are.
    pub fn new(hosts: Vec<Host>, most: Option<usize>, keeps_ranks: bool) -> Self {
        Roster {
            hosts,
            most,
            out: BTreeMap::new(),
            losses: BTreeMap::new(),
            stay: None,
            keeps_ranks,
        }
    }

    /// Chooses the hosts for the next attempt of a job of `ranks` ranks, in the order of the ranks,
    /// each with its number of ranks.
    ///
    /// # Errors
    /// The hosts do not suffice.
    pub fn choose(&mut self, ranks: usize) -> Result<Vec<Host>, TooFew> {
        let chosen = self.chosen(ranks).or_else(|_| {
            // A host on which a rank died is better than none.
            self.out.retain(|_, why| *why != Out::Suspect);
            self.chosen(ranks)
        })?;
        self.stay = self.keeps_ranks.then(|| chosen.clone());
        Ok(chosen)
    }

    fn chosen(&self, ranks: usize) -> Result<Vec<Host>, TooFew> {
        match &self.stay {
            Some(before) => self.replaced(before.clone()),
            None => self.filled(ranks),
        }
    }

    /// Leaves hosts out of all further attempts. Unknown names, and the last host, are not left
    /// out. Returns the hosts that were left out.
    pub fn leave_out(&mut self, names: &[String], why: Out) -> Vec<String> {
        let mut left_out = Vec::new();
        for name in names {
            let is_known = self.present().any(|host| host.name == *name);
            if is_known && self.present().count() > 1 {
                *self.losses.entry(name.clone()).or_default() += 1;
                self.out.insert(name.clone(), why);
                left_out.push(name.clone());
            }
        }
        left_out
    }

    /// Hosts that are left out and may come back if they answer.
    pub fn may_come_back(&self) -> Vec<String> {
        let lost = self.out.iter().filter(|(name, why)| {
            **why == Out::Lost
                && self
                    .losses
                    .get(*name)
                    .is_none_or(|&times| times < MOST_LOSSES)
        });
        lost.map(|(name, _)| name.clone()).collect()
    }

    /// Marks a host that was left out as available again.
    pub fn is_back(&mut self, name: &str) {
        self.out.remove(name);
    }

    /// True if the next attempt can leave out one of the remaining hosts.
    pub fn can_leave_out(&self) -> bool {
        self.present().count() > 1
    }

    /// True if a host is left out.
    pub fn leaves_out(&self) -> bool {
        !self.out.is_empty()
    }

    fn present(&self) -> impl Iterator<Item = &Host> {
        let is_present = |host: &&Host| !self.out.contains_key(&host.name);
        self.hosts.iter().filter(is_present)
    }

    /// The first hosts whose slots suffice, or all hosts with more ranks on each.
    fn filled(&self, ranks: usize) -> Result<Vec<Host>, TooFew> {
        let mut chosen: Vec<Host> = Vec::new();
        let mut slots = 0;
        for host in self.present() {
            if slots >= ranks {
                break;
            }
            slots += host.slots;
            chosen.push(host.clone());
        }
        let most = self.most.unwrap_or(0);
        while slots < ranks {
            // One more rank on the host with the fewest, the first of these.
            let free = chosen.iter_mut().filter(|host| host.slots < most);
            match free.min_by_key(|host| host.slots) {
                Some(host) => host.slots += 1,
                None => return Err(TooFew::Slots { slots, ranks }),
            }
            slots += 1;
        }
        Ok(chosen)
    }

    fn replaced(&self, mut before: Vec<Host>) -> Result<Vec<Host>, TooFew> {
        for place in 0..before.len() {
            let host = before[place].clone();
            if !self.out.contains_key(&host.name) {
                continue;
            }
            let is_spare = |spare: &&Host| {
                spare.slots >= host.slots && before.iter().all(|used| used.name != spare.name)
            };
            let spare = self.present().find(is_spare);
            let spare = spare.map(|spare| spare.name.clone());
            before[place].name = spare.ok_or(TooFew::Spares {
                host: host.name,
                slots: host.slots,
            })?;
        }
        Ok(before)
    }
}
