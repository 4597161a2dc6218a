//! The ranks of a job on all hosts: those of this host by their pages, those of other hosts and
//! clusters through a coordinator of each, which is this command on that host (`coordinator`).
//!
//! An order is sent to all coordinators together, and each answers for all of its ranks: 2 messages
//! per host, and 2 per cluster between the coordinators, like waves by cluster (Coti 2006).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use treepie_base::Rank;
use treepie_jobstate::waits::RankState;
use treepie_launch::error::CommandError;

use super::coordinator::{Coordinator, Remote};
use super::here::Here;
use super::then::Ended;
use crate::commands::cut::protocol::{Answer, JobNumber, Order};

/// All ranks of a job. Dropping this lets them continue.
pub struct Members {
    here: Here,
    coordinators: Vec<Coordinator>,
    /// The last call that a rank may make, for ranks that may make any.
    allowed: BTreeMap<Rank, u64>,
}

impl Members {
    /// Collects the ranks on this host, and on those of the clusters; the first host of each
    /// cluster runs the coordinator. `base` is the directory of the pages on this host.
    ///
    /// # Errors
    /// A coordinator cannot be started.
    pub fn new(
        base: PathBuf,
        which: JobNumber,
        clusters: &[Vec<String>],
        remote: Remote<'_>,
    ) -> Result<Members, CommandError> {
        let clusters = clusters.iter().filter(|hosts| !hosts.is_empty());
        let start = |hosts: &Vec<String>| Coordinator::start(hosts, which, remote);
        Ok(Members {
            here: Here::new(base, which),
            coordinators: clusters.map(start).collect::<Result<_, _>>()?,
            allowed: BTreeMap::new(),
        })
    }

    /// Sends an order, and waits for all answers.
    pub fn obey(&mut self, order: &Order) -> Answer {
        for coordinator in &mut self.coordinators {
            coordinator.send(order);
        }
        let mut answer = self.here.obey(order);
        for coordinator in &mut self.coordinators {
            answer.add(coordinator.answer(order, || self.here.beat()));
        }
        answer.ranks.sort_by_key(|rank| rank.rank);
        answer
    }

    /// Signals to the ranks of this host that this command is still alive.
    pub fn beat(&mut self) {
        self.here.beat();
    }

    fn told(&mut self, order: &Order) -> Result<Answer, CommandError> {
        let answer = self.obey(order);
        match answer.problem {
            Some(problem) => Err(CommandError::failed(problem)),
            None => Ok(answer),
        }
    }

    /// Returns the present states of the ranks, and the number of ranks of the job.
    ///
    /// # Errors
    /// A coordinator does not answer.
    pub fn look(&mut self) -> Result<(Vec<RankState>, usize), CommandError> {
        let answer = self.told(&Order::Look)?;
        Ok((answer.ranks, answer.size))
    }

    /// Lets no further call begin.
    ///
    /// # Errors
    /// A page cannot be written, or a coordinator does not answer.
    pub fn close(&mut self) -> Result<(), CommandError> {
        self.allowed.clear();
        self.told(&Order::Close).map(drop)
    }

    /// Lets all ranks continue.
    pub fn open(&mut self) {
        let _ = self.obey(&Order::Open);
    }

    /// Lets these ranks make calls up to the given numbers, and the others none.
    ///
    /// # Errors
    /// See [`Members::close`].
    pub fn only(&mut self, allowed: BTreeMap<Rank, u64>) -> Result<(), CommandError> {
        if self.allowed != allowed {
            self.told(&Order::Only(allowed.clone()))?;
            self.allowed = allowed;
        }
        Ok(())
    }

    /// The last call that a rank may make.
    pub fn last(&self, rank: Rank) -> Option<u64> {
        self.allowed.get(&rank).copied()
    }

    /// Sets whether stopped ranks leave the MPI alone.
    ///
    /// # Errors
    /// See [`Members::close`].
    pub fn rest(&mut self, rest: bool) -> Result<(), CommandError> {
        self.told(&Order::Rest(rest)).map(drop)
    }

    /// Runs the user's command on each host that has ranks.
    ///
    /// # Errors
    /// A coordinator does not answer.
    pub fn then(
        &mut self,
        command: &str,
        wave: usize,
        limit: Duration,
    ) -> Result<Vec<(String, Ended)>, CommandError> {
        let (command, limit) = (command.to_owned(), limit.as_secs_f64());
        let order = Order::Then {
            command,
            wave,
            limit,
        };
        Ok(self.told(&order)?.ended)
    }

    /// Returns the states of the ranks at the end of the job, and removes its pages.
    ///
    /// # Errors
    /// A coordinator does not answer.
    pub fn end(&mut self) -> Result<(Vec<RankState>, usize), CommandError> {
        let answer = self.told(&Order::End)?;
        Ok((answer.ranks, answer.size))
    }

    /// True if ranks of other hosts are among them.
    pub fn are_elsewhere(&self) -> bool {
        !self.coordinators.is_empty()
    }
}
