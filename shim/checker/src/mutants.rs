//! Descriptions with one altered step: the checker detects each.

use crate::flaw::Flaw;
use crate::proof::check;
use treepie_collective::{
    Algorithm, Amount, Builder, Clusters, Flow, Operation, Plan, Problem, Range, Steps,
};

/// Alteration of one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spoil {
    /// Omits it.
    LeftOut,
    /// Replaces the peer of a message by the next rank, or swaps the operands.
    Elsewhere,
    /// Removes one unit.
    Shorter,
}

/// Forwards the steps of a description, with one of them altered.
struct Mutant<'a> {
    steps: &'a mut dyn Steps,
    ranks: usize,
    at: usize,
    spoil: Spoil,
    written: usize,
    /// True if the mutation applied to a step.
    hit: bool,
}

impl Mutant<'_> {
    /// True if the next step is to be altered.
    fn spoils(&mut self, can: bool) -> bool {
        self.written += 1;
        let hit = self.written == self.at + 1 && can;
        self.hit |= hit;
        hit
    }

    fn message(&mut self, partner: usize, range: Range) -> Option<(usize, Range)> {
        let can = range.length > 0 && (self.spoil != Spoil::Elsewhere || self.ranks > 2);
        match (self.spoils(can), self.spoil) {
            (false, _) => Some((partner, range)),
            (true, Spoil::LeftOut) => None,
            (true, Spoil::Elsewhere) => Some(((partner + 1) % self.ranks, range)),
            (true, Spoil::Shorter) => Some((partner, range.part(0, range.length - 1))),
        }
    }
}

impl Steps for Mutant<'_> {
    fn flow(&self) -> Flow {
        self.steps.flow()
    }

    fn scratch(&mut self, length: u64) -> Range {
        self.steps.scratch(length)
    }

    fn send_segment(&mut self, to: usize, data: Range) {
        if let Some((to, data)) = self.message(to, data) {
            self.steps.send_segment(to, data);
        }
    }

    fn receive_segment(&mut self, from: usize, into: Range) {
        if let Some((from, into)) = self.message(from, into) {
            self.steps.receive_segment(from, into);
        }
    }

    fn reduce_segment(&mut self, left: Range, right: Range) {
        match (self.spoils(self.spoil == Spoil::LeftOut), self.spoil) {
            (true, Spoil::LeftOut) => (),
            _ => self.steps.reduce_segment(left, right),
        }
    }

    fn copy_segment(&mut self, from: Range, into: Range) {
        match (self.spoils(self.spoil == Spoil::LeftOut), self.spoil) {
            (true, Spoil::LeftOut) => (),
            _ => self.steps.copy_segment(from, into),
        }
    }

    fn await_signal(&mut self, from: usize) {
        match self.spoils(self.spoil == Spoil::LeftOut) {
            true => (),
            false => self.steps.await_signal(from),
        }
    }

    fn fence(&mut self) {
        self.steps.fence();
    }

    fn one_by_one(&mut self) {
        self.steps.one_by_one();
    }

    fn last_step(&self) -> Option<u32> {
        self.steps.last_step()
    }
}

/// Verdict on the plans of all ranks with one step of `rank` altered; `None` if there is no such
/// step.
fn verdict(
    problem: &Problem,
    algorithm: &Algorithm,
    rank: usize,
    at: usize,
    spoil: Spoil,
) -> Option<Result<(), Flaw>> {
    let ranks = problem.ranks();
    let (mut hit, mut written) = (false, 0);
    let plans: Vec<Plan> = (0..ranks)
        .map(|of| match of == rank {
            false => algorithm.plan(problem, of, 2),
            true => Builder::plan(problem.flow(Flow::from(2)), |steps| {
                let mut mutant = Mutant {
                    steps,
                    ranks,
                    at,
                    spoil,
                    written: 0,
                    hit: false,
                };
                algorithm.describe(problem).read(of, &mut mutant);
                (hit, written) = (mutant.hit, mutant.written);
            }),
        })
        .collect();
    if at >= written {
        return None;
    }
    let problems = vec![problem.clone(); ranks];
    Some(if hit {
        check(&problems, &plans)
    } else {
        Err(Flaw::Barrier)
    })
}

#[test]
fn no_message_of_an_algorithm_can_be_left_out_go_elsewhere_or_be_shorter() {
    let clusters = Clusters::new(&[0, 1, 0, 0, 1]);
    let amount = Amount::Each(5);
    let mut harmless = Vec::new();
    for operation in Operation::all().filter(|operation| operation.has_equal_blocks()) {
        let problem = Problem {
            operation,
            root: operation.has_root().into(),
            amount: &amount,
            clusters: &clusters,
            ordered: false,
            network: None,
            unit_bytes: 1,
        };
        for algorithm in Algorithm::of(operation).filter(|known| known.serves(&problem)) {
            for spoil in [Spoil::LeftOut, Spoil::Elsewhere, Spoil::Shorter] {
                for rank in [0, 2] {
                    for at in 0.. {
                        match verdict(&problem, algorithm, rank, at, spoil) {
                            None => break,
                            Some(Err(_)) => (),
                            Some(Ok(())) => {
                                harmless.push(format!("{operation} {} {rank}", algorithm.name));
                            }
                        }
                    }
                }
            }
        }
    }
    // Sums and copies of the last round, and of later ranks, that are never read.
    harmless.dedup();
    let expected = [
        "scan recursive-doubling 0",
        "scan recursive-doubling 2",
        "scan grid-gather 0",
        "scan grid-gather 2",
        "exscan recursive-doubling 0",
        "exscan recursive-doubling 2",
        "exscan hillis-steele 2",
        "exscan grid-gather 0",
        "exscan grid-gather 2",
    ];
    assert_eq!(harmless, expected);
}
