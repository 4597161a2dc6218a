//! A call on a platform, and the choice for it.

use crate::choice::Choice;
use crate::chooser::Chooser;
use crate::foresee::are_bytes_known;
use crate::form::{Form, Progress, direct};
use crate::uneven;
use std::sync::Arc;
use treepie_collective::network::Computing;
use treepie_collective::read::exchanges::is_contention_known;
use treepie_collective::{
    Algorithm, Amount, Clusters, Composition, Neighbourhoods, Network, Problem, Uniform, bound,
};
use treepie_native::Family;
use treepie_platform::Platform;

/// Predictor for one call on a platform.
#[derive(Debug)]
pub struct Predictor {
    /// Ranks and their links.
    pub network: Arc<Network>,
    /// Ranks in clusters, as for algorithms.
    pub clusters: Clusters,
    /// Call.
    pub call: Uniform,
    /// Amount of data: of equal blocks, or of blocks of given sizes.
    pub(super) amount: Amount,
    pub(super) form: Form,
    is_persistent: bool,
    is_named: bool,
    pub(super) native: Family,
    pub(super) chooser: Chooser,
    /// Choice that would run.
    pub(super) choice: Arc<Choice>,
    /// Estimates for equal blocks.
    pub(super) estimates: Arc<Choice>,
}

/// Network of all ranks of a platform in a communicator of a job: between near hosts of one
/// cluster, hosts replace clusters. The cluster stays one if contention was measured, as it is
/// known for the cluster as a whole. `None` if the platform has no ranks.
pub fn network_of(platform: &Platform) -> Option<Network> {
    let ranks: Vec<usize> = (0..platform.ranks()).collect();
    let whole = Network::new(platform, &ranks)?;
    if is_contention_known(&whole) {
        return Some(whole);
    }
    Network::between_near_hosts(platform, &ranks)
        .or_else(|| Network::inside_host(platform, &ranks))
        .or(Some(whole))
}

impl Predictor {
    /// Predictor for a call of all ranks of a platform, under an MPI whose eager limit applies if
    /// the platform was not measured. `None` if the platform has no ranks.
    pub fn new(
        platform: &Platform,
        call: Uniform,
        native: Family,
        computing: Computing,
    ) -> Option<Self> {
        let mut network = network_of(platform)?;
        network.computing = computing;
        if platform.is_by_hand() {
            network = network.with_eager_limit(native.usual_eager_limit());
        }
        let (network, clusters) = (Arc::new(network.clone()), Clusters::of_network(&network));
        let mut chooser = Chooser::new(Some(network.clone()), &clusters, Some(native));
        let choice = chooser.choose(call.operation, None, call.root, false, &clusters);
        let predictor = Predictor {
            network,
            clusters,
            amount: Amount::Each(call.bytes),
            call,
            form: Form::Blocking,
            is_persistent: false,
            is_named: false,
            native,
            chooser,
            estimates: choice.clone(),
            choice,
        };
        Some(predictor.chosen_again())
    }

    /// Sets the sizes of blocks, which all ranks know if the call's form requires it: the bytes of
    /// the call are their mean.
    pub fn with_sizes(self, amount: Amount) -> Self {
        let sizes = match &amount {
            Amount::KnownBlocks(sizes) | Amount::Table(sizes) => &sizes[..],
            _ => &[],
        };
        let bytes = sizes.iter().sum::<u64>() / sizes.len().max(1) as u64;
        Predictor {
            call: Uniform { bytes, ..self.call },
            amount,
            ..self
        }
        .chosen_again()
    }

    /// Sets the form to a call that is started, and completed later, with this progress of plans
    /// meanwhile.
    pub fn started(self, progress: Progress) -> Self {
        Predictor {
            form: Form::Started(progress),
            ..self
        }
        .chosen_again()
    }

    /// Sets the form to a persistent request, which is started repeatedly: ranks may exchange
    /// sizes.
    pub fn persistent(self, progress: Progress) -> Self {
        Predictor {
            is_persistent: true,
            ..self
        }
        .started(progress)
    }

    /// Adds the topology of the ranks.
    ///
    /// # Panics
    /// If it has other ranks.
    pub fn with_neighbourhoods(self, neighbourhoods: Neighbourhoods) -> Self {
        let clusters = self.clusters.with_neighbourhoods(Arc::new(neighbourhoods));
        Predictor {
            chooser: self.chooser.with_topology(&clusters),
            clusters,
            ..self
        }
        .chosen_again()
    }

    /// Predictor for another call on the same platform.
    pub fn with_call(self, call: Uniform) -> Self {
        Predictor {
            amount: Amount::Each(call.bytes),
            call,
            ..self
        }
        .chosen_again()
    }

    /// Uses the trees and the parameter that a plan names; the choice is still that of the links.
    pub fn for_plan(self, plan: &Composition) -> Self {
        if plan.is_plain() {
            return self;
        }
        let clusters = self.clusters.for_plan(plan).into_owned();
        let choice = self.choice.clone();
        let named = Predictor {
            chooser: self.chooser.with_topology(&clusters),
            clusters,
            is_named: true,
            ..self
        };
        Predictor {
            choice,
            ..named.chosen_again()
        }
    }

    /// True if a plan has set trees or a parameter.
    pub fn is_named(&self) -> bool {
        self.is_named
    }

