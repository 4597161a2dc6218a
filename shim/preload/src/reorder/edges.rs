//! The edges of a node, as `MPI_Dist_graph_create_adjacent` takes them, on their way to
//! the process that gets the node.

use thiserror::Error;

use super::are_absent;
use super::graph::numbers;
use crate::mpi::native::{Native, Requests};
use crate::mpi::{Word, c_int};

/// The tags of lengths and of numbers.
const LENGTHS: c_int = 1;
const NUMBERS: c_int = 2;

/// A message that did not come across.
#[derive(Debug, Error)]
#[error("the edges of a node did not reach its process: error {0}")]
pub struct Lost(c_int);

/// Neighbours and weights, in the program's order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Adjacent {
    sources: Vec<c_int>,
    source_weights: Vec<c_int>,
    destinations: Vec<c_int>,
    destination_weights: Vec<c_int>,
}

impl Adjacent {
    /// What the program says of a node: numbers, neighbours and weights of what comes
    /// in and of what goes out.
    ///
    /// # Safety
    /// The arrays have these lengths, and the lengths are not negative.
    pub unsafe fn read(incoming: [Word; 3], outgoing: [Word; 3]) -> Adjacent {
        let list = |[count, neighbours, weights]: [Word; 3]| {
            let count = usize::try_from(count as c_int).unwrap_or(0);
            // SAFETY: the caller's promise.
            unsafe {
                let weights = match are_absent(weights) {
                    true => &[],
                    false => numbers(weights, count),
                };
                (numbers(neighbours, count).to_vec(), weights.to_vec())
            }
        };
        let (sources, source_weights) = list(incoming);
        let (destinations, destination_weights) = list(outgoing);
        Adjacent {
            sources,
            source_weights,
            destinations,
            destination_weights,
        }
    }

    fn lists(&self) -> [&Vec<c_int>; 4] {
        [
            &self.sources,
            &self.source_weights,
            &self.destinations,
            &self.destination_weights,
        ]
    }

    /// The arguments for the native MPI. Where the node has no weights, because it has no
    /// edges or the graph no weights at all, those of the program stay.
    pub fn arguments(&self, own_ins: Word, own_outs: Word) -> ([Word; 3], [Word; 3]) {
        let address = |list: &Vec<c_int>| list.as_ptr() as Word;
        let weights = |list: &Vec<c_int>, own: Word| match list.is_empty() {
            true => own,
            false => address(list),
        };
        (
            [
                self.sources.len() as Word,
                address(&self.sources),
                weights(&self.source_weights, own_ins),
            ],
            [
                self.destinations.len() as Word,
                address(&self.destinations),
                weights(&self.destination_weights, own_outs),
            ],
        )
    }
}

/// The edges of the node that this process gets: what the process says whose old rank
/// is this one's new rank. Collective over `private`, whose ranks are the old ones.
///
/// # Errors
/// A message that failed.
pub fn exchanged(
    native: &Native,
    private: Word,
    new_rank: &[usize],
    mine: &Adjacent,
) -> Result<Adjacent, Lost> {
    let rank = native
        .rank(private)
        .map_err(|_| Lost(native.abi.err_intern))?;
    let from = new_rank[rank];
    // A permutation: some process gets every node.
    let to = new_rank.iter().position(|&new| new == rank).unwrap_or(rank);
    let lengths: Vec<c_int> = mine.lists().map(|list| list.len() as c_int).to_vec();
    let mut theirs = vec![0; lengths.len()];
    moved(
        native,
        private,
        LENGTHS,
        (to, &lengths),
        (from, &mut theirs),
    )?;
    let all: Vec<c_int> = mine.lists().into_iter().flatten().copied().collect();
    let count = theirs.iter().map(|&length| length as usize).sum();
    let mut numbers = vec![0; count];
    moved(native, private, NUMBERS, (to, &all), (from, &mut numbers))?;
    let mut rest = &numbers[..];
    let mut next = |length: c_int| {
        let (list, others) = rest.split_at(length as usize);
        rest = others;
        list.to_vec()
    };
    Ok(Adjacent {
        sources: next(theirs[0]),
        source_weights: next(theirs[1]),
        destinations: next(theirs[2]),
        destination_weights: next(theirs[3]),
    })
}

/// Sends and receives at the same time.
fn moved(
    native: &Native,
    comm: Word,
    tag: c_int,
    (to, out): (usize, &[c_int]),
    (from, back): (usize, &mut Vec<c_int>),
) -> Result<(), Lost> {
    let bytes = |list: &[c_int]| (size_of_val(list) as c_int, native.byte());
    let (length, byte) = bytes(back);
    let into = (back.as_mut_ptr() as Word, length, byte);
    let (length, byte) = bytes(out);
    let what = (out.as_ptr() as Word, length, byte);
    let mut requests = Requests::default();
    // SAFETY: both buffers outlive the loop below, which ends when both messages are
    // complete; after an error the native MPI is not asked again, and the job is about to
    // fail.
    unsafe {
        let request = native.begin_receive(into, from, tag, comm).map_err(Lost)?;
        requests.push(native, request, 0);
        let request = native.begin_send(what, to, tag, comm).map_err(Lost)?;
        requests.push(native, request, 1);
    }
    while !requests.is_empty() {
        native.test(&mut requests, |_| ()).map_err(Lost)?;
    }
    Ok(())
}
