//! Tori and meshes of any number of dimensions.

use super::error::NetworkError;
use super::error::out_of_range;
use super::fabric::{Fabric, POSITION_LIMIT};

/// Maximum number of dimensions of a lattice; TofuD has 6.
pub const DIMENSION_LIMIT: usize = 8;

/// Maximum size of a dimension.
const SIZE_LIMIT: usize = 1 << 13;

/// Letters of the dimensions.
const LETTERS: &[u8] = b"xyzabcuv";

/// Sizes of a box of positions, numbered with the first coordinate fastest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Extents(Vec<usize>);

impl Extents {
    pub(super) fn new(sizes: &[usize]) -> Result<Self, NetworkError> {
        if sizes.is_empty() {
            return Err(NetworkError::Empty { what: "dimension" });
        }
        if sizes.len() > DIMENSION_LIMIT {
            let expected = format!("at most {DIMENSION_LIMIT}");
            return Err(out_of_range("number of dimensions", sizes.len(), expected));
        }
        let mut all = 1_usize;
        for (dimension, &size) in sizes.iter().enumerate() {
            if size == 0 || size > SIZE_LIMIT {
                let what = format!("size {} of the network", dimension + 1);
                return Err(out_of_range(what, size, format!("1 to {SIZE_LIMIT}")));
            }
            all = all
                .checked_mul(size)
                .filter(|&all| all <= POSITION_LIMIT)
                .ok_or(NetworkError::TooLarge)?;
        }
        Ok(Extents(sizes.to_vec()))
    }

    pub(super) fn sizes(&self) -> &[usize] {
        &self.0
    }

    pub(super) fn count(&self) -> usize {
        self.0.iter().product()
    }

    /// Coordinates of a position; 0 in missing dimensions.
    pub(super) fn at(&self, position: usize) -> [usize; DIMENSION_LIMIT] {
        let mut rest = position;
        let mut at = [0; DIMENSION_LIMIT];
        for (coordinate, &size) in at.iter_mut().zip(&self.0) {
            *coordinate = rest % size;
            rest /= size;
        }
        at
    }

    /// The position with these coordinates.
    pub(super) fn position(&self, at: &[usize]) -> usize {
        let both = self.0.iter().zip(at).rev();
        both.fold(0, |sum, (&size, &coordinate)| sum * size + coordinate)
    }

    /// The position with these coordinates; `None` if outside.
    pub(super) fn checked(&self, at: &[usize]) -> Option<usize> {
        let inside = at.len() == self.0.len() && at.iter().zip(&self.0).all(|(c, size)| c < size);
        inside.then(|| self.position(at))
    }

    pub(super) fn name(&self, position: usize) -> String {
        let at = self.at(position);
        let texts: Vec<String> = at[..self.0.len()].iter().map(usize::to_string).collect();
        format!("({})", texts.join(","))
    }

    pub(super) fn text(&self) -> String {
        let texts: Vec<String> = self.0.iter().map(usize::to_string).collect();
        texts.join("x")
    }
}

/// A torus, a mesh, or a lattice of which some dimensions close. Hosts are at its nodes, several at
/// one if routers are shared (Cray's Gemini has two).
#[derive(Debug, Clone, PartialEq)]
pub struct Lattice {
    extents: Extents,
    wraps: Vec<bool>,
    widths: Vec<f64>,
    lengths: Vec<u32>,
}

impl Lattice {
    /// Builds a lattice of these sizes; the dimensions that are true in `wraps` close.
    ///
    /// # Errors
    /// There is no dimension or too many, a size is 0, there are too many positions, or the number
    /// of wraps differs from that of dimensions.
    pub fn new(sizes: &[usize], wraps: &[bool]) -> Result<Self, NetworkError> {
        let extents = Extents::new(sizes)?;
        require_each(wraps.len(), sizes.len(), "wraps")?;
        // Two nodes are joined by one link, closed or not.
        let wraps = wraps
            .iter()
            .zip(sizes)
            .map(|(&wrap, &size)| wrap && size > 2);
        Ok(Lattice {
            wraps: wraps.collect(),
            widths: vec![1.0; sizes.len()],
            lengths: vec![1; sizes.len()],
            extents,
        })
    }

