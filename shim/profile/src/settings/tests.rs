//! Settings from files, from variables, and from both.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use super::*;
use treepie_base::Rank;
use treepie_collective::Operation;

const HEADER: &str = "treepie: configuration\nversion: 1\n";

fn from_yaml(lines: &str) -> Result<Settings, SettingsError> {
    let text = format!("{HEADER}{lines}");
    Settings::from_sources(None, Some((Path::new("run.yaml"), &text)), |_| None)
}

fn from_variables(variables: &[(&str, &str)]) -> Result<Settings, SettingsError> {
    Settings::from_sources(None, None, |name| value(variables, name))
}

fn value(variables: &[(&str, &str)], name: &str) -> Option<String> {
    let found = variables.iter().find(|(variable, _)| *variable == name);
    found.map(|(_, value)| value.to_string())
}

#[test]
fn without_sources_everything_has_its_documented_default() {
    let settings = from_variables(&[]).unwrap();
    assert_eq!(settings, Settings::default());
    assert_eq!(settings.mode, Mode::Off);
    assert_eq!(settings.apply, Apply::Permute);
    assert_eq!(settings.probe, Probe::Never);
    assert_eq!(settings.log, LogLevel::Warn);
    assert!(settings.collectives.all_native());
    assert!(!settings.strict);
    assert_eq!(settings.output_template(), "treepie-%n.profile.yaml");
}

#[test]
fn file_and_environment_say_the_same_in_the_same_words() {
    let yaml = from_yaml(
        "mode: replay\noutput: a-%j.yaml\npermutation: 2,0,1\nplatform: p.yaml\nprobe: auto\n\
         collectives: bcast=ecef-lat,allreduce=native\nstrict: true\nlog: debug\n",
    );
    let variables = from_variables(&[
        ("TREEPIE_MODE", "replay"),
        ("TREEPIE_OUTPUT", "a-%j.yaml"),
        ("TREEPIE_PERMUTATION", "2,0,1"),
        ("TREEPIE_PLATFORM", "p.yaml"),
        ("TREEPIE_PROBE", "auto"),
        ("TREEPIE_COLLECTIVES", "bcast=ecef-lat,allreduce=native"),
        ("TREEPIE_STRICT", "true"),
        ("TREEPIE_LOG", "debug"),
    ]);
    let (yaml, variables) = (yaml.unwrap(), variables.unwrap());
    assert_eq!(yaml, variables);
    assert_eq!(
        yaml.permutation,
        Some([2, 0, 1].into_iter().map(Rank).collect())
    );
    let runner = yaml.collectives.runner(Operation::Bcast);
    assert_eq!(runner.to_string(), "grid-ecef-lat");
}

#[test]
fn lists_and_mappings_of_yaml_are_read_too() {
    let settings = from_yaml(
        "mode: replay\npermutation: [2, 0, 1]\ncollectives: \
         {'bcast:0-64K': auto, allreduce: native}\n",
    )
    .unwrap();
    assert_eq!(
        settings.permutation,
        Some([2, 0, 1].into_iter().map(Rank).collect())
    );
    assert_eq!(
        settings.collectives.to_string(),
        "bcast:0-64K=auto,allreduce=native"
    );
}

#[test]
fn variables_win_over_the_file() {
    let text = format!("{HEADER}mode: replay\nplacement: a.yaml\nlog: info\n");
    let settings = Settings::from_sources(None, Some((Path::new("run.yaml"), &text)), |name| {
        value(&[("TREEPIE_PERMUTATION", "1,0"), ("TREEPIE_LOG", "")], name)
    })
    .unwrap();
    assert_eq!(
        settings.permutation,
        Some([1, 0].into_iter().map(Rank).collect())
    );
    assert_eq!(settings.placement, None);
    assert_eq!(settings.log, LogLevel::Info, "empty is as good as not set");
}

#[test]
fn settings_survive_the_way_through_a_launcher() {
    let settings = from_yaml(
        "mode: replay\nplacement: a.yaml\napply: both\nstrict: true\nlog: debug\n\
         collectives: bcast=auto\nguard: report\noutput: x-%p.yaml\n",
    )
    .unwrap();
    let variables = settings.to_variables();
    let again = Settings::from_sources(None, None, |name| {
        let found = variables.iter().find(|(variable, _)| variable == name);
        found.map(|(_, value)| value.clone())
    });
    assert_eq!(again.unwrap(), settings);
    assert_eq!(Settings::default().to_variables(), []);
}

