//! One-sided communication, by window and kind of epoch.

pub(crate) mod judged;
mod summary;

pub use crate::windows::judged::judgement::{Judgement, judge};
pub use summary::{table, text};
