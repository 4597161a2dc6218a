//! HyperX: a lattice of switches whose rows are complete graphs (Ahn et al. 2009). A flattened
//! butterfly is one with single cables.

use super::error::NetworkError;
use super::fabric::Fabric;
use super::lattice::{DIMENSION_LIMIT, Extents, checked_widths};

/// A HyperX. Positions are switches, the first coordinate fastest.
#[derive(Debug, Clone, PartialEq)]
pub struct HyperX {
    extents: Extents,
    widths: Vec<f64>,
    /// Number of the first link of each dimension.
    starts: Vec<usize>,
}

impl HyperX {
    /// Builds a lattice of switches of these sizes.
    ///
    /// # Errors
    /// There is no dimension or too many, a size is 0, or there are too many switches.
    pub fn new(sizes: &[usize]) -> Result<Self, NetworkError> {
        let extents = Extents::new(sizes)?;
        let mut starts = vec![0];
        for &size in sizes {
            starts.push(starts[starts.len() - 1] + size * extents.count());
        }
        Ok(HyperX {
            widths: vec![1.0; sizes.len()],
            extents,
            starts,
        })
    }

    /// Sets the number of cables between two switches of each dimension.
    ///
    /// # Errors
    /// The number of widths differs from that of dimensions, or a width is not a positive number.
    pub(crate) fn with_widths(mut self, widths: &[f64]) -> Result<Self, NetworkError> {
        self.widths = checked_widths(widths, self.sizes().len())?;
        Ok(self)
    }

    /// Sizes of the dimensions.
    pub fn sizes(&self) -> &[usize] {
        self.extents.sizes()
    }

    /// The position with these coordinates; `None` if outside.
    pub fn position(&self, at: &[usize]) -> Option<usize> {
        self.extents.checked(at)
    }

    /// Coordinates of a position.
    pub fn coordinates(&self, position: usize) -> [usize; DIMENSION_LIMIT] {
        self.extents.at(position)
    }

    fn dimension_of(&self, link: usize) -> usize {
        self.starts.partition_point(|&start| start <= link) - 1
    }
}

impl Fabric for HyperX {
    fn positions(&self) -> usize {
        self.extents.count()
    }

    fn distance(&self, a: usize, b: usize) -> u32 {
        let (mut a, mut b) = (a, b);
        let mut different = 0;
        for &size in self.sizes() {
            different += u32::from(a % size != b % size);
            a /= size;
            b /= size;
        }
        different + self.access()
    }

    fn access(&self) -> u32 {
        2
    }

    fn links(&self) -> usize {
        self.starts[self.starts.len() - 1]
    }

    fn ends(&self, link: usize) -> Option<(usize, usize)> {
        let dimension = self.dimension_of(link);
        let size = self.sizes()[dimension];
        let within = link - self.starts[dimension];
        let from = within / size;
        let mut at = self.extents.at(from);
        let same = std::mem::replace(&mut at[dimension], within % size) == within % size;
        (!same).then(|| (from, self.extents.position(&at)))
    }

    fn capacity(&self, link: usize) -> f64 {
        self.widths[self.dimension_of(link)]
    }

    fn route(&self, a: usize, b: usize, each: &mut dyn FnMut(usize, f64)) {
        let (mut here, to) = (self.extents.at(a), self.extents.at(b));
        let mut position = a;
        for (dimension, &size) in self.sizes().iter().enumerate() {
            if here[dimension] != to[dimension] {
                each(
                    self.starts[dimension] + position * size + to[dimension],
                    1.0,
                );
                here[dimension] = to[dimension];
                position = self.extents.position(&here);
            }
        }
    }

    fn vertex_name(&self, vertex: usize) -> String {
        self.extents.name(vertex)
    }

    /// Every switch, every plane, and the halves of every dimension.
    fn cuts(&self) -> Vec<(String, Vec<u32>)> {
        let all = 0..self.positions();
        let mut cuts = vec![(
            "a switch".to_owned(),
            all.clone().map(|v| v as u32).collect(),
        )];
        for (dimension, &size) in self.sizes().iter().enumerate() {
            let at = |position: usize| self.extents.at(position)[dimension];
            let plane = all.clone().map(|position| at(position) as u32);
            cuts.push((
                format!("a plane of dimension {}", dimension + 1),
                plane.collect(),
            ));
            let half = all
                .clone()
                .map(|position| u32::from(2 * at(position) >= size));
            cuts.push((
                format!("half of dimension {}", dimension + 1),
                half.collect(),
            ));
        }
        cuts
    }

    fn describe(&self) -> String {
        format!("HyperX {}", self.extents.text())
    }

    fn routing(&self) -> &'static str {
        "dimension order"
    }
}
