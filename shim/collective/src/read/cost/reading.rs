//! Times of a call, from its description.

use crate::algorithms::algorithm::{Algorithm, Symmetry};
use crate::clusters::Clusters;
use crate::network::links::Network;
use crate::operation::Unit;
use crate::plan::counted::Counted;
use crate::problem::Uniform;
use crate::problem::{Amount, Problem};
use crate::read::cost::contention::{exchanges, inside};
use crate::read::cost::run::{run, run_rounds};
use crate::read::cost::script::OneByOne;
use crate::read::cost::script::{Part, ReadingMode, Script, Scripts};
use crate::read::cost::times::Times;
use crate::read::exchanges::is_contention_known;
use crate::read::moved;
use crate::steps::Flow;

/// Number of segments that are run of a message with more segments: among few ranks, and among
/// many. Times are extrapolated from half of them and all.
const SEGMENTS: [u64; 2] = [8, 4];

/// Largest number of ranks that counts as few.
const FEW: usize = 64;

/// Approximate number of messages that are run if every rank sends many.
const MOST_MESSAGES: usize = 2048;

/// Maximum number of receivers of a rank in a ring, or in an exchange of neighbours.
const MOST_PARTNERS: usize = 2;

/// Maximum number of messages that are run if none represents others.
const MOST_DIFFERENT: usize = 1 << 14;

/// Maximum number of messages that are run one by one, without a search for representative ones.
const MOST_MESSAGES_IN_ALL: usize = 1 << 11;

/// Minimum number of messages that every rank sends if there are many.
const LEAST_SENDS: usize = 8;

/// Parameters with which descriptions are read.
#[derive(Debug, Clone, Copy)]
pub struct Reading<'a> {
    /// Links.
    pub network: &'a Network,
    /// Clusters, and the network, that algorithms use; `None` for algorithms of an MPI, which use
    /// none.
    pub clusters: Option<&'a Clusters>,
    /// True if operands must stay in order.
    pub ordered: bool,
    /// Flow of messages.
    pub flow: Flow,
    /// Order of steps that are written as one by one.
    pub one_by_one: OneByOne,
}

