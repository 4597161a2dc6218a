//! All possible groups with their weights (thesis 2.4.1).

use treepie_traffic::Matrix;

/// Number of groups of `size` among `order` entities, the binomial coefficient;
/// `u64::MAX` if it is larger.
pub fn group_count(order: usize, size: usize) -> u64 {
    if size > order {
        return 0;
    }
    let mut count: u128 = 1;
    for i in 0..size.min(order - size) {
        // A product of i + 1 successive numbers is divisible by (i + 1)!.
        count = count * (order - i) as u128 / (i + 1) as u128;
        if count > u128::from(u64::MAX) {
            return u64::MAX;
        }
    }
    count as u64
}

/// All groups of one size with their weights, in lexicographic order.
#[derive(Debug, Clone, PartialEq)]
pub struct PossibleGroups {
    order: usize,
    size: usize,
    members: Vec<usize>,
    weights: Vec<f64>,
    /// Total traffic of the members of each group, including that among themselves.
    exchanged: Vec<f64>,
    /// Total traffic of all entities, both triangles.
    total: f64,
}

impl PossibleGroups {
    /// Lists and weighs all groups of `size` entities of a symmetric matrix. The weight of a group
    /// is the traffic between its members and entities outside it, in both directions as far as the
    /// rows contain them: all of their rows, less the traffic inside. Smaller is better.
    pub fn new(matrix: &Matrix, size: usize) -> Self {
        let order = matrix.order();
        let table = Table::new(matrix);
        let mut members = Vec::new();
        let mut weights = Vec::new();
        let mut exchanged = Vec::new();
        let mut group: Vec<usize> = (0..size).collect();
        let mut more = size > 0 && size <= order;
        while more {
            members.extend_from_slice(&group);
            let all: f64 = group.iter().map(|&a| table.row_sums[a]).sum();
            exchanged.push(all);
            weights.push(all - table.inside(&group));
            more = advance(&mut group, order);
        }
        PossibleGroups {
            order,
            size,
            members,
            weights,
            exchanged,
            total: table.row_sums.iter().sum(),
        }
    }

    /// Number of entities.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Members of each group.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// True if no group is possible.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// Members of one group, ascending.
    pub fn members(&self, group: usize) -> &[usize] {
        &self.members[group * self.size..][..self.size]
    }

    /// Weight of one group.
    pub fn weight(&self, group: usize) -> f64 {
        self.weights[group]
    }

    /// Sum of the weights of several groups.
    pub fn total_weight(&self, groups: &[usize]) -> f64 {
        groups.iter().map(|&group| self.weight(group)).sum()
    }

    /// Summed weight of the groups that share an entity with `group`, without itself: all groups,
    /// less those among the entities outside it. Such a sum needs no list, because every entity is
    /// in the same number of groups, and so is every pair.
    pub(crate) fn neighbours_weight(&self, group: usize) -> f64 {
        let all = self.weight_of_all_among(self.order, self.total, self.total);
        let inside = self.exchanged[group] - self.weight(group);
        let rows_outside = self.total - self.exchanged[group];
        let pairs_outside = rows_outside - self.exchanged[group] + inside;
        let outside = self.order - self.size;
        let apart = self.weight_of_all_among(outside, rows_outside, pairs_outside);
        all - apart - self.weight(group)
    }

    /// Summed weight of all groups among `entities` entities whose rows sum to `rows`, with `pairs`
    /// as the traffic among themselves.
    fn weight_of_all_among(&self, entities: usize, rows: f64, pairs: f64) -> f64 {
        let with_given =
            |given: usize| match (entities.checked_sub(given), self.size.checked_sub(given)) {
                (Some(others), Some(places)) => group_count(others, places) as f64,
                _ => 0.0,
            };
        with_given(1) * rows - with_given(2) * pairs
    }

    /// All groups by weight; those of equal weight in lexicographic order.
    pub fn by_weight(&self) -> Vec<usize> {
        let mut sorted: Vec<usize> = (0..self.len()).collect();
        sorted.sort_by(|&a, &b| self.weights[a].total_cmp(&self.weights[b]));
        sorted
    }
}

/// Advances to the next group in lexicographic order; false after the last one.
fn advance(group: &mut [usize], order: usize) -> bool {
    let size = group.len();
    let Some(at) = (0..size).rfind(|&at| group[at] < order - size + at) else {
        return false;
    };
    group[at] += 1;
    for next in at + 1..size {
        group[next] = group[next - 1] + 1;
    }
    true
}

/// A small matrix as a table, for fast look-ups: exact grouping is for at most some 250 entities.
struct Table {
    order: usize,
    values: Vec<f64>,
    row_sums: Vec<f64>,
}

impl Table {
    fn new(matrix: &Matrix) -> Self {
        let order = matrix.order();
        let mut values = vec![0.0; order * order];
        let mut row_sums = vec![0.0; order];
        for (row, column, value) in matrix.entries().filter(|(row, column, _)| row != column) {
            values[row * order + column] = value;
            row_sums[row] += value;
        }
        Table {
            order,
            values,
            row_sums,
        }
    }

    /// Traffic among the members of a group.
    fn inside(&self, group: &[usize]) -> f64 {
        let pairs = group
            .iter()
            .flat_map(|&a| group.iter().map(move |&b| (a, b)));
        pairs.map(|(a, b)| self.values[a * self.order + b]).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::PossibleGroups;
    use treepie_traffic::Matrix;

    #[test]
    fn the_weight_of_neighbours_is_that_of_all_groups_that_share_an_entity() {
        let pairs =
            (0..9).flat_map(|a| (a + 1..9).map(move |b| (a, b, ((a * 31 + b * 17) % 23) as f64)));
        let both = pairs.flat_map(|(a, b, value)| [(a, b, value), (b, a, value)]);
        let matrix = Matrix::from_entries(9, both).unwrap();
        for size in [1, 2, 3, 5, 9] {
            let groups = PossibleGroups::new(&matrix, size);
            for a in 0..groups.len() {
                let shares = |b: &usize| {
                    *b != a
                        && groups
                            .members(*b)
                            .iter()
                            .any(|m| groups.members(a).contains(m))
                };
                let expected: f64 = (0..groups.len())
                    .filter(shares)
                    .map(|b| groups.weight(b))
                    .sum();
                assert_eq!(
                    groups.neighbours_weight(a),
                    expected,
                    "size {size} group {a}"
                );
            }
        }
    }
}
