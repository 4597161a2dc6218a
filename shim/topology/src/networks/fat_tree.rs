//! Fat trees whose switches have several parents: XGFT(h; m1..mh; w1..wh) of Öhring, Ibel, Das and
//! Kumar 1995.

use super::error::NetworkError;
use super::error::out_of_range;
use super::fabric::{Fabric, OUTSIDE, POSITION_LIMIT};

/// Maximum number of levels of a fat tree.
const LEVEL_LIMIT: usize = 8;

/// A fat tree. Positions are its leaves, the nodes; the first child of level 1 is the fastest.
///
/// A vertex of level `l` is identified by the children taken below the root down to level `l`, and
/// the parents taken from the leaf up to it; vertices of one level differ in at least one of them.
#[derive(Debug, Clone, PartialEq)]
pub struct FatTree {
    /// Number of children of a vertex of each level, from the lowest.
    children: Vec<usize>,
    /// Number of parents of a vertex of the level below.
    parents: Vec<usize>,
    /// Number of cables to each parent.
    cables: Vec<usize>,
    /// Number of vertices of each level, leaves first.
    counts: Vec<usize>,
    /// The first vertex of each level.
    vertices: Vec<usize>,
    /// The first link above each level.
    links: Vec<usize>,
    /// Number of leaves below a vertex of each level: products of children.
    below: Vec<usize>,
    /// Number of paths from a leaf up to each level: products of parents.
    above: Vec<usize>,
}

impl FatTree {
    /// Builds a fat tree from the numbers of children, parents and cables of each level, the lowest
    /// first.
    ///
    /// # Errors
    /// There is no level or too many, lists have different lengths, a number is 0, or there are too
    /// many vertices.
    pub fn new(
        children: &[usize],
        parents: &[usize],
        cables: &[usize],
    ) -> Result<Self, NetworkError> {
        let levels = children.len();
        if levels == 0 {
            return Err(NetworkError::Empty { what: "level" });
        }
        if levels > LEVEL_LIMIT {
            return Err(out_of_range(
                "number of levels",
                levels,
                format!("at most {LEVEL_LIMIT}"),
            ));
        }
        for (what, list) in [
            ("numbers of parents", parents),
            ("numbers of cables", cables),
        ] {
            if list.len() != levels {
                return Err(NetworkError::WrongCount {
                    what,
                    found: list.len(),
                    expected: format!("{levels} levels"),
                });
            }
        }
        for list in [children, parents, cables] {
            if let Some(number) = list.iter().find(|n| !(1..=POSITION_LIMIT).contains(*n)) {
                return Err(out_of_range(
                    "a number of the fat tree",
                    number,
                    "at least 1",
                ));
            }
        }
        let product = |factors: &[usize]| {
            let product = factors.iter().try_fold(1_usize, |p, &f| p.checked_mul(f));
            product
                .filter(|&p| p <= POSITION_LIMIT)
                .ok_or(NetworkError::TooLarge)
        };
        let mut tree = FatTree {
            children: children.to_vec(),
            parents: parents.to_vec(),
            cables: cables.to_vec(),
            counts: Vec::new(),
            vertices: vec![0],
            links: vec![0],
            below: Vec::new(),
            above: Vec::new(),
        };
        for level in 0..=levels {
            let (below, above) = (product(&children[..level])?, product(&parents[..level])?);
            let count = product(&[above, product(&children[level..])?])?;
            tree.below.push(below);
            tree.above.push(above);
            tree.counts.push(count);
            tree.vertices.push(tree.vertices[level] + count);
            if level < levels {
                let up = product(&[count, product(&[parents[level], cables[level]])?])?;
                tree.links.push(tree.links[level] + 2 * up);
            }
        }
        Ok(tree)
    }

    /// Number of children of a vertex of each level, from the lowest.
    pub fn children(&self) -> &[usize] {
        &self.children
    }

    /// Number of vertices of each level, leaves first, in the order of their numbers.
    pub fn counts(&self) -> &[usize] {
        &self.counts
    }

    /// Number of levels above the leaves.
    fn levels(&self) -> usize {
        self.children.len()
    }

    /// The level of the lowest common ancestor of two leaves.
    fn common(&self, a: usize, b: usize) -> usize {
        let same = |&level: &usize| a / self.below[level] == b / self.below[level];
        (0..=self.levels()).find(same).unwrap_or(self.levels())
    }

