//! Lists of ranks of a job.

use treepie_base::Rank;

/// Checks that a list has ranks of the job.
pub(crate) fn check_ranks(list: &[Rank], ranks: usize) -> Result<(), String> {
    match list.iter().find(|rank| rank.0 >= ranks) {
        Some(rank) => Err(format!(
            "rank {rank} is none of the {ranks}, which count from 0; correct it"
        )),
        None => Ok(()),
    }
}
