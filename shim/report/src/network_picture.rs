//! Layout of networks for a picture.

use std::f64::consts::TAU;

use treepie_topology::networks::{FatTree, Lattice, Loads, Network};

use crate::picture::fabric::{
    Fabric, Line as FabricLine, Part as FabricPart, Point as FabricPoint,
};
use crate::picture::scale::Unit;

/// Maximum number of planes of a torus that are drawn, those with the most loaded links.
const PLANES: usize = 8;

/// Maximum number of parts in a row of a picture.
const IN_ROW: usize = 4;

/// Maximum number of vertices on a circle.
const ON_CIRCLE: usize = 300;

/// Maximum number of vertices in a level of a fat tree.
const ON_LEVEL: usize = 64;

/// Length of the stubs that represent links which close a ring, in links.
const STUB: f64 = 0.4;

/// Draws a network without traffic, or with one or two kinds of it, such as before and after.
pub fn picture(title: String, network: &Network, traffic: &[(&str, &Loads)], unit: Unit) -> Fabric {
    let kinds: Vec<Vec<FabricPart>> = match traffic {
        [] => vec![parts(network, "", None)],
        kinds => kinds
            .iter()
            .map(|(name, loads)| parts(network, name, Some(loads)))
            .collect(),
    };
    let rows = if kinds.iter().all(|parts| parts.len() == 1) {
        vec![kinds.into_iter().flatten().collect()]
    } else {
        kinds
            .iter()
            .flat_map(|parts| parts.chunks(IN_ROW).map(<[FabricPart]>::to_vec))
            .collect()
    };
    Fabric {
        title,
        unit: (!traffic.is_empty()).then_some(unit),
        rows,
    }
}

fn parts(network: &Network, name: &str, loads: Option<&Loads>) -> Vec<FabricPart> {
    let prefix = match name {
        "" => String::new(),
        name => format!("{name}: "),
    };
    match network {
        Network::Lattice(lattice) => planes(lattice, network, &prefix, loads),
        Network::Dragonfly(dragonfly) => {
            let group = |vertex| dragonfly.group_of(vertex);
            let groups = circle(dragonfly.groups());
            vec![dots(network, prefix + "groups", &groups, &group, loads)]
        }
        Network::FatTree(tree) => vec![levels(tree, network, &prefix, loads)],
        _ => {
            let count = network.vertices();
            let per_dot = count.div_ceil(ON_CIRCLE).max(1);
            let places = circle(count.div_ceil(per_dot));
            let title = match per_dot {
                1 => prefix + "all vertices",
                several => format!("{prefix}{several} vertices a dot"),
            };
            let dot_of = |vertex| vertex / per_dot;
            vec![dots(network, title, &places, &dot_of, loads)]
        }
    }
}

/// Draws the levels of a fat tree from the nodes, which are at the bottom, to the roots.
fn levels(tree: &FatTree, network: &Network, prefix: &str, loads: Option<&Loads>) -> FabricPart {
    let counts = tree.counts();
    let mut places = Vec::new();
    let mut dot_of = Vec::new();
    let mut most = 1;
    for (level, &count) in counts.iter().enumerate() {
        let per_dot = count.div_ceil(ON_LEVEL);
        most = most.max(per_dot);
        let first = places.len();
        let dots = count.div_ceil(per_dot);
        let height = 0.96 * level as f64 / (counts.len() - 1) as f64;
        let at = |dot: usize| ((dot as f64 + 0.5) / dots as f64, 0.98 - height);
        places.extend((0..dots).map(at));
        dot_of.extend((0..count).map(|vertex| first + vertex / per_dot));
    }
    let title = match most {
        1 => format!("{prefix}nodes below, switches above"),
        several => format!("{prefix}nodes below, switches above, up to {several} a dot"),
    };
    dots(network, title, &places, &|vertex| dot_of[vertex], loads)
}

/// Positions on a circle.
fn circle(count: usize) -> Vec<(f64, f64)> {
    let at = |dot: usize| {
        let angle = TAU * (dot as f64 / count as f64 - 0.25);
        (0.5 + 0.48 * angle.cos(), 0.5 + 0.48 * angle.sin())
    };
    (0..count).map(at).collect()
}

/// Load of a link divided by its capacity; 0 without traffic.
fn load(network: &Network, loads: Option<&Loads>, link: usize) -> f64 {
    loads.map_or(0.0, |loads| loads.of_link[link] / network.capacity(link))
}

/// Draws sets of vertices as dots: lines are the most loaded links between two sets, dots those
/// inside.
fn dots(
    network: &Network,
    title: String,
    places: &[(f64, f64)],
    dot_of: &dyn Fn(usize) -> usize,
    loads: Option<&Loads>,
) -> FabricPart {
    let mut between = std::collections::BTreeMap::new();
    let mut inside = vec![0.0_f64; places.len()];
    for link in 0..network.links() {
        let Some((from, to)) = network.ends(link) else {
            continue;
        };
        let (from, to) = (dot_of(from), dot_of(to));
        let load = load(network, loads, link);
        if from == to {
            inside[from] = inside[from].max(load);
        } else {
            let known: &mut f64 = between.entry((from.min(to), from.max(to))).or_default();
            *known = known.max(load);
        }
    }
    FabricPart {
        title,
        points: inside
            .iter()
            .enumerate()
            .map(|(dot, &load)| FabricPoint {
                at: places[dot],
                load,
            })
            .collect(),
        lines: between
            .into_iter()
            .map(|((one, other), load)| FabricLine {
                from: places[one],
                to: places[other],
                load,
            })
            .collect(),
    }
}

