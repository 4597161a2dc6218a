//! Ranks that ascend on each host as the launcher numbers its processes. Programs and run-times of
//! devices count the ranks of a host to choose a device: in this order, each process has the device
//! that it would have had.

use std::collections::HashMap;
use std::hash::Hash;

use treepie_base::{Process, Rank, Slice};

/// Deals the new ranks of each host out to its processes in ascending order. Hosts keep their
/// ranks. Hosts on which a process of `seated`, which has the rank of its number, would lose it
/// stay as they are. Returns how many ranks changed places.
pub fn ascend<Host: Eq + Hash>(
    new_rank: &mut Slice<Process, Rank>,
    host_of_process: impl IntoIterator<Item = Host>,
    seated: &[Process],
) -> usize {
    let mut of_host: HashMap<Host, Vec<Process>> = HashMap::new();
    for (number, host) in host_of_process.into_iter().enumerate() {
        of_host.entry(host).or_default().push(Process(number));
    }
    let mut changed = 0;
    for processes in of_host.values() {
        let mut ranks: Vec<Rank> = processes.iter().map(|&process| new_rank[process]).collect();
        ranks.sort_unstable();
        let mut dealt = processes.iter().zip(&ranks);
        if dealt.any(|(process, rank)| seated.contains(process) && rank.0 != process.0) {
            continue;
        }
        for (&process, &rank) in processes.iter().zip(&ranks) {
            changed += usize::from(new_rank[process] != rank);
            new_rank[process] = rank;
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use treepie_base::List;

    #[test]
    fn ranks_of_a_host_ascend() {
        let mut new_rank = Rank::list([5, 1, 3, 0, 4, 2]);
        assert_eq!(
            ascend(&mut new_rank, ["a", "a", "b", "b", "a", "b"], &[]),
            6
        );
        assert_eq!(new_rank, Rank::list([1, 4, 0, 2, 5, 3]));
        assert_eq!(
            ascend(&mut new_rank, ["a", "a", "b", "b", "a", "b"], &[]),
            0
        );
    }

    #[test]
    fn a_process_with_input_keeps_its_rank() {
        // Process 1 has rank 1, and would get 3.
        let mut new_rank = Rank::list([3, 1, 2, 0]);
        assert_eq!(
            ascend(&mut new_rank, ["a", "a", "b", "b"], &[Process(1)]),
            2
        );
        assert_eq!(new_rank, Rank::list([3, 1, 0, 2]));
    }

    proptest! {
        #[test]
        fn hosts_keep_their_ranks(
            order in Just((0..12_usize).collect::<Vec<_>>()).prop_shuffle(),
            hosts in prop::collection::vec(0..3_usize, 12),
        ) {
            let before = Rank::list(order);
            let mut after = before.clone();
            ascend(&mut after, &hosts, &[]);
            for host in 0..3 {
                let of = |ranks: &List<Process, Rank>| -> Vec<Rank> {
                    let here = ranks.iter().zip(&hosts).filter(|(_, at)| **at == host);
                    here.map(|(&rank, _)| rank).collect()
                };
                let (mut before, after) = (of(&before), of(&after));
                before.sort_unstable();
                prop_assert_eq!(before, after);
            }
        }
    }
}
