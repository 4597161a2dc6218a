//! Wrong programs end with the library as they do without it, and as soon; those that hang without
//! it do not crash with it. Each is compared with a simultaneous plain run, since an MPI may do
//! anything with a wrong program. Many run simultaneously: half of them wait for events that never
//! come.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use treepie_tests::permutations::as_list;
use treepie_tests::{Job, Mpi, artifacts, assert_same_output, run_watched, under_each_mpi};

/// Number of simultaneous runs, and the time in seconds after which one of them hangs. None works
/// for longer than a moment.
#[derive(Debug, Clone, Copy)]
struct Beside {
    jobs: usize,
    patience: u32,
}

const MANY: Beside = Beside {
    jobs: 12,
    patience: 4,
};
const ALONE: Beside = Beside {
    jobs: 1,
    patience: 10,
};

/// Number of additional plain runs of a case in which a run with the library differs: the behaviour
/// of an MPI may vary with a wrong program.
const MORE_PLAIN_RUNS: usize = 3;

/// Number of additional runs with the library.
const RUNS_AGAIN: usize = 2;
/// Maximum ratio of the time with the library to that without.
const LATER: f64 = 2.0;

/// A case of `tests/jobs/erroneous.c`.
#[derive(Debug, Clone)]
struct Case {
    name: String,
    ranks: usize,
}

/// A configuration of the library, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    Plain,
    Profiled,
    Permuted,
    Guarded,
}

const WITH_THE_LIBRARY: [Way; 3] = [Way::Profiled, Way::Permuted, Way::Guarded];

impl Way {
    /// The variables of a job in this configuration, which may write to this file.
    fn variables(self, ranks: usize, output: &Path) -> Vec<(String, String)> {
        let mut set: Vec<(&str, String)> = match self {
            Way::Plain => return Vec::new(),
            Way::Profiled => vec![
                ("TREEPIE_MODE", "profile".into()),
                // Files of killed runs stay.
                (
                    "TREEPIE_PAGES",
                    output.with_extension("pages").display().to_string(),
                ),
            ],
            Way::Permuted => {
                let reversed: Vec<usize> = (0..ranks).rev().collect();
                vec![
                    ("TREEPIE_MODE", "replay".into()),
                    ("TREEPIE_PERMUTATION", as_list(&reversed)),
                ]
            }
            Way::Guarded => {
                let apart: Vec<usize> = (0..ranks).collect();
                vec![
                    ("TREEPIE_MODE", "replay".into()),
                    ("TREEPIE_COLLECTIVES", "auto".into()),
                    ("TREEPIE_CLUSTERS", as_list(&apart)),
                    ("TREEPIE_GUARD", "on".into()),
                ]
            }
        };
        set.push(("TREEPIE_OUTPUT", output.display().to_string()));
        set.push(("LD_PRELOAD", artifacts::library().display().to_string()));
        let owned = set.into_iter();
        owned
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }
}

/// End of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// It did not end.
    Hung,
    /// A signal ended a rank.
    Crashed,
    /// It ended with this status, which is the MPI's if that found an error.
    Ended(i32),
}

/// True if Hydra reports it. It names a status as the signal with that number, such as 1.
fn crashed(said: &str) -> bool {
    let names = [
        "(signal 4)",
        "(signal 6)",
        "(signal 7)",
        "(signal 8)",
        "(signal 11)",
    ];
    names.iter().any(|name| said.contains(name))
}

#[derive(Debug, Clone)]
struct Run {
    end: End,
    seconds: f64,
    /// Output of the program. Ranks print in any order, and launchers add messages.
    output: BTreeSet<String>,
    told: String,
}

