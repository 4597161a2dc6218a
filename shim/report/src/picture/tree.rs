//! The tree of a machine, with the traffic over each of its links.
//!
//! ```text
//!                 [ network ]
//!                /           \        between nodes
//!          [ node 0 ]     [ node 1 ]  322 KiB, 33.4 %
//!           /      \       /      \   between cores
//!          0        2     1        3  640 KiB, 66.5 %
//! ```

use plotters::prelude::DrawingBackend;
use plotters::style::RGBColor;
use plotters::style::text_anchor::HPos;
use treepie_base::{Leaf, List};
use treepie_topology::Topology;

use super::canvas::{Canvas, Drawn, GREY, Lettering};
use super::scale::{Scale, Unit};
use super::write::Drawing;

/// Maximum number of nodes in a row whose links can be distinguished.
const MOST_NODES: usize = 128;

const WIDTH: i32 = 1900;
const MARGIN: i32 = 40;
/// Width of the words beside the tree.
const WORDS: i32 = 470;
const TITLE_HEIGHT: i32 = 80;
const HALF_TITLE: i32 = 60;
const LEVEL_HEIGHT: i32 = 150;
const LEAF_HEIGHT: i32 = 60;
const LEGEND_HEIGHT: i32 = 90;
/// Height of the box of a node.
const BOX: i32 = 44;
/// Height of the smallest legible letters.
const SMALLEST: f64 = 16.0;
/// Approximate width of a letter, as a fraction of its height.
const LETTER: f64 = 0.56;

const IDLE: RGBColor = RGBColor(205, 205, 205);
const NODE: RGBColor = RGBColor(222, 235, 247);
const EDGE: RGBColor = RGBColor(140, 140, 140);

const TITLE: Lettering = Lettering::strong(42.0);
const TEXT: Lettering = Lettering::plain(27.0);
const BESIDE: Lettering = Lettering {
    anchor: HPos::Left,
    ..TEXT
};

/// One state of the traffic.
#[derive(Debug, Clone)]
pub struct Loads {
    /// Its title.
    pub title: String,
    /// The load of the link above every node: element `d` has those of the nodes
    /// at depth `d + 1`.
    pub of_link: Vec<Vec<f64>>,
    /// Labels of the leaves: their ranks.
    pub on_leaf: List<Leaf, String>,
    /// For each level from the root, the traffic that turns there: two lines.
    pub beside: Vec<(String, String)>,
}

/// The tree of a machine, once for each state, one below the other.
#[derive(Debug, Clone)]
pub struct MachineTree {
    /// Title.
    pub title: String,
    /// Unit of the loads.
    pub unit: Unit,
    /// The tree.
    pub topology: Topology,
    /// The states, from top to bottom.
    pub states: Vec<Loads>,
}

impl Drawing for MachineTree {
    fn size(&self) -> (u32, u32) {
        let states = self.states.len() as i32 * self.state_height();
        let height = MARGIN + TITLE_HEIGHT + states + LEGEND_HEIGHT;
        (WIDTH as u32, height as u32)
    }

    fn draw_on<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Drawn {
        canvas.clear()?;
        canvas.text(&self.title, (WIDTH / 2, MARGIN + 8), TITLE)?;
        let scale = self.scale();
        for (number, state) in self.states.iter().enumerate() {
            let top = MARGIN + TITLE_HEIGHT + number as i32 * self.state_height();
            self.draw_state(state, top, scale.as_ref(), canvas)?;
        }
        match scale {
            Some(scale) => self.draw_legend(&scale, canvas),
            None => Ok(()),
        }
    }
}

impl MachineTree {
    /// The deepest level that is drawn.
    fn shown(&self) -> usize {
        let few = |&depth: &usize| self.topology.node_count(depth) <= MOST_NODES;
        let depths = 1..=self.topology.depth();
        depths.take_while(few).last().unwrap_or(0)
    }

    fn state_height(&self) -> i32 {
        HALF_TITLE + BOX + self.shown() as i32 * LEVEL_HEIGHT + LEAF_HEIGHT
    }

    /// One scale for all states, or `None` if nothing is sent.
    fn scale(&self) -> Option<Scale> {
        let loads = self.states.iter().flat_map(|state| &state.of_link);
        let loads = loads.take(self.states.len() * self.topology.depth());
        let some = loads.flatten().copied().filter(|&load| load > 0.0);
        let range = some.fold(None, |range: Option<(f64, f64)>, load| match range {
            None => Some((load, load)),
            Some((low, high)) => Some((low.min(load), high.max(load))),
        });
        range.map(|(low, high)| Scale::new(self.unit, low, high))
    }

