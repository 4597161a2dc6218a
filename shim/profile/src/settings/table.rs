//! The table of the settings. One row gives a field of [`Settings`], its key in YAML, its variable,
//! its reading, its printing and its line in the reference.

use std::path::PathBuf;
use std::time::Duration;

use super::choices::{
    AfterEnd, Apply, GuardMode, LogLevel, Mode, OneSided, Pages, Probe, Reorder, Started, Stdin,
    Transport,
};
use super::collectives::Collectives;
use super::form::{Form, OrderPatience};
use super::variables::PREFIX;
use treepie_base::nearest::did_you_mean;
use treepie_base::{List, Process, Rank};

/// A setting: a row of the table.
pub struct Setting {
    /// Its name, as YAML has it; `variable_of` gives that of its variable.
    pub name: &'static str,
    /// Its meaning, in a sentence.
    pub doc: &'static str,
    /// The values that it takes, for people.
    pub(super) values: fn() -> String,
    /// The default where no value is one.
    pub(super) unset: &'static str,
    /// Sets it from a text, which environment and YAML have alike.
    pub(super) set: fn(&mut Settings, &str) -> Result<(), String>,
    /// Its text, as `set` reads it; none where it has no value.
    pub(super) print: fn(&Settings) -> Option<String>,
}

/// Defines [`Settings`] and [`SETTINGS`] from rows `/// sentence`, `name: type = form;`.
macro_rules! settings {
    ($($(#[doc = $doc:literal])+ $name:ident: $type:ty = $form:expr;)+) => {
        /// The settings of a run.
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
    /// Directories in which `mode: auto` keeps what it learns: your own directory first, then those
    /// that are only read.
    store: Option<String> = Form::STORE;
    /// The profile to write; `%j` stands for the job's id, `%p` for the process id, `%n` for the
    /// number of ranks.
    output: Option<String> = Form::OUTPUT;
    /// Whether calls are timed too, by class of calls.
    times: bool = Form::SWITCH;
    /// The length of the phases into which the run is cut; without it, `MPI_Pcontrol` marks phases.
    phase_interval: Option<Duration> = Form::SECONDS;
    /// Interval at which each rank writes what it has counted into a file.
    checkpoint: Option<Duration> = Form::SECONDS;
    /// Whether each rank keeps a page with the call that it is in, in its host's memory or below a
    /// directory.
    pages: Pages = Form::PAGES;
    /// The order of receives: recorded there with `mode: profile`, followed with `mode: replay`.
    order: Option<PathBuf> = Form::PATH;
    /// How long a call of a replayed order may wait for what was recorded before the job is ended.
    order_patience: OrderPatience = Form::PATIENCE;
    /// Behaviour of a replay of an order where the recorded run had ended early: take messages as
    /// they come, or end the job.
    order_after_end: AfterEnd = Form::CHOICE;
    /// The seed of delays, of 2 ms at most, of the sends of some ranks while an order is recorded
    /// or followed.
    order_delays: Option<u64> = Form::NUMBER;
    /// Whether the ranks keep pages, count what they receive, and can be stopped at a cut.
    cut: bool = Form::SWITCH;
    /// Placement to replay, or a profile, which is placed at the start for the hosts that the job
    /// has.
    placement: Option<PathBuf> = Form::PATH;
    /// The new rank of every process of the launcher's world, instead of a placement.
    permutation: Option<List<Process, Rank>> = Form::PERMUTATION;
    /// Way in which a placement is applied: by other ranks, by moving processes to other cores, or
    /// by other ranks with every process bound where it is.
    apply: Apply = Form::CHOICE;
    /// Process that keeps the rank of its number because of standard input: that at which input
    /// arrives, process 0 always, or none.
    stdin: Stdin = Form::CHOICE;
    /// The platform: which hosts make a cluster, and how fast the links are.
    platform: Option<PathBuf> = Form::PATH;
    /// Whether the platform is measured inside `MPI_Init` if no file fits the job.
    probe: Probe = Form::CHOICE;
    /// Runner of the collectives: the MPI, plans that are predicted to be fastest, or named ones.
    collectives: Collectives = Form::COLLECTIVES;
    /// Runner of their non-blocking and persistent forms: as `collectives` says, the same with a
    /// thread of Treepie's, or the MPI.
    started: Started = Form::CHOICE;
    /// A tuning, made by `treepie tune`: the MPI starts with those of its own algorithms that were
    /// measured to be fastest.
    tuning: Option<PathBuf> = Form::PATH;
    /// The cluster of every process, in the launcher's order, as any numbers, instead of a
    /// platform.
    clusters: Option<List<Process, usize>> = Form::NUMBERS;
    /// The network of the hosts, by whose distances ranks are placed.
    network: Option<String> = Form::NETWORK;
    /// Whether replaced reductions combine operands in the order of ranks, so that their bits do
    /// not depend on where ranks run.
    reproducible: bool = Form::SWITCH;
    /// Whether plans must be measured to be faster before they replace collectives, or are only
    /// measured.
    guard: Option<GuardMode> = Form::GUARD;
    /// Path of messages between ranks of one host in replaced collectives: through the MPI, or
    /// through memory that they share.
    transport: Transport = Form::CHOICE;
    /// Way to reorder the ranks of a communicator with a topology where the program allows it.
    reorder: Reorder = Form::CHOICE;
    /// Handling of small puts and accumulates to one target: each goes to the MPI at once, or those
    /// of an epoch are joined, always or where that was measured to be faster.
    one_sided: OneSided = Form::CHOICE;
    /// Whether the job ends before the application starts when something that was asked for cannot
    /// be done.
    strict: bool = Form::SWITCH;
    /// The most detailed messages that are printed.
    log: LogLevel = Form::CHOICE;
}

/// The names of all settings.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    SETTINGS.iter().map(|setting| setting.name)
}

/// The setting of a name.
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
