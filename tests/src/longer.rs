//! Runs that last until the expected result: the number of calls that a guard needs depends on
//! other work on the machine, since trials have one hundredth of a job's time.

/// Runs with each of these counts in order until the result suffices; returns the last result.
/// `run` must check the conditions that apply to every run.
pub fn longer<T>(
    counts: &[&str],
    mut run: impl FnMut(&str) -> T,
    is_enough: impl Fn(&T) -> bool,
) -> T {
    let mut found = run(counts[0]);
    for count in &counts[1..] {
        if is_enough(&found) {
            break;
        }
        found = run(count);
    }
    found
}