impl Run {
    /// A run that wrote to files with this name.
    #[track_caller]
    fn read(files: &Path, patience: u32) -> Run {
        let read = |ending: &str| {
            let path = files.with_extension(ending);
            let bytes = fs::read(&path);
            let bytes = bytes.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let (said, errors, ended) = (read("out"), read("err"), read("status"));
        let (status, seconds) = ended.trim().split_once(' ').unwrap_or_default();
        let status: i32 = status.parse().expect("a status");
        let microseconds: f64 = seconds.parse().expect("microseconds");
        let seconds = microseconds / 1e6;
        let of_program = |line: &&str| {
            let rank = line.split_once(": ").map(|(rank, _)| rank.parse::<u32>());
            rank.is_some_and(|rank| rank.is_ok())
        };
        Run {
            end: match status {
                _ if seconds >= f64::from(patience) => End::Hung,
                0 => End::Ended(0),
                _ if crashed(&said) || errors.contains("on signal ") => End::Crashed,
                status => End::Ended(status),
            },
            seconds,
            output: said.lines().filter(of_program).map(str::to_owned).collect(),
            told: format!("{status} after {seconds:.1} s\n{said}{errors}"),
        }
    }

    /// True if a run with the library ended like this plain one. A hanging run may be ended, too,
    /// and a crashing one be refused. If several ranks abort simultaneously, the launcher returns
    /// the status of one or the other, or 1.
    fn is_like(&self, plain: &Run) -> bool {
        match (plain.end, self.end) {
            (End::Hung, with) => with != End::Crashed,
            (End::Crashed, with) => with != End::Hung && with != End::Ended(0),
            (End::Ended(0), End::Ended(0)) => self.output == plain.output,
            (End::Ended(plain), End::Ended(with)) => plain != 0 && with != 0,
            (End::Ended(_), End::Hung | End::Crashed) => false,
        }
    }

    /// True if it ended much later than this plain run.
    fn is_late(&self, plain: &Run) -> bool {
        plain.end != End::Hung && self.seconds > plain.seconds + LATER
    }
}

/// The cases listed by the job.
#[track_caller]
fn cases(mpi: Mpi) -> Vec<Case> {
    let mut command = Command::new(artifacts::job(mpi, "erroneous"));
    command.arg("list");
    let listed = run_watched(command, Duration::from_secs(60), "erroneous list").succeeded();
    let case = |line: &str| {
        let (ranks, name) = line.split_once(' ').expect("ranks and a name");
        Case {
            name: name.to_owned(),
            ranks: ranks.parse().expect("a number of ranks"),
        }
    };
    listed.stdout.lines().map(case).collect()
}

/// A shell script that runs a case in this configuration, and writes the result to files with this
/// name.
fn script(mpi: Mpi, case: &Case, way: Way, files: &Path, patience: u32) -> String {
    let variables = way.variables(case.ranks, &files.with_extension("profile.yaml"));
    let with_further = |(name, value): (String, String)| match (mpi.preload(), &name[..]) {
        (Some(further), "LD_PRELOAD") => (name, format!("{value}:{}", further.display())),
        _ => (name, value),
    };
    let mut variables: Vec<_> = variables.into_iter().map(with_further).collect();
    if let (Some(further), Way::Plain) = (mpi.preload(), way) {
        variables.push(("LD_PRELOAD".to_owned(), further.display().to_string()));
    }
    let launch = mpi.launch(case.ranks, &variables).into_iter();
    let launch: Vec<_> = launch
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let files = files.display();
    format!(
        "began=${{EPOCHREALTIME/[.,]/}}\n\
         timeout --kill-after=2 {patience} {} {} {} >{files}.out 2>{files}.err </dev/null\n\
         echo $? $((${{EPOCHREALTIME/[.,]/}} - began)) >{files}.status\n",
        launch.join(" "),
        artifacts::job(mpi, "erroneous").display(),
        case.name,
    )
}

/// Runs these.
#[track_caller]
fn run(mpi: Mpi, wanted: &[(&Case, Way)], beside: Beside) -> Vec<Run> {
    let desk = tempfile::tempdir().expect("a temporary directory can be made");
    let named = |at: usize| desk.path().join(format!("run-{at}"));
    for (at, (case, way)) in wanted.iter().enumerate() {
        let script = script(mpi, case, *way, &named(at), beside.patience);
        fs::write(named(at).with_extension("sh"), script).expect("a file");
    }
    let mut command = Command::new("sh");
    let all = format!("ls | grep '[.]sh$' | xargs -P {} -n 1 bash", beside.jobs);
    command.args(["-c", &all]).current_dir(desk.path());
    let longest = Duration::from_secs(60 + 15 * wanted.len() as u64);
    run_watched(command, longest, &format!("erroneous programs under {mpi}"));
    let runs = 0..wanted.len();
    runs.map(|at| Run::read(&named(at), beside.patience))
        .collect()
}

/// The error of a case that ended differently with the library; `None` if it does not when it is
/// run again alone, or if plain runs do so, too: the status of launchers that lose a rank varies.
#[track_caller]
fn wrong(mpi: Mpi, case: &Case, way: Way, plain: &Run, with: &Run) -> Option<String> {
    if with.is_like(plain) && !with.is_late(plain) {
        return None;
    }
    let mut wanted = vec![(case, Way::Plain); MORE_PLAIN_RUNS];
    wanted.extend([(case, way); RUNS_AGAIN]);
    let mut plains = run(mpi, &wanted, ALONE);
    let again = plains.split_off(MORE_PLAIN_RUNS);
    let is_right = |with: &Run| {
        let mut plains = plains.iter();
        plains.any(|plain| with.is_like(plain) && !with.is_late(plain))
    };
    (!again.iter().any(is_right)).then(|| {
        format!(
            "{} under {mpi}, {way:?}: {}\n  without the library: {}",
            case.name, again[0].told, plains[0].told
        )
    })
}

/// Runs each case of the program, plainly and in each configuration.
fn wrong_programs_end_as_they_do_without_the_library(mpi: Mpi) {
    let cases = cases(mpi);
    let ways = |case| {
        let with = WITH_THE_LIBRARY.into_iter();
        let all = [Way::Plain].into_iter().chain(with);
        all.map(move |way| (case, way))
    };
    let wanted: Vec<_> = cases.iter().flat_map(ways).collect();
    let runs = run(mpi, &wanted, MANY);
    let mut found = Vec::new();
    for (case, runs) in cases.iter().zip(runs.chunks(1 + WITH_THE_LIBRARY.len())) {
        let with = WITH_THE_LIBRARY.into_iter().zip(&runs[1..]);
        found.extend(with.filter_map(|(way, with)| wrong(mpi, case, way, &runs[0], with)));
    }
    assert!(
        found.is_empty(),
        "{} runs of {} end otherwise with the library\n{}",
        found.len(),
        wanted.len(),
        found.join("\n")
    );
}

/// `MPI_Init` grants no level at which a second thread may call MPI; programs that do so anyway,
/// and let one at a time, work. (If threads do not wait for each other, an MPI's own memory is
/// corrupted, and every second run fails, with any preloaded library: PT-Scotch after `MPI_Init`.)
fn two_threads_of_a_program_that_was_granted_one_take_turns(mpi: Mpi) {
    let desk = tempfile::tempdir().expect("a temporary directory can be made");
    let job = Job::new(mpi, 2, "two_threads").argument("8");
    let job = job.argument("turns");
    let plain = job.run().succeeded();
    assert_eq!(plain.stdout, "0 wrong\n");
    for way in WITH_THE_LIBRARY {
        let variables = way.variables(2, &desk.path().join("job.profile.yaml"));
        let with = variables
            .into_iter()
            .fold(job.clone(), |job, (name, value)| job.variable(&name, value));
        assert_same_output(&plain, &with.run().silent());
    }
}

under_each_mpi!(
    wrong_programs_end_as_they_do_without_the_library,
    two_threads_of_a_program_that_was_granted_one_take_turns,
);
