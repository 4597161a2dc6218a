//! Judgement on counted traffic: candidates for the locations of the processes.

use super::experience::{Candidate, Judgement};
use super::policy::AS_GOOD_PART;
use treepie_base::{Leaf, List, Process, Rank, Slice};
use treepie_placement::allocation::{Allocation, AllocationError, Movement};
use treepie_placement::binding::{self, LaunchedProcess};
use treepie_placement::worth::{Worth, saved};
use treepie_traffic::Matrix;

/// Counted traffic, and the allocation of the next run.
pub struct Case<'a> {
    /// Bytes between ranks.
    pub matrix: &'a Matrix,
    /// Fraction of the time in MPI, if it is known.
    pub in_mpi: Option<f64>,
    /// Hosts and cores of the processes.
    pub allocation: &'a Allocation,
    /// Launched processes.
    pub processes: &'a Slice<Process, LaunchedProcess>,
    /// Number that allocations of this shape share.
    pub shape: u64,
    /// Current time, in seconds since 1970.
    pub now: u64,
}

impl Case<'_> {
    /// Returns the candidates worth a trial. A candidate of an older judgement is kept if it is as
    /// good.
    ///
    /// # Errors
    /// Another number of ranks than processes; affinities that are too large.
    pub fn judge(&self, older: Option<&Judgement>) -> Result<Judgement, AllocationError> {
        let hosts = self.allocation.topology().hosts().len();
        let placed = self.allocation.placed(self.matrix, Movement::Ranks)?;
        let best = saved(placed.costs.0, placed.costs.1);
        let worth = Worth::of(best, self.in_mpi, hosts > 1);
        let mut judgement = Judgement {
            shape: self.shape,
            made: self.now,
            since: self.now,
            worth,
            saved: best,
            in_mpi: self.in_mpi,
            candidates: Vec::new(),
        };
        if worth != Worth::Gain {
            return Ok(judgement);
        }
        judgement.candidates = vec![Candidate::Permute(placed.permutation)];
        judgement.candidates.extend(self.bound()?);
        if let Some(older) = older.filter(|older| self.is_as_good(older, placed.costs.1)) {
            judgement.since = older.since;
            judgement.candidates.clone_from(&older.candidates);
        }
        Ok(judgement)
    }

    /// Returns a binding, if the launcher leaves processes free and the binding saves cost.
    fn bound(&self) -> Result<Option<Candidate>, AllocationError> {
        let placed = self.allocation.placed(self.matrix, Movement::Processes)?;
        let best = saved(placed.costs.0, placed.costs.1);
        if Worth::of(best, self.in_mpi, true) != Worth::Gain {
            return Ok(None);
        }
        let cores = binding::cores(&placed.topology, &placed.leaf_of_process, self.processes);
        Ok(cores.ok().map(Candidate::Bind))
    }

    /// True if the permutation of an older judgement costs about the same.
    fn is_as_good(&self, older: &Judgement, cost: f64) -> bool {
        let Some(Candidate::Permute(new_rank)) = older.candidates.first() else {
            return false;
        };
        let leaf_of_process = self.allocation.leaf_of_process();
        let mut leaf_of_rank: List<Rank, Leaf> = Leaf::list(vec![0; leaf_of_process.len()]);
        for (&rank, &leaf) in new_rank.iter().zip(leaf_of_process) {
            match leaf_of_rank.get_mut(rank) {
                Some(place) => *place = leaf,
                None => return false,
            }
        }
        let its_cost = self.allocation.cost(self.matrix, &leaf_of_rank);
        its_cost <= (1.0 + AS_GOOD_PART) * cost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use treepie_topology::Machine;

    /// Job of four processes on each of these hosts with two sockets of two cores, all free on
    /// their host. Cores are numbered round-robin over the sockets.
    struct Job {
        processes: List<Process, LaunchedProcess>,
        allocation: Allocation,
    }

    impl Job {
        fn on(hosts: &[&str]) -> Job {
            let children = [vec![2], vec![2; 2]];
            let units = (0..4).map(|leaf| vec![leaf % 2 * 2 + leaf / 2]).collect();
            let names = vec!["socket".into(), "core".into()];
            let machine = Machine::from_levels(None, names, &children, units).unwrap();
            let process = |host: &&str| LaunchedProcess {
                host: (*host).to_owned(),
                allowed: (0..4).collect(),
            };
            let four = hosts.iter().flat_map(|host| [host; 4]);
            let processes: List<Process, LaunchedProcess> = four.map(process).collect();
            let allocation = Allocation::new(&processes, |_| Some(machine.clone()), None).unwrap();
            Job {
                processes,
                allocation,
            }
        }

        fn judge(
            &self,
            pairs: &[(usize, usize, f64)],
            in_mpi: Option<f64>,
            (now, older): (u64, Option<&Judgement>),
        ) -> Judgement {
            let both = pairs
                .iter()
                .flat_map(|&(a, b, of)| [(a, b, of), (b, a, of)]);
            let matrix = Matrix::from_entries(self.processes.len(), both).unwrap();
            let case = Case {
                matrix: &matrix,
                in_mpi,
                allocation: &self.allocation,
                processes: &self.processes,
                shape: 7,
                now,
            };
            case.judge(older).unwrap()
        }
    }

    const ACROSS: [(usize, usize, f64); 4] = [(0, 4, 9.0), (1, 5, 9.0), (2, 6, 9.0), (3, 7, 9.0)];

    #[test]
    fn what_crosses_hosts_promises_other_ranks_and_no_binding() {
        let found = Job::on(&["a", "b"]).judge(&ACROSS, Some(0.5), (100, None));
        assert_eq!(
            (found.worth, found.made, found.since),
            (Worth::Gain, 100, 100)
        );
        let [Candidate::Permute(new_rank)] = &found.candidates[..] else {
            panic!("{found:?}");
        };
        let host_of = |rank| new_rank.position(|&new| new == Rank(rank)).unwrap().0 / 4;
        assert!(
            (0..4).all(|rank| host_of(rank) == host_of(rank + 4)),
            "{found:?}"
        );
    }

    #[test]
    fn what_crosses_sockets_too_promises_binding_to_the_cores_of_one() {
        // The launcher's order has 0 and 1 on one socket, 2 and 3 on the other.
        let crossed = [(0, 2, 30.0), (1, 3, 30.0), (4, 6, 30.0), (5, 7, 30.0)];
        let job = Job::on(&["a", "b"]);
        let found = job.judge(&[&ACROSS[..], &crossed].concat(), None, (100, None));
        let Some(Candidate::Bind(cores)) = found.candidates.last() else {
            panic!("{found:?}");
        };
        for (a, b, _) in crossed {
            assert_eq!(cores[Process(a)] % 2, cores[Process(b)] % 2, "{cores:?}");
        }
    }

    #[test]
    fn nothing_is_tried_on_one_host_in_short_times_or_where_all_are_alike() {
        let nothing = |hosts: &[&str], pairs: &[_], in_mpi| {
            let found = Job::on(hosts).judge(pairs, in_mpi, (100, None));
            assert_eq!(found.candidates, []);
            found.worth
        };
        assert_eq!(nothing(&["a", "b"], &ACROSS, Some(0.01)), Worth::Little);
        let crossed = [(0, 2, 9.0), (1, 3, 9.0)];
        assert_eq!(nothing(&["a"], &crossed, None), Worth::Little);
        let all: Vec<_> = (0..8)
            .flat_map(|a| (0..a).map(move |b| (a, b, 1.0)))
            .collect();
        assert_eq!(nothing(&["a", "b"], &all, None), Worth::None);
    }

    #[test]
    fn a_candidate_that_is_as_good_stays_with_what_is_known_of_it() {
        let job = Job::on(&["a", "b"]);
        let first = job.judge(&ACROSS, None, (100, None));
        let again = job.judge(&ACROSS, None, (200, Some(&first)));
        assert_eq!((again.made, again.since), (200, 100));
        assert_eq!(again.candidates, first.candidates);
        let other = [(0, 7, 9.0), (1, 6, 9.0), (2, 5, 9.0), (3, 4, 9.0)];
        let new = job.judge(&other, None, (300, Some(&first)));
        assert_eq!((new.made, new.since), (300, 300));
    }
}
