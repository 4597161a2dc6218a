//! Levels of large arity split into levels of small arity (thesis 2.4.2.1).

/// Replaces every arity by its prime factors, ascending from the root as in the thesis's own
/// `2:2:5:5` for 100 leaves; levels of arity 1 are removed. Leaves keep their numbers. The new
/// levels are fictitious: the cost of a placement must be computed on the original tree.
pub fn decomposed(arities: &[usize]) -> Vec<usize> {
    arities.iter().copied().flat_map(prime_factors).collect()
}

/// Prime factors of a positive number, ascending; none for 1.
fn prime_factors(mut number: usize) -> Vec<usize> {
    let mut factors = Vec::new();
    let mut candidate = 2;
    while candidate * candidate <= number {
        while number.is_multiple_of(candidate) {
            factors.push(candidate);
            number /= candidate;
        }
        candidate += 1;
    }
    if number > 1 {
        factors.push(number);
    }
    factors
}
