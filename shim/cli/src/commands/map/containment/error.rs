//! Refusals in the words of the options.

use treepie_launch::error::CommandError;
use treepie_resilience::containment::ContainmentError;

/// A refusal in the words of the options.
pub(super) fn refused(error: ContainmentError) -> CommandError {
    match error {
        ContainmentError::TooManyGroups { .. } => CommandError::usage(format!("--groups: {error}")),
        _ => CommandError::failed(format!("--containment: {error}")),
    }
}