#[test]
fn wrong_lines_of_a_file_are_named_with_their_place() {
    for (lines, expected) in [
        (
            "mode: profil\n",
            "run.yaml:3:7: mode: no mode is called `profil`, did you mean `profile`?; write one \
             of off, profile, replay, auto",
        ),
        (
            "log: warn\nmoed: off\n",
            "run.yaml:4:1: no setting is called `moed`, did you mean `mode`?; write one of mode, store, \
             output, times, phase_interval, save_every, pages, order, order_timeout, order_after_end, order_delays, cut, placement, permutation, apply, stdin, local_order, platform, probe, collectives, started, tuning, clusters, network, \
             reproducible, guard, transport, reorder, one_sided, strict, log",
        ),
        (
            "TREEPIE_MODE: off\n",
            "run.yaml:3:1: no setting is called `TREEPIE_MODE`, did you mean `mode`?; write one \
             of mode, store, output, times, phase_interval, save_every, pages, order, order_timeout, order_after_end, order_delays, cut, placement, permutation, apply, stdin, local_order, platform, probe, collectives, started, tuning, clusters, network, \
             reproducible, guard, transport, reorder, one_sided, strict, log",
        ),
        (
            "strict: perhaps\n",
            "run.yaml:3:9: strict: `perhaps` is neither true nor false; write one of them",
        ),
        (
            "permutation: [0, 2, 2]\n",
            "run.yaml:3:14: permutation: rank 2 is given to the processes 1 and 2; use each rank \
             once",
        ),
        (
            "collectives: {bcats: auto}\n",
            "run.yaml:3:14: collectives: no collective is called `bcats`, did you mean `bcast`?; \
             write one of barrier, bcast, ",
        ),
        (
            "mode: off\nmode: profile\n",
            "run.yaml: is not valid YAML: duplicate entry with key \"mode\"; correct this \
             line, or write the file again if it was cut off",
        ),
    ] {
        let message = from_yaml(lines).unwrap_err().to_string();
        assert!(message.starts_with(expected), "{message}");
    }
}

