//! Networks laid out for a picture.

use std::f64::consts::TAU;

use treepie_core::topology::networks::{Lattice, Loads, Network};

use crate::picture::{Fabric, FabricLine, FabricPart, FabricPoint, Unit};

/// Planes of a torus that are drawn, those with the most loaded links.
const PLANES: usize = 8;

/// More vertices than this are not drawn on a circle.
const ON_CIRCLE: usize = 300;

/// A network without traffic, or with one or two kinds of it, such as before and after.
pub fn picture(title: String, network: &Network, traffic: &[(&str, &Loads)], unit: Unit) -> Fabric {
    let parts = match traffic {
        [] => parts(network, "", None),
        kinds => {
            let kinds = kinds.iter();
            kinds
                .flat_map(|(name, loads)| parts(network, name, Some(loads)))
                .collect()
        }
    };
    Fabric {
        title,
        unit: (!traffic.is_empty()).then_some(unit),
        parts,
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
            vec![circle(
                network,
                prefix + "groups",
                dragonfly.groups(),
                &group,
                loads,
            )]
        }
        _ => {
            let count = network.vertices();
            let per_dot = count.div_ceil(ON_CIRCLE).max(1);
            let dots = count.div_ceil(per_dot);
            let title = match per_dot {
                1 => prefix + "all vertices",
                several => format!("{prefix}{several} vertices a dot"),
            };
            vec![circle(
                network,
                title,
                dots,
                &|vertex| vertex / per_dot,
                loads,
            )]
        }
    }
}

/// Load by capacity of a link; 0 without traffic.
fn load(network: &Network, loads: Option<&Loads>, link: usize) -> f64 {
    loads.map_or(0.0, |loads| loads.of_link[link] / network.capacity(link))
}

/// Sets of vertices on a circle: lines are the most loaded links between two sets, dots those
/// inside.
fn circle(
    network: &Network,
    title: String,
    dots: usize,
    dot_of: &dyn Fn(usize) -> usize,
    loads: Option<&Loads>,
) -> FabricPart {
    let at = |dot: usize| {
        let angle = TAU * (dot as f64 / dots as f64 - 0.25);
        (0.5 + 0.48 * angle.cos(), 0.5 + 0.48 * angle.sin())
    };
    let mut between = std::collections::BTreeMap::new();
    let mut inside = vec![0.0_f64; dots];
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
            .map(|(dot, &load)| FabricPoint { at: at(dot), load })
            .collect(),
        lines: between
            .into_iter()
            .map(|((one, other), load)| FabricLine {
                from: at(one),
                to: at(other),
                load,
            })
            .collect(),
    }
}

/// The planes of the first two dimensions: lines are links inside a plane, dots the most loaded
/// link out of it.
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
    let step = 1.0 / (width.max(height).max(2) - 1) as f64;
    let at = |position: usize| {
        let within = position % in_plane;
        (
            (within % width) as f64 * step,
            (within / width) as f64 * step,
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
        let to = match apart > 1.5 {
            true => {
                let part = 0.4 / apart;
                (
                    here.0 - part * (there.0 - here.0),
                    here.1 - part * (there.1 - here.1),
                )
            }
            false => there,
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
        let most = |part: &FabricPart| part.lines.iter().map(|line| line.load).fold(0.0, f64::max);
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
    match texts.is_empty() {
        true => "all nodes".to_owned(),
        false => texts.join(", "),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use treepie_core::topology::networks::Site;

    use super::*;
    use crate::picture::svg;

    #[test]
    fn planes_groups_and_vertices_are_drawn_with_their_loads() {
        for (text, count, lines) in [
            ("torus:4x4x2", 2, 2 * 24 + 2 * 16),
            ("mesh:5", 1, 4),
            ("dragonfly:2,4,2", 1, 36),
            ("hyperx:3x3", 1, 18),
        ] {
            let site = Site::from_description(text).unwrap();
            let network = site.network();
            let loads = Loads::new(network, [(0, 1, 10.0), (1, 0, 4.0)]);
            let bare = picture(text.to_owned(), network, &[], Unit::Bytes);
            assert_eq!(bare.parts.len(), count, "{text}");
            let drawn: usize = bare.parts.iter().map(|part| part.lines.len()).sum();
            assert_eq!(drawn, lines, "{text}");
            let both = [("before", &loads), ("after", &loads)];
            let found = picture(text.to_owned(), network, &both, Unit::Bytes);
            assert_eq!(found.parts.len(), 2 * count);
            let most = found.parts.iter().flat_map(|part| {
                let points = part.points.iter().map(|point| point.load);
                part.lines
                    .iter()
                    .map(|line| line.load)
                    .chain(points)
                    .collect::<Vec<_>>()
            });
            assert_eq!(most.fold(0.0, f64::max), 10.0, "{text}");
            assert!(svg(&found).unwrap().contains("before"));
        }
    }
}
