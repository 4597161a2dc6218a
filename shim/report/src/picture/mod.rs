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

pub(crate) mod axis;
pub(crate) mod blocks;
mod canvas;
pub(crate) mod chart;
pub(crate) mod dots;
mod draw;
pub(crate) mod fabric;
mod font;
pub(crate) mod gantt;
mod grid;
mod layout;
pub(crate) mod network;
pub(crate) mod panels;
pub(crate) mod scale;
pub(crate) mod theme;
mod titles;
pub(crate) mod tree;
pub(crate) mod waits;
pub(crate) mod write;

pub use axis::Axis;
pub use blocks::{Block, blocks_of};
pub use chart::{Chart, Series, Style};
pub use dots::DotRow;
pub use fabric::{Fabric, Line as FabricLine, Part as FabricPart, Point as FabricPoint};
pub use gantt::{Bar, Gantt};
pub use network::{Edge, Network, Overview};
pub use panels::{Panel, Picture};
pub use scale::Unit;
pub use tree::{Loads, MachineTree};
pub use waits::{Graph, Node};
pub use write::{Drawing, Format, svg, write_drawing};
