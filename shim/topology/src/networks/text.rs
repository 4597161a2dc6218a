//! Networks in short notation: `torus:8x8x8`, `dragonfly:4,8,4`.

use super::dragonfly::{Arrangement, Dragonfly, Local, Paths};
use super::error::NetworkError;
use super::fat_tree::FatTree;
use super::hyperx::HyperX;
use super::lattice::Lattice;
use super::network::Network;
use super::site::Site;

/// Examples of descriptions.
pub(crate) const EXAMPLES: &str = "torus:8x8x8, mesh:32x32, dragonfly:4,8,4 (nodes of a router, routers, global links), \
     hyperx:8x8,8 (switches, nodes of a switch) or fat-tree:2;4,8;1,4 (levels;children;parents)";

impl Site {
    /// True if `text` begins like a description of a network, and is not the name of a file.
    pub fn is_described(text: &str) -> bool {
        let families = ["torus:", "mesh:", "dragonfly:", "hyperx:", "fat-tree:"];
        families.iter().any(|family| text.starts_with(family))
    }

    /// Builds the network of a short description; its nodes have no names.
    ///
    /// ```text
    /// torus:8x8x8         sizes of the dimensions; followed by *2 for two nodes per router
    /// mesh:32x32
    /// dragonfly:4,8,4     nodes of a router, routers of a group, global links of a router, and
    ///                     the number of groups, by default the maximum
    /// hyperx:8x8,8        switches in each dimension, nodes of a switch
    /// fat-tree:2;4,8;1,4  levels, children, parents, and cables, as in SimGrid
    /// ```
    ///
    /// # Errors
    /// Error of the text.
    pub fn from_description(text: &str) -> Result<Site, NetworkError> {
        let wrong = |problem: &str| NetworkError::NoNetwork {
            text: text.to_owned(),
            problem: problem.to_owned(),
        };
        let (family, rest) = text
            .split_once(':')
            .ok_or_else(|| wrong(&format!("write one such as {EXAMPLES}")))?;
        let numbers = |part: &str, separator: char| -> Result<Vec<usize>, NetworkError> {
            let number = |word: &str| {
                let digits = !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
                let number = digits.then(|| word.parse().ok()).flatten();
                number.ok_or_else(|| wrong(&format!("\"{word}\" is not a whole number")))
            };
            part.split(separator)
                .map(|word| number(word.trim()))
                .collect()
        };
        match family {
            "torus" | "mesh" => {
                let (sizes, nodes) = rest.split_once('*').unwrap_or((rest, "1"));
                let sizes = numbers(sizes, 'x')?;
                let lattice = match family {
                    "torus" => Lattice::torus(&sizes)?,
                    _ => Lattice::mesh(&sizes)?,
                };
                Site::unnamed(Network::Lattice(lattice), numbers(nodes, 'x')?[0])
            }
            "dragonfly" => {
                let all = numbers(rest, ',')?;
                let (nodes, routers, ports, groups) = match all[..] {
                    [nodes, routers, ports] => {
                        let most = routers.saturating_mul(ports).saturating_add(1);
                        (nodes, routers, ports, most)
                    }
                    [nodes, routers, ports, groups] => (nodes, routers, ports, groups),
                    _ => return Err(wrong("expected 3 or 4 numbers, as in dragonfly:4,8,4")),
                };
                let shape = (routers, ports, groups);
                let (arrangement, paths) = (Arrangement::Absolute, Paths::Minimal);
                let dragonfly = Dragonfly::new(shape, Local::Complete, arrangement, paths)?;
                Site::unnamed(Network::Dragonfly(dragonfly), nodes)
            }
            "hyperx" => {
                let (sizes, nodes) = rest.split_once(',').unwrap_or((rest, "1"));
                let hyperx = HyperX::new(&numbers(sizes, 'x')?)?;
                Site::unnamed(Network::HyperX(hyperx), numbers(nodes, ',')?[0])
            }
            "fat-tree" => {
                let parts: Vec<&str> = rest.split(';').collect();
                let lists = parts.iter().skip(1).map(|part| numbers(part, ','));
                let lists = lists.collect::<Result<Vec<_>, _>>()?;
                let levels = numbers(parts[0], ',')?[0];
                let (children, parents, cables) = match &lists[..] {
                    [children, parents] => (children, parents, vec![1; levels.min(64)]),
                    [children, parents, cables] => (children, parents, cables.clone()),
                    _ => return Err(wrong("expected levels;children;parents, as in 2;4,8;1,4")),
                };
                if children.len() != levels {
                    return Err(wrong("expected a number of children for each level"));
                }
                let tree = FatTree::new(children, parents, &cables)?;
                Site::unnamed(Network::FatTree(tree), 1)
            }
            _ => Err(wrong(&format!("write one such as {EXAMPLES}"))),
        }
    }
}
