//! Times of algorithms for a call: estimated, or simulated from their plans.

use crate::predict::parallel;
use crate::predict::prediction::Prediction;
use crate::predict::predictor::Predictor;
use crate::prices::are_many_near;
use treepie_collective::algorithms::shapes;
use treepie_collective::operation::Unit;
use treepie_collective::read::simulate::{Options, Outcome, SimulationError, simulate};
use treepie_collective::{Algorithm, Clusters, Operation, Plan};

/// Maximum number of steps of simulated plans: beyond it, those of all algorithms would take more
/// than some seconds.
const MOST_STEPS: usize = 300_000;

/// Maximum number of steps of the plan that is chosen: about a second.
const MOST_STEPS_OF_CHOICE: usize = 4 * MOST_STEPS;

/// Segments to try, in bytes, if no estimate gives the best one of an algorithm.
const SEGMENTS: [u64; 5] = [4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10];

/// Maximum number of steps of plans that are simulated with several sizes of segments.
const MOST_STEPS_OF_MANY: usize = 20_000;

impl Predictor {
    /// Predictions of every algorithm that the call's form allows, in segments of this size or the
    /// best ones, and of the native collective: the fastest first, those without a time last.
    ///
    /// # Errors
    /// Plans that never end.
    pub fn all(&self, segment: Option<u64>) -> Result<Vec<Prediction>, SimulationError> {
        let algorithms = Algorithm::of(self.call.operation);
        let problem = self.whole();
        let is_by_rounds = are_many_near(&self.network);
        let fitting = algorithms
            .filter(|known| !is_by_rounds || known.is_by_rank() || known.has_rounds())
            .filter(|known| self.allows(known) && known.serves(&problem));
        // The native collective is one of them.
        let fitting: Vec<Option<&'static Algorithm>> =
            fitting.map(Some).chain(std::iter::once(None)).collect();
        let all = parallel::map(&fitting, |algorithm| match algorithm {
            Some(algorithm) => self.of(algorithm, segment),
            None => self.native(),
        });
        let all: Result<Vec<Prediction>, SimulationError> = all.into_iter().collect();
        let mut all = all?;
        let key = |prediction: &Prediction| prediction.seconds().unwrap_or(f64::INFINITY);
        all.sort_by(|one, other| key(one).total_cmp(&key(other)));
        Ok(all)
    }

    /// Prediction of one algorithm, in segments of this size or the best ones.
    ///
    /// # Errors
    /// Plans that never end.
    pub fn of(
        &self,
        algorithm: &'static Algorithm,
        segment: Option<u64>,
    ) -> Result<Prediction, SimulationError> {
        let considered = self.estimates.considered();
        let known = considered
            .iter()
            .find(|plan| plan.algorithm == algorithm && !self.has_sizes());
        let by_rule = self
            .choice
            .algorithm
            .filter(|&by_rule| by_rule == algorithm);
        let sizes = match (segment, known, by_rule) {
            (Some(segment), ..) => vec![segment.max(1)],
            (None, Some(plan), _) => vec![self.as_run(plan.segment)],
            (None, None, Some(_)) => vec![self.as_run(self.choice.segment)],
            (None, None, None) if self.has_sizes() => vec![self.chooser.eager_limit()],
            (None, None, None) => self.segments(algorithm),
        };
        let estimated = known.filter(|plan| sizes == [self.as_run(plan.segment)]);
        let mut best = (sizes[0], None);
        for segment in sizes {
            let simulated = self.simulated(algorithm, segment, &self.clusters)?;
            if best
                .1
                .is_none_or(|least| simulated.is_some_and(|s| s < least))
            {
                best = (segment, simulated);
            }
        }
        Ok(Prediction {
            algorithm: Some(algorithm),
            segment: best.0,
            inside: self.inside(algorithm, best.0),
            simulated: best.1,
            estimated: estimated.map(|plan| plan.seconds),
        })
    }

    /// Trees inside clusters of an algorithm with a tree between clusters.
    fn inside(&self, algorithm: &Algorithm, segment: u64) -> Option<String> {
        algorithm.tree?;
        let problem = self.whole();
        let mut all: Vec<String> = Vec::new();
        for cluster in self.clusters.all() {
            let shapes = shapes(&problem, cluster, self.call.bytes, segment);
            let names: Vec<String> = shapes.iter().map(ToString::to_string).collect();
            let names = names.join("/");
            if !names.is_empty() && !all.contains(&names) {
                all.push(names);
            }
        }
        (!all.is_empty()).then(|| all.join(", "))
    }