    fn chosen_again(mut self) -> Self {
        let call = self.call;
        let (operation, root) = (call.operation, call.root);
        let (chooser, clusters, form) = (&mut self.chooser, &self.clusters, self.form);
        let mut choose = |bytes| match form {
            Form::Started(progress) => {
                chooser.choose_started((operation, bytes, root), false, clusters, progress)
            }
            Form::Blocking => chooser.choose(operation, bytes, root, false, clusters),
        };
        let is_known = are_bytes_known(operation);
        self.choice = choose(is_known.then_some(call.bytes));
        // A rank does not know the sizes of its neighbours' blocks, so they are not used.
        self.estimates = match operation.is_among_neighbours() {
            true => self.choice.clone(),
            false => choose(Some(call.bytes)),
        };
        if let Some(found) = self.by_sizes() {
            self.choice = Arc::new(found);
        }
        self
    }

    /// Choice for a persistent request of a collective whose sizes ranks exchange: the native
    /// collective if they gain nothing by it; `None` if they do not exchange sizes.
    fn by_sizes(&self) -> Option<Choice> {
        let operation = self.call.operation;
        let is_told = self.form == Form::Started(Progress::Called)
            && !are_bytes_known(operation)
            && !operation.is_among_neighbours();
        if !(self.is_persistent && is_told) {
            return None;
        }
        let plain = direct(operation)?;
        let eager = self.chooser.eager_limit();
        let found = uneven::fastest(&self.whole(), eager, plain);
        Some(match found {
            Some(found) if found.algorithm != plain => found.choice(eager),
            // All ranks know the sizes: leaders receive none.
            found => {
                let mut choice = Choice::clone(&self.choice);
                choice.algorithm = choice.algorithm.filter(|one| !one.needs_leaders());
                choice.seconds = found.map(|plain| plain.seconds);
                choice
            }
        })
    }

    /// True if the sizes of blocks were given.
    pub(super) fn has_sizes(&self) -> bool {
        !matches!(self.amount, Amount::Each(_))
    }

    /// Lower bound of the call's time in seconds.
    pub fn bound(&self) -> f64 {
        let Uniform {
            operation,
            bytes,
            root,
        } = self.call;
        match self.has_sizes() {
            true => uneven::bound(&self.whole(), &self.network),
            false => bound(&self.network, &self.clusters, operation, bytes, root),
        }
    }

    /// Choice of `TREEPIE_COLLECTIVES=auto`, which is for clusters or hosts that are far apart.
    pub fn choice(&self) -> &Choice {
        &self.choice
    }

    /// Estimates of algorithms and of the native collective, for equal blocks.
    pub fn estimates(&self) -> &Choice {
        &self.estimates
    }

    /// Algorithm that `TREEPIE_COLLECTIVES=auto` runs without a guard; `None` for the native
    /// collective.
    pub fn chosen(&self) -> Option<&'static Algorithm> {
        let is_predicted = self.choice.seconds.is_some() && !self.is_started();
        let is_served = self.clusters.are_far() || self.is_between_near() && is_predicted;
        let is_served = is_served && self.is_unambiguous();
        self.choice.algorithm.filter(|_| is_served)
    }

    /// True if the ranks are on near hosts of one cluster.
    fn is_between_near(&self) -> bool {
        self.network.is_near() && !self.network.is_in_memory()
    }

    fn is_unambiguous(&self) -> bool {
        let all = self.clusters.neighbourhoods();
        !self.call.operation.is_among_neighbours()
            || all.is_some_and(|all| all.are_unambiguous(self.call.operation))
    }

    pub(super) fn is_started(&self) -> bool {
        self.form != Form::Blocking
    }

    /// Reason of the choice, in one line.
    pub fn reason(&self) -> String {
        if !self.is_unambiguous() {
            return "the MPI's own: some ranks have several edges to one, whose order MPIs read \
                    differently"
                .to_owned();
        }
        match (self.clusters.are_far(), self.network.is_near()) {
            (true, _) => self.choice.reason(),
            (false, true) if self.is_started() => {
                "the MPI's own: ranks are near each other, where what is started is not measured"
                    .to_owned()
            }
            (false, true) if self.is_between_near() => format!(
                "{}; between near hosts, plans that save less than a fifth, and those for less than \
                 1 KiB, run where the guard has measured them",
                self.choice.reason()
            ),
            (false, true) => format!(
                "{}; ranks are on one host: a plan runs where the guard has measured it",
                self.choice.reason()
            ),
            (false, false) => "all ranks are in one cluster".to_owned(),
        }
    }

    /// True if the call's form allows an algorithm.
    pub fn allows(&self, algorithm: &Algorithm) -> bool {
        match self.form {
            Form::Blocking => true,
            Form::Started(progress) => progress.allows(algorithm, self.call.operation),
        }
    }

    /// Problem of the call for algorithms.
    pub(super) fn whole(&self) -> Problem<'_> {
        self.problem(&self.clusters)
    }

    /// Problem of the call for ranks in these clusters.
    pub(super) fn problem<'a>(&'a self, clusters: &'a Clusters) -> Problem<'a> {
        Problem {
            operation: self.call.operation,
            root: self.call.root,
            amount: &self.amount,
            clusters,
            ordered: false,
            network: Some(&self.network),
            unit_bytes: 1,
        }
    }
}
