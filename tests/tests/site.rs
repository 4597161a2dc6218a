//! The switches of a site: its policy in /etc/treepie, which jobs see in separate mounts, the
//! variable that turns everything off, and `treepie exec`. Run as root, who owns the policy.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;
use treepie_tests::{
    Job, Library, Mpi, Outcome, artifacts, assert_same_output, run_watched, under_each_mpi,
};

const RANKS: usize = 2;

/// Puts a policy into /etc/treepie of the job alone, with these permissions and this owner, and
/// these permissions of the directory.
const WITH_POLICY: &str = "mount -t tmpfs -o mode=$4 tmpfs /etc/treepie || exit 9
cp $1 /etc/treepie/treepie.yaml
chmod $2 /etc/treepie/treepie.yaml
chown $3 /etc/treepie/treepie.yaml
shift 4
exec \"$@\"";

/// A job under a policy, and the directory of its profiles.
struct Site {
    directory: TempDir,
}

impl Site {
    fn new(lines: &str) -> Site {
        fs::create_dir_all("/etc/treepie")
            .unwrap_or_else(|error| panic!("/etc/treepie: {error}; run this test as root"));
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let profile = directory.path().join("site.profile.yaml");
        let text = format!(
            "treepie: site\nversion: 1\n{lines}settings:\n  mode: profile\n  output: {}\n",
            profile.display()
        );
        fs::write(directory.path().join("policy.yaml"), text).expect("it is ours");
        Site { directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn job(&self, mpi: Mpi, variables: &[(&'static str, &str)], access: [&str; 3]) -> Outcome {
        let policy = self.path("policy.yaml").display().to_string();
        let [mode, owner, directory] = access;
        let variables = variables
            .iter()
            .map(|&(name, value)| (name, value.to_owned()));
        Job::new(mpi, RANKS, "ring.f90")
            .under(["unshare", "--mount", "sh", "-c"])
            .under([WITH_POLICY, "sh", &policy, mode, owner, directory])
            .with(Library::Set(variables.collect()))
            .run()
            .succeeded()
    }

    /// Runs the job, and returns true if it was counted.
    fn counts(&self, mpi: Mpi, variables: &[(&'static str, &str)]) -> bool {
        let outcome = self.job(mpi, variables, ROOTS).silent();
        let profile = self.path("site.profile.yaml");
        let is_there = profile.exists();
        if is_there {
            fs::remove_file(profile).unwrap_or_else(|error| panic!("{error}: {}", outcome.told()));
        }
        is_there
    }
}

/// A policy that only root may write.
const ROOTS: [&str; 3] = ["644", "0", "755"];

const SWITCHED_ON: [(&str, &str); 1] = [("TREEPIE_SITE", "true")];

fn a_policy_takes_the_programs_that_its_first_rule_allows(mpi: Mpi) {
    let jobs = artifacts::job(mpi, "ring.f90");
    let folder = jobs.parent().expect("it lies in a directory").display();
    for (rules, expected) in [
        (String::new(), true),
        (
            format!("programs: [allow: '{folder}/*', deny: '**']\n"),
            true,
        ),
        (
            format!("programs: [deny: '{folder}/*', allow: '**']\n"),
            false,
        ),
        ("programs: [deny: '**']\n".to_owned(), false),
        ("ranks: 2\n".to_owned(), true),
        ("ranks: 3\n".to_owned(), false),
        ("sample: 0\n".to_owned(), false),
    ] {
        assert_eq!(
            Site::new(&rules).counts(mpi, &SWITCHED_ON),
            expected,
            "{rules}"
        );
    }
}

fn nothing_is_done_where_the_site_is_not_asked_or_all_is_turned_off(mpi: Mpi) {
    let site = Site::new("");
    assert!(!site.counts(mpi, &[]));
    let off = [("TREEPIE_SITE", "1"), ("TREEPIE_DISABLE", "1")];
    assert!(!site.counts(mpi, &off));
    let missing = [
        ("TREEPIE_DISABLE", "true"),
        ("TREEPIE_MODE", "profile"),
        ("TREEPIE_CONFIG", "/no/such/file"),
        ("TREEPIE_TUNING", "/no/such/file"),
    ];
    assert!(!site.counts(mpi, &missing));
}

fn a_policy_that_others_may_have_written_is_left_out_with_a_line(mpi: Mpi) {
    let site = Site::new("");
    for access in [
        ["664", "0", "755"],
        ["666", "0", "755"],
        ["644", "65534", "755"],
        ["644", "0", "1777"],
    ] {
        let outcome = site.job(mpi, &SWITCHED_ON, access);
        let messages = outcome.messages();
        assert_eq!(messages.len(), 1, "{}", outcome.told());
        assert!(
            messages[0].contains("belongs to another user than root, or others may write to it"),
            "{}",
            outcome.told()
        );
        assert!(!site.path("site.profile.yaml").exists());
    }
    fs::write(site.path("policy.yaml"), "treepie: site\nversion: 99\n").expect("it is ours");
    let outcome = site.job(mpi, &SWITCHED_ON, ROOTS);
    assert!(
        outcome.messages()[0].contains("version 99: written by a newer treepie"),
        "{}",
        outcome.told()
    );
}

fn users_settings_win_but_for_those_that_are_locked(mpi: Mpi) {
    let own = tempfile::tempdir().expect("a temporary directory can be made");
    let mine = own.path().join("mine.profile.yaml");
    let asked = [
        ("TREEPIE_MODE", "profile"),
        ("TREEPIE_OUTPUT", &*mine.display().to_string()),
    ];
    let site = Site::new("programs: [deny: '**']\n");
    assert!(!site.counts(mpi, &asked));
    assert!(mine.exists());
    fs::remove_file(&mine).expect("it is ours");
    let site = Site::new("locked: [output]\n");
    let outcome = site.job(mpi, &asked, ROOTS);
    assert_eq!(outcome.messages().len(), 1, "{}", outcome.told());
    assert!(
        outcome.messages()[0].contains("TREEPIE_OUTPUT does not count"),
        "{}",
        outcome.told()
    );
    assert!(!mine.exists() && site.path("site.profile.yaml").exists());
}

fn exec_counts_one_program_and_leaves_the_launcher_alone(mpi: Mpi) {
    let own = tempfile::tempdir().expect("a temporary directory can be made");
    let profile = own.path().join("a.profile.yaml");
    let program = artifacts::job(mpi, "ring.f90");
    let plain = Job::of(mpi, RANKS, &program).run().succeeded();
    let through = |words: &[&str]| {
        let mut job = Job::of(mpi, RANKS, artifacts::command()).argument("exec");
        for word in words {
            job = job.argument(word);
        }
        job.argument("--").argument(&program).run().succeeded()
    };
    let output = format!("output={}", profile.display());
    let counted = through(&["--mode", "profile", "--set", &output]);
    assert_same_output(&plain, &counted);
    assert!(profile.exists(), "{}", counted.told());
    assert_same_output(&plain, &through(&[]));
}

/// Programs of a machine that are no jobs: shells, tools, compilers, Python, launchers. Lines of a
/// shell's, in a directory with `hello.c`, `hello.f90` and `hello.py`.
const NO_JOBS: [&str; 36] = [
    "sh -c 'echo a | cat'",
    "bash -c 'for i in 1 2; do echo $((i * i)); done'",
    "dash -c 'test -d / && echo yes'",
    "ls hello.c",
    "cp hello.c other.c && cmp hello.c other.c",
    "sort hello.c",
    "sed s/hello/bye/ hello.c",
    "grep -c main hello.c",
    "awk '{ n += NF } END { print n }' hello.c",
    "tar -cf - hello.c | tar -tf -",
    "gzip -c hello.c | gunzip",
    "find . -name hello.c",
    "printf 'a b' | xargs -n1 echo",
    "env -i /bin/echo alone",
    "date -d @0 -u",
    "id -u",
    "uname -s",
    "expr 6 '*' 7",
    "perl -e 'print 6 * 7, qq(\\n)'",
    "python3 hello.py",
    "python3 -c 'import subprocess; subprocess.run([\"echo\", \"child\"])'",
    "cpp -P hello.c | tail -n 3",
    "gcc -c hello.c -o hello.o && nm hello.o",
    "gcc hello.c -o hello && ./hello",
    "g++ -x c++ -c hello.c -o hello.o && readelf -h hello.o",
    "gfortran hello.f90 -o hello && ./hello",
    "as --version",
    "ld --version",
    "gcc -c hello.c -o hello.o && ar rc libhello.a hello.o && ar t libhello.a",
    "ldd --version",
    "cargo --version",
    "rustc --version",
    "gdb --version",
    "ip -V",
    "mpicc.openmpi --version",
    "mpirun.openmpi --version",
];

const HELLO_C: &str = "int puts(const char *);\nint main() { return puts(\"hello\") < 0; }\n";

impl Site {
    /// Runs a line of the shell's under the policy, with the library in all programs or in none.
    fn shell(&self, line: &str, is_preloaded: bool) -> Outcome {
        let policy = self.path("policy.yaml").display().to_string();
        let mut command = Command::new("unshare");
        command
            .args(["--mount", "sh", "-c", WITH_POLICY, "sh", &policy])
            .args(ROOTS)
            .args(["sh", "-c", line])
            .current_dir(self.directory.path());
        if is_preloaded {
            command
                .env("LD_PRELOAD", artifacts::library())
                .env("TREEPIE_SITE", "true");
        }
        run_watched(command, Duration::from_secs(60), line)
    }

    /// Whether a line leaves a profile under the policy; it prints the same without the library.
    fn takes(&self, line: &str) -> bool {
        let plain = self.shell(line, false);
        let outcome = self.shell(line, true).silent();
        assert_same_output(&plain, &outcome);
        assert!(plain.status.success(), "{}", plain.told());
        let profile = self.path("site.profile.yaml");
        let is_there = profile.exists();
        if is_there {
            fs::remove_file(profile).unwrap_or_else(|error| panic!("{error}: {}", outcome.told()));
        }
        is_there
    }
}

/// Under a policy that allows jobs by their directory, jobs are counted, and other programs run
/// unchanged.
#[test]
fn of_forty_programs_and_more_a_policy_takes_the_jobs_alone() {
    let site = Site::new("programs: [deny: '**/licensed/**', allow: '**/jobs/**']\n");
    for (name, text) in [
        ("hello.c", HELLO_C),
        ("hello.f90", "print *, 'hello'\nend\n"),
        ("hello.py", "print('hello')\n"),
    ] {
        fs::write(site.path(name), text).expect("it is ours");
    }
    for line in NO_JOBS {
        assert!(!site.takes(line), "{line}");
    }
    let ring = artifacts::job(Mpi::OpenMpi, "ring").display().to_string();
    let source = artifacts::repository().join("tests/jobs/ring.py");
    let script = source.canonicalize().expect("it is there");
    let python = artifacts::python(Mpi::OpenMpi);
    let as_named = |name: &str| format!("mkdir -p {name}; cp {ring} {name}; {name}/ring");
    let alone = |name: &str| format!("cp {ring} {name}; ./{name}");
    let run = "mpirun.openmpi --oversubscribe --bind-to none -n 2";
    for (line, expected) in [
        (format!("{run} {ring}"), true),
        (format!("{run} sh -c {ring}"), true),
        (
            format!(
                "mpiexec.mpich -n 2 {}",
                artifacts::job(Mpi::Mpich, "ring").display()
            ),
            true,
        ),
        (
            format!("{run} {} {}", python.display(), script.display()),
            true,
        ),
        (as_named("jobs"), true),
        (as_named("licensed"), false),
        // What configure and CMake try.
        (alone("conftest"), false),
        (alone("cmTC_1a2b"), false),
    ] {
        assert_eq!(site.takes(&line), expected, "{line}");
    }
}

under_each_mpi! {
    a_policy_takes_the_programs_that_its_first_rule_allows,
    nothing_is_done_where_the_site_is_not_asked_or_all_is_turned_off,
    a_policy_that_others_may_have_written_is_left_out_with_a_line,
    users_settings_win_but_for_those_that_are_locked,
    exec_counts_one_program_and_leaves_the_launcher_alone,
}
