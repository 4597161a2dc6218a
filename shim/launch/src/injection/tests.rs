//! Arguments of each launcher, as typed in a shell.

use super::*;
use crate::environment::Variables;

fn line(family: Family, variables: &Variables, command: &str) -> String {
    let command: Vec<OsString> = command.split_whitespace().map(OsString::from).collect();
    let launcher = Launcher {
        path: "/usr/bin/launcher".into(),
        family,
    };
    let payload = Payload::new("/l/libtreepie.so".into(), variables.clone());
    match inject(&launcher, &payload, &command) {
        Ok(invocation) => invocation.to_string(),
        Err(error) => format!("refused: {error}"),
    }
}

fn variables(settings: &[(&str, &str)], preload: Option<&str>) -> Variables {
    let settings = settings
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.into()));
    Variables {
        settings: settings.collect(),
        preload: preload.map(OsString::from),
    }
}

fn profiling() -> Variables {
    variables(&[("TREEPIE_MODE", "profile")], None)
}

#[test]
fn open_mpi_gets_x_options_for_each_program() {
    assert_eq!(
        line(
            Family::OpenMpi,
            &profiling(),
            "mpirun -np 2 /bin/a : -np 1 /bin/b c"
        ),
        "mpirun -x LD_PRELOAD=/l/libtreepie.so -x TREEPIE_MODE=profile -np 2 /bin/a : \
         -x LD_PRELOAD=/l/libtreepie.so -x TREEPIE_MODE=profile -np 1 /bin/b c"
    );
}

#[test]
fn a_preload_on_open_mpis_command_line_is_completed_and_the_programs_own_x_is_left_alone() {
    assert_eq!(
        line(
            Family::OpenMpi,
            &profiling(),
            "mpirun -x LD_PRELOAD=/t.so /bin/sh -x LD_PRELOAD=/u.so"
        ),
        "mpirun -x TREEPIE_MODE=profile -x LD_PRELOAD=/t.so:/l/libtreepie.so /bin/sh -x LD_PRELOAD=/u.so"
    );
    assert_eq!(
        line(
            Family::OpenMpi,
            &variables(&[], Some("/e.so")),
            "mpirun -x LD_PRELOAD /bin/sh"
        ),
        "mpirun -x LD_PRELOAD=/e.so:/l/libtreepie.so /bin/sh"
    );
}

#[test]
fn hydra_gets_genv_options_once() {
    assert_eq!(
        line(
            Family::Hydra,
            &profiling(),
            "mpiexec -n 2 /bin/a : -n 1 /bin/b"
        ),
        "mpiexec -genv LD_PRELOAD /l/libtreepie.so -genv TREEPIE_MODE profile -n 2 /bin/a : -n 1 /bin/b"
    );
}

#[test]
fn a_preload_on_hydras_command_line_is_completed() {
    assert_eq!(
        line(
            Family::Hydra,
            &profiling(),
            "mpiexec -genv LD_PRELOAD /t.so -n 2 /bin/sh"
        ),
        "mpiexec -genv TREEPIE_MODE profile -genv LD_PRELOAD /t.so:/l/libtreepie.so -n 2 /bin/sh"
    );
    assert_eq!(
        line(
            Family::Hydra,
            &profiling(),
            "mpiexec -n 1 -env LD_PRELOAD /t.so /bin/sh : -n 1 /bin/sh"
        ),
        "mpiexec -genv LD_PRELOAD /l/libtreepie.so -genv TREEPIE_MODE profile \
         -n 1 -env LD_PRELOAD /t.so:/l/libtreepie.so /bin/sh : -n 1 /bin/sh"
    );
}

#[test]
fn slurm_gets_one_export_list_and_commas_go_through_the_environment() {
    let variables = variables(
        &[("TREEPIE_MODE", "replay"), ("TREEPIE_PERMUTATION", "2,0,1")],
        Some("/e.so"),
    );
    assert_eq!(
        line(Family::Slurm, &variables, "srun -n 3 /bin/sh"),
        "TREEPIE_PERMUTATION=2,0,1 srun \
         --export=ALL,LD_PRELOAD=/e.so:/l/libtreepie.so,TREEPIE_MODE=replay,TREEPIE_PERMUTATION -n 3 /bin/sh"
    );
}

