//! The pure half of Treepie: matrices, trees, placements and files.
//!
//! ```
//! use treepie_core::affinity::Matrix;
//! use treepie_core::placement::{Options, Strategy, place};
//! use treepie_core::topology::Topology;
//!
//! // Four ranks: 0 communicates with 2, and 1 with 3. Two nodes of two cores.
//! let matrix = Matrix::from_entries(4, [(0, 2, 8e6), (2, 0, 8e6), (1, 3, 8e6), (3, 1, 8e6)])?;
//! let machine = Topology::from_arities("2:2")?;
//!
//! let placed = place(Strategy::Best, &matrix, &machine, &Options::default())?;
//!
//! // Ranks that communicate share a node: no byte crosses the network any more.
//! let node = |rank: usize| machine.ancestor(placed.placement.leaf_of_rank[rank], 1);
//! assert_eq!((node(0), node(1)), (node(2), node(3)));
//! assert_eq!((placed.identity_cost, placed.cost), (64e6, 32e6));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nothing in this crate depends on MPI, reads the environment, keeps global state
//! or contains unsafe code. A folder may import those below it, and none above it:
//!
//! ```text
//! files       what is read and written: profiles, placements, platforms, configurations
//! tuning      which of a native MPI's own algorithms is the quickest, and how it is told
//! guard       whether a plan takes the place of a native collective, decided while the job runs
//! checkpoint  waves of checkpoints in simulation: what they would cost a job
//! collective  one description of each algorithm, and its readings; the choice among them
//! one_sided   small writes to a target's memory, joined, and what they cost
//! learning    what earlier runs of an application say of its next one
//! supervision how an attempt to run a job ended, and what follows
//! placement   TreeMatch and other strategies, constraints, objectives, bounds
//! proof       which of two ways is quicker: sequential tests of paired times
//! platform    pLogP parameters, logical clusters, probing
//! topology    where ranks can be: trees and networks
//! affinity    traffic between ranks: the sparse matrix, measures, formats
//! cut         all ranks stopped where no message is under way
//! waits       why a job hangs: who waits for whom
//! order       the order of receives, recorded and replayed
//! ```
//!
//! # Glossary
//!
//! Names are those of the MPI standard or of the literature, each in one sense.
//!
//! | word | sense |
//! |---|---|
//! | native (MPI); family | the MPI library underneath; those that decide alike: Open MPI, MPICH |
//! | host, node | a machine; `node` is also the name of that level of a topology |
//! | rank | number of a process in a communicator |
//! | native rank, process | number of a process in the launcher's world |
//! | permutation | the new rank of each native rank |
//! | topology, level, leaf | a tree of hardware; its nodes of one depth; a processing unit |
//! | slot | takes one rank; a leaf has one or several |
//! | failure domain | what fails at once: a host, a rack, a cluster |
//! | page | what a rank is doing, in a file in memory that outlives it |
//! | look; double collect | a reading of all pages; two: what is alike in both is a consistent cut |
//! | order | what receives with wildcards, probes and polls of a run gave |
//! | match; posting order | the message that a receive takes; the order in which receives begin |
//! | replay (of an order) | a run in which these give the same |
//! | wave | an attempt to stop all ranks at a quiet cut |
//! | quiet cut | nothing sent is not received, and nobody is inside a collective |
//! | wait-for graph | who waits for all, or any, of whom |
//! | poll | a call that comes back at once, done or not: `MPI_Test`, `MPI_Iprobe` |
//! | allocation | the hosts and cores that a job was given |
//! | rank file | a launcher's own file that maps ranks to hosts and cores |
//! | affinity | a number for a pair of ranks: messages, bytes, or bytes a message |
//! | layer | kind of traffic: point-to-point, collectives, one-sided, neighbourhood |
//! | profile; partial profile | traffic and calls of a run; the file of one rank |
//! | phase, phase interval | a part of a run; its length (a *window* is `MPI_Win`) |
//! | strategy | how a placement is computed |
//! | hop-bytes (DistComm) | sum over pairs of affinity times distance: the objective of TreeMatch |
//! | maximum link load | congestion: the largest load of a link of the tree |
//! | coarsen, initial mapping, refine | the phases of multilevel mapping |
//! | remap | fit a placement to other hosts of the same shape |
//! | sparsify | drop the entries of a dense matrix that do not decide a placement |
//! | platform | clusters, hosts and the pLogP parameters of their links |
//! | latency, gap, overhead | the parameters of pLogP and LogGP; `g(m)` is the gap of a size |
//! | eager limit, rendezvous | the size from which a message waits for its receiver |
//! | handshake | extra time of an isolated message beyond `L + g(m)` |
//! | bandwidth-delay product | bytes that fill a path |
//! | uplink, downlink | a cluster's access links |
//! | initiator, responder, echo | roles of ranks in a probe |
//! | measured, predicted, modelled | by a clock; by a cost model; derived from an algorithm |
//! | collective | the operation: `MPI_Bcast`, `MPI_Allreduce`, ... |
//! | algorithm | how a collective is done |
//! | description | the one text of an algorithm; plan, traffic, cost and check are readings of it |
//! | plan, step | one rank's sends, receives, reductions and copies |
//! | dependency, successor | the order between steps |
//! | segment; block; element | part of a message; one rank's contribution; a counted item |
//! | scratch buffer | temporary memory of a plan |
//! | leader; root cluster | acts for a cluster or host; the cluster of the root |
//! | round, round-robin | lock-step stage; cyclic order |
//! | synchronization message | a message of zero bytes |
//! | path; direction | the links of a route; send or receive |
//! | lower bound; makespan | proven minimum of a time; end of the last step |
//! | candidate, challenger | what a guard may try; that with a prediction |
//! | decision table, selector | rule of a native MPI from sizes to algorithms |
//! | fallback | the native collective instead of a plan |
//! | settings | what the user configured, see [`files::configuration`] |
//! | decision | what all ranks of a job adopted |
//! | abnormal exit | the end of a process without `MPI_Finalize` |
//! | wave; cut | coordinated checkpoints of all ranks; the states that they save |
//! | image; checkpoint server | what is saved of a rank; where it is stored |
//! | blocking, non-blocking (wave) | ranks stop until the wave is complete, or go on meanwhile |
//! | determinant; event logger | record of a receive for its replay; what stores those |
//! | attempt; progress | a run of a supervised job; a new checkpoint of the application's |
//!
//! Constructors are `new`, `from_x` or `for_x`; `initial_x` are starting values. Public names that
//! changed are in [`files::old_names`].
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))] // a test may panic

pub mod affinity;
pub mod checkpoint;
pub mod collective;
pub mod cut;
pub mod files;
pub mod guard;
pub mod learning;
pub mod one_sided;
pub mod order;
pub mod placement;
pub mod platform;
pub mod proof;
pub mod supervision;
pub mod topology;
pub mod tuning;
pub mod waits;
