//! Identity of this program in a store, and the shape of its processes' locations.

use std::collections::HashMap;
use std::env;
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use serde::Serialize;
use treepie_base::{Process, Slice, open};
use treepie_placement::binding::LaunchedProcess;

use crate::session::program;

/// Length in bytes up to which a file is read completely. Of a longer one both ends are read: the
/// linker's build id is in the first one.
const WHOLE: u64 = 4 << 20;

/// Bytes of each end.
const END: u64 = 64 << 10;

/// Prefixes of variables by whose values an MPI chooses its algorithms and its network, and a
/// program its threads.
const VARIABLES: [&str; 10] = [
    "OMPI_MCA_coll",
    "OMPI_MCA_btl",
    "OMPI_MCA_pml",
    "MPIR_CVAR_",
    "I_MPI_ADJUST_",
    "I_MPI_FABRICS",
    "UCX_TLS",
    "UCX_NET_DEVICES",
    "FI_PROVIDER",
    "OMP_NUM_THREADS",
];

/// Variables that hold the number of the job at its scheduler.
const JOB_NUMBERS: [&str; 5] = [
    "SLURM_JOB_ID",
    "PBS_JOBID",
    "LSB_JOBID",
    "PJM_JOBID",
    "JOB_ID",
];

/// Everything that distinguishes one application from another.
#[derive(Debug, Serialize)]
pub struct Identity {
    program: Option<Content>,
    script: Option<Content>,
    arguments: Vec<String>,
    ranks: usize,
    library: String,
    variables: Vec<(String, String)>,
}

/// Content of a file.
#[derive(Debug, Serialize)]
struct Content {
    bytes: u64,
    parts: Vec<u8>,
}

/// Identifies the program of this process; returns the name for people, and the identity.
pub fn identify(ranks: usize, library: String) -> (String, Identity) {
    let (program, script) = program::files();
    let name = program::name_of(script.as_deref().unwrap_or(&program));
    let identity = Identity {
        program: Content::of(Path::new("/proc/self/exe")),
        script: script.as_deref().and_then(Content::of),
        arguments: env::args_os()
            .skip(1)
            .map(|word| lasting(&word.to_string_lossy()))
            .collect(),
        ranks,
        library,
        variables: variables(),
    };
    (name, identity)
}

/// Returns a word of the command line without the parts that differ in each run: the job's number,
/// and the directory for its temporary files.
fn lasting(word: &str) -> String {
    let mut word = word.to_owned();
    if let Some(directory) = env::var("TMPDIR").ok().filter(|path| path.len() > 1) {
        word = word.replace(&directory, "%t");
    }
    for number in JOB_NUMBERS.iter().filter_map(|name| env::var(name).ok()) {
        if number.len() > 2 {
            word = word.replace(&number, "%j");
        }
    }
    word
}

fn variables() -> Vec<(String, String)> {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    let decides = |name: &str| VARIABLES.iter().any(|start| name.starts_with(start));
    let mut all: Vec<(String, String)> = env::vars_os()
        .filter_map(text)
        .filter(|(name, _)| decides(name))
        .collect();
    all.sort();
    all
}

impl Identity {
    /// Identity of the program, independent of its arguments.
    pub fn program(&self) -> impl Serialize {
        (&self.program, &self.script)
    }

    /// Inputs by which the MPI chooses its algorithms.
    pub fn mpi(&self) -> impl Serialize {
        (&self.library, &self.variables)
    }
}

impl Content {
    /// Reads the content of a file; `None` if it cannot be read.
    fn of(path: &Path) -> Option<Content> {
        let mut file = open(path).ok()?;
        let bytes = file.metadata().ok()?.len();
        let mut parts = Vec::new();
        if bytes <= WHOLE {
            file.take(WHOLE).read_to_end(&mut parts).ok()?;
        } else {
            (&mut file).take(END).read_to_end(&mut parts).ok()?;
            file.seek(SeekFrom::End(-(END as i64))).ok()?;
            file.take(END).read_to_end(&mut parts).ok()?;
        }
        Some(Content { bytes, parts })
    }
}

/// Locations of processes without the names of their hosts: equal for allocations of one shape.
#[derive(Debug, Serialize)]
pub struct Shape {
    /// Host and cores of each process; hosts are numbered in order of appearance.
    processes: Vec<(usize, Vec<usize>)>,
    processor: String,
    system: String,
}

impl Shape {
    /// Returns the shape of these processes' locations.
    pub fn of(processes: &Slice<Process, LaunchedProcess>) -> Shape {
        let mut hosts: HashMap<&str, usize> = HashMap::new();
        let places = processes.iter().map(|process| {
            let next = hosts.len();
            let host = *hosts.entry(&process.host).or_insert(next);
            (host, process.allowed.clone())
        });
        let text = |path| fs::read_to_string(path).unwrap_or_default();
        let cpus = text("/proc/cpuinfo");
        let mut models = cpus.lines().filter(|line| line.starts_with("model name"));
        let release = text("/proc/sys/kernel/osrelease");
        let mut numbers = release.split('.');
        Shape {
            processes: places.collect(),
            processor: models.next().unwrap_or_default().to_owned(),
            system: numbers.by_ref().take(2).collect::<Vec<_>>().join("."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(host: &str, allowed: &[usize]) -> LaunchedProcess {
        LaunchedProcess {
            host: host.into(),
            allowed: allowed.to_vec(),
        }
    }

    fn shape(processes: &[LaunchedProcess]) -> String {
        format!("{:?}", Shape::of(Slice::from_ref(processes)))
    }

    #[test]
    fn hosts_names_are_no_part_of_a_shape() {
        let one = shape(&[process("a", &[0]), process("b", &[0]), process("a", &[1])]);
        let same = shape(&[process("c", &[0]), process("a", &[0]), process("c", &[1])]);
        let other = shape(&[process("a", &[0]), process("a", &[0]), process("b", &[1])]);
        let bound = shape(&[process("a", &[0]), process("b", &[0]), process("a", &[0])]);
        assert_eq!(one, same);
        assert_ne!(one, other);
        assert_ne!(one, bound);
    }

    #[test]
    fn the_whole_of_a_short_file_counts_and_the_ends_of_a_long_one() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let content = Content::of(&here).unwrap_or_else(|| panic!("{}", here.display()));
        assert_eq!(content.bytes, content.parts.len() as u64);
        assert!(Content::of(Path::new("/proc/none")).is_none());
    }
}