#[test]
fn the_users_own_export_list_is_kept() {
    assert_eq!(
        line(
            Family::Slurm,
            &profiling(),
            "srun --export=NONE -n 3 /bin/sh --export=X"
        ),
        "srun --export=LD_PRELOAD=/l/libtreepie.so,TREEPIE_MODE=profile -n 3 /bin/sh --export=X"
    );
    assert_eq!(
        line(
            Family::Slurm,
            &profiling(),
            "srun --export HOME,LD_PRELOAD=/t.so /bin/sh"
        ),
        "srun --export=HOME,LD_PRELOAD=/t.so:/l/libtreepie.so,TREEPIE_MODE=profile /bin/sh"
    );
}

#[test]
fn a_preload_with_a_comma_cannot_go_through_slurm() {
    let found = line(
        Family::Slurm,
        &variables(&[], Some("/a,b.so")),
        "srun /bin/sh",
    );
    assert!(
        found.starts_with("refused: /a,b.so:/l/libtreepie.so: Slurm cannot"),
        "{found}"
    );
}

#[test]
fn a_plain_program_gets_its_variables_directly() {
    assert_eq!(
        line(
            Family::Plain,
            &variables(&[("TREEPIE_MODE", "profile")], Some("/e.so")),
            "./job.sh : a"
        ),
        "LD_PRELOAD=/e.so:/l/libtreepie.so TREEPIE_MODE=profile ./job.sh : a"
    );
}

#[test]
fn words_with_spaces_and_quotes_are_shown_as_a_shell_reads_them() {
    assert_eq!(quoted(OsStr::new("it's here")), r"'it'\''s here'");
    assert_eq!(quoted(OsStr::new("")), "''");
}

#[test]
fn flux_gets_rules_behind_the_users_own_and_before_the_program() {
    assert_eq!(
        line(
            Family::Flux,
            &profiling(),
            "flux run -n2 --env=-* /bin/sh -c x"
        ),
        "flux run -n2 '--env=-*' --env=LD_PRELOAD=/l/libtreepie.so --env=TREEPIE_MODE=profile /bin/sh -c x"
    );
    assert_eq!(
        line(
            Family::Flux,
            &variables(&[("TREEPIE_OUTPUT", "$HOME/a")], None),
            "flux mini run --env=LD_PRELOAD=/t.so /bin/sh"
        ),
        "flux mini run --env=LD_PRELOAD=/t.so --env=LD_PRELOAD=/t.so:/l/libtreepie.so \
         '--env=TREEPIE_OUTPUT=$$HOME/a' /bin/sh"
    );
}

#[test]
fn pals_and_parastation_hand_on_their_own_environment() {
    assert_eq!(
        line(Family::Pals, &profiling(), "mpiexec -n 2 /bin/sh"),
        "LD_PRELOAD=/l/libtreepie.so TREEPIE_MODE=profile mpiexec -n 2 /bin/sh"
    );
    assert_eq!(
        line(Family::Pals, &profiling(), "mpiexec --envlist A /bin/sh"),
        "LD_PRELOAD=/l/libtreepie.so TREEPIE_MODE=profile mpiexec \
         --envlist A,LD_PRELOAD,TREEPIE_MODE /bin/sh"
    );
    assert_eq!(
        line(Family::Pals, &profiling(), "mpiexec --envnone /bin/sh"),
        "LD_PRELOAD=/l/libtreepie.so TREEPIE_MODE=profile mpiexec \
         --envlist LD_PRELOAD,TREEPIE_MODE --envnone /bin/sh"
    );
    assert_eq!(
        line(Family::ParaStation, &profiling(), "mpiexec -np 2 /bin/sh"),
        "LD_PRELOAD=/l/libtreepie.so TREEPIE_MODE=profile PSI_EXPORTS=LD_PRELOAD,TREEPIE_MODE \
         mpiexec -np 2 /bin/sh"
    );
}
