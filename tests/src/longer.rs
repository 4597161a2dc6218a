//! Runs that last until what a test waits for has come: how many calls a guard needs depends on
//! what else the machine does, since trials have one part in a hundred of a job's time.

/// Runs with each of these counts in turn until the result is enough; the last result. What must
/// hold of every run is for `run` to look at.
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
