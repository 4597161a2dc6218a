//! Programs that change their own process, and those that number processes themselves: they run as
//! without the library, and unsupported requests are refused with one line.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use treepie_profile::Profile;
use treepie_tests::{Job, Library, Mpi, artifacts, assert_same_output, under_each_mpi};

const RANKS: usize = 2;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary directory can be made")
}

/// A job of `tests/jobs`, compiled with further options.
fn compiled(mpi: Mpi, name: &str, folder: &Path, options: &[OsString]) -> PathBuf {
    let source = artifacts::repository().join(format!("tests/jobs/{name}.c"));
    let program = folder.join(name);
    let mut compiler = Command::new(mpi.compiler());
    compiler.arg("-o").arg(&program).arg(source).args(options);
    let status = compiler.status();
    assert!(status.is_ok_and(|status| status.success()), "{compiler:?}");
    program
}

/// Counted, timed, and with pages.
fn counted(profile: &Path) -> Library {
    Library::Set(vec![
        ("TREEPIE_MODE", "profile".into()),
        ("TREEPIE_OUTPUT", profile.display().to_string()),
        ("TREEPIE_TIMES", "true".into()),
        ("TREEPIE_PAGES", "true".into()),
    ])
}

fn saved_environments_children_and_names_are_left_alone(mpi: Mpi) {
    let folder = folder();
    let options = ["-DNAMES", "-fno-builtin", "-rdynamic"].map(OsString::from);
    let program = compiled(mpi, "careless", folder.path(), &options);
    for how in ["saved", "children", "names"] {
        let job = Job::of(mpi, RANKS, &program).argument(how);
        let plain = job.run().succeeded();
        let profile = folder.path().join(format!("{how}.profile.yaml"));
        for library in [counted(&profile), Library::Permuted(vec![1, 0])] {
            let outcome = job.clone().with(library).run().succeeded().silent();
            assert_same_output(&plain, &outcome);
            assert!(outcome.files.is_empty(), "{:?}", outcome.files);
        }
        let counted = Profile::read(&profile).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(counted.ranks, RANKS);
    }
}

/// A child inherits its parent's pages, and leaves them alone.
fn children_of_python_are_no_ranks(mpi: Mpi) {
    let folder = folder();
    let job = Job::python(mpi, RANKS, "children");
    let plain = job.run().succeeded();
    let profile = folder.path().join("python.profile.yaml");
    for library in [counted(&profile), Library::Permuted(vec![1, 0])] {
        let outcome = job.clone().with(library).run().succeeded().silent();
        assert_same_output(&plain, &outcome);
        assert!(outcome.files.is_empty(), "{:?}", outcome.files);
    }
    let counted = Profile::read(&profile).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(counted.ranks, RANKS);
}

/// Without variables no process knows its job, with the library or without.
fn a_cleared_environment_gives_jobs_of_one(mpi: Mpi) {
    let folder = folder();
    let program = compiled(mpi, "careless", folder.path(), &[]);
    let job = Job::of(mpi, 1, program).argument("cleared");
    let plain = job.run().succeeded();
    for library in [
        counted(&folder.path().join("cleared.profile.yaml")),
        Library::Off,
    ] {
        assert_same_output(&plain, &job.clone().with(library).run().succeeded());
    }
}

/// `env -i` removes everything except the variables that the launcher itself needs.
fn an_empty_environment_is_enough(mpi: Mpi) {
    let folder = folder();
    let profile = folder.path().join("empty.profile.yaml");
    let path = std::env::var("PATH").expect("programs are found");
    let root = ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"];
    let mut words = vec!["env".to_owned(), "-i".to_owned(), format!("PATH={path}")];
    words.extend(root.map(|name| format!("{name}=1")));
    let program = compiled(mpi, "careless", folder.path(), &[]);
    let job = Job::of(mpi, RANKS, program)
        .argument("saved")
        .under(words)
        .with(counted(&profile));
    job.run().succeeded().silent();
    assert!(profile.exists());
}

/// Loading its library is enough: numbers of OpenSHMEM and ranks of MPI are used interchangeably.
fn ranks_are_not_permuted_where_another_library_numbers_processes(mpi: Mpi) {
    let folder = folder();
    let shared = folder.path().join("liboshmem.so.40");
    let made = Command::new("cc")
        .args(["-shared", "-fPIC", "-x", "c", "/dev/null", "-o"])
        .arg(&shared)
        .status();
    assert!(made.is_ok_and(|status| status.success()));
    let options = ["-Wl,--no-as-needed".into(), shared.into_os_string()];
    let program = compiled(mpi, "launched", folder.path(), &options);
    let job = Job::of(mpi, RANKS, program);
    let plain = job.run().succeeded();
    let outcome = job.with(Library::Permuted(vec![1, 0])).run().succeeded();
    let mut lines: Vec<_> = outcome.stdout.lines().collect();
    let mut plain: Vec<_> = plain.stdout.lines().collect();
    lines.sort_unstable();
    plain.sort_unstable();
    assert_eq!(lines, plain);
    let said = outcome.messages();
    assert_eq!(said.len(), 1, "{}", outcome.told());
    for part in ["OpenSHMEM", "--apply bind", "--apply launch"] {
        assert!(said[0].contains(part), "{said:?}");
    }
}

under_each_mpi!(
    saved_environments_children_and_names_are_left_alone,
    children_of_python_are_no_ranks,
    a_cleared_environment_gives_jobs_of_one,
    an_empty_environment_is_enough,
    ranks_are_not_permuted_where_another_library_numbers_processes,
);
