//! Uneven collectives in which ranks send the leader of their cluster sizes that MPI gives to
//! single ranks: both steps, with random sizes and arrangements.

use std::collections::HashMap;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use crate::proof::check;
use treepie_base::{Cluster, List};
use treepie_collective::told;
use treepie_collective::{Action, Algorithm, Amount, Clusters, Flow, Operation, Plan, Problem};

/// Bytes of a unit: leaders relay blocks of up to 4 units.
const UNIT: u64 = 128;

/// Placeholder for the sizes of others' blocks, which MPI does not give to a rank.
const WRONG: u64 = 999;

/// Random arrangement.
#[derive(Debug, Clone)]
struct Drawn {
    operation: Operation,
    /// Cluster of each rank.
    numbers: Vec<usize>,
    /// Determines the leader of each cluster.
    leaders: usize,
    root: usize,
    /// Size for each pair of ranks; with a root, each rank's size is the one for itself.
    sizes: Vec<u64>,
    segment: u64,
}

impl Drawn {
    fn clusters(&self) -> Clusters {
        let clusters = Clusters::new(&self.numbers);
        let leader = |cluster: Cluster| {
            let members = clusters.members(cluster);
            members[(self.leaders + cluster.0) % members.len()]
        };
        let leaders: List<Cluster, usize> = clusters.all().map(leader).collect();
        clusters.with_leaders(&leaders)
    }

    fn size(&self, from: usize, to: usize) -> u64 {
        self.sizes[from * self.numbers.len() + to]
    }

    /// Amount that MPI gives to a rank.
    fn amount(&self, rank: usize) -> Amount {
        let ranks = 0..self.numbers.len();
        if !self.operation.has_root() {
            return Amount::Exchanged {
                sent: ranks.clone().map(|to| self.size(rank, to)).collect(),
                received: ranks.map(|from| self.size(from, rank)).collect(),
            };
        }
        let knows = |of: usize| rank == self.root || of == rank;
        let block = |of: usize| if knows(of) { self.size(of, of) } else { WRONG };
        Amount::Blocks(ranks.map(block).collect())
    }
}

prop_compose! {
    fn drawn()(ranks in 1_usize..=14, clusters in 1_usize..=5)
        (
            operation in prop::sample::select(vec![
                Operation::Gatherv,
                Operation::Scatterv,
                Operation::Alltoallv,
                Operation::Alltoallw,
            ]),
            numbers in prop::collection::vec(0..clusters, ranks),
            leaders in 0_usize..14,
            root in 0..ranks,
            sizes in prop_oneof![
                prop::collection::vec(0_u64..3, ranks * ranks),
                prop::collection::vec(prop_oneof![
                    3 => Just(0_u64), 3 => 1_u64..4, 2 => 4_u64..6, 2 => 15_u64..18, 1 => 30_u64..60,
                ], ranks * ranks),
                // One rank has all.
                (0..ranks * ranks).prop_map(move |one| {
                    (0..ranks * ranks).map(|other| if one == other { 40 } else { 0 }).collect()
                }),
            ],
            segment in prop_oneof![1_u64..4, Just(5000)],
        ) -> Drawn {
            let root = if operation.has_root() { root } else { 0 };
            Drawn { operation, numbers, leaders, root, sizes, segment }
        }
}

fn problems<'a>(drawn: &Drawn, clusters: &'a Clusters, amounts: &'a [Amount]) -> Vec<Problem<'a>> {
    let problem = |amount| Problem {
        operation: drawn.operation,
        root: drawn.root,
        amount,
        clusters,
        ordered: false,
        network: None,
        unit_bytes: UNIT,
    };
    amounts.iter().map(problem).collect()
}

