//! Table of the settings. One row defines a field of [`Settings`], its key in YAML, its variable,
//! its parsing, its printing and its line in the reference.

use std::path::PathBuf;
use std::time::Duration;

use super::choices::{
    AfterEnd, Apply, GuardMode, LocalOrder, LogLevel, Mode, OneSided, Pages, Probe, Reorder,
    Started, Stdin, Transport,
};
use super::collectives::Collectives;
use super::form::{Form, OrderTimeout};
use super::variables::PREFIX;
use treepie_base::nearest::did_you_mean;
use treepie_base::{Cluster, List, Process, Rank};

/// Setting: a row of the table.
pub struct Setting {
    /// Its name in YAML; `variable_of` returns that of its variable.
    pub name: &'static str,
    /// Its meaning, in a sentence.
    pub doc: &'static str,
    /// Its values, for people.
    pub(super) values: fn() -> String,
    /// Default, if it is not a value.
    pub(super) unset: &'static str,
    /// Sets it from a text, which has the same syntax in environment and YAML.
    pub(super) set: fn(&mut Settings, &str) -> Result<(), String>,
    /// Its text, as `set` reads it; `None` if it has no value.
    pub(super) print: fn(&Settings) -> Option<String>,
}

/// Defines [`Settings`] and [`SETTINGS`] from rows `/// sentence`, `name: type = form;`.
macro_rules! settings {
    ($($(#[doc = $doc:literal])+ $name:ident: $type:ty = $form:expr;)+) => {
        /// Settings of a run.
        #[derive(Debug, Clone, PartialEq, Eq, Default)]
        pub struct Settings {
            $($(#[doc = $doc])+ pub $name: $type,)+
        }

        /// All settings, in the order in which users see them.
        pub static SETTINGS: &[Setting] = &[$({
            const FORM: Form<$type> = $form;
            Setting {
                name: stringify!($name),
                doc: concat!($($doc),+),
                values: FORM.values,
                unset: FORM.unset,
                set: |settings, text| {
                    settings.$name = (FORM.parse)(text)?;
                    Ok(())
                },
                print: |settings| (FORM.print)(&settings.$name),
            }
        }),+];
    };
}

settings! {
    /// Work of the library: nothing, counting the traffic into a profile, applying a placement, or
    /// learning from run to run.
    mode: Mode = Form::CHOICE;
    /// Directories in which `mode: auto` keeps its results: your own directory first, then those
    /// that are only read.
    store: Option<String> = Form::STORE;
    /// Profile to write; `%j` is replaced by the job's id, `%p` by the process id, `%n` by the
    /// number of ranks.
    output: Option<String> = Form::OUTPUT;
    /// True if calls are timed too, by class of calls.
    times: bool = Form::SWITCH;
    /// Length of the phases into which the run is cut; without it, `MPI_Pcontrol` marks phases.
    phase_interval: Option<Duration> = Form::SECONDS;
    /// Interval at which each rank writes its counts to a file.
    save_every: Option<Duration> = Form::SECONDS;
    /// Pages of the ranks, which show the call that each is in, in its host's memory or below a
    /// directory.
    pages: Pages = Form::PAGES;
    /// File of the order of receives: recorded with `mode: profile`, followed with `mode: replay`.
    order: Option<PathBuf> = Form::PATH;
    /// Longest time that a call of a replayed order may wait for its recorded result before the job
    /// is ended.
    order_timeout: OrderTimeout = Form::TIMEOUT;
    /// Behaviour of a replay of an order after the point where the recorded run had ended early:
    /// match messages as they arrive, or end the job.
    order_after_end: AfterEnd = Form::CHOICE;
    /// Seed of delays, of 2 ms at most, of the sends of some ranks while an order is recorded or
    /// followed.
    order_delays: Option<u64> = Form::NUMBER;
    /// True if the ranks keep pages, count the messages that they receive, and can be stopped at a
    /// cut.
    cut: bool = Form::SWITCH;
    /// Placement to replay, or a profile, which is placed at the start for the job's hosts.
    placement: Option<PathBuf> = Form::PATH;
    /// New rank of every process of the launcher's world, instead of a placement.
    permutation: Option<List<Process, Rank>> = Form::PERMUTATION;
    /// Way in which a placement is applied: by other ranks, by moving processes to other cores, or
    /// by other ranks with every process bound where it is.
    apply: Apply = Form::CHOICE;
    /// Process that keeps the rank equal to its number because of standard input: the one that gets
    /// input, process 0 always, or none.
    stdin: Stdin = Form::CHOICE;
    /// Order of the ranks of each host: ascending with the launcher's local numbers, so that each
    /// process keeps the device that it takes by its rank there, if a run-time of GPUs is loaded or
    /// `*_VISIBLE_DEVICES` is set, always, or never.
    local_order: LocalOrder = Form::CHOICE;
    /// Platform: the hosts of each cluster, and the speed of the links.
    platform: Option<PathBuf> = Form::PATH;
    /// Measurement of the platform inside `MPI_Init`: if no file fits the job, or never.
    probe: Probe = Form::CHOICE;
    /// Runner of the collectives: the MPI, plans that are predicted to be fastest, or named ones.
    collectives: Collectives = Form::COLLECTIVES;
    /// Runner of their non-blocking and persistent forms: that of `collectives`, the same with a
    /// thread of Treepie, or the MPI.
    started: Started = Form::CHOICE;
    /// Tuning, made by `treepie tune`: the MPI starts with those of its own algorithms that were
    /// measured to be fastest.
    tuning: Option<PathBuf> = Form::PATH;
    /// Cluster of every process, in the launcher's order, as any numbers, instead of a platform.
    clusters: Option<List<Process, Cluster>> = Form::NUMBERS;
    /// Network of the hosts, by whose distances ranks are placed.
    network: Option<String> = Form::NETWORK;
    /// True if replaced reductions combine operands in the order of ranks, so that their bits do
    /// not depend on where ranks run.
    reproducible: bool = Form::SWITCH;
    /// Comparison with the MPI's own collectives: plans must be measured to be faster before they
    /// replace these, or are only measured.
    guard: Option<GuardMode> = Form::GUARD;
    /// Path of messages between ranks of one host in replaced collectives: through the MPI, or
    /// through memory that they share.
    transport: Transport = Form::CHOICE;
    /// Way to reorder the ranks of a communicator with a topology if the program allows it.
    reorder: Reorder = Form::CHOICE;
    /// Handling of small puts and accumulates to one target: each goes to the MPI immediately, or
    /// those of an epoch are joined, always or if that was measured to be faster.
    one_sided: OneSided = Form::CHOICE;
    /// True if the job ends before the application starts when a request cannot be carried out.
    strict: bool = Form::SWITCH;
    /// Most detailed messages that are printed.
    log: LogLevel = Form::CHOICE;
}

/// Returns the names of all settings.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    SETTINGS.iter().map(|setting| setting.name)
}

/// Returns the setting of a name.
///
/// # Errors
/// No setting has it: with the nearest, and all names.
pub(crate) fn of_name(name: &str) -> Result<&'static Setting, String> {
    let setting = SETTINGS.iter().find(|setting| setting.name == name);
    setting.ok_or_else(|| {
        let suggestion = did_you_mean(name.strip_prefix(PREFIX).unwrap_or(name), names());
        let known = names().collect::<Vec<_>>().join(", ");
        format!("no setting is called `{name}`{suggestion}; write one of {known}")
    })
}
