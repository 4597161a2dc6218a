//! Levels inside hosts, as files have them.

use serde::{Deserialize, Serialize};

use crate::files::list;
use crate::platform::Inside;

/// A level with the group of each rank.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::files) struct InsideText {
    level: String,
    #[serde(with = "list")]
    groups: Vec<usize>,
}

impl InsideText {
    pub(in crate::files) fn new(inside: &Inside) -> Self {
        InsideText {
            level: inside.level.clone(),
            groups: inside.group_of_rank.clone(),
        }
    }

    pub(in crate::files) fn build(self) -> Inside {
        Inside {
            level: self.level,
            group_of_rank: self.groups,
        }
    }
}
