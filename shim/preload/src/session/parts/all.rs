//! All parts of Treepie's work in a job.

use super::part::Part;
use super::{collectives, counting, learning, order, pages, ranks};

/// All parts, in the order in which they begin.
pub const PARTS: [&dyn Part; 11] = [
    &ranks::Ranks,
    &ranks::Identities,
    &collectives::Collectives,
    &collectives::Reordering,
    &collectives::SmallPuts,
    &counting::Meeting,
    &counting::Counting,
    &counting::Errors,
    &pages::Pages,
    &order::Order,
    &learning::Learning,
];