    /// Largest message of a plan with this segment: blocks that are not cut are sent together.
    fn as_run(&self, segment: u64) -> u64 {
        let operation = self.call.operation;
        let collects = matches!(operation, Operation::Scan | Operation::Exscan);
        let largest = match operation.unit() {
            Unit::Message if !collects => segment,
            _ => self.chooser.largest_of(segment, Some(self.call.bytes)),
        };
        self.at_once(largest)
    }

    /// Segment of a plan: a started collective is cut so that no message uses a rendezvous.
    fn at_once(&self, segment: u64) -> u64 {
        match self.is_started() {
            true => segment.min(self.chooser.eager_limit()),
            false => segment,
        }
    }

    /// Segments to try for an algorithm that has no estimate, the whole message first.
    fn segments(&self, algorithm: &'static Algorithm) -> Vec<u64> {
        let by_rule = self.chooser.segment(algorithm, &self.call, &self.clusters);
        let (whole, smaller) = (self.call.bytes.max(1), SEGMENTS.into_iter().rev());
        let smaller = smaller.filter(|&segment| segment < whole);
        let sizes = std::iter::once(whole).chain(smaller);
        let sizes: Vec<u64> = sizes
            .take_while(|&segment| {
                self.steps(algorithm, segment, &self.clusters) <= MOST_STEPS_OF_MANY
            })
            .collect();
        match sizes.is_empty() {
            true => vec![by_rule],
            false => sizes,
        }
    }

    /// Approximate number of steps of all plans, extrapolated from some ranks.
    fn steps(&self, algorithm: &Algorithm, segment: u64, clusters: &Clusters) -> usize {
        const LOOKED_AT: usize = 8;
        let problem = self.problem(clusters);
        let all = clusters.ranks();
        let some: Vec<usize> = (0..all).step_by(all.div_ceil(LOOKED_AT)).collect();
        let description = algorithm.describe(&problem);
        let steps = |&rank: &usize| description.steps(rank, self.form.flow(segment));
        some.iter().map(steps).sum::<usize>() * all / some.len().max(1)
    }

    /// Plans of all ranks.
    pub fn plans(&self, algorithm: &Algorithm, segment: u64) -> Vec<Plan> {
        let flow = self.form.flow(segment);
        algorithm.describe(&self.whole()).plans(flow)
    }

    /// Simulation of all plans, with the bars of every rank.
    ///
    /// # Errors
    /// Plans that never end.
    pub fn timeline(
        &self,
        algorithm: &Algorithm,
        segment: u64,
    ) -> Result<Outcome, SimulationError> {
        let options = Options {
            timeline: true,
            ..Options::default()
        };
        simulate(&self.network, &self.plans(algorithm, segment), 1, options)
    }

    /// Simulated seconds, unless there are too many steps.
    fn simulated(
        &self,
        algorithm: &Algorithm,
        segment: u64,
        clusters: &Clusters,
    ) -> Result<Option<f64>, SimulationError> {
        let most = match self.choice.algorithm == Some(algorithm) {
            true => MOST_STEPS_OF_CHOICE,
            false => MOST_STEPS,
        };
        if self.steps(algorithm, segment, clusters) > most {
            return Ok(None);
        }
        let flow = self.form.flow(segment);
        let plans = algorithm.describe(&self.problem(clusters)).plans(flow);
        let outcome = simulate(&self.network, &plans, 1, Options::default())?;
        Ok(Some(outcome.seconds))
    }

    /// Prediction of the native collective: its usual algorithm, in the segments that MPIs use for
    /// it.
    fn native(&self) -> Result<Prediction, SimulationError> {
        let (operation, bytes) = (self.call.operation, self.call.bytes);
        let ranks = self.clusters.ranks();
        let usual = match self.is_started() {
            true => self.native.started_algorithm(operation, ranks, bytes),
            false => self.native.usual_algorithm(operation, ranks, bytes),
        };
        // MPIs send to neighbours in their order, independently of clusters.
        let clusters = match operation.is_among_neighbours() {
            true => &self.clusters.as_one(),
            false => &self.clusters,
        };
        let segment = self.native.segments(operation, usual).segment;
        let known = Algorithm::find(operation, usual);
        let known = known.filter(|known| known.serves(&self.problem(clusters)));
        let simulated = match known {
            Some(algorithm) => self.simulated(algorithm, segment, clusters)?,
            None => None,
        };
        Ok(Prediction {
            algorithm: None,
            segment: 0,
            inside: None,
            simulated,
            estimated: self
                .estimates
                .native_seconds()
                .filter(|_| !self.has_sizes()),
        })
    }
}