/// First step: the output of each rank after all have sent their rows. Members wait for no other
/// rank.
fn tell(problems: &[Problem]) -> Result<Vec<Vec<u64>>, TestCaseError> {
    let ranks = problems.len();
    let rows: Vec<Vec<u64>> = (0..ranks)
        .map(|rank| told::row(problems[rank].amount, rank).unwrap())
        .collect();
    let plan = |rank: usize| told::plan(&problems[rank], rank, rows[rank].len());
    let plans: Vec<Plan> = (0..ranks).map(plan).collect();
    let mut sent = HashMap::new();
    for (from, plan) in plans.iter().enumerate() {
        for step in plan.steps() {
            if let Action::Send { to, tag, .. } = step.action {
                prop_assert_eq!(problems[0].clusters.of(from), problems[0].clusters.of(to));
                prop_assert_eq!(plan.steps().len(), 1, "a rank that tells waits for nobody");
                sent.insert((from, to, tag), &rows[from]);
            }
        }
    }
    let mut outputs = Vec::new();
    for (rank, plan) in plans.iter().enumerate() {
        let words = told::rows(&problems[rank], rank) * rows[rank].len();
        let mut output = vec![u64::MAX; words];
        for step in plan.steps() {
            let (row, range) = match step.action {
                Action::Copy { into, .. } => (&rows[rank], into),
                Action::Receive { from, tag, range } => {
                    let sent = sent.remove(&(from, rank, tag));
                    (sent.expect("what is awaited is sent"), range)
                }
                _ => continue,
            };
            output[range.start as usize / 8..range.end() as usize / 8].copy_from_slice(row);
        }
        outputs.push(output);
    }
    prop_assert!(sent.is_empty(), "what is sent is awaited");
    Ok(outputs)
}

/// Number of messages from one cluster to another, for each pair with any.
fn crossing(clusters: &Clusters, plans: &[Plan]) -> HashMap<(Cluster, Cluster), usize> {
    let mut counts = HashMap::new();
    for (from, plan) in plans.iter().enumerate() {
        for step in plan.steps() {
            if let Action::Send { to, .. } = step.action
                && clusters.of(from) != clusters.of(to)
            {
                *counts
                    .entry((clusters.of(from), clusters.of(to)))
                    .or_default() += 1;
            }
        }
    }
    counts
}

/// Expected maximum number of messages between two clusters: one with all relayed blocks, and one
/// for each other block.
fn expected(drawn: &Drawn, clusters: &Clusters) -> HashMap<(Cluster, Cluster), usize> {
    let mut large: HashMap<(Cluster, Cluster), usize> = HashMap::new();
    let mut small: HashMap<(Cluster, Cluster), usize> = HashMap::new();
    let ranks = drawn.numbers.len();
    for (from, to) in (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to))) {
        let units = match drawn.operation {
            Operation::Gatherv if to == drawn.root => drawn.size(from, from),
            Operation::Scatterv if from == drawn.root => drawn.size(to, to),
            Operation::Gatherv | Operation::Scatterv => 0,
            _ => drawn.size(from, to),
        };
        let pair = (clusters.of(from), clusters.of(to));
        if pair.0 == pair.1 || units == 0 {
            continue;
        }
        match told::goes_along(units * UNIT) {
            true => _ = small.insert(pair, 1),
            false => *large.entry(pair).or_default() += 1,
        }
    }
    for (pair, one) in small {
        *large.entry(pair).or_default() += one;
    }
    large
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn what_ranks_tell_their_leader_is_all_that_plans_need_and_small_blocks_cross_together(
        drawn in drawn()
    ) {
        let clusters = drawn.clusters();
        let ranks = clusters.ranks();
        let own: Vec<Amount> = (0..ranks).map(|rank| drawn.amount(rank)).collect();
        let before = problems(&drawn, &clusters, &own);
        let algorithm = Algorithm::find(drawn.operation, "grid-aggregate").unwrap();
        prop_assert!(!before.iter().any(|one| algorithm.serves(one)));
        let told = tell(&before)?;
        let learnt: Vec<Amount> = (0..ranks)
            .map(|rank| told::learn(&before[rank], rank, &told[rank]))
            .collect();
        let after = problems(&drawn, &clusters, &learnt);
        for segment in [drawn.segment, 5000] {
            let plan = |rank: usize| algorithm.plan(&after[rank], rank, Flow::from(segment));
            prop_assert!(after.iter().all(|one| algorithm.serves(one)));
            let plans: Vec<Plan> = (0..ranks).map(plan).collect();
            prop_assert_eq!(check(&after, &plans), Ok(()));
            if segment == 5000 {
                prop_assert_eq!(crossing(&clusters, &plans), expected(&drawn, &clusters));
            }
        }
    }
}
