//! Heat maps side by side under one colour scale.

use treepie_traffic::Matrix;

use crate::picture::blocks::Block;
use crate::picture::scale::Unit;

/// One heat map.
#[derive(Debug, Clone)]
pub struct Panel {
    /// Title above it.
    pub title: String,
    /// Remarks below it; one line each.
    pub captions: Vec<String>,
    /// The matrix, with senders in rows and receivers in columns, in drawing order.
    pub matrix: Matrix,
    /// Ends of the blocks of the machine.
    pub blocks: Vec<Block>,
}

/// One or two heat maps under one colour scale.
#[derive(Debug, Clone)]
pub struct Picture {
    /// Title at the top.
    pub title: String,
    /// Meaning of a row and a column: `rank`, `process`, `core`.
    pub axis: String,
    /// Unit of the values.
    pub unit: Unit,
    /// The heat maps, from left to right.
    pub panels: Vec<Panel>,
}

impl Picture {
    /// A picture of one matrix in the order of the ranks.
    pub fn by_rank(title: String, unit: Unit, contents: String, matrix: Matrix) -> Self {
        Picture {
            title,
            axis: "rank".to_owned(),
            unit,
            panels: vec![Panel {
                title: contents,
                captions: Vec::new(),
                matrix,
                blocks: Vec::new(),
            }],
        }
    }
}
