//! One description of each algorithm, from which all readings follow: plans that are run, checked,
//! simulated and exported, and the traffic that a profile shows.
//!
//! ```text
//!   table.rs       one line for each algorithm: name, operations, requirements, description
//!   by_rank/       algorithms over ranks, those of MPI libraries among them
//!   by_cluster/    algorithms over clusters (LaPIe)
//!   by_neighbour/  algorithms over the neighbours of a topology
//!   trees.rs       shapes of trees, and the flow along them, for both
//! ```
//!
//! # Adding an algorithm
//!
//! A broadcast along two chains, as an example: even ranks form one, odd ranks the other. One file,
//! with its drawing on top, `by_rank/two_chains.rs` (and `mod two_chains;` in `by_rank/mod.rs`):
//!
//! ```ignore
//! //! root --> 1 --> 3 --> 5
//! //!   `----> 2 --> 4 --> 6
//! pub fn broadcast(problem: &Problem, rank: usize, steps: &mut dyn Steps) {
//!     let place = problem.place(rank);                        // distance from the root
//!     let data = Range::output(0, problem.block(rank));
//!     let next = |place: usize| problem.after(problem.root, place);
//!     for segment in steps.segments(data) {
//!         if place > 0 {
//!             steps.receive_segment(next(place.saturating_sub(2)), segment);
//!         }
//!         for child in if place == 0 { 1..3 } else { place + 2..place + 3 } {
//!             if child < problem.ranks() {
//!                 steps.send_segment(next(child), segment);
//!             }
//!         }
//!     }
//! }
//! ```
//!
//! and one line in the table:
//!
//! ```ignore
//! row("two-chains", &[Bcast], two_chains::broadcast),
//! ```
//!
//! No other change is needed. The algorithm is then
//!
//! * checked, for 1 to 40 ranks and every root (`cargo test -p treepie-collective tests`);
//! * the traffic of its plans in profiles (`treepie-native, traffic::tests::as_run`);
//! * predicted: `treepie predict PLATFORM --collective bcast --bytes 1M`;
//! * a model of traffic: `treepie show app.profile.yaml --layer collectives --model two-chains`;
//! * run: `TREEPIE_MODE=replay TREEPIE_COLLECTIVES=bcast=two-chains`.
//!
//! The choice (`auto`) considers it with `priced()` on its line (by its description, if it is an
//! algorithm by rank) or `estimated(...)` (by a formula of the loads of links); requirements belong
//! in `requires(...)`, and are printed if a call does not meet them. An algorithm that a native MPI
//! uses is named in its decision table (`native/`).

pub(crate) mod algorithm;
pub(crate) mod by_cluster;
pub(crate) mod by_neighbour;
pub(crate) mod by_rank;
pub(crate) mod requirement;
pub(crate) mod table;
pub(crate) mod trees;

pub use algorithm::{Algorithm, Cut, Describe, Description, Effort, Price, Scope, Symmetry};
pub use by_cluster::between::{Between, costs};
pub use by_cluster::inside::shapes;
pub use by_neighbour::own::blocks as blocks_of_neighbours;
pub use by_neighbour::relay::ways as ways_of_block;
pub use requirement::Requirement;
pub use table::TABLE;
pub use trees::Shape;
