//! The optimal order by exhaustive search: the reference for the heuristics.

use treepie_base::{Cluster, List};
use treepie_platform::orders::{Accounting, Costs, Schedule};

/// Maximum number of clusters: 7 have half a million orders, 8 have 25 million.
pub const MOST_CLUSTERS: usize = 7;

/// The schedule with the least makespan from `root`; `None` for more than
/// [`MOST_CLUSTERS`] clusters, or if there is no cluster `root`.
pub fn optimum(costs: &Costs, root: Cluster, accounting: Accounting) -> Option<Schedule> {
    let clusters = costs.clusters();
    if clusters > MOST_CLUSTERS || root.0 >= clusters {
        return None;
    }
    let mut search = Search {
        costs,
        accounting,
        schedule: Schedule::start(clusters),
        has: vec![false; clusters].into(),
        best: None,
    };
    search.has[root] = true;
    search.extend();
    search.best.map(|(_, schedule)| schedule)
}

struct Search<'a> {
    costs: &'a Costs,
    accounting: Accounting,
    schedule: Schedule,
    has: List<Cluster, bool>,
    best: Option<(f64, Schedule)>,
}

impl Search<'_> {
    /// Tries every next send. The present makespan is a lower bound of the final one, since no
    /// cluster gets ready earlier.
    fn extend(&mut self) {
        let clusters = self.has.keys();
        let done = clusters
            .clone()
            .filter(|&cluster| self.has[cluster])
            .map(|cluster| {
                let begin = match self.accounting {
                    Accounting::AfterSends => self.schedule.ready[cluster],
                    Accounting::AtArrival => self.schedule.arrival[cluster],
                };
                begin + self.costs.inside(cluster)
            })
            .fold(0.0, f64::max);
        if self.best.as_ref().is_some_and(|(best, _)| done >= *best) {
            return;
        }
        if self.schedule.sends.len() + 1 == self.has.len() {
            self.best = Some((done, self.schedule.clone()));
            return;
        }
        for from in clusters
            .clone()
            .filter(|&from| self.has[from])
            .collect::<Vec<_>>()
        {
            for to in clusters.clone() {
                if self.has[to] {
                    continue;
                }
                let before = (self.schedule.ready[from], self.schedule.ready[to]);
                self.schedule.send(self.costs, from, to);
                self.has[to] = true;
                self.extend();
                self.has[to] = false;
                self.schedule.sends.pop();
                (self.schedule.ready[from], self.schedule.ready[to]) = before;
                self.schedule.arrival[to] = 0.0;
            }
        }
    }
}
