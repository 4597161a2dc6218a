//! MPICH's collective selection: two texts in JSON that are part of the library, and that files can
//! replace. One has the algorithms; the other, of its device `ch4`, the compositions, which divide
//! a call over hosts before that (`src/mpi/coll/src/csel.c`, `maint/tuning/coll/`).
//!
//! A file must have all operations as this very library has them: a missing one ends the job. So
//! the library's texts are copied, with conditions added around the measured calls.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::knobs::knob::Knob;
use crate::tuning::rules::steps::Step;
use treepie_base::{input, open};
use treepie_collective::Operation;

/// Conditions in order, each with its contents if it is met; a leaf names the choice.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
struct Tree(IndexMap<String, Tree>);

/// Collective selection of one library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    algorithms: Tree,
    compositions: Tree,
    /// Algorithms that the library knows in such a text.
    known: BTreeSet<String>,
}

/// Maximum size of a library in bytes.
const LARGEST: u64 = 1 << 30;

/// Beginning of such a text, and of the names in it.
const TEXT: &[u8] = b"{\"collective=";
const ALGORITHM: &str = "algorithm=MPIR_";
const COMPOSITION: &str = "composition=";

impl Selection {
    /// Reads the selection in a library's file, if it can be read and has one: it may be of another
    /// MPI, or of a version with another format.
    pub fn of_library(path: &Path) -> Option<Selection> {
        Selection::in_bytes(&input::to_the_end(open(path).ok()?, LARGEST).ok()?)
    }

    /// Reads the selection in the bytes of such a file.
    pub fn in_bytes(bytes: &[u8]) -> Option<Selection> {
        let (mut algorithms, mut compositions) = (None, None);
        let mut known = BTreeSet::new();
        for text in bytes.split(|byte| *byte == 0) {
            if text.starts_with(ALGORITHM.as_bytes()) {
                known.extend(String::from_utf8(text.to_vec()));
            }
            if !text.starts_with(TEXT) {
                continue;
            }
            let Ok(tree) = serde_json::from_slice::<Tree>(text) else {
                continue;
            };
            match tree.last_leaf() {
                Some(leaf) if leaf.starts_with(ALGORITHM) => algorithms = Some(tree),
                Some(leaf) if leaf.starts_with(COMPOSITION) => compositions = Some(tree),
                _ => {}
            }
        }
        Some(Selection {
            algorithms: algorithms?,
            compositions: compositions?,
            known,
        })
    }

    /// True if a file can name `knob`.
    pub(super) fn can_say(&self, knob: &Knob) -> bool {
        // It needs a library for GPUs, whose name would be a parameter.
        knob.is_algorithm() && knob.name != "ccl" && self.known.contains(&full_name(knob))
    }

    /// Sets the algorithms for an operation from `sizes`, which has the steps of each size of
    /// communicator.
    pub(super) fn set(&mut self, operation: Operation, sizes: &BTreeMap<usize, Vec<Step>>) {
        let collective = format!("collective={}", operation.to_string().replace('-', "_"));
        let algorithm = |knob: &Knob| Tree::of(&[&full_name(knob)], parameters(knob));
        self.algorithms.around(&collective, sizes, algorithm);
        // The choice for an unknown communicator is not divided over hosts.
        let undivided = self
            .compositions
            .0
            .get(&collective)
            .and_then(Tree::last_leaf);
        if let Some(name) = undivided.map(str::to_owned) {
            let whole = |_: &Knob| Tree::of(&[&name], Tree::default());
            self.compositions.around(&collective, sizes, whole);
        }
    }

    /// Returns the texts of files: of algorithms, and of compositions.
    pub(super) fn texts(&self) -> [String; 2] {
        [&self.algorithms, &self.compositions].map(Tree::text)
    }
}

impl Tree {
    /// Nests conditions.
    fn of(conditions: &[&str], within: Tree) -> Tree {
        let conditions = conditions.iter().rev();
        conditions.fold(within, |within, condition| {
            Tree([((*condition).to_owned(), within)].into())
        })
    }

    /// Returns the name in the last leaf, which applies if no condition is met.
    fn last_leaf(&self) -> Option<&str> {
        let (name, below) = self.0.last()?;
        match name.starts_with(ALGORITHM) || name.starts_with(COMPOSITION) {
            true => Some(name),
            false => below.last_leaf(),
        }
    }

    fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Adds conditions around the choice for an operation inside one group of ranks.
    fn around(
        &mut self,
        collective: &str,
        sizes: &BTreeMap<usize, Vec<Step>>,
        leaf: impl Fn(&Knob) -> Tree,
    ) {
        const INTRA: &str = "comm_type=intra";
        let Some(all) = self.0.get_mut(collective) else {
            return;
        };
        if let Some(old) = all.0.get_mut(INTRA) {
            *old = by_ranks(old, sizes, leaf);
        } else {
            let mut tree = Tree::of(&[INTRA], by_ranks(all, sizes, leaf));
            tree.0.insert("comm_type=inter".to_owned(), all.clone());
            *all = tree;
        }
    }
}

