//! Predicted times of a collective: every strategy and the native collective, each by the
//! simulation of its plans; by the estimate alone where a simulation would take seconds.
//!
//! ```text
//!   platform --(--ranks)--> network --every strategy's plans--> simulated  --> the quickest first
//!                                  \--> estimated, as TREEPIE_COLLECTIVES=auto does: the choice
//! ```

use std::sync::Arc;

use super::exchanges::is_contention_known;
use super::models::{Computing, Form, strategy_formula};
use super::simulate::{Options, Outcome, SimulationError, simulate};
use crate::collective::{
    Algorithm, Amount, Choice, Chooser, Clusters, Family, Network, Plan, Problem, Uniform,
};
use crate::platform::statistics::median;
use crate::platform::{MessageModel, Modelled, Platform};

/// Plans of more steps are not simulated: those of all strategies would take more than some
/// seconds.
const MOST_STEPS: usize = 300_000;

/// Segments that are tried where no estimate says which suits a strategy, in bytes.
const SEGMENTS: [u64; 5] = [4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10];

/// Plans of more steps are simulated in one size of segments alone.
const MOST_STEPS_OF_MANY: usize = 20_000;

/// The predicted time of a strategy, or of the native collective.
#[derive(Debug, Clone, Copy)]
pub struct Prediction {
    /// The strategy; `None` for the native collective.
    pub strategy: Option<&'static Algorithm>,
    /// The largest message, in bytes; 0 where the MPI decides.
    pub segment: u64,
    /// Seconds of its plans in the simulator; `None` where they are too many to simulate.
    pub simulated: Option<f64>,
    /// Estimated seconds, by which a plan is chosen; `None` for what is never chosen here.
    pub estimated: Option<f64>,
    /// Seconds by the formula of the thesis, where it has one.
    pub formula: Option<f64>,
}

impl Prediction {
    /// Seconds: simulated, or else estimated.
    pub fn seconds(&self) -> Option<f64> {
        self.simulated.or(self.estimated)
    }
}

/// Predicts one call on a platform.
#[derive(Debug)]
pub struct Predictor {
    /// The ranks and their links.
    pub network: Arc<Network>,
    /// The ranks as algorithms see them.
    pub clusters: Clusters,
    /// The call.
    pub call: Uniform,
    native: Family,
    reading: (Form, MessageModel),
    chooser: Chooser,
    choice: Arc<Choice>,
}

/// All ranks of a platform as the communicator of a job sees them: between near hosts of one
/// cluster, each host takes the place of a cluster. Where a host has one rank there is nothing to
/// gain from that, and where contention was measured it is known for the cluster as a whole: there
/// the cluster stays one. `None` if the platform has no ranks.
pub fn network_of(platform: &Platform) -> Option<Network> {
    let ranks: Vec<usize> = (0..platform.ranks()).collect();
    let whole = Network::new(platform, &ranks)?;
    if is_contention_known(&whole) || whole.hosts() == whole.ranks() {
        return Some(whole);
    }
    Network::between_near_hosts(platform, &ranks)
        .or_else(|| Network::inside_host(platform, &ranks))
        .or(Some(whole))
}

impl Predictor {
    /// A call of all ranks of a platform, under an MPI whose eager limit is taken where the
    /// platform was not measured. `reading` is that of formulas: their form, and the model of
    /// messages. `None` if the platform has no ranks.
    pub fn new(
        platform: &Platform,
        call: Uniform,
        native: Family,
        computing: Computing,
        reading: (Form, MessageModel),
    ) -> Option<Self> {
        let mut network = network_of(platform)?;
        network.computing = computing;
        if platform.is_by_hand() {
            network = network.with_eager_limit(native.usual_eager_limit());
        }
        let (network, clusters) = (Arc::new(network.clone()), Clusters::of_network(&network));
        let mut chooser = Chooser::new(Some(network.clone()), &clusters, Some(native));
        let (operation, bytes) = (call.operation, Some(call.bytes));
        let choice = chooser.choose(operation, bytes, call.root, false, &clusters);
        Some(Predictor {
            network,
            clusters,
            call,
            native,
            reading,
            chooser,
            choice,
        })
    }

