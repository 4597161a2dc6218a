//! CPU time, from Linux's data on this process.

use std::fs::read_to_string;

/// Seconds for which this thread has run so far.
pub fn of_this_thread() -> Result<f64, String> {
    let text = read_to_string("/proc/thread-self/schedstat").map_err(|e| e.to_string())?;
    let first = text.split_whitespace().next().and_then(|t| t.parse().ok());
    let nanoseconds: f64 = first.ok_or("/proc/thread-self/schedstat has no number")?;
    Ok(nanoseconds / 1e9)
}

/// Seconds for which ended children have run, in steps of a hundredth.
pub fn of_children() -> Result<f64, String> {
    let text = read_to_string("/proc/self/stat").map_err(|e| e.to_string())?;
    // The command's name, in parentheses, may contain blanks.
    let fields = text.rsplit(')').next().unwrap_or_default();
    let fields: Vec<f64> = fields
        .split_whitespace()
        .skip(13)
        .take(2)
        .filter_map(|t| t.parse().ok())
        .collect();
    Ok(fields.iter().sum::<f64>() / 100.0)
}
