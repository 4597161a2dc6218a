//! Orders between clusters beyond those that the product takes.

mod exhaustive;
mod monte_carlo;

pub use exhaustive::{MOST_CLUSTERS, optimum};
pub use monte_carlo::{GAP, INSIDE, LATENCY, Outcome, Results, Study};
