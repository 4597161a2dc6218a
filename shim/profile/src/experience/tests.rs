use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::*;
use treepie_base::Rank;
use treepie_guard::learning::{Arm, Candidate, End, Experience, Judgement, Run};
use treepie_placement::worth::Worth;

fn user() -> u32 {
    fs::metadata("/proc/self").unwrap().uid()
}

fn store(directory: &Path) -> Store {
    Store::new(directory.join("store").to_str().unwrap(), user())
}

fn run(name: &str, began: u64, end: End) -> Run {
    Run {
        name: name.to_owned(),
        began,
        shape: 7,
        arm: Arm::Plain,
        counted: false,
        end,
    }
}

fn file(runs: Vec<Run>) -> ExperienceFile {
    ExperienceFile {
        producer: "treepie 0.1.0".into(),
        application: Application {
            program: "halo2d".into(),
            ranks: 4,
            mpi: "open-mpi".into(),
        },
        experience: Experience {
            runs,
            judgements: Vec::new(),
        },
        guards: Vec::new(),
    }
}

/// Returns the time of these tests, whose runs began in the 24 hours before.
fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_050_000)
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_file_is_read_as_it_was_written() {
    let mut written = file(vec![
        run("a-1", 1_795_000_000, End::Seconds(1.25)),
        run("a-2", 1_795_000_100, End::Open),
        run("a-3", 1_795_000_200, End::Failed),
    ]);
    written.experience.runs[0].counted = true;
    written.experience.runs[1].arm = Arm::Permute;
    written.experience.judgements.push(Judgement {
        shape: u64::MAX,
        made: 1_795_000_100,
        since: 1_795_000_000,
        worth: Worth::Gain,
        saved: 0.25,
        in_mpi: Some(0.5),
        candidates: vec![
            Candidate::Permute(Rank::list([2, 0, 1, 3])),
            Candidate::Bind(vec![0, 1, 1, 0].into()),
        ],
    });
    let path = Path::new("a.yaml");
    let text = written.to_text(path).unwrap();
    assert_eq!(ExperienceFile::from_text(path, &text).unwrap(), written);
}

#[test]
fn a_wrong_field_is_named() {
    let path = Path::new("a.yaml");
    let text = file(vec![run("a-1", 1_795_000_000, End::Seconds(1.25))])
        .to_text(path)
        .unwrap();
    for (right, wrong, expected) in [
        ("ranks: 4", "ranks: 0", "a.yaml: ranks: is 0"),
        (
            "name: a-1",
            "name: ../a",
            "a.yaml:8:9: runs[0].name: is no name",
        ),
        (
            "arm: plain",
            "arm: fast",
            "a.yaml:11:8: runs[0].arm: no way to run a job is called `fast`",
        ),
        (
            "seconds: 1.25",
            "seconds: -1",
            "a.yaml:12:12: runs[0].seconds: -1 is no number from 0",
        ),
        (
            "began: 2026-11-18",
            "began: yesterday",
            "a.yaml:9:10: runs[0].began: `yesterday",
        ),
    ] {
        assert!(text.contains(right), "{text}");
        let error = ExperienceFile::from_text(path, &text.replace(right, wrong)).unwrap_err();
        assert!(error.to_string().starts_with(expected), "{error}");
    }
}

#[test]
fn many_jobs_write_at_a_time_and_nothing_is_lost() {
    let directory = tempfile::tempdir().unwrap();
    let store = store(directory.path());
    let key = store.salt([1; 16]).unwrap().key(&"app");
    std::thread::scope(|scope| {
        for job in 0..8_u64 {
            let store = &store;
            scope.spawn(move || {
                for at in 0..10 {
                    let began = 1_795_000_000 + 10 * at + job;
                    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(began);
                    let name = run_name(now, job);
                    let written = file(vec![run(&name, began, End::Seconds(1.0))]);
                    store.write(key, &name, &written).unwrap();
                    store.merge(key, now, 100 + job).unwrap();
                }
            });
        }
    });
    let later = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_001_000);
    store.merge(key, later, 999).unwrap();
    let known = store.read(key, now());
    assert_eq!(known.experience.runs.len(), 80);
    assert_eq!(known.damaged, Vec::<String>::new());
    assert_eq!(known.application.program, "halo2d");
    assert!(names(&store.directory(key)).len() <= 33);
}

