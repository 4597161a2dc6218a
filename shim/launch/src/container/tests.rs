//! Command lines of run-times, as one would type them.

use std::ffi::OsString;
use std::path::Path;

use super::load::{first, load};
use crate::environment::{Payload, Variables};
use crate::family::Family;

/// A library in a directory of a host, and a directory that is written.
struct Host {
    folder: tempfile::TempDir,
}

impl Host {
    fn new() -> Host {
        let folder = tempfile::tempdir().unwrap();
        for name in ["lib", "out"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        Host { folder }
    }

    fn payload(&self) -> Payload {
        let output = self.folder.path().join("out/%j/a.profile.yaml");
        let settings = [
            ("TREEPIE_MODE", OsString::from("profile")),
            ("TREEPIE_OUTPUT", output.into()),
        ];
        let settings = settings.map(|(name, value)| (name.to_owned(), value));
        let variables = Variables {
            settings: settings.into(),
            preload: Some("/t.so".into()),
        };
        Payload::new(self.folder.path().join("lib/libtreepie.so"), variables)
    }

    /// The line for the user's words, and the variables that the launcher hands on, with `L` and
    /// `O` for the directories.
    fn line(&self, family: Family, line: &str) -> String {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let shown = match load(family, &self.payload(), &words) {
            Err(error) => format!("refused: {error}"),
            Ok(None) => "no container".to_owned(),
            Ok(Some((line, left))) => {
                let handed = left
                    .all()
                    .map(|(name, value)| format!("{name}={}", value.display()));
                let line = line.iter().map(|word| word.display().to_string());
                Vec::from_iter(handed.chain(line)).join(" ")
            }
        };
        let short = |text: String, name: &str, letter: &str| {
            text.replace(&self.folder.path().join(name).display().to_string(), letter)
        };
        short(short(shown, "lib", "L"), "out", "O")
    }
}

const SETTINGS: &str = "--env=TREEPIE_MODE=profile --env=TREEPIE_OUTPUT=O/%j/a.profile.yaml";

#[test]
fn podman_and_docker_get_options_behind_the_subcommand() {
    let host = Host::new();
    for (runtime, options) in [
        ("podman", "--rm -it -v /a:/b --network host"),
        ("podman-hpc", "--mpi"),
        ("docker", "--gpus all"),
    ] {
        assert_eq!(
            host.line(
                Family::OpenMpi,
                &format!("mpirun -np 2 {runtime} run {options} debian:12 ./app -x")
            ),
            format!(
                "mpirun -np 2 {runtime} run --volume=L:L:ro --volume=O:O {SETTINGS} \
                 --env=LD_PRELOAD=L/libtreepie.so {options} debian:12 ./app -x"
            )
        );
    }
    assert_eq!(
        host.line(Family::Plain, "podman --root /r run debian:12 mpirun ./app"),
        format!(
            "podman --root /r run --volume=L:L:ro --volume=O:O {SETTINGS} \
             --env=LD_PRELOAD=L/libtreepie.so debian:12 mpirun ./app"
        )
    );
}

#[test]
fn the_users_own_preload_and_bindings_in_a_container_are_kept() {
    let host = Host::new();
    let out = host.folder.path().join("out");
    let out = out.display();
    for (own, expected) in [
        ("-e LD_PRELOAD=/u.so", "-e LD_PRELOAD=/u.so:L/libtreepie.so"),
        (
            "--env=LD_PRELOAD=/u.so",
            "--env=LD_PRELOAD=/u.so:L/libtreepie.so",
        ),
    ] {
        assert_eq!(
            host.line(
                Family::Hydra,
                &format!("mpiexec -n 2 podman run {own} i ./app")
            ),
            format!(
                "mpiexec -n 2 podman run --volume=L:L:ro --volume=O:O {SETTINGS} {expected} i ./app"
            )
        );
    }
    for own in [
        format!("-v {out}:{out}"),
        format!("--volume={out}:{out}:z"),
        format!("--mount=type=bind,src=/x,target={out}"),
    ] {
        let found = host.line(
            Family::Hydra,
            &format!("mpiexec -n 2 podman run {own} i ./app"),
        );
        assert!(!found.contains("--volume=O:O "), "{found}");
        assert!(found.contains("--volume=L:L:ro"), "{found}");
    }
}

#[test]
fn nothing_is_bound_into_a_container_that_runs() {
    assert_eq!(
        Host::new().line(Family::OpenMpi, "mpirun podman exec -w /a name ./app"),
        format!("mpirun podman exec {SETTINGS} --env=LD_PRELOAD=L/libtreepie.so -w /a name ./app")
    );
}

#[test]
fn apptainer_and_singularity_get_variables_of_their_own_through_the_launcher() {
    for (runtime, prefix) in [
        ("apptainer", "APPTAINERENV_"),
        ("singularity", "SINGULARITYENV_"),
    ] {
        for words in ["exec --cleanenv -B /a:/b", "-q run --nv"] {
            let (before, behind) = words.split_at(words.find(" -").unwrap_or_default());
            let found = Host::new().line(
                Family::OpenMpi,
                &format!("mpirun -np 2 {runtime} {words} a.sif ./app"),
            );
            let variables = format!(
                "{prefix}LD_PRELOAD=/t.so:L/libtreepie.so {prefix}TREEPIE_MODE=profile \
                 {prefix}TREEPIE_OUTPUT=O/%j/a.profile.yaml"
            );
            let line = match before {
                "exec" => format!("exec --bind=L:L:ro --bind=O:O{behind}"),
                _ => "-q run --bind=L:L:ro --bind=O:O --nv".to_owned(),
            };
            assert_eq!(
                found,
                format!("{variables} mpirun -np 2 {runtime} {line} a.sif ./app")
            );
        }
    }
    let found = Host::new().line(
        Family::OpenMpi,
        "mpirun apptainer exec --env A=1,LD_PRELOAD=/u.so,B=2 a.sif ./app",
    );
    assert!(
        found.contains("--env A=1,LD_PRELOAD=/u.so:L/libtreepie.so,B=2 a.sif"),
        "{found}"
    );
    assert!(!found.contains("APPTAINERENV_LD_PRELOAD"), "{found}");
}

#[test]
fn shifter_gets_volumes_and_variables_and_has_no_image_on_the_line() {
    assert_eq!(
        Host::new().line(
            Family::Slurm,
            "srun -n 4 shifter --image=docker:a:b -V /a:/b ./app"
        ),
        format!(
            "srun -n 4 shifter --volume=L:L:ro --volume=O:O {SETTINGS} \
             --env=LD_PRELOAD=/t.so:L/libtreepie.so --image=docker:a:b -V /a:/b ./app"
        )
    );
}

#[test]
fn bubblewrap_mounts_in_order_so_that_ours_are_the_last() {
    let ours = "--ro-bind L L --bind O O --setenv TREEPIE_MODE profile \
                --setenv TREEPIE_OUTPUT O/%j/a.profile.yaml";
    assert_eq!(
        Host::new().line(
            Family::OpenMpi,
            "mpirun -n 2 bwrap --ro-bind /image / --proc /proc --unshare-pid -- ./app"
        ),
        format!(
            "mpirun -n 2 bwrap --ro-bind /image / --proc /proc --unshare-pid {ours} \
             --setenv LD_PRELOAD /t.so:L/libtreepie.so -- ./app"
        )
    );
    assert_eq!(
        Host::new().line(
            Family::OpenMpi,
            "mpirun -n 2 bwrap --setenv LD_PRELOAD /u.so --bind / / ./app"
        ),
        format!(
            "mpirun -n 2 bwrap --setenv LD_PRELOAD /u.so --bind / / {ours} \
             --setenv LD_PRELOAD /u.so:L/libtreepie.so ./app"
        )
    );
}

#[test]
fn pyxis_gets_mounts_and_the_names_of_what_slurm_exports() {
    let variables = "TREEPIE_MODE=profile TREEPIE_OUTPUT=O/%j/a.profile.yaml";
    let names = "TREEPIE_MODE,TREEPIE_OUTPUT";
    for (options, expected) in [
        (
            "-n 2 --container-image=i --container-mount-home",
            format!(
                "srun --container-env={names} --container-mounts=L:L:ro,O:O -n 2 \
                 --container-image=i --container-mount-home /bin/sh -c "
            ),
        ),
        (
            "--container-image i --container-mounts /a:/b --container-env=A",
            format!(
                "srun --container-image i --container-mounts /a:/b,L:L:ro,O:O \
                 --container-env=A,{names} /bin/sh -c "
            ),
        ),
    ] {
        let line = Host::new().line(Family::Slurm, &format!("srun {options} ./app -x"));
        assert!(
            line.starts_with(&format!("{variables} {expected}")),
            "{line}"
        );
        assert!(
            line.contains(" L/libtreepie.so treepie: the container cannot"),
            "{line}"
        );
        assert!(
            line.ends_with("; the job runs without treepie true ./app -x"),
            "{line}"
        );
    }
}

#[test]
fn a_list_of_programs_in_containers_is_refused() {
    let line = "srun --multi-prog --container-image=i programs.conf";
    let found = Host::new().line(Family::Slurm, line);
    assert!(found.starts_with("refused: srun --multi-prog: "), "{found}");
}

#[test]
fn what_starts_no_container_is_left_alone() {
    for line in [
        "mpirun -n 2 /bin/sh run",
        "mpirun podman build .",
        "mpirun apptainer --version",
        "mpirun",
    ] {
        assert_eq!(
            Host::new().line(Family::OpenMpi, line),
            "no container",
            "{line}"
        );
    }
}

#[test]
fn a_job_half_in_containers_is_refused() {
    let found = Host::new().line(
        Family::OpenMpi,
        "mpirun -n 1 podman run i ./app : -n 1 /bin/sh",
    );
    assert!(found.starts_with("refused: some programs"), "{found}");
}

#[test]
fn a_directory_that_no_container_can_have_is_refused() {
    for (name, reason) in [("/", "the root"), ("/tmp/a,b", "comma")] {
        let mut payload = Host::new().payload();
        if name != "/" {
            std::fs::create_dir_all(name).unwrap();
        }
        payload.directories.push(Path::new(name).to_owned());
        let words = ["podman", "run", "i"].map(OsString::from);
        let error = load(Family::Plain, &payload, &words)
            .unwrap_err()
            .to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn the_program_stands_behind_the_image() {
    for (line, program) in [
        ("podman run --rm -eA=1 -v/a:/b -it i ./app", "./app"),
        ("apptainer exec -B /a --nv a.sif ./app", "./app"),
        ("shifter --image=i -v ./app", "./app"),
        ("bwrap --bind / / --overlay a b c -- ./app", "./app"),
    ] {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let (words, place) = first(Family::Plain, &words).unwrap();
        assert_eq!(words[place.before_program(words)], program, "{line}");
    }
}