/// Draws the planes of the first two dimensions: lines are links inside a plane, dots the most
/// loaded link out of it.
fn planes(
    lattice: &Lattice,
    network: &Network,
    prefix: &str,
    loads: Option<&Loads>,
) -> Vec<FabricPart> {
    let sizes = lattice.sizes();
    let (width, height) = (sizes[0], sizes.get(1).copied().unwrap_or(1));
    let in_plane = width * height;
    let count = network.positions() / in_plane;
    let step = 1.0 / ((width.max(height).max(2) - 1) as f64 + 2.0 * STUB);
    let at = |position: usize| {
        let within = position % in_plane;
        (
            ((within % width) as f64 + STUB) * step,
            ((within / width) as f64 + STUB) * step,
        )
    };
    let mut planes: Vec<FabricPart> = (0..count)
        .map(|plane| FabricPart {
            title: prefix.to_owned() + &name(lattice, plane * in_plane),
            points: (plane * in_plane..(plane + 1) * in_plane)
                .map(|position| FabricPoint {
                    at: at(position),
                    load: 0.0,
                })
                .collect(),
            lines: Vec::new(),
        })
        .collect();
    for link in 0..network.links() {
        let Some((from, to)) = network.ends(link) else {
            continue;
        };
        let load = load(network, loads, link);
        let plane = &mut planes[from / in_plane];
        if from / in_plane != to / in_plane {
            let point = &mut plane.points[from % in_plane];
            point.load = point.load.max(load);
            continue;
        }
        let (here, there) = (at(from), at(to));
        let apart = ((there.0 - here.0).abs() + (there.1 - here.1).abs()) / step;
        // A link that closes a ring is drawn as a stub at its start.
        let to = if apart > 1.5 {
            let part = STUB / apart;
            (
                here.0 - part * (there.0 - here.0),
                here.1 - part * (there.1 - here.1),
            )
        } else {
            there
        };
        let back = plane.lines.iter_mut().rev().take(4 * width);
        let same = back
            .filter(|line| (line.from, line.to) == (to, here))
            .find(|_| apart <= 1.5);
        match same {
            Some(line) => line.load = line.load.max(load),
            None => plane.lines.push(FabricLine {
                from: here,
                to,
                load,
            }),
        }
    }
    if planes.len() > PLANES {
        let most = |part: &FabricPart| part.loads().fold(0.0, f64::max);
        let mut order: Vec<usize> = (0..planes.len()).collect();
        order.sort_by(|&a, &b| most(&planes[b]).total_cmp(&most(&planes[a])));
        order.truncate(PLANES);
        order.sort_unstable();
        planes = order
            .into_iter()
            .map(|plane| planes[plane].clone())
            .collect();
    }
    planes
}

/// The coordinates that all nodes of a plane share.
fn name(lattice: &Lattice, first: usize) -> String {
    let at = lattice.coordinates(first);
    let shared = lattice.sizes().iter().enumerate().skip(2);
    let letters = ["x", "y", "z", "a", "b", "c", "u", "v"];
    let texts: Vec<String> = shared
        .map(|(d, _)| format!("{} = {}", letters[d], at[d]))
        .collect();
    if texts.is_empty() {
        "all nodes".to_owned()
    } else {
        texts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use treepie_topology::networks::Site;

    use super::*;
    use crate::picture::write::svg;

    #[test]
    fn planes_groups_and_vertices_are_drawn_with_their_loads() {
        for (text, count, lines) in [
            ("torus:4x4x2", 2, 2 * 24 + 2 * 16),
            ("mesh:5", 1, 4),
            ("dragonfly:2,4,2", 1, 36),
            ("hyperx:3x3", 1, 18),
            ("fat-tree:2;4,8;1,4", 1, 32 + 8 * 4),
            ("fat-tree:2;16,16;1,4", 1, 64 + 16 * 4),
        ] {
            let site = Site::from_description(text).unwrap();
            let network = site.network();
            let loads = Loads::new(network, [(0, 1, 10.0), (1, 0, 4.0)]);
            let bare = picture(text.to_owned(), network, &[], Unit::Bytes);
            let of = |fabric: &Fabric| fabric.rows.iter().flatten().cloned().collect::<Vec<_>>();
            assert_eq!(of(&bare).len(), count, "{text}");
            let drawn: usize = of(&bare).iter().map(|part| part.lines.len()).sum();
            assert_eq!(drawn, lines, "{text}");
            let both = [("before", &loads), ("after", &loads)];
            let found = picture(text.to_owned(), network, &both, Unit::Bytes);
            let found_parts = of(&found);
            assert_eq!(found_parts.len(), 2 * count);
            let most = found_parts.iter().flat_map(FabricPart::loads);
            assert_eq!(most.fold(0.0, f64::max), 10.0, "{text}");
            // Nothing is drawn outside its panel, where it would overlap its neighbour.
            let ends = found_parts.iter().flat_map(|part| &part.lines);
            let inside =
                |(x, y): (f64, f64)| (-1e-9..=1.0 + 1e-9).contains(&x.max(y).max(-x).max(-y));
            assert!(
                ends.flat_map(|line| [line.from, line.to]).all(inside),
                "{text}"
            );
            assert!(svg(&found).unwrap().contains("before"));
        }
    }
}