    /// By how much the model of messages is off for single ones of the sizes that were measured,
    /// over all links between and inside clusters: in the median, and at most; parts.
    pub fn model_errors(&self) -> (f64, f64) {
        let (network, count) = (&self.network, self.clusters.count());
        let between = (0..count * count).map(|pair| network.between(pair / count, pair % count));
        let within = (0..count).map(|cluster| network.within(cluster));
        let links = between.chain(within).flatten();
        let errors: Vec<(f64, f64)> = links
            .map(|link| Modelled::new(self.reading.1, link).errors(link))
            .collect();
        let medians: Vec<f64> = errors.iter().map(|error| error.0).collect();
        let most = errors.iter().map(|error| error.1).fold(0.0, f64::max);
        (median(&medians).unwrap_or(0.0), most)
    }

    /// The choice of `TREEPIE_COLLECTIVES=auto`, which is for clusters or hosts that are far apart.
    pub fn choice(&self) -> &Choice {
        &self.choice
    }

    /// The algorithm that `TREEPIE_COLLECTIVES=auto` runs without a guard; `None` for the native
    /// collective.
    pub fn chosen(&self) -> Option<&'static Algorithm> {
        self.choice.strategy.filter(|_| self.clusters.are_far())
    }

    /// Why, in one line.
    pub fn reason(&self) -> String {
        match (self.clusters.are_far(), self.network.is_near()) {
            (true, _) => self.choice.reason(),
            (false, true) => format!(
                "{}; ranks are near each other: a plan runs where the guard has measured it",
                self.choice.reason()
            ),
            (false, false) => "all ranks are in one cluster".to_owned(),
        }
    }

    /// Every strategy, in segments of this size or those that suit it best, and the native
    /// collective: the quickest first; those without a time last.
    ///
    /// # Errors
    /// Plans that never end.
    pub fn all(&self, segment: Option<u64>) -> Result<Vec<Prediction>, SimulationError> {
        let amount = Amount::Each(self.call.bytes);
        let strategies = Algorithm::of(self.call.operation);
        let fitting = strategies.filter(|known| known.serves(&self.problem(&amount)));
        let all = fitting.map(|strategy| self.of(strategy, segment));
        let mut all = all
            .chain(std::iter::once(self.native()))
            .collect::<Result<Vec<Prediction>, SimulationError>>()?;
        let key = |prediction: &Prediction| prediction.seconds().unwrap_or(f64::INFINITY);
        all.sort_by(|one, other| key(one).total_cmp(&key(other)));
        Ok(all)
    }

    /// One strategy, in segments of this size, or those that suit it best.
    ///
    /// # Errors
    /// Plans that never end.
    pub fn of(
        &self,
        strategy: &'static Algorithm,
        segment: Option<u64>,
    ) -> Result<Prediction, SimulationError> {
        let considered = self.choice.considered();
        let known = considered
            .iter()
            .find(|plan| plan.strategy.name == strategy.name);
        let sizes = match (segment, known) {
            (Some(segment), _) => vec![segment.max(1)],
            (None, Some(plan)) => vec![plan.segment],
            (None, None) => self.segments(strategy),
        };
        let estimated = known.filter(|plan| sizes == [plan.segment]);
        let mut best = (sizes[0], None);
        for segment in sizes {
            let simulated = self.simulated(strategy, segment)?;
            if best
                .1
                .is_none_or(|least| simulated.is_some_and(|s| s < least))
            {
                best = (segment, simulated);
            }
        }
        Ok(Prediction {
            strategy: Some(strategy),
            segment: best.0,
            simulated: best.1,
            estimated: estimated.map(|plan| plan.seconds),
            formula: self.formula(strategy, best.0),
        })
    }

    /// Segments to try for a strategy that has no estimate, the whole message first.
    fn segments(&self, strategy: &'static Algorithm) -> Vec<u64> {
        let by_rule = self.chooser.segment(strategy, &self.call, &self.clusters);
        let (whole, smaller) = (self.call.bytes.max(1), SEGMENTS.into_iter().rev());
        let smaller = smaller.filter(|&segment| segment < whole);
        let sizes = std::iter::once(whole).chain(smaller);
        let sizes: Vec<u64> = sizes
            .filter(|&segment| self.steps(strategy, segment) <= MOST_STEPS_OF_MANY)
            .collect();
        match sizes.is_empty() {
            true => vec![by_rule],
            false => sizes,
        }
    }

    /// The call as algorithms see it.
    fn problem<'a>(&'a self, amount: &'a Amount) -> Problem<'a> {
        Problem {
            operation: self.call.operation,
            root: self.call.root,
            amount,
            clusters: &self.clusters,
            ordered: false,
            network: Some(&self.network),
            unit_bytes: 1,
        }
    }

    /// Steps of all plans, about: those of some ranks stand for all.
    fn steps(&self, strategy: &Algorithm, segment: u64) -> usize {
        const LOOKED_AT: usize = 8;
        let amount = Amount::Each(self.call.bytes);
        let problem = self.problem(&amount);
        let all = self.clusters.ranks();
        let some: Vec<usize> = (0..all).step_by(all.div_ceil(LOOKED_AT)).collect();
        let description = strategy.describe(&problem);
        let steps = |&rank: &usize| description.plan(rank, segment).steps().len();
        some.iter().map(steps).sum::<usize>() * all / some.len().max(1)
    }

    /// The plans of all ranks.
    pub fn plans(&self, strategy: &Algorithm, segment: u64) -> Vec<Plan> {
        let network = Some(&*self.network);
        strategy.plans(&self.call, network, &self.clusters, segment)
    }

    /// The simulation of all plans, with the bars of every rank.
    ///
    /// # Errors
    /// Plans that never end.
    pub fn timeline(&self, strategy: &Algorithm, segment: u64) -> Result<Outcome, SimulationError> {
        let options = Options {
            timeline: true,
            ..Options::default()
        };
        simulate(&self.network, &self.plans(strategy, segment), 1, options)
    }

    /// Simulated seconds, unless there are too many steps.
    fn simulated(
        &self,
        strategy: &Algorithm,
        segment: u64,
    ) -> Result<Option<f64>, SimulationError> {
        if self.steps(strategy, segment) > MOST_STEPS {
            return Ok(None);
        }
        let plans = self.plans(strategy, segment);
        let outcome = simulate(&self.network, &plans, 1, Options::default())?;
        Ok(Some(outcome.seconds))
    }

    /// The native collective: its usual algorithm, in the segments that MPIs take for it.
    fn native(&self) -> Result<Prediction, SimulationError> {
        let (operation, bytes) = (self.call.operation, self.call.bytes);
        let usual = self
            .native
            .usual_algorithm(operation, self.clusters.ranks(), bytes);
        let segment = self.native.segments(operation, usual).segment;
        let segment = segment.min(bytes.max(1));
        let amount = Amount::Each(bytes);
        let known = Algorithm::find(operation, usual);
        let simulated = match known.filter(|known| known.serves(&self.problem(&amount))) {
            Some(algorithm) => self.simulated(algorithm, segment)?,
            None => None,
        };
        Ok(Prediction {
            strategy: None,
            segment: 0,
            simulated,
            estimated: self.choice.native_seconds(),
            formula: None,
        })
    }

    /// The thesis's formula for a strategy: chapter 6 inside one cluster of alike ranks, chapter 7
    /// for orders between clusters.
    fn formula(&self, strategy: &Algorithm, segment: u64) -> Option<f64> {
        strategy_formula(
            strategy,
            &self.call,
            segment,
            &self.network,
            &self.clusters,
            self.reading,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::{Operation, grids};
    use crate::platform::Link;

    fn predictor(platform: &Platform, operation: Operation, bytes: u64) -> Predictor {
        let call = Uniform {
            operation,
            bytes,
            root: 0,
        };
        let computing = Computing::default();
        let reading = (Form::Corrected, MessageModel::PLogP);
        Predictor::new(platform, call, Family::OpenMpi, computing, reading).unwrap()
    }

    #[test]
    fn every_collective_has_an_answer_and_the_best_comes_first() {
        let [grid, _] = grids::platforms();
        for operation in Operation::all() {
            for bytes in [0, 8, 32 << 10] {
                let found = predictor(&grid, operation, bytes).all(None).unwrap();
                let times = found.iter().map(|p| p.seconds().unwrap_or(f64::INFINITY));
                let times: Vec<f64> = times.collect();
                assert!(times.is_sorted(), "{operation} {times:?}");
                // A plan of no bytes has no messages, but for a barrier's.
                let sends = bytes > 0 || operation == Operation::Barrier;
                assert_eq!(times[0] > 0.0, sends, "{operation} {times:?}");
                assert!(
                    found
                        .iter()
                        .any(|p| p.strategy.is_none() && p.seconds().is_some())
                );
                assert!(
                    found.iter().all(|p| p.seconds().is_some()),
                    "{operation} {bytes}"
                );
            }
        }
    }

    #[test]
    fn near_hosts_of_a_cluster_are_predicted_as_jobs_see_them_and_left_to_the_mpi() {
        for (latency, is_near) in [(2e-6, true), (2e-3, false)] {
            let between = Link::linear(latency, 3e-7, 4e-11).unwrap();
            let platform = grids::one_cluster(8, 4, between);
            let found = predictor(&platform, Operation::Allreduce, 8);
            assert_eq!(
                (found.clusters.count(), found.network.is_near()),
                (8, is_near)
            );
            assert_eq!(found.chosen().is_none(), is_near);
            assert_eq!(found.reason().contains("guard"), is_near);
            let best = found.all(None).unwrap()[0].strategy.unwrap().name;
            assert!(best.starts_with("grid-"), "{best}");
        }
        // Nothing but hosts of one rank: the hierarchy has nothing to gain from.
        let flat = grids::one_cluster(8, 1, Link::linear(2e-6, 3e-7, 4e-11).unwrap());
        let found = predictor(&flat, Operation::Allreduce, 8);
        assert_eq!(
            (found.clusters.count(), found.chosen().is_none()),
            (1, true)
        );
    }

    #[test]
    fn other_numbers_of_ranks_are_those_of_clusters_made_larger_and_smaller_alike() {
        let [grid, _] = grids::platforms();
        for ranks in [1, 3, 4, 15, 16, 17, 64, 1000] {
            let scaled = grid.scaled(ranks);
            assert_eq!(scaled.ranks(), ranks.max(4), "every cluster keeps one rank");
            let sizes: Vec<usize> = (0..4).map(|c| scaled.ranks_of(c).len()).collect();
            let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
            assert!(most - least <= 3, "{sizes:?}");
            let found = predictor(&scaled, Operation::Bcast, 8).all(None).unwrap();
            assert!(found[0].seconds().is_some_and(|seconds| seconds > 0.0));
        }
    }

    #[test]
    fn what_would_take_too_long_to_simulate_is_estimated() {
        let [grid, _] = grids::platforms();
        let predictor = predictor(&grid.scaled(1024), Operation::Alltoall, 1 << 10);
        let found = predictor.all(None).unwrap();
        assert!(
            found
                .iter()
                .any(|p| p.simulated.is_none() && p.estimated.is_some())
        );
    }
}