    /// Builds a torus.
    ///
    /// # Errors
    /// See [`Lattice::new`].
    pub fn torus(sizes: &[usize]) -> Result<Self, NetworkError> {
        Lattice::new(sizes, &vec![true; sizes.len()])
    }

    /// Builds a mesh.
    ///
    /// # Errors
    /// See [`Lattice::new`].
    pub fn mesh(sizes: &[usize]) -> Result<Self, NetworkError> {
        Lattice::new(sizes, &vec![false; sizes.len()])
    }

    /// Sets the number of parallel links in each dimension.
    ///
    /// # Errors
    /// The number of widths differs from that of dimensions, or a width is not a positive number.
    pub(crate) fn with_widths(mut self, widths: &[f64]) -> Result<Self, NetworkError> {
        self.widths = checked_widths(widths, self.sizes().len())?;
        Ok(self)
    }

    /// Sets the length of links in each dimension.
    ///
    /// # Errors
    /// The number of lengths differs from that of dimensions, or a length is 0 or above 1,000.
    pub(crate) fn with_lengths(mut self, lengths: &[u32]) -> Result<Self, NetworkError> {
        require_each(lengths.len(), self.sizes().len(), "lengths")?;
        if let Some(length) = lengths.iter().find(|l| !(1..=1000).contains(*l)) {
            return Err(out_of_range("a length", length, "1 to 1000"));
        }
        self.lengths = lengths.to_vec();
        Ok(self)
    }

    /// Sizes of the dimensions.
    pub fn sizes(&self) -> &[usize] {
        self.extents.sizes()
    }

    /// True for dimensions that close.
    pub fn wraps(&self) -> &[bool] {
        &self.wraps
    }

    /// Length of a link of each dimension.
    pub fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// Coordinates of a position; only as many as [`Lattice::sizes`] are valid.
    pub fn coordinates(&self, position: usize) -> [usize; DIMENSION_LIMIT] {
        self.extents.at(position)
    }

    /// The position with these coordinates; `None` outside the lattice.
    pub fn position(&self, at: &[usize]) -> Option<usize> {
        self.extents.checked(at)
    }

    /// Number of steps in one dimension, and true if they go up.
    fn steps(&self, dimension: usize, from: usize, to: usize) -> (usize, bool) {
        let size = self.sizes()[dimension];
        if !self.wraps[dimension] {
            return (from.abs_diff(to), to >= from);
        }
        let up = (to + size - from) % size;
        // Halfway round goes up.
        match 2 * up <= size {
            true => (up, true),
            false => (size - up, false),
        }
    }

    /// The number of the link from `position` up or down one dimension.
    fn link(&self, position: usize, dimension: usize, up: bool) -> usize {
        (position * self.sizes().len() + dimension) * 2 + usize::from(!up)
    }
}

/// Widths of links, one positive number for each dimension.
pub(super) fn checked_widths(widths: &[f64], dimensions: usize) -> Result<Vec<f64>, NetworkError> {
    require_each(widths.len(), dimensions, "widths")?;
    match widths.iter().find(|w| !(w.is_finite() && **w > 0.0)) {
        Some(width) => Err(out_of_range("a width", width, "a positive number")),
        None => Ok(widths.to_vec()),
    }
}

fn require_each(found: usize, expected: usize, what: &'static str) -> Result<(), NetworkError> {
    if found == expected {
        return Ok(());
    }
    let expected = format!("{expected} dimensions");
    Err(NetworkError::WrongCount {
        what,
        found,
        expected,
    })
}

impl Fabric for Lattice {
    fn positions(&self) -> usize {
        self.extents.count()
    }

