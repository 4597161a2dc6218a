//! Target files of Scotch: `torus3D 8 8 8`, `sub 4 0 1 2 5 mesh2D 4 4`, `tleaf`, `deco 0`.

use std::path::Path;

use super::error::in_network;
use crate::networks::error::NetworkError;
use crate::networks::graph::{Edge, GraphNetwork};
use crate::networks::hyperx::HyperX;
use crate::networks::lattice::Lattice;
use crate::networks::network::Network;
use crate::networks::site::Site;
use treepie_base::FileError;

/// Words with which a target begins.
const NAMES: [&str; 15] = [
    "cmplt", "cmpltw", "hcub", "mesh2D", "mesh3D", "meshXD", "torus2D", "torus3D", "torusXD",
    "tleaf", "ltleaf", "deco", "sub", "dist", "varcmplt",
];

/// Largest number of terminals for which all pairs are stored as links.
const MOST_PAIRS: usize = 4096;

/// True if a text begins like a target.
pub(super) fn recognize(text: &str) -> bool {
    text.split_whitespace()
        .next()
        .is_some_and(|word| NAMES.contains(&word))
}

/// Reads one; terminals have no names.
pub(super) fn read(path: &Path, text: &str, _name: Option<&str>) -> Result<Site, FileError> {
    let mut words = Words {
        words: text.split_whitespace(),
        last: "",
    };
    let target = words
        .target(0)
        .map_err(|problem| FileError::field(path, "target", problem))?;
    if words.words.next().is_some() {
        let problem = format!("goes on behind `{}`, where it should end", words.last);
        return Err(FileError::field(path, "target", problem));
    }
    match target.listed {
        None => in_network(path, Site::unnamed(target.network, 1)),
        Some(listed) => in_network(path, Site::listed(target.network, listed)),
    }
}

struct Target {
    network: Network,
    listed: Option<Vec<usize>>,
}

struct Words<'a> {
    words: std::str::SplitWhitespace<'a>,
    last: &'a str,
}

impl<'a> Words<'a> {
    fn word(&mut self) -> Result<&'a str, String> {
        let last = self.last;
        self.last = self
            .words
            .next()
            .ok_or_else(|| format!("ends behind `{last}`; it was cut off"))?;
        Ok(self.last)
    }

    fn number(&mut self) -> Result<usize, String> {
        let word = self.word()?;
        word.parse()
            .map_err(|_| format!("`{word}` is no whole number"))
    }

    fn numbers(&mut self, count: usize) -> Result<Vec<usize>, String> {
        // A number that is too large fails at the end of the text.
        (0..count).map(|_| self.number()).collect()
    }

    fn target(&mut self, depth: usize) -> Result<Target, String> {
        let name = self.word()?;
        let failed = |error: NetworkError| error.to_string();
        let network = match name {
            "mesh2D" | "mesh3D" | "meshXD" | "torus2D" | "torus3D" | "torusXD" => {
                let count = match &name[name.len() - 2..] {
                    "2D" => 2,
                    "3D" => 3,
                    _ => self.number()?,
                };
                let sizes = self.numbers(count)?;
                let lattice = match name.starts_with("mesh") {
                    true => Lattice::mesh(&sizes),
                    false => Lattice::torus(&sizes),
                };
                Network::Lattice(lattice.map_err(failed)?)
            }
            "hcub" => {
                let dimensions = self.number()?;
                let lattice = Lattice::mesh(&vec![2; dimensions.min(64)]);
                Network::Lattice(lattice.map_err(failed)?)
            }
            "cmplt" => Network::HyperX(HyperX::new(&[self.number()?]).map_err(failed)?),
            "tleaf" | "ltleaf" => {
                let levels = self.number()?;
                let pairs = self.numbers(levels.saturating_mul(2))?;
                let network = tree(&pairs)?;
                if name == "ltleaf" {
                    let count = self.number()?;
                    let order = self.numbers(count)?;
                    let positions = network.positions();
                    let listed = (0..positions).map(|terminal| {
                        let block = terminal / count.max(1) * count;
                        let inside = *order.get(terminal % count.max(1))?;
                        Some(block + inside).filter(|&position| position < positions)
                    });
                    let listed: Option<Vec<usize>> = listed.collect();
                    let listed = listed.ok_or("has a permutation that is none")?;
                    return Ok(Target {
                        network,
                        listed: Some(listed),
                    });
                }
                network
            }
            "deco" => self.decomposition()?,
            "sub" => {
                let count = self.number()?;
                let listed = self.numbers(count)?;
                if depth > 4 {
                    return Err("has too many `sub` inside each other".to_owned());
                }
                let whole = self.target(depth + 1)?;
                let all = whole
                    .listed
                    .unwrap_or_else(|| (0..whole.network.positions()).collect());
                let pick = |&terminal: &usize| all.get(terminal).copied();
                let listed: Option<Vec<usize>> = listed.iter().map(pick).collect();
                let listed = listed.ok_or("names a terminal in `sub` that there is not")?;
                return Ok(Target {
                    network: whole.network,
                    listed: Some(listed),
                });
            }
            "dist" => {
                // A common factor of all distances does not change a placement.
                self.number()?;
                return match depth > 4 {
                    true => Err("has too many `dist` inside each other".to_owned()),
                    false => self.target(depth + 1),
                };
            }
            other => {
                return Err(format!(
                    "`{other}` is not understood; expected a mesh, torus, hcub, cmplt, tleaf, \
                     ltleaf, deco 0, sub or dist"
                ));
            }
        };
        Ok(Target {
            network,
            listed: None,
        })
    }

    /// `deco 0`: distances of all pairs of terminals.
    fn decomposition(&mut self) -> Result<Network, String> {
        if self.number()? != 0 {
            return Err("is a compiled `deco`; give the form that begins with `deco 0`".to_owned());
        }
        let count = self.number()?;
        self.number()?;
        if count == 0 || count > MOST_PAIRS {
            return Err(format!(
                "has {count} terminals; 1 to {MOST_PAIRS} are understood"
            ));
        }
        for _ in 0..count {
            self.numbers(3)?;
        }
        let mut edges = Vec::new();
        for other in 1..count {
            for one in 0..other {
                let length = u32::try_from(self.number()?).unwrap_or(u32::MAX);
                edges.push(Edge {
                    one,
                    other,
                    length,
                    capacity: 1.0,
                });
            }
        }
        let names = (0..count)
            .map(|terminal| format!("terminal {terminal}"))
            .collect();
        let graph = GraphNetwork::new(names, count, 0, &edges);
        Ok(Network::Graph(graph.map_err(|error| error.to_string())?))
    }
}

