//! The book under `docs/`, which the command brings along: its pages as plain text, for a terminal
//! and for manual pages.
#![forbid(unsafe_code)]

mod page;
mod render;
mod table;

pub use page::{PAGES, Page};