    /// The middle of every drawn node, by depth.
    fn places(&self) -> Vec<Vec<f64>> {
        let shown = self.shown();
        let width = f64::from(WIDTH - 2 * MARGIN - WORDS);
        let lowest = self.topology.node_count(shown);
        let step = width / lowest as f64;
        let place = |node: usize| f64::from(MARGIN) + step * (node as f64 + 0.5);
        let mut places: Vec<Vec<f64>> = vec![(0..lowest).map(place).collect()];
        for depth in (0..shown).rev() {
            let below = &places[0];
            let middle = |node: usize| {
                let children = self.topology.children(depth, node);
                (below[children.start] + below[children.end - 1]) / 2.0
            };
            let row = (0..self.topology.node_count(depth)).map(middle).collect();
            places.insert(0, row);
        }
        places
    }

    fn draw_state<DB: DrawingBackend>(
        &self,
        state: &Loads,
        top: i32,
        scale: Option<&Scale>,
        canvas: &Canvas<DB>,
    ) -> Drawn {
        let places = self.places();
        let middle = MARGIN + (WIDTH - 2 * MARGIN - WORDS) / 2;
        let title = (middle, top + HALF_TITLE / 2 - 8);
        canvas.text(&state.title, title, Lettering::strong(33.0))?;
        let row = |depth: usize| top + HALF_TITLE + BOX / 2 + depth as i32 * LEVEL_HEIGHT;
        for depth in 0..self.shown() {
            for node in 0..self.topology.node_count(depth + 1) {
                let parent = self.topology.parent(depth + 1, node);
                let from = (places[depth][parent] as i32, row(depth));
                let to = (places[depth + 1][node] as i32, row(depth + 1));
                let load = state.of_link[depth][node];
                let (colour, width) = stroke(load, scale);
                canvas.line(from, to, colour, width)?;
            }
            let Some((first, second)) = state.beside.get(depth) else {
                continue;
            };
            let x = WIDTH - MARGIN - WORDS + 24;
            let y = row(depth) + LEVEL_HEIGHT / 2;
            canvas.text(first, (x, y - 18), BESIDE)?;
            let bold = Lettering {
                bold: true,
                ..BESIDE
            };
            canvas.text(second, (x, y + 18), bold)?;
        }
        for (depth, nodes) in places.iter().enumerate() {
            let labels: Vec<String> = (0..nodes.len())
                .map(|node| self.label(state, depth, node))
                .collect();
            let room = (WIDTH - 2 * MARGIN - WORDS) / nodes.len().max(1) as i32;
            let size = size_for(&labels, room);
            for (label, &x) in labels.iter().zip(nodes) {
                draw_node(label, size, room, (x as i32, row(depth)), canvas)?;
            }
        }
        Ok(())
    }

    /// Label of a node: its name, or the ranks of a leaf.
    fn label(&self, state: &Loads, depth: usize, node: usize) -> String {
        if depth == self.topology.depth() {
            state.on_leaf.get(Leaf(node)).cloned().unwrap_or_default()
        } else {
            self.name(depth, node)
        }
    }

    /// `socket 1` numbered within its node, the host's name if the node is a host, or the name of
    /// the root.
    fn name(&self, depth: usize, node: usize) -> String {
        let Some(level) = depth.checked_sub(1) else {
            let above = match self.topology.levels()[0].name.as_str() {
                "node" | "host" | "switch" | "cluster" => "network",
                _ => "machine",
            };
            return above.to_owned();
        };
        let name = &self.topology.levels()[level].name;
        let parent = self.topology.parent(depth, node);
        let place = node - self.topology.children(level, parent).start;
        let leaf = Leaf(self.topology.leaf_range(depth, node).start);
        match (&self.topology.leaf(leaf).host, name.as_str()) {
            (Some(host), "node" | "host") => host.clone(),
            _ => format!("{name} {place}"),
        }
    }

