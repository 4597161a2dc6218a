//! Levels inside hosts, as files have them.

use serde::{Deserialize, Serialize};

use crate::Inside;
use treepie_base::list;

/// A level with the group of each rank.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InsideText {
    level: String,
    #[serde(with = "list")]
    groups: Vec<usize>,
}

impl InsideText {
    /// Text of the links inside a host.
    pub fn new(inside: &Inside) -> Self {
        InsideText {
            level: inside.level.clone(),
            groups: inside.group_of_rank.clone(),
        }
    }

    /// The links inside a host that the text describes.
    pub fn build(self) -> Inside {
        Inside {
            level: self.level,
            group_of_rank: self.groups,
        }
    }
}
