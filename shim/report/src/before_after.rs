//! Traffic before and after, drawn in the order of the cores.

use treepie_base::{Leaf, Rank};
use treepie_launch::error::CommandError;
use treepie_placement::NetworkNodes;
use treepie_placement::objective::hop_bytes;
use treepie_topology::Topology;
use treepie_traffic::Matrix;

use super::levels::{Crossing, Situation, caption};
use super::units;
use crate::picture::blocks::blocks_of;
use crate::picture::panels::{Panel, Picture};
use crate::picture::scale::Unit;

/// Picture of a job before and after a placement.
pub struct BeforeAfter<'a> {
    /// The title of the picture.
    pub title: String,
    /// The titles of the two halves.
    pub names: (String, String),
    /// The machine, whose blocks are drawn.
    pub topology: &'a Topology,
    /// Positions of its nodes on a network that is not a tree; distances are then those of the
    /// network.
    pub network: Option<&'a NetworkNodes>,
    /// Unit of the traffic.
    pub unit: Unit,
}

impl BeforeAfter<'_> {
    /// Draws both situations. Row `i` of both halves is the process on the `i`-th core in use: only
    /// the ranks change.
    ///
    /// # Errors
    /// The leaves do not fit the matrix.
    pub fn pair(
        &self,
        before: Situation,
        after: Situation,
        crossings: &[Crossing],
    ) -> Result<Picture, CommandError> {
        let bytes_before = |crossing: &Crossing| crossing.bytes_before;
        let bytes_after = |crossing: &Crossing| crossing.bytes_after;
        let panels = [
            self.panel(&self.names.0, before, crossings, bytes_before)?,
            self.panel(&self.names.1, after, crossings, bytes_after)?,
        ];
        Ok(Picture {
            title: self.title.clone(),
            axis: "process".to_owned(),
            unit: self.unit,
            panels: panels.into(),
        })
    }

    /// Draws one situation alone, under the first of the names.
    ///
    /// # Errors
    /// The leaves do not fit the matrix.
    pub fn single(&self, now: Situation, crossings: &[Crossing]) -> Result<Picture, CommandError> {
        let panel = self.panel(&self.names.0, now, crossings, |crossing| {
            crossing.bytes_before
        })?;
        Ok(Picture {
            title: self.title.clone(),
            axis: "process".to_owned(),
            unit: self.unit,
            panels: vec![panel],
        })
    }

    fn panel(
        &self,
        title: &str,
        situation: Situation,
        crossings: &[Crossing],
        bytes: impl Fn(&Crossing) -> f64,
    ) -> Result<Panel, CommandError> {
        let whole: f64 = crossings.iter().map(&bytes).sum();
        let mut captions = Vec::new();
        if let Some(top) = crossings.first() {
            captions.push(caption(top, bytes(top), whole, self.unit));
        }
        let (name, cost) = match self.network {
            None => ("DistComm", situation.dist_comm(self.topology)),
            Some(nodes) => {
                let Situation {
                    matrix,
                    leaf_of_rank,
                } = situation;
                let cost = hop_bytes(matrix, self.topology, nodes, leaf_of_rank);
                ("bytes x links", cost)
            }
        };
        captions.push(format!("{name} {}", units::count(cost.round())));
        let (matrix, leaves) = in_core_order(situation)?;
        Ok(Panel {
            title: title.to_owned(),
            captions,
            matrix,
            blocks: blocks_of(self.topology, &leaves),
        })
    }
}

/// The matrix with its rows in the order of the cores, and the cores.
fn in_core_order(situation: Situation) -> Result<(Matrix, Vec<Leaf>), CommandError> {
    let leaf_of_rank = situation.leaf_of_rank;
    let mut order: Vec<Rank> = leaf_of_rank.keys().collect();
    order.sort_by_key(|&rank| (leaf_of_rank[rank], rank));
    let leaves = order.iter().map(|&rank| leaf_of_rank[rank]).collect();
    let mut row_of_rank = vec![0; order.len()];
    for (row, rank) in order.into_iter().enumerate() {
        row_of_rank[rank.0] = row;
    }
    Ok((situation.matrix.renumbered(&row_of_rank)?, leaves))
}
