//! Learning from run to run: `treepie run`, `treepie history` and `treepie forget`.

pub mod forget;
pub mod history;
pub mod run;
mod store;
