//! `treepie cut`: stops all ranks at a cut at which no message is in flight.
//!
//! ```text
//! job           a job started here: waves while it runs, pending operations after its end
//! waves         one wave over a running job
//! members       its ranks on all hosts
//! protocol      orders to them, and answers
//! coordinator   this command on another host, for the ranks there and of further hosts
//! serve         execution of orders there
//! here          the ranks of this host
//! then          the user's command, while all ranks are stopped
//! ```
//!
//! `treepie_jobstate::cut` decides which ranks have to continue before a cut is quiet.

mod answer;
mod arguments;
mod coordinator;
mod here;
mod job;
mod members;
mod protocol;
mod run;
mod serve;
mod then;
mod waves;

pub use arguments::Arguments;
pub use run::run;
