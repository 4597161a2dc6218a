//! Placements in the launchers' own formats: the files written by `convert`, and the arguments of
//! each launcher from `replay --apply launch`. Launchers are scripts that record their arguments.
#![allow(clippy::unwrap_used)]

mod support;

use support::Desk;

/// Appendix A.6 of the thesis: 16 ranks on two nodes of two sockets of four cores.
const FIGURE_1_8: &str = "\
treepie: placement
version: 1
producer: by hand
date: 2026-11-21T04:03:48Z
ranks: 16
strategy: treematch
topology:
  levels: [node, socket, core]
  arities: 2:2:4
assignment: 0,1,4,5,8,9,12,13,2,3,6,7,10,11,14,15
leaf_of_process: 0-15
permutation: 0,1,8,9,2,3,10,11,4,5,12,13,6,7,14,15
";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("app.placement.yaml", FIGURE_1_8);
    desk
}

/// `treepie replay --apply launch` with this launcher; the file given to the launcher is copied to
/// `ranks`.
fn launch(desk: &Desk, launcher: &[&str]) -> support::Answer {
    let replay = ["replay", "--apply", "launch", "--hosts", "a,b"];
    let arguments = [&replay[..], &["app.placement.yaml", "--"], launcher].concat();
    desk.run(&arguments)
}

const COPY: &str = "for word in $(cat arguments) $SLURM_HOSTFILE; do case $word in \
    *.ranks) cp ${word#*=} ranks ;; esac; done";

#[test]
fn a_placement_is_written_in_the_form_that_its_name_or_the_option_says() {
    let desk = desk();
    let hosts = ["--hosts", "fourmi017,fourmi022"];
    let convert = |out: &str, options: &[&str]| {
        let words = [
            &["convert", "app.placement.yaml", "-o", out][..],
            &hosts,
            options,
        ]
        .concat();
        desk.run(&words).good();
        desk.text(out)
    };
    assert!(convert("app.rankfile", &[]).starts_with("rank 0=fourmi017 slot=0:0\n"));
    let physical = convert("app.rankfile", &["--to", "open-mpi-physical"]);
    assert!(physical.ends_with("rank 15=fourmi022 slot=p1:3\n"));
    assert!(convert("app.hostfile", &[]).starts_with("fourmi017:4\nfourmi022:4\n"));
    assert_eq!(
        convert("MPICH_RANK_ORDER", &[]),
        "0,1,8,9,2,3,10,11,4,5,12,13,6,7,14,15\n"
    );
    assert!(convert("hosts", &["--to", "slurm"]).starts_with("fourmi017\nfourmi017\n"));
    assert!(convert("ranks", &["--to", "pjm"]).starts_with("(0)\n(0)\n(0)\n(0)\n(1)\n"));
}

#[test]
fn a_placement_without_hosts_or_with_too_few_is_refused() {
    let desk = desk();
    let nameless = desk.run(&["convert", "app.placement.yaml", "-o", "app.rankfile"]);
    let said = nameless.refusal(2);
    assert!(said.contains("belongs to no named host"), "{said}");
    let words = [
        "convert",
        "app.placement.yaml",
        "-o",
        "x.rankfile",
        "--hosts",
        "a,b,c",
    ];
    let said = desk.run(&words).refusal(2);
    assert!(said.contains("3 host names for 2 nodes"), "{said}");
    assert!(!desk.path("app.rankfile").exists() && !desk.path("x.rankfile").exists());
}

#[test]
fn each_version_of_open_mpi_is_given_a_rank_file_in_its_own_option() {
    for (version, option) in [
        ("mpirun (Open MPI) 4.1.4", "--rankfile\n"),
        ("mpirun (Open MPI) 5.0.11", "--map-by\nrankfile:file="),
        ("prterun (PRRTE) 3.0.8", "--map-by\nrankfile:file="),
    ] {
        let desk = desk();
        desk.launcher("mpirun", version, COPY);
        launch(&desk, &["./mpirun", "-np", "16", "/bin/sh"]).good();
        let arguments = desk.text("arguments");
        assert!(arguments.starts_with(option), "{version}: {arguments}");
        assert!(arguments.ends_with("\n-np\n16\n/bin/sh\n"), "{arguments}");
        let binds = arguments.contains("\n--bind-to\ncore\n");
        assert_eq!(binds, option != "--rankfile\n", "{arguments}");
        assert!(desk.text("ranks").starts_with("rank 0=a slot=0:0\n"));
    }
}

