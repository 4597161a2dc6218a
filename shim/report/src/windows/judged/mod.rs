//! What one-sided communication costs on a platform, and would cost with puts joined or epochs of
//! another kind.

mod costs;
pub(crate) mod judgement;
#[cfg(test)]
mod tests;