    /// The vertex of a level above `leaf` that the parents `way` lead to.
    fn vertex(&self, level: usize, leaf: usize, way: usize) -> usize {
        leaf / self.below[level] * self.above[level] + way
    }

    /// The number of the link above a vertex of `level`, given by its number in its level, to its
    /// parent `parent` over `cable`.
    fn link(&self, level: usize, vertex: usize, parent: usize, cable: usize, up: bool) -> usize {
        let ports = self.parents[level] * self.cables[level];
        let port = parent * self.cables[level] + cable;
        self.links[level] + (vertex * ports + port) * 2 + usize::from(!up)
    }
}

impl Fabric for FatTree {
    fn positions(&self) -> usize {
        self.counts[0]
    }

    fn vertices(&self) -> usize {
        self.vertices[self.levels() + 1]
    }

    /// Two nodes at one leaf are on different cables to its switch.
    fn distance(&self, a: usize, b: usize) -> u32 {
        2 * self.common(a, b).max(1) as u32
    }

    fn access(&self) -> u32 {
        0
    }

    fn links(&self) -> usize {
        self.links[self.levels()]
    }

    fn ends(&self, link: usize) -> Option<(usize, usize)> {
        let level = self.links.partition_point(|&start| start <= link) - 1;
        let within = link - self.links[level];
        let ports = self.parents[level] * self.cables[level];
        let (lower, port) = (within / 2 / ports, within / 2 % ports);
        let parent = port / self.cables[level];
        // The last parent taken is the most significant digit of the path.
        let (subtree, way) = (lower / self.above[level], lower % self.above[level]);
        let leaf = subtree * self.below[level];
        let upper = self.vertex(level + 1, leaf, way + parent * self.above[level]);
        let (lower, upper) = (
            self.vertices[level] + lower,
            self.vertices[level + 1] + upper,
        );
        Some(match within.is_multiple_of(2) {
            true => (lower, upper),
            false => (upper, lower),
        })
    }

    fn capacity(&self, _link: usize) -> f64 {
        1.0
    }

    /// d-mod-k on the way up (Zahavi 2010); on the way down there is one path, over the cable
    /// selected by the number of the source.
    fn route(&self, a: usize, b: usize, each: &mut dyn FnMut(usize, f64)) {
        let top = self.common(a, b);
        let mut way = 0;
        for level in 0..top {
            let ports = self.parents[level] * self.cables[level];
            let port = b / self.above[level] % ports;
            let (parent, cable) = (port / self.cables[level], port % self.cables[level]);
            each(
                self.link(level, self.vertex(level, a, way), parent, cable, true),
                1.0,
            );
            let cable = a % self.cables[level];
            each(
                self.link(level, self.vertex(level, b, way), parent, cable, false),
                1.0,
            );
            way += parent * self.above[level];
        }
    }

    fn vertex_name(&self, vertex: usize) -> String {
        let level = self.vertices.partition_point(|&start| start <= vertex) - 1;
        let number = vertex - self.vertices[level];
        match level {
            0 => format!("node {number}"),
            level => format!("switch {number} of level {level}"),
        }
    }

    /// Every subtree.
    fn cuts(&self) -> Vec<(String, Vec<u32>)> {
        let cut = |level: usize| {
            let mut parts = vec![OUTSIDE; self.vertices()];
            for below in 0..=level {
                let subtrees = self.below[level] / self.below[below];
                for vertex in 0..self.counts[below] {
                    let part = vertex / self.above[below] / subtrees;
                    parts[self.vertices[below] + vertex] = part as u32;
                }
            }
            let name = match level {
                0 => "a node".to_owned(),
                level => format!("a subtree of level {level}"),
            };
            (name, parts)
        };
        (0..self.levels()).map(cut).collect()
    }

    fn describe(&self) -> String {
        let list = |numbers: &[usize]| {
            let texts: Vec<String> = numbers.iter().map(usize::to_string).collect();
            texts.join(",")
        };
        format!(
            "fat tree {};{};{}",
            self.levels(),
            list(&self.children),
            list(&self.parents)
        )
    }

    fn routing(&self) -> &'static str {
        "d-mod-k"
    }
}
