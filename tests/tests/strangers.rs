//! Other users of a host: files that they put into shared directories, and messages that they send
//! to the ranks of a job, change no file of the user and no result of the job. Run as root, who
//! plays the user; the other one has nobody's number.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use treepie_tests::{Job, Library, Mpi, Outcome, artifacts, assert_same_output, under_each_mpi};

const RANKS: usize = 2;

/// The other user and group.
const STRANGER: u32 = 65534;

const PRECIOUS: &str = "precious\n";

fn directory(mode: u32) -> TempDir {
    let made = tempfile::tempdir().expect("a temporary directory can be made");
    fs::set_permissions(made.path(), Permissions::from_mode(mode)).expect("it is ours");
    made
}

/// A directory that all may write, and one of the user's own with a file for each of these names.
struct Places {
    shared: TempDir,
    own: TempDir,
}

impl Places {
    fn new(mode: u32, names: &[&str]) -> Places {
        let places = Places {
            shared: directory(mode),
            own: directory(0o700),
        };
        for name in names {
            fs::write(places.own.path().join(name), PRECIOUS).expect("it is ours");
        }
        places
    }

    /// The other user runs a script in the shared directory; `$1` is the user's own.
    #[track_caller]
    fn plant(&self, script: &str) {
        let mut shell = Command::new("sh");
        shell.args(["-ec", script, "sh"]).arg(self.own.path());
        shell.current_dir(&self.shared).uid(STRANGER).gid(STRANGER);
        let status = shell.status();
        let status = status.unwrap_or_else(|error| {
            panic!("nothing can be done as another user: {error}; run this test as root")
        });
        assert!(status.success(), "{script}: {status}");
    }

    fn shared(&self, name: &str) -> PathBuf {
        self.shared.path().join(name)
    }

    /// The user's files are unchanged, and no other exists.
    #[track_caller]
    fn assert_untouched(&self, names: &[&str], outcome: &Outcome) {
        let entries = fs::read_dir(self.own.path()).expect("it is there");
        assert_eq!(entries.count(), names.len(), "{}", outcome.told());
        for name in names {
            let found = fs::read_to_string(self.own.path().join(name));
            assert_eq!(found.ok().as_deref(), Some(PRECIOUS), "{}", outcome.told());
        }
    }
}

/// Outputs of a job in a shared directory.
fn settings(profile: &Path, order: &Path) -> Library {
    Library::Set(vec![
        ("TREEPIE_MODE", "profile".into()),
        ("TREEPIE_OUTPUT", profile.display().to_string()),
        ("TREEPIE_ORDER", order.display().to_string()),
    ])
}

/// Names of the files that ranks write while a job runs.
const LEFT: [&str; 5] = [
    ".rank-0.tmp",
    "rank-0.part",
    "rank-1.part",
    "host-0.order",
    "host-0.tails",
];

/// The other user has created the directories, with links in them, or links in their place.
const PLANTED: [&str; 2] = [
    "for parts in a.profile.yaml.parts a.order.parts; do
         mkdir -m 777 $parts
         for name in .rank-0.tmp rank-0.part rank-1.part host-0.order host-0.tails; do
             ln -s $1/$name $parts/$name
         done
     done",
    "ln -s $1 a.profile.yaml.parts; ln -s $1 a.order.parts",
];

fn what_ranks_leave_goes_into_no_directory_of_another_user(mpi: Mpi) {
    let plain = Job::new(mpi, RANKS, "endings").argument("abort").run();
    for script in PLANTED {
        let places = Places::new(0o1777, &LEFT);
        places.plant(script);
        let (profile, order) = (places.shared("a.profile.yaml"), places.shared("a.order"));
        let outcome = Job::new(mpi, RANKS, "endings")
            .argument("abort")
            .with(settings(&profile, &order))
            .run();
        assert_same_output(&plain, &outcome);
        places.assert_untouched(&LEFT, &outcome);
        let messages = outcome.messages();
        assert_eq!(messages.len(), 2, "{}", outcome.told());
        for name in [
            "a.profile.yaml.parts: is a link",
            "a.order.parts: is a link",
        ] {
            let said = |message: &&str| message.contains(name);
            assert!(messages.iter().any(said), "{name}: {}", outcome.told());
        }
    }
}

