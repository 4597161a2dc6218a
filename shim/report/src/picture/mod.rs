//! Matrices as pictures: heat maps side by side under one colour scale, with
//! the blocks of the machine drawn over them.
//!
//! ```text
//!              title
//!     panel title      panel title
//!    +-----------+    +-----------+   +-+ 16 MiB
//!  r |           |  r |           |   | |
//!  o | heat map  |  o | heat map  |   | | colour bar
//!  w |           |  w |           |   | |
//!    +-----------+    +-----------+   +-+ 1 KiB
//!       column           column
//!       caption          caption
//! ```

mod axis;
mod blocks;
mod canvas;
mod chart;
mod dots;
mod draw;
mod fabric;
mod font;
mod gantt;
mod grid;
mod layout;
mod network;
mod scale;
mod tree;
mod waits;
mod write;

use treepie_traffic::Matrix;

pub use axis::Axis;
pub use blocks::{Block, blocks_of};
pub use chart::{Chart, Series, Style};
pub(crate) use dots::Dots;
pub use dots::Row;
pub(crate) use dots::Strip;
pub use fabric::{Fabric, Line as FabricLine, Part as FabricPart, Point as FabricPoint};
pub use gantt::{Bar, Gantt};
pub use network::{Edge, Network, Overview};
pub use scale::Unit;
pub use tree::{Loads, MachineTree};
pub(crate) use waits::Arrow;
pub use waits::{Graph, Node};
pub use write::{Drawing, Format, svg, write_drawing};

/// One heat map.
#[derive(Debug, Clone)]
pub struct Panel {
    /// Contents, above it.
    pub title: String,
    /// Remarks below it; one line each.
    pub captions: Vec<String>,
    /// Rows send, columns receive, in the order in which they are drawn.
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
    /// One matrix in the order of the ranks.
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