/// Returns `old`, with changes for communicators of the sizes that have steps.
fn by_ranks(old: &Tree, sizes: &BTreeMap<usize, Vec<Step>>, leaf: impl Fn(&Knob) -> Tree) -> Tree {
    let (mut tree, mut told) = (Tree::default(), 0);
    for (ranks, steps) in sizes {
        if *ranks > told + 1 {
            let below = format!("comm_size<={}", ranks - 1);
            tree.0.insert(below, old.clone());
        }
        let own = by_bytes(old, *ranks, steps, &leaf);
        tree.0.insert(format!("comm_size<={ranks}"), own);
        told = *ranks;
    }
    tree.0.insert("comm_size=any".to_owned(), old.clone());
    tree
}

/// Largest number in a condition.
const MOST: u64 = i32::MAX as u64;

/// Returns conditions on the total bytes of all ranks, which each operation that is selected by
/// bytes has.
fn by_bytes(old: &Tree, ranks: usize, steps: &[Step], leaf: &impl Fn(&Knob) -> Tree) -> Tree {
    let chosen = |knob: &Option<Knob>| match knob {
        Some(knob) => where_it_can(knob, leaf(knob), old),
        None => old.clone(),
    };
    let total = |bytes: u64| bytes.saturating_mul(ranks as u64);
    let mut tree = Tree::default();
    for pair in steps.windows(2) {
        let until = total(pair[1].0).min(MOST);
        let key = format!("total_msg_size<{until}");
        tree.0.entry(key).or_insert_with(|| chosen(&pair[0].1));
    }
    // A step that cannot be distinguished from larger calls is left unchanged.
    let last = steps.last().filter(|step| total(step.0) < MOST);
    let last = last.map_or_else(|| old.clone(), |step| chosen(&step.1));
    match tree.0.is_empty() {
        true => last,
        false => {
            tree.0.insert("total_msg_size=any".to_owned(), last);
            tree
        }
    }
}

/// Returns `leaf` if the algorithm is not replaced, otherwise `old`: the choices in such a file are
/// run without a check of the arguments.
fn where_it_can(knob: &Knob, leaf: Tree, old: &Tree) -> Tree {
    use Operation::*;
    let or = |first: (&str, Tree), second: (&str, Tree)| {
        let named = |(condition, below): (&str, Tree)| (condition.to_owned(), below);
        Tree([first, second].map(named).into())
    };
    let old = || old.clone();
    let tree = match knob.reorders() {
        true => or(("is_commutative=yes", leaf), ("is_commutative=no", old())),
        false => leaf,
    };
    match (knob.operation, knob.name) {
        (Allreduce, "reduce_scatter_allgather") | (Reduce, "reduce_scatter_gather") => {
            let tree = or(("count<pow2", old()), ("count=any", tree));
            or(("is_op_built_in=yes", tree), ("is_op_built_in=no", old()))
        }
        (Scan, "smp") => or(
            ("is_node_consecutive=yes", tree),
            ("is_node_consecutive=no", old()),
        ),
        (_, "smp") => or(
            ("comm_hierarchy=parent", tree),
            ("comm_hierarchy=any", old()),
        ),
        (ReduceScatter, "noncommutative") => or(
            ("is_block_regular=yes", tree),
            ("is_block_regular=no", old()),
        ),
        (Alltoall | Alltoallv | Alltoallw, _) => or(
            ("is_sendbuf_inplace=no", tree),
            ("is_sendbuf_inplace=yes", old()),
        ),
        _ => tree,
    }
}

/// Returns the name of an algorithm there.
fn full_name(knob: &Knob) -> String {
    let mut operation = knob.operation.to_string().replace('-', "_");
    operation[..1].make_ascii_uppercase();
    let kind = match knob.name {
        "nb" | "linear" => "allcomm",
        _ => "intra",
    };
    format!("{ALGORITHM}{operation}_{kind}_{}", knob.name)
}

/// Returns the parameters that an algorithm requires, with the default values of its variables,
/// with which it was measured (`MPIR_CVAR_...`, versions 4.1 to 5.0).
fn parameters(knob: &Knob) -> Tree {
    use Operation::*;
    const TOPOLOGY: &str = "topo_overhead=200 topo_diff_groups=2800 topo_diff_switches=1900 \
                            topo_same_switches=1600";
    let words = match (knob.operation, knob.name) {
        (Bcast, "tree") => format!("tree_type=kary k=2 is_non_blocking=1 {TOPOLOGY}"),
        (Bcast, "pipelined_tree") => {
            "tree_type=kary k=2 is_non_blocking=1 chunk_size=8192 recv_pre_posted=0".to_owned()
        }
        (Allreduce, "tree") => {
            format!("tree_type=knomial_1 k=2 chunk_size=0 buffer_per_child=0 {TOPOLOGY}")
        }
        (_, name) if name.starts_with("k_") || name.starts_with("rec") => {
            "k=2 single_phase_recv=0".to_owned()
        }
        _ => String::new(),
    };
    let words = words.split_whitespace();
    Tree(
        words
            .map(|word| (word.to_owned(), Tree::default()))
            .collect(),
    )
}
