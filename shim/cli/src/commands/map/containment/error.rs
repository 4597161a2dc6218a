//! Refusals in terms of the options.

use treepie_launch::error::CommandError;
use treepie_resilience::containment::ContainmentError;

/// Expresses a refusal in terms of the options.
pub(super) fn refused(error: ContainmentError) -> CommandError {
    match error {
        ContainmentError::TooManyGroups { .. } => CommandError::usage(format!("--groups: {error}")),
        _ => CommandError::failed(format!("--containment: {error}")),
    }
}