impl Reading<'_> {
    /// Times of a call by an algorithm; [`Times::NEVER`] if its steps wait for each other.
    pub fn times(&self, algorithm: &Algorithm, call: &Uniform) -> Times {
        let one = self
            .clusters
            .is_none()
            .then(|| Clusters::one(self.network.ranks()));
        let Some(clusters) = self.clusters.or(one.as_ref()) else {
            return Times::NEVER;
        };
        let times = self.of_messages(algorithm, call, clusters);
        let amount = Amount::Each(call.bytes);
        let problem = self.problem(call, &amount, clusters);
        let description = algorithm.describe(&problem);
        Times {
            end: times.end.max(moved::seconds(self.network, &description)),
            ..times
        }
    }

    pub(super) fn problem<'a>(
        &'a self,
        call: &Uniform,
        amount: &'a Amount,
        clusters: &'a Clusters,
    ) -> Problem<'a> {
        Problem {
            operation: call.operation,
            root: call.root,
            amount,
            clusters,
            ordered: self.ordered,
            network: self.clusters.map(|_| self.network),
            unit_bytes: 1,
        }
    }

    /// Times of messages, and of the computing between them.
    fn of_messages(&self, algorithm: &Algorithm, call: &Uniform, clusters: &Clusters) -> Times {
        let with_bytes = |bytes: u64, read: &dyn Fn(&Problem) -> Option<Times>| {
            read(&self.problem(call, &Amount::Each(bytes), clusters))
        };
        if let Some(times) = with_bytes(call.bytes, &|problem| {
            self.whole_if_short(algorithm, problem)
        }) {
            return times;
        }
        let of_bytes = |bytes: u64| {
            let read = |problem: &Problem| Some(self.all_rounds(algorithm, problem));
            with_bytes(bytes, &read).unwrap_or(Times::NEVER)
        };
        let segment = self.flow.segment.max(1);
        let segments = call.bytes.div_ceil(segment);
        // A segment may be sent to another cluster first.
        let period = match algorithm.is_by_rank() {
            true => 1,
            false => clusters.count().next_multiple_of(2) as u64,
        };
        let enough = SEGMENTS[usize::from(clusters.ranks() > FEW)];
        let most = enough.max(2 * (period - 1));
        if call.operation.unit() != Unit::Message || segments <= most {
            return of_bytes(call.bytes);
        }
        let run = [most / 2, most];
        let found = run.map(|segments| of_bytes(segments * segment));
        Times::line(run.map(|one| one as f64), found, segments as f64)
    }

    /// True if a plan is read, whose steps wait for their data only.
    fn is_plan(&self) -> bool {
        self.clusters.is_some()
    }

    /// Times of all messages of an algorithm, run one by one; `None` if they are many, or if ranks
    /// alternate between two neighbours and do not wait for both.
    fn whole_if_short(&self, algorithm: &Algorithm, problem: &Problem) -> Option<Times> {
        if self.is_plan() && algorithm.alike == Symmetry::Every(2) {
            return None;
        }
        let (ranks, flow) = (problem.ranks(), problem.flow(self.flow));
        let description = algorithm.describe(problem);
        let some = [problem.root, ranks / 3, ranks / 2, ranks - 1];
        let sends = some.map(|rank| Counted::of(&description, flow, rank).sends);
        let mean = sends.into_iter().sum::<usize>() / some.len() + 1;
        (mean * ranks <= MOST_MESSAGES_IN_ALL).then(|| self.whole(algorithm, problem, flow))
    }

    /// Times of all messages of an algorithm.
    fn whole(&self, algorithm: &Algorithm, problem: &Problem, flow: Flow) -> Times {
        let how = ReadingMode {
            part: Part::All,
            one_by_one: self.one_by_one,
            told: is_contention_known(self.network),
        };
        let scripts = Scripts::read(algorithm, problem, flow, how);
        let exchanges = exchanges(self.network, &scripts);
        run(self.network, &scripts, exchanges.as_ref())
    }

    /// Times of all rounds of an algorithm, extrapolated if they are many.
    fn all_rounds(&self, algorithm: &Algorithm, problem: &Problem) -> Times {
        let (ranks, flow) = (problem.ranks(), problem.flow(self.flow));
        let how = |part, told| ReadingMode {
            part,
            one_by_one: self.one_by_one,
            told,
        };
        let is_contention_known = is_contention_known(self.network);
        let read = |part| Scripts::read(algorithm, problem, flow, how(part, is_contention_known));
        // A rank in the middle is typical.
        let description = algorithm.describe(problem);
        let usual = Script::read(&description, flow, ranks / 2, how(Part::All, false));
        let sends = usual.sends();
        // An MPI waits in each round, a plan only for what it sends next.
        let is_round = usual.is_of_ring() || self.is_plan() && usual.alternates();
        let is_round = is_round && !problem.has_empty_blocks() && sends > LEAST_SENDS;
        if algorithm.alike != Symmetry::None && is_round {
            return self.ring(&read(Part::First(3)), &usual);
        }
        let most = (MOST_MESSAGES / ranks.max(1)).max(LEAST_SENDS);
        let of_a_tree = 4 * ranks.max(1).ilog2() as usize;
        if sends <= most.max(of_a_tree) {
            return self.whole(algorithm, problem, flow);
        }
        let coarse = problem.flow(match problem.operation.unit() {
            Unit::Message => self.flow,
            _ => Flow {
                segment: u64::MAX,
                ..self.flow
            },
        });
        let coarsely = || Counted::of(&description, coarse, ranks / 2).sends;
        if usual.hands_on()
            && !self.is_even(algorithm, problem, &usual)
            && coarsely() * ranks <= MOST_DIFFERENT
        {
            // Rounds differ: none represents others. All are run, with blocks that are not cut.
            return self.whole(algorithm, problem, coarse);
        }
        if usual.hands_on() {
            // Forwarded data moves in rounds: the first ones are run, and the rate of the later
            // ones of these applies to the rest.
            let scripts = read(Part::First(most));
            let rounds = [most / 2, most];
            let exchanges = exchanges(self.network, &scripts);
            let run = |rounds| run_rounds(self.network, &scripts, exchanges.as_ref(), rounds);
            let found = run(rounds.map(|one| one as u32));
            let done = rounds.map(|one| usual.progress(one));
            let on = Times::line(done, found, usual.progress(sends));
            let handed = self.handed_on(&scripts, sends);
            return Times {
                end: on.end.max(handed),
                left: on.left.max(handed),
                ..on
            };
        }
        // Data that is sent directly to its receiver: some of the rounds, with near and far
        // partners alike.
        let every = self.stride(sends.div_ceil(most));
        let scripts = read(Part::Every(every));
        let found = run(self.network, &scripts, None);
        let rest = (every - 1) as f64;
        let (end, left) = (
            found.end + rest * found.left,
            found.left + rest * found.left,
        );
        // A part has too few messages inside clusters, or too many: their time is computed
        // separately.
        let inside = inside(self.network, &scripts, self.one_by_one);
        let with = |seconds: f64| match inside {
            Some(inside) => (seconds + inside.added).max(inside.busiest),
            None => seconds,
        };
        Times {
            end: with(end),
            left: with(left),
            busiest: found.busiest + rest * found.busiest,
        }
    }

    /// True if all ranks send alike in all rounds: to the same few ranks, and about as many
    /// messages.
    fn is_even(&self, algorithm: &Algorithm, problem: &Problem, usual: &Script) -> bool {
        let description = algorithm.describe(problem);
        let flow = problem.flow(self.flow);
        let mut partners: Vec<u32> = Vec::new();
        for (to, _) in usual.sent() {
            if !partners.contains(&to) {
                partners.push(to);
            }
            if partners.len() > MOST_PARTNERS {
                return false;
            }
        }
        let ranks = [0, problem.ranks() / 3, problem.ranks() - 1];
        ranks.into_iter().all(|rank| {
            let sends = Counted::of(&description, flow, rank).sends;
            10 * sends.abs_diff(usual.sends()) <= usual.sends()
        })
    }

    /// Least number, not below `least`, that has no factor in common with the numbers of clusters
    /// and hosts: if ranks are assigned to them round-robin, a selection of rounds with this stride
    /// has near and far partners in the proportion of all.
    fn stride(&self, least: usize) -> usize {
        let has_common = |one: &usize| {
            let counts = [self.network.clusters(), self.network.hosts()];
            counts
                .into_iter()
                .any(|count| greatest_common(count, *one) > 1)
        };
        (least..).find(|one| !has_common(one)).unwrap_or(least)
    }
}

/// Greatest common divisor.
fn greatest_common(one: usize, other: usize) -> usize {
    match other {
        0 => one,
        _ => greatest_common(other, one % other),
    }
}