/// Builds a tree from arities and lengths of links from the root.
fn tree(pairs: &[usize]) -> Result<Network, String> {
    let levels: Vec<(usize, usize)> = pairs.chunks(2).map(|pair| (pair[0], pair[1])).collect();
    let leaves = levels.iter().try_fold(1_usize, |all, &(arity, _)| {
        all.checked_mul(arity)
            .filter(|&all| all > 0 && all <= 1 << 14)
    });
    let leaves = leaves.ok_or("has no leaf, or more than 16384")?;
    // Leaves first, then each level from the lowest up.
    let mut names: Vec<String> = (0..leaves).map(|leaf| format!("leaf {leaf}")).collect();
    let mut edges = Vec::new();
    let (mut first, mut count) = (0, leaves);
    for (height, &(arity, length)) in levels.iter().rev().enumerate() {
        let above = names.len();
        for parent in 0..count / arity {
            names.push(format!("switch {parent} of level {}", height + 1));
        }
        for child in 0..count {
            let length = u32::try_from(length).unwrap_or(u32::MAX);
            let other = above + child / arity;
            edges.push(Edge {
                one: first + child,
                other,
                length,
                capacity: 1.0,
            });
        }
        (first, count) = (above, count / arity);
    }
    let graph = GraphNetwork::new(names, leaves, 0, &edges).map_err(|error| error.to_string())?;
    Ok(Network::Graph(graph))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(text: &str) -> Result<Site, String> {
        read(Path::new("t.tgt"), text, None).map_err(|error| error.to_string())
    }

    #[test]
    fn targets_are_read_with_scotchs_distances() {
        let distance = |text: &str, a: usize, b: usize| {
            let site = site(text).unwrap();
            site.network().distance(site.position(a), site.position(b))
        };
        assert_eq!(distance("torus3D 8 8 8", 0, 7), 1);
        assert_eq!(distance("torusXD 4 4 4 4 8\n", 0, 511), 4);
        assert_eq!(distance("mesh2D 4 4", 0, 15), 6);
        assert_eq!(distance("hcub 3", 0, 7), 3);
        assert_eq!(distance("sub 2 0 5 torus2D 4 4", 0, 1), 2);
        assert_eq!(distance("tleaf 2 2 10 4 1", 0, 4), 22);
        assert_eq!(distance("tleaf 2 2 10 4 1", 0, 3), 2);
        assert_eq!(distance("deco 0 3 5 0 1 2 1 1 6 2 1 7 1 2 1", 0, 2), 2);
        assert_eq!(site("ltleaf 1 4 1 2 1 0").unwrap().position(0), 1);
    }

    #[test]
    fn targets_that_are_cut_off_or_unknown_are_refused() {
        for (text, expected) in [
            (
                "torus3D 8 8",
                "t.tgt: target: ends behind `8`; it was cut off",
            ),
            ("mesh2D 4 x", "t.tgt: target: `x` is no whole number"),
            (
                "deco 2 1",
                "t.tgt: target: is a compiled `deco`; give the form that begins with `deco 0`",
            ),
            (
                "sub 1 16 mesh2D 4 4",
                "t.tgt: target: names a terminal in `sub` that there is not",
            ),
            (
                "mesh2D 4 4 4",
                "t.tgt: target: goes on behind `4`, where it should end",
            ),
        ] {
            assert_eq!(site(text).unwrap_err(), expected);
        }
    }
}
