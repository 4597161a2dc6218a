//! Orders between clusters that the product does not use.

mod exhaustive;
mod monte_carlo;

pub use exhaustive::{MOST_CLUSTERS, optimum};
pub use monte_carlo::{GAP, INSIDE, LATENCY, Outcome, Results, Study};
