//! Costs of single messages: those of a measured link, and models of it.

mod message_model;
mod timing;

pub use message_model::{MessageModel, Modelled};
pub use timing::Timing;