    fn distance(&self, a: usize, b: usize) -> u32 {
        let (mut a, mut b) = (a, b);
        let mut sum = 0;
        for (dimension, &size) in self.sizes().iter().enumerate() {
            let apart = (a % size).abs_diff(b % size);
            let steps = match self.wraps[dimension] {
                true => apart.min(size - apart),
                false => apart,
            };
            sum += steps as u32 * self.lengths[dimension];
            a /= size;
            b /= size;
        }
        sum
    }

    fn access(&self) -> u32 {
        0
    }

    fn links(&self) -> usize {
        self.positions() * self.sizes().len() * 2
    }

    fn ends(&self, link: usize) -> Option<(usize, usize)> {
        let dimensions = self.sizes().len();
        let (position, up) = (link / 2 / dimensions, link.is_multiple_of(2));
        let dimension = link / 2 % dimensions;
        let size = self.sizes()[dimension];
        let mut at = self.coordinates(position);
        let here = at[dimension];
        at[dimension] = match (up, self.wraps[dimension]) {
            (true, false) if here + 1 == size => return None,
            (false, false) if here == 0 => return None,
            (true, _) => (here + 1) % size,
            (false, _) => (here + size - 1) % size,
        };
        Some((position, self.extents.position(&at)))
    }

    fn capacity(&self, link: usize) -> f64 {
        self.widths[link / 2 % self.widths.len()]
    }

    fn length(&self, link: usize) -> u32 {
        self.lengths[link / 2 % self.lengths.len()]
    }

    fn route(&self, a: usize, b: usize, each: &mut dyn FnMut(usize, f64)) {
        let (mut here, to) = (self.coordinates(a), self.coordinates(b));
        let mut stride = 1;
        let mut position = a;
        for (dimension, &size) in self.sizes().iter().enumerate() {
            let (steps, up) = self.steps(dimension, here[dimension], to[dimension]);
            for _ in 0..steps {
                each(self.link(position, dimension, up), 1.0);
                let next = match up {
                    true => (here[dimension] + 1) % size,
                    false => (here[dimension] + size - 1) % size,
                };
                position = position - here[dimension] * stride + next * stride;
                here[dimension] = next;
            }
            stride *= size;
        }
    }

    fn vertex_name(&self, vertex: usize) -> String {
        self.extents.name(vertex)
    }

    /// The slabs of half the thickness of a closed dimension, the two sides of every plane of an
    /// open one, and every node.
    fn cuts(&self) -> Vec<(String, Vec<u32>)> {
        let mut cuts = vec![("a node".to_owned(), (0..self.positions() as u32).collect())];
        for (dimension, &size) in self.sizes().iter().enumerate() {
            let letter = char::from(LETTERS[dimension]);
            let (first, thick) = match self.wraps[dimension] {
                true => (0..size.div_ceil(2), size / 2),
                false => (1..size, 0),
            };
            for start in first {
                let inside = |coordinate: usize| match thick {
                    0 => coordinate < start,
                    thick => (coordinate + size - start) % size < thick,
                };
                let part = |position| u32::from(inside(self.coordinates(position)[dimension]));
                let name = match thick {
                    0 => format!("{letter} < {start}"),
                    thick => format!("{letter} = {start}..{}", (start + thick - 1) % size),
                };
                cuts.push((name, (0..self.positions()).map(part).collect()));
            }
        }
        cuts
    }

    fn describe(&self) -> String {
        let text = self.extents.text();
        let sizes = self.sizes().iter().zip(&self.wraps);
        let open = |(size, wrap): (&usize, &bool)| !wrap && *size > 2;
        let open: Vec<String> = sizes
            .enumerate()
            .filter(|(_, pair)| open(*pair))
            .map(|(dimension, _)| char::from(LETTERS[dimension]).to_string())
            .collect();
        let closed = self.wraps.iter().any(|&wrap| wrap);
        match (closed, open.is_empty()) {
            (true, true) => format!("torus {text}"),
            (true, false) => format!("torus {text}, open in {}", open.join(", ")),
            (false, _) => format!("mesh {text}"),
        }
    }

    fn routing(&self) -> &'static str {
        "dimension order"
    }
}