/// Runs the job of its arguments; when its ranks wait, the other user creates the directory `$1`
/// with links to files in `$2`, and the ranks are ended.
const PLANTED_MEANWHILE: &str = "\
parts=$1 own=$2; shift 2
\"$@\" >said &
until [ \"$(grep -o waiting said | wc -l)\" = 2 ]; do sleep 0.05; done
setpriv --reuid 65534 --regid 65534 --clear-groups sh -ec '
    mkdir -m 777 $1
    for rank in 0 1; do ln -s $2/.rank-$rank.tmp $1/.rank-$rank.tmp; done
' sh $parts $own || echo not planted
kill -TERM $(cat ranks)
# Hydra 4.0 may wait for ranks that have gone.
for try in $(seq 100); do kill -0 $! 2>/dev/null || break; sleep 0.1; done
kill -KILL $! 2>/dev/null
wait $!
";

fn links_that_come_while_a_job_runs_are_not_followed_in_a_signal_handler(mpi: Mpi) {
    const NAMES: [&str; 2] = [".rank-0.tmp", ".rank-1.tmp"];
    let places = Places::new(0o1777, &NAMES);
    let (output, scratch) = (places.shared("a.profile.yaml"), directory(0o700));
    let parts = format!("{}.parts", output.display());
    let own = places.own.path().display().to_string();
    let outcome = endings_by_signal(mpi, "wait")
        .under(["bash", "-c", PLANTED_MEANWHILE, "bash", &parts, &own])
        .directory(scratch.path())
        .with(Library::Profile(output))
        .run();
    places.assert_untouched(&NAMES, &outcome);
    assert_eq!(outcome.stdout, "", "{}", outcome.told());
    let messages = outcome.messages();
    assert_eq!(messages.len(), RANKS, "{}", outcome.told());
    let is_named = |message: &&str| message.contains("a.profile.yaml.parts: is a link");
    assert!(messages.iter().all(is_named), "{}", outcome.told());
}

/// The job `endings`, whose processes are listed in the file `ranks` to send them signals.
fn endings_by_signal(mpi: Mpi, how: &str) -> Job {
    Job::of(mpi, RANKS, "sh")
        .argument("-c")
        .argument("echo $$ >>ranks; exec \"$0\" \"$1\"")
        .argument(artifacts::job(mpi, "endings"))
        .argument(how)
}

/// The command reads and removes nothing there.
fn the_command_leaves_directories_of_another_user_alone(mpi: Mpi) {
    let plain = Job::new(mpi, RANKS, "endings").argument("abort").run();
    let places = Places::new(0o1777, &LEFT);
    places.plant(PLANTED[1]);
    let words = |name: &str| places.shared(name).display().to_string();
    let (profile, order) = (words("a.profile.yaml"), words("a.order"));
    let command = artifacts::command().display().to_string();
    let outcome = Job::new(mpi, RANKS, "endings")
        .argument("abort")
        .under([&command, "profile", "-o", &profile, "--order", &order, "--"])
        .run();
    assert_same_output(&plain, &outcome);
    places.assert_untouched(&LEFT, &outcome);
    assert!(!Path::new(&profile).exists() && !Path::new(&order).exists());
}

/// The directory is not sticky, so that no `fs.protected_symlinks` protects it.
fn an_output_that_another_user_has_linked_elsewhere_is_not_written(mpi: Mpi) {
    let plain = Job::new(mpi, RANKS, "ring").run().succeeded();
    let places = Places::new(0o777, &["file"]);
    places.plant("ln -s $1/file a.profile.yaml");
    let outcome = Job::new(mpi, RANKS, "ring")
        .with(Library::Profile(places.shared("a.profile.yaml")))
        .run();
    assert_same_output(&plain, &outcome);
    places.assert_untouched(&["file"], &outcome);
    let messages = outcome.messages();
    assert_eq!(messages.len(), 1, "{}", outcome.told());
    let words = format!("it is a symbolic link of user {STRANGER}");
    assert!(messages[0].contains(&words), "{}", outcome.told());
}

/// Runs the job of its arguments; when its `$1` ranks listen, the other user sends them the
/// messages that they send to each other, and then their checkpoints in `$2` are watched. The ranks
/// end by SIGUSR1.
const SENT_BY_A_STRANGER: &str = "\
ranks=$1 parts=$2; shift 2
\"$@\" &
python3 -c '
import os, socket, sys, time
os.setgroups([]); os.setgid(65534); os.setuid(65534)
def names():
    lines = [line.split() for line in open(\"/proc/net/unix\")]
    return [line[-1][1:] for line in lines if line[-1].startswith(\"@treepie-\")]
while len(names()) < int(sys.argv[1]):
    time.sleep(0.02)
sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
for name in names():
    for byte in b\"qlwd\":
        sender.sendto(bytes([byte]), \"\\0\" + name)
' $ranks
sent=$?
sleep 0.5
touch marked
for try in $(seq 100); do
    newer=$(find $parts -name 'rank-*.part' -newer marked | wc -l)
    [ $newer = $ranks ] && break
    sleep 0.1
done
echo sent with status $sent, $newer ranks go on
kill -USR1 $(cat ranks)
wait
";

fn what_another_user_sends_to_ranks_stops_no_checkpoints(mpi: Mpi) {
    let directory = directory(0o700);
    let output = directory.path().join("a.profile.yaml");
    let ranks = RANKS.to_string();
    let parts = format!("{}.parts", output.display());
    let outcome = endings_by_signal(mpi, "usr1")
        .under(["bash", "-c", SENT_BY_A_STRANGER, "bash", &ranks, &parts])
        .directory(directory.path())
        .with(Library::Profile(output.clone()))
        .variable("TREEPIE_SAVE_EVERY", "0.1")
        .run()
        .succeeded()
        .silent();
    let goes_on = format!("sent with status 0, {RANKS} ranks go on\n");
    assert!(outcome.stdout.contains(&goes_on), "{}", outcome.told());
    assert!(output.exists(), "{}", outcome.told());
}

/// Runs the job of its arguments; when its `$1` ranks keep pages in `$2`, the other user tries to
/// read, change, remove and replace these, and reports the successful attempts. The ranks end by
/// SIGUSR1.
const PAGES_ATTACKED: &str = "\
ranks=$1 pages=$2 own=$3; shift 3
\"$@\" &
until [ $(ls $pages/*/*.page 2>/dev/null | wc -l) = $ranks ]; do sleep 0.05; done
modes=$(stat -c %a $pages $pages/* $pages/*/*.page | sort -u)
state() { find $pages -printf '%p %y %s %m %u\\n' | sort; }
before=$(state)
setpriv --reuid 65534 --regid 65534 --clear-groups sh -c '
    run=$(basename $3)
    for what in \"ls $1\" \"ls $1/$run\" \"cat $1/$run/0.page\" \"touch $1/x\" \"rm $1/$run/0.page\" \\
        \"mv $1 $1.old\" \"ln -sf $2/file $1/$run/0.page\" \"ln -sfT $2 $1\"; do
        $what >/dev/null 2>&1 && echo he could $what
    done
' sh $pages $own $pages/*
[ \"$(state)\" = \"$before\" ] && echo $modes unchanged
kill -USR1 $(cat ranks)
wait
ls $pages | wc -l
";

fn another_user_can_neither_read_nor_change_the_pages_of_a_job(mpi: Mpi) {
    let places = Places::new(0o1777, &["file"]);
    let scratch = directory(0o700);
    let pages = places.shared("pages").display().to_string();
    let (ranks, own) = (RANKS.to_string(), places.own.path().display().to_string());
    let output = scratch.path().join("a.profile.yaml");
    let outcome = endings_by_signal(mpi, "usr1")
        .under(["bash", "-c", PAGES_ATTACKED, "bash", &ranks, &pages, &own])
        .directory(scratch.path())
        .with(Library::Set(vec![
            ("TREEPIE_MODE", "profile".into()),
            ("TREEPIE_OUTPUT", output.display().to_string()),
            ("TREEPIE_PAGES", pages.clone()),
        ]))
        .run()
        .succeeded()
        .silent();
    let expected = "600 700 unchanged\n";
    assert!(outcome.stdout.contains(expected), "{}", outcome.told());
    assert!(!outcome.stdout.contains("he could"), "{}", outcome.told());
    assert!(outcome.stdout.ends_with("0\n"), "{}", outcome.told());
    places.assert_untouched(&["file"], &outcome);
}

/// Runs the job of its arguments, while the other user replaces temporary files in `$1` by links to
/// `$2` as often as possible.
const TEMPORARY_FILES_REPLACED: &str = "\
shared=$1 own=$2; shift 2
setpriv --reuid 65534 --regid 65534 --clear-groups sh -c '
    cd $1
    until [ -e stop ]; do
        for name in .treepie-*.tmp *.parts/.*; do
            case $name in *[*]*|*/.|*/..) ;; *) ln -sfT $2/file $name 2>/dev/null ;; esac
        done
    done' sh $shared $own &
stranger=$!
for run in 1 2 3; do \"$@\"; done
touch $shared/stop
wait $stranger
";

/// The directory is not sticky, so that this user may remove files of others.
fn temporary_files_that_become_links_while_a_job_writes_lead_nowhere(mpi: Mpi) {
    let plain = Job::new(mpi, RANKS, "ring").run().succeeded();
    let places = Places::new(0o777, &["file"]);
    let words = [places.shared.path(), places.own.path()].map(|path| path.display().to_string());
    let outcome = Job::new(mpi, RANKS, "ring")
        .under([
            "bash",
            "-c",
            TEMPORARY_FILES_REPLACED,
            "bash",
            &words[0],
            &words[1],
        ])
        .with(settings(
            &places.shared("a.profile.yaml"),
            &places.shared("a.order"),
        ))
        .variable("TREEPIE_SAVE_EVERY", "0.05")
        .run()
        .succeeded();
    assert_eq!(
        outcome.stdout.len(),
        3 * plain.stdout.len(),
        "{}",
        outcome.told()
    );
    places.assert_untouched(&["file"], &outcome);
}

under_each_mpi!(
    another_user_can_neither_read_nor_change_the_pages_of_a_job,
    temporary_files_that_become_links_while_a_job_writes_lead_nowhere,
    what_ranks_leave_goes_into_no_directory_of_another_user,
    links_that_come_while_a_job_runs_are_not_followed_in_a_signal_handler,
    the_command_leaves_directories_of_another_user_alone,
    an_output_that_another_user_has_linked_elsewhere_is_not_written,
    what_another_user_sends_to_ranks_stops_no_checkpoints,
);
