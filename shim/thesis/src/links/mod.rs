//! Costs of single messages: those of a measured link, and models in its place.

mod message_model;
mod timing;

pub use message_model::{MessageModel, Modelled};
pub use timing::Timing;