#[test]
fn what_lies_in_the_future_says_nothing_until_then_and_is_never_merged() {
    let directory = tempfile::tempdir().unwrap();
    let store = store(directory.path());
    let key = store.salt([1; 16]).unwrap().key(&"app");
    let judgement = |made, saved| Judgement {
        shape: 7,
        made,
        since: made,
        worth: Worth::None,
        saved,
        in_mpi: None,
        candidates: Vec::new(),
    };
    let write = |began: u64, saved| {
        let name = run_name(SystemTime::UNIX_EPOCH + Duration::from_secs(began), began);
        let mut written = file(vec![run(&name, began, End::Seconds(1.0))]);
        written.experience.judgements.push(judgement(began, saved));
        store.write(key, &name, &written).unwrap();
    };
    let (right, ahead) = (1_795_000_000, 4_000_000_000);
    (0..40).for_each(|at| write(right + at, 0.25));
    (0..70).for_each(|at| write(ahead + at, 0.5));
    let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    for _ in 0..2 {
        let known = store.read(key, at(right + 100)).experience;
        assert_eq!(known.runs.len(), 40);
        assert!(known.runs.iter().all(|run| run.began < right + 100));
        assert_eq!(known.judgement(7).unwrap().saved, 0.25);
        // With a clock that is far behind, no run is read and none is removed.
        assert_eq!(store.read(key, at(5)).experience, Experience::default());
        store.merge(key, at(5), 1).unwrap();
        store.merge(key, at(right + 100), 2).unwrap();
    }
    assert_eq!(names(&store.directory(key)).len(), 71);
    let known = store.read(key, at(ahead + 100)).experience;
    assert_eq!(known.judgement(7).unwrap().saved, 0.5);
}

#[test]
fn only_the_user_may_look_into_a_store_and_all_jobs_have_one_salt() {
    let directory = tempfile::tempdir().unwrap();
    let store = store(directory.path());
    let salt = store.salt([1; 16]).unwrap();
    assert_eq!(store.salt([2; 16]).unwrap(), salt);
    assert_ne!(salt.key(&("app", 4)), salt.key(&("app", 5)));
    assert_ne!(salt.key(&"app"), Salt::new([2; 16]).key(&"app"));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(store.path()), 0o700);
    assert_eq!(mode(&store.path().join("v1/salt")), 0o600);
}

#[test]
fn a_damaged_file_is_set_aside_with_one_line() {
    let directory = tempfile::tempdir().unwrap();
    let store = store(directory.path());
    let key = store.salt([1; 16]).unwrap().key(&"app");
    let good = file(vec![run("a-1", 1_795_000_000, End::Seconds(1.0))]);
    store.write(key, "a-1", &good).unwrap();
    let text = good.to_text(Path::new("")).unwrap();
    let of_application = store.directory(key);
    fs::write(of_application.join("a-2.yaml"), &text[..text.len() - 30]).unwrap();
    let newer = text.replace("version: 1", "version: 9");
    fs::write(of_application.join("a-3.yaml"), newer).unwrap();
    let known = store.read(key, now());
    assert_eq!(known.experience.runs.len(), 1);
    assert_eq!(known.damaged.len(), 1, "{:?}", known.damaged);
    assert_eq!(
        names(&of_application),
        ["a-1.yaml", "a-2.yaml.damaged", "a-3.yaml"]
    );
    assert_eq!(store.read(key, now()).damaged, Vec::<String>::new());
}