/// The ranks of the figure, host by host and in reverse order on each socket.
fn host_by_host(desk: &Desk) {
    let text = FIGURE_1_8.lines().map(|line| match line.split_once(':') {
        Some(("assignment" | "permutation", _)) => {
            let name = line.split(':').next().unwrap();
            format!("{name}: 3,2,1,0,7,6,5,4,11,10,9,8,15,14,13,12")
        }
        _ => line.to_owned(),
    });
    let text: Vec<String> = text.collect();
    desk.write("app.placement.yaml", &(text.join("\n") + "\n"));
}

#[test]
fn hydra_is_given_hosts_and_one_list_of_cores() {
    for (version, file, binding) in [
        (
            "HYDRA build details:",
            "-f\n",
            "-bind-to\nuser:3,2,1,0,7,6,5,4\n",
        ),
        (
            "Intel(R) MPI Library for Linux* OS, Version 2021.18",
            "-machinefile\n",
            "-genv\nI_MPI_PIN_PROCESSOR_LIST\n3,2,1,0,7,6,5,4\n",
        ),
    ] {
        let desk = desk();
        host_by_host(&desk);
        desk.launcher("mpiexec", version, COPY);
        launch(&desk, &["./mpiexec", "-n", "16", "/bin/sh"]).good();
        let arguments = desk.text("arguments");
        assert!(arguments.starts_with(file), "{arguments}");
        assert!(arguments.contains(binding), "{arguments}");
        assert!(arguments.contains("TREEPIE_MODE\noff\n"), "{arguments}");
        assert_eq!(desk.text("ranks"), "a:8\nb:8\n");
    }
}

#[test]
fn where_hydra_comes_back_to_a_host_the_library_binds_and_that_is_said() {
    for (version, unbound) in [
        ("HYDRA build details:", "-bind-to\nnone\n"),
        (
            "Intel(R) MPI Library for Linux* OS, Version 2021.18",
            "-genv\nI_MPI_PIN\noff\n",
        ),
    ] {
        let desk = desk();
        desk.launcher("mpiexec", version, COPY);
        let answer = launch(&desk, &["./mpiexec", "-n", "16", "/bin/sh"]);
        assert!(
            answer.err.contains("the library binds it to its core"),
            "{}",
            answer.err
        );
        let arguments = desk.text("arguments");
        assert!(arguments.contains(unbound), "{arguments}");
        assert!(arguments.contains("TREEPIE_APPLY\nbind\n"), "{arguments}");
        assert!(arguments.contains("TREEPIE_MODE\nreplay\n"), "{arguments}");
        assert_eq!(desk.text("ranks"), "a:4\nb:4\na:4\nb:4\n");
    }
}

#[test]
fn slurm_is_given_a_host_for_each_rank_and_a_map_of_cores() {
    let desk = desk();
    desk.launcher("srun", "slurm 22.05", COPY);
    launch(&desk, &["./srun", "-n16", "/bin/sh"]).good();
    let arguments = desk.text("arguments");
    assert!(
        arguments.starts_with("--distribution=arbitrary\n--cpu-bind=map_cpu:0,1,4,5,2,3,6,7\n"),
        "{arguments}"
    );
    assert_eq!(desk.text("ranks").lines().count(), 16);
}

#[test]
fn options_that_say_otherwise_and_launchers_without_words_are_refused() {
    let desk = desk();
    desk.launcher("mpirun", "mpirun (Open MPI) 4.1.4", "exit 0");
    let said = launch(&desk, &["./mpirun", "--bind-to", "none", "/bin/sh"]).refusal(2);
    assert!(said.starts_with("--bind-to: places ranks"), "{said}");
    let said = launch(&desk, &["/bin/sh"]).refusal(2);
    assert!(said.contains("is no launcher that is known"), "{said}");
    assert!(!desk.path("arguments").exists(), "nothing was started");
}