    /// Draws strokes of some loads as a scale for the others.
    fn draw_legend<DB: DrawingBackend>(&self, scale: &Scale, canvas: &Canvas<DB>) -> Drawn {
        let y = self.size().1 as i32 - LEGEND_HEIGHT / 2;
        let name = format!("{} over a link:", self.unit.title());
        canvas.text(&name, (MARGIN, y), BESIDE)?;
        let mut x = MARGIN + 20 + (LETTER * TEXT.size * name.chars().count() as f64) as i32;
        for mark in scale.marks() {
            let (colour, width) = stroke(mark, Some(scale));
            canvas.line((x, y), (x + 60, y), colour, width)?;
            let text = self.unit.mark(mark);
            canvas.text(&text, (x + 70, y), BESIDE)?;
            x += 100 + (LETTER * TEXT.size * text.chars().count() as f64) as i32;
        }
        canvas.line((x, y), (x + 60, y), IDLE, 2)?;
        canvas.text(
            "none",
            (x + 70, y),
            Lettering {
                colour: GREY,
                ..BESIDE
            },
        )
    }
}

/// The size in which all labels of a row fit into boxes of this width; `None` if they would be
/// illegible.
fn size_for(labels: &[String], room: i32) -> Option<f64> {
    let longest = labels.iter().map(|label| label.chars().count()).max()?;
    let size = f64::from(room - 8) / (LETTER * longest.max(1) as f64);
    (size >= SMALLEST).then_some(size.min(TEXT.size))
}

/// Draws the box of a node with its label, or a small one if there is none.
fn draw_node<DB: DrawingBackend>(
    label: &str,
    size: Option<f64>,
    room: i32,
    (x, y): (i32, i32),
    canvas: &Canvas<DB>,
) -> Drawn {
    let labelled = size.filter(|_| !label.is_empty());
    let (width, height) = match labelled {
        Some(size) => {
            let letters = (LETTER * size * label.chars().count() as f64) as i32;
            ((letters + 16).max(36).min(room - 4), BOX)
        }
        None => ((room - 6).clamp(4, 14), 14),
    };
    let corner = (x - width / 2, y - height / 2);
    canvas.rectangle(corner, (width, height), NODE)?;
    canvas.frame(corner, (width, height), EDGE)?;
    match labelled {
        Some(size) => canvas.text(label, (x, y), Lettering { size, ..TEXT }),
        None => Ok(()),
    }
}

/// Stroke of a link with this load: the higher, the darker and wider.
fn stroke(load: f64, scale: Option<&Scale>) -> (RGBColor, u32) {
    match scale {
        Some(scale) if load > 0.0 => {
            let width = 4.0 + 16.0 * scale.place(load);
            (scale.colour(load), width.round() as u32)
        }
        _ => (IDLE, 2),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn tree(arities: &str) -> MachineTree {
        let topology = Topology::from_arities(arities).unwrap();
        let of_link: Vec<Vec<f64>> = (1..=topology.depth())
            .map(|depth| (0..topology.node_count(depth)).map(|n| n as f64).collect())
            .collect();
        let loads = Loads {
            title: "before".into(),
            on_leaf: (0..topology.leaf_count()).map(|n| n.to_string()).collect(),
            beside: vec![("between".into(), "1 KiB".into()); topology.depth()],
            of_link,
        };
        MachineTree {
            title: "a machine".into(),
            unit: Unit::Bytes,
            topology,
            states: vec![loads],
        }
    }

    #[test]
    fn parents_are_drawn_in_the_middle_of_their_children() {
        let places = tree("2:2").places();
        assert_eq!(places.len(), 3);
        assert_eq!(places[1][0], (places[2][0] + places[2][1]) / 2.0);
        assert_eq!(places[0][0], (places[1][0] + places[1][1]) / 2.0);
    }

    #[test]
    fn levels_with_too_many_nodes_are_left_out() {
        assert_eq!(tree("4:2:2").shown(), 3);
        assert_eq!(tree("64:2:16").shown(), 2);
        assert_eq!(tree("1000:2").shown(), 0);
    }

    #[test]
    fn all_labels_of_a_row_fit_or_none_is_drawn() {
        let labels = |count: usize| (0..count).map(|n| n.to_string()).collect::<Vec<_>>();
        assert_eq!(size_for(&labels(10), 43), Some(TEXT.size));
        let smaller = size_for(&labels(16), 36).unwrap();
        assert!(smaller < TEXT.size && smaller > 20.0, "{smaller}");
        assert_eq!(size_for(&labels(101), 20), None);
        assert_eq!(size_for(&[], 100), None);
    }

    #[test]
    fn more_load_is_a_broader_line_and_none_is_thin() {
        let scale = Scale::new(Unit::Bytes, 1024.0, 1048576.0);
        let (_, little) = stroke(1024.0, Some(&scale));
        let (_, much) = stroke(1048576.0, Some(&scale));
        assert!(little < much);
        assert_eq!(stroke(0.0, Some(&scale)), (IDLE, 2));
    }
}
