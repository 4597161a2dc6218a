use std::path::Path;

use super::policy::{SitePolicy, Verdict};
use crate::settings::{Mode, Settings};

fn policy(lines: &str) -> SitePolicy {
    SitePolicy::from_text(Path::new("s.yaml"), &text(lines)).unwrap()
}

fn text(lines: &str) -> String {
    format!("treepie: site\nversion: 1\n{lines}")
}

fn is_taken(policy: &SitePolicy, path: &str) -> bool {
    policy.on_program(&[Path::new(path)]).is_taken()
}

#[test]
fn the_first_rule_about_a_program_decides() {
    let rules = "programs:\n- deny: /apps/licensed/**\n- allow: /apps/**\n- allow: '**/make'\n\
                 - deny: '**'\n";
    let policy = policy(rules);
    for (path, expected) in [
        ("/apps/licensed/bin/solver", false),
        ("/apps/lammps/bin/lmp", true),
        ("/home/me/a/b", false),
        ("/home/me/make", true),
        ("/apps/bin/gcc", true),
    ] {
        assert_eq!(is_taken(&policy, path), expected, "{path}");
    }
    let script = [Path::new("/usr/bin/python3"), Path::new("/apps/model.py")];
    assert_eq!(
        policy.on_program(&script),
        Verdict::Taken(Some("allow: /apps/**".to_owned()))
    );
}

#[test]
fn tools_are_left_alone_where_no_rule_of_the_site_is_about_them() {
    let policy = policy("");
    for path in [
        "/usr/bin/gcc-12",
        "/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus",
        "/tmp/build/conftest",
        "/tmp/CMakeFiles/cmTC_1a2b",
        "/usr/bin/mpirun.openmpi",
        "/usr/bin/mpiexec.hydra",
        "/usr/bin/srun",
        "/usr/bin/bash",
        "/usr/bin/make",
        "/usr/bin/x86_64-linux-gnu-ld.bfd",
        "/usr/bin/gdb",
    ] {
        assert!(!is_taken(&policy, path), "{path}");
    }
    for path in [
        "/usr/bin/lmp",
        "/usr/bin/python3.11",
        "/home/me/solve",
        "/opt/bin/assemble",
    ] {
        assert!(is_taken(&policy, path), "{path}");
    }
}

#[test]
fn jobs_are_taken_from_a_number_of_ranks_on_and_as_many_as_are_drawn() {
    let policy = policy("ranks: 16\nsample: 0.25\n");
    let paths = [Path::new("/home/me/solve")];
    assert!(policy.on_job(&paths, 16, 0.2).is_taken());
    assert_eq!(policy.on_job(&paths, 16, 0.25), Verdict::NotDrawn(0.25));
    assert_eq!(
        policy.on_job(&paths, 15, 0.2).to_string(),
        "left alone: 15 ranks, and 16 are the least"
    );
}

#[test]
fn users_settings_win_but_for_those_that_are_locked() {
    let policy = policy(
        "settings:\n  mode: profile\n  output: /scratch/%j.profile.yaml\n  times: true\n\
         locked: [output, store]\n",
    );
    let variable = |name: &str| match name {
        "TREEPIE_MODE" => Some("off".to_owned()),
        "TREEPIE_OUTPUT" => Some("mine.profile.yaml".to_owned()),
        "TREEPIE_STORE" => Some("/home/me/store".to_owned()),
        _ => None,
    };
    let file = "treepie: configuration\nversion: 1\ntimes: false\nstore: /elsewhere\n";
    let from =
        |site| Settings::from_sources(site, Some((Path::new("c.yaml"), file)), variable).unwrap();
    let with = from(Some(&policy));
    assert_eq!((with.mode, with.times), (Mode::Off, false));
    assert_eq!(with.output.as_deref(), Some("/scratch/%j.profile.yaml"));
    assert_eq!(with.store, None);
    let without = from(None);
    assert_eq!(without.output.as_deref(), Some("mine.profile.yaml"));
    assert_eq!(without.store.as_deref(), Some("/home/me/store"));
}

#[test]
fn each_wrong_line_has_its_own_message() {
    for (lines, expected) in [
        (
            "programs:\n- allow: /a\n- deny: /a\n",
            "s.yaml: programs[1]: `/a` has a rule already; remove one of them",
        ),
        (
            "programs:\n- allow: /a\n  deny: /b\n",
            "s.yaml: programs[0]: a rule is one of `allow: PATTERN` and `deny: PATTERN`",
        ),
        (
            "programs:\n- allow: bin/a\n",
            "s.yaml: programs[0]: `bin/a`: paths are whole; write `/` or `**/` before it",
        ),
        (
            "sample: 2\n",
            "s.yaml: sample: 2 is no share of jobs, from 0 to 1",
        ),
        (
            "locked: [stroe]\n",
            "s.yaml: locked: no setting is called `stroe`, did you mean `store`?",
        ),
        (
            "settings: {tuning: a.yaml}\n",
            "s.yaml: settings: tuning acts before MPI_Init, when this file is not read; set it in \
             the environment",
        ),
        (
            "settings: {mode: replay, placement: a, permutation: '0,1'}\n",
            "s.yaml: settings: placement and permutation",
        ),
    ] {
        let error = SitePolicy::from_text(Path::new("s.yaml"), &text(lines)).unwrap_err();
        assert!(error.to_string().starts_with(expected), "{error}");
    }
    let newer = "treepie: site\nversion: 2\n";
    let error = SitePolicy::from_text(Path::new("s.yaml"), newer).unwrap_err();
    assert!(
        error.to_string().contains("written by a newer treepie"),
        "{error}"
    );
}
