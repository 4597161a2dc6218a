//! Plan of one rank in a collective: steps on ranges of its buffers.

mod acknowledged;
pub(crate) mod builder;
pub(crate) mod counted;
pub(crate) mod dependencies;
mod hazards;
pub(crate) mod one_to_many;
pub(crate) mod range;
pub(crate) mod step;

pub use acknowledged::is_acknowledged;
pub use builder::Builder;
pub use dependencies::Dependencies;
pub use one_to_many::one_to_many;
pub use range::{Range, Space};
pub use step::{Action, Plan, Step};
