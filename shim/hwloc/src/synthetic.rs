//! Synthetic descriptions, checked before hwloc reads them.

use std::ffi::CString;

use treepie_topology::LEAF_LIMIT;

use crate::error::HwlocError;

/// Converts the description to the form that hwloc requires.
///
/// # Errors
/// [`HwlocError::BadSynthetic`] if it is empty, contains a zero byte, or describes more units than
/// [`LEAF_LIMIT`], for which hwloc would exhaust all memory before failing.
pub(crate) fn check(description: &str) -> Result<CString, HwlocError> {
    if description.trim().is_empty() {
        return Err(refusal(description, "it is empty"));
    }
    if units(description) > LEAF_LIMIT {
        let reason = format!("it has more than {LEAF_LIMIT} processing units");
        return Err(refusal(description, reason));
    }
    CString::new(description.trim()).map_err(|_| refusal(description, "it contains a zero byte"))
}

/// Builds the error for `description`.
pub(crate) fn refusal(description: &str, reason: impl Into<String>) -> HwlocError {
    HwlocError::BadSynthetic {
        description: description.to_owned(),
        reason: reason.into(),
    }
}

/// The product of all arities. Attributes in parentheses and memory in
/// brackets do not multiply.
fn units(description: &str) -> usize {
    let mut attributes = 0_i32;
    let arities: String = description
        .chars()
        .filter(|c| {
            attributes += i32::from(matches!(c, '(' | '[')) - i32::from(matches!(c, ')' | ']'));
            attributes == 0 && !matches!(c, ')' | ']')
        })
        .collect();
    arities
        .split_whitespace()
        .filter_map(|level| level.rsplit(':').next()?.parse::<usize>().ok())
        .fold(1, usize::saturating_mul)
}
