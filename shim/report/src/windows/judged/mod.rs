//! Costs of one-sided communication on a platform, at present and with joined puts or epochs of
//! another kind.

mod costs;
pub(crate) mod judgement;
#[cfg(test)]
mod tests;
