//! Contents of a profile in files of other tools: long tables for data frames, graphs of ranks,
//! traces, metrics.

mod columns;
mod csv;
mod form;
mod graph;
mod metrics;
mod parquet;
mod rows;
mod thrift;
mod trace;

pub use form::{ExchangeFormat, Extras, is_trace};