#[test]
fn links_and_what_others_may_write_are_not_followed() {
    let directory = tempfile::tempdir().unwrap();
    let store = store(directory.path());
    let key = store.salt([1; 16]).unwrap().key(&"app");
    let good = file(vec![run("a-1", 1_795_000_000, End::Seconds(1.0))]);
    store.write(key, "a-1", &good).unwrap();
    let of_application = store.directory(key);
    let elsewhere = directory.path().join("elsewhere.yaml");
    fs::rename(of_application.join("a-1.yaml"), &elsewhere).unwrap();
    symlink(&elsewhere, of_application.join("a-1.yaml")).unwrap();
    assert_eq!(store.read(key, now()).experience.runs, []);
    fs::remove_file(of_application.join("a-1.yaml")).unwrap();
    store.write(key, "a-1", &good).unwrap();
    assert_eq!(store.read(key, now()).experience.runs.len(), 1);
    fs::set_permissions(&of_application, fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(store.read(key, now()).experience.runs, []);
    let refused = store.write(key, "a-2", &good).unwrap_err();
    assert!(refused.to_string().contains("learning is off"), "{refused}");
}

#[test]
fn a_store_that_a_group_may_write_is_used_and_one_of_another_user_or_for_all_is_not() {
    assert_eq!(user(), 0, "only root can give files away: run this as root");
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("store");
    let good = file(vec![run("a-1", 1_795_000_000, End::Seconds(1.0))]);
    for (owner, mode, is_used) in [
        (0, 0o700, true),
        (0, 0o2775, true),
        (0, 0o2777, false),
        (0, 0o1777, false),
        (65534, 0o700, false),
        (65534, 0o2775, false),
    ] {
        fs::create_dir(&root).unwrap();
        fs::set_permissions(&root, fs::Permissions::from_mode(mode)).unwrap();
        std::os::unix::fs::chown(&root, Some(owner), None).unwrap();
        let store = Store::new(&root.display().to_string(), user());
        let written = store
            .salt([1; 16])
            .is_ok_and(|salt| store.write(salt.key(&"app"), "a-1", &good).is_ok());
        assert_eq!(written, is_used, "{owner} {mode:o}");
        fs::remove_dir_all(&root).unwrap();
    }
}

#[test]
fn a_store_that_cannot_be_written_is_told_and_one_beside_it_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let site = store(directory.path());
    let key = site.salt([1; 16]).unwrap().key(&"app");
    let good = file(vec![run("a-1", 1_795_000_000, End::Seconds(1.0))]);
    site.write(key, "a-1", &good).unwrap();
    let setting = format!("/proc/none:{}", site.path().display());
    let both = Store::new(&setting, user());
    assert_eq!(both.salt([2; 16]).unwrap().key(&"app"), key);
    assert_eq!(both.read(key, now()).experience.runs.len(), 1);
    let refused = both.write(key, "a-2", &good).unwrap_err().to_string();
    assert!(refused.starts_with("/proc/none/"), "{refused}");
}

#[test]
fn a_store_is_forgotten_and_kept_small() {
    let directory = tempfile::tempdir().unwrap();
    let store = store(directory.path());
    let salt = store.salt([1; 16]).unwrap();
    let good = file(vec![run("a-1", 1_795_000_000, End::Seconds(1.0))]);
    let [large, small, other] = [1, 2, 3].map(|application| salt.key(&application));
    for key in [large, small, other] {
        store.write(key, "a-1", &good).unwrap();
    }
    store.forget(other).unwrap();
    let file = fs::File::create(store.directory(large).join("a-1.profile.mtx")).unwrap();
    file.set_len(65 << 20).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(9))
        .unwrap();
    fs::File::options()
        .write(true)
        .open(store.directory(large).join("a-1.yaml"))
        .unwrap()
        .set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(9))
        .unwrap();
    store.trim();
    assert_eq!(store.applications(), [small]);
}

#[test]
fn the_usual_place_follows_the_home_directory() {
    let home = |name: &str| (name == "HOME").then(|| "/home/a".to_owned());
    assert_eq!(
        Store::usual(home).as_deref(),
        Some("/home/a/.local/state/treepie")
    );
    assert_eq!(Store::usual(|_| None), None);
}