#[test]
fn wrong_variables_are_named() {
    for (variable, value, expected) in [
        (
            "TREEPIE_MODE",
            "of",
            "TREEPIE_MODE: no mode is called `of`, did you mean `off`?; write one of off, \
             profile, replay, auto",
        ),
        (
            "TREEPIE_APPLY",
            "swap",
            "TREEPIE_APPLY: no way to apply a placement is called `swap`; write one of permute, \
             bind, both",
        ),
        (
            "TREEPIE_PERMUTATION",
            "0,1,1",
            "TREEPIE_PERMUTATION: rank 1 is given to the processes 1 and 2; use each rank once",
        ),
        (
            "TREEPIE_OUTPUT",
            "a-%r.yaml",
            "TREEPIE_OUTPUT: `%r` in `a-%r.yaml` stands for nothing; write %j for the job's id, \
             %p for the process id, %n for the number of ranks, %% for a per cent sign",
        ),
    ] {
        let error = from_variables(&[(variable, value)]).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn a_misspelt_variable_is_found() {
    let names = [
        "PATH",
        "TREEPIE_MODE",
        "TREEPIE_CONFIG",
        "TREEPIE_LIBRARY",
        "TREEPIE_PLACMENT",
    ];
    let unknown = unknown_variables(names);
    assert_eq!(unknown.len(), 1);
    assert_eq!(
        unknown[0].to_string(),
        "TREEPIE_PLACMENT: treepie has no such variable, did you mean `TREEPIE_PLACEMENT`?; known \
         are TREEPIE_CONFIG, TREEPIE_DISABLE, TREEPIE_SITE, TREEPIE_MODE, TREEPIE_STORE, TREEPIE_OUTPUT, TREEPIE_TIMES, TREEPIE_PHASE_INTERVAL, TREEPIE_SAVE_EVERY, TREEPIE_PAGES, TREEPIE_ORDER, TREEPIE_ORDER_TIMEOUT, TREEPIE_ORDER_AFTER_END, TREEPIE_ORDER_DELAYS, TREEPIE_CUT, TREEPIE_PLACEMENT, \
         TREEPIE_PERMUTATION, TREEPIE_APPLY, TREEPIE_STDIN, TREEPIE_LOCAL_ORDER, TREEPIE_PLATFORM, TREEPIE_PROBE, \
         TREEPIE_COLLECTIVES, TREEPIE_STARTED, TREEPIE_TUNING, TREEPIE_CLUSTERS, TREEPIE_NETWORK, TREEPIE_REPRODUCIBLE, TREEPIE_GUARD, TREEPIE_TRANSPORT, TREEPIE_REORDER, TREEPIE_ONE_SIDED, TREEPIE_STRICT, TREEPIE_LOG"
    );
}

#[test]
fn settings_that_do_not_go_together_are_refused() {
    for (variables, expected) in [
        (
            &[
                ("TREEPIE_PLACEMENT", "a.yaml"),
                ("TREEPIE_PERMUTATION", "1,0"),
            ][..],
            "placement and permutation: both say which rank goes where; keep one of them",
        ),
        (
            &[("TREEPIE_MODE", "replay")],
            "mode: replay: there is nothing to replay; set placement (TREEPIE_PLACEMENT), \
             permutation (TREEPIE_PERMUTATION), order (TREEPIE_ORDER), collectives (TREEPIE_COLLECTIVES), \
             reorder (TREEPIE_REORDER) or one_sided (TREEPIE_ONE_SIDED)",
        ),
        (
            &[
                ("TREEPIE_MODE", "replay"),
                ("TREEPIE_PERMUTATION", "1,0"),
                ("TREEPIE_APPLY", "bind"),
            ],
            "permutation and apply: bind: a bare permutation names no cores to bind to; give a \
             placement, or apply: permute",
        ),
    ] {
        let error = from_variables(variables).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn times_of_settings_survive_the_launcher() {
    let read = |text: &str| {
        let text = text.to_owned();
        Settings::from_sources(None, None, move |name| {
            (name == "TREEPIE_SAVE_EVERY").then(|| text.clone())
        })
    };
    let half = std::time::Duration::from_millis(500);
    let settings = read("0.5").unwrap();
    assert_eq!(settings.save_every, Some(half));
    let variables = settings.to_variables();
    assert_eq!(variables, [("TREEPIE_SAVE_EVERY".into(), "0.5".into())]);
    assert_eq!(read("0").unwrap().save_every, None);
    assert_eq!(read("500ms").unwrap().save_every, Some(half));
    assert!(read("0.001").unwrap_err().to_string().contains("too short"));
    for wrong in ["soon", "-1", "nan", "inf"] {
        let said = read(wrong).unwrap_err().to_string();
        let expected = format!("TREEPIE_SAVE_EVERY: `{wrong}` is no time; write one");
        assert!(said.starts_with(&expected), "{said}");
    }
}

#[test]
fn pages_are_off_or_in_memory_or_in_a_directory() {
    let read = |value: &str| {
        let variables = [("TREEPIE_PAGES", value)];
        from_variables(&variables).map(|settings| settings.pages)
    };
    assert_eq!(read("true").unwrap(), Pages::Memory);
    assert_eq!(read("off").unwrap(), Pages::Off);
    let alone = [("TREEPIE_MODE", "replay"), ("TREEPIE_PAGES", "true")];
    assert!(
        from_variables(&alone).is_ok(),
        "a replay may only keep pages"
    );
    assert_eq!(
        read("/shared/pages").unwrap(),
        Pages::Directory("/shared/pages".into())
    );
    let problem = read("ture").unwrap_err().to_string();
    assert!(
        problem.starts_with("TREEPIE_PAGES: `ture` is neither true nor false"),
        "{problem}"
    );
}

#[test]
fn every_setting_has_a_line_in_the_reference() {
    let reference = reference();
    assert_eq!(reference.lines().count(), 2 + SETTINGS.len());
    for line in [
        "| `TREEPIE_STRICT` | True if the job ends before the application starts when \
         a request cannot be carried out. | `true`, `false` | `false` |",
        "| `TREEPIE_ORDER_TIMEOUT` | Longest time that a call of a replayed order may wait for its \
         recorded result before the job is ended. | a time such as `60s` or `10min`, or 0 for as \
         long as it takes | `60` |",
        "| `TREEPIE_GUARD` | Comparison with the MPI's own collectives: plans must be \
         measured to be faster before they replace these, or are only measured. | \
         `off`, `on`, `report` | `off`; `on` with `mode: auto` |",
    ] {
        assert!(reference.lines().any(|found| found == line), "{reference}");
    }
    for setting in SETTINGS {
        assert_eq!(setting.doc.matches(". ").count(), 0, "{}", setting.name);
        assert!(setting.doc.ends_with('.'), "{}", setting.name);
    }
}
