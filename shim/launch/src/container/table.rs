//! The run-times of containers, a row each.

/// A program that starts others in containers.
#[derive(Debug, PartialEq, Eq)]
pub struct Runtime {
    /// Its name for people.
    pub name: &'static str,
    /// The files that it is started by.
    pub(super) files: &'static [&'static str],
    /// Subcommands that start a container, first the one that starts a program of one's choice;
    /// none where there are no subcommands.
    pub(super) starts: &'static [&'static str],
    /// Subcommands that enter a container that runs already, into which nothing can be bound.
    pub(super) enters: &'static [&'static str],
    /// Numbers of values of options; all others have one.
    pub(super) values: &'static [(usize, &'static [&'static str])],
    /// Whether the first word behind the options is an image.
    pub(super) has_image: bool,
    /// Way in which variables get into the container.
    pub(super) passing: Passing,
    /// Whether the container has the run-time's own environment, too.
    pub(super) inherits: bool,
    /// Way in which directories get into the container.
    pub(super) binding: Binding,
    /// Variables with the user's bindings that the option of the command line would replace.
    pub(super) replaced: &'static [&'static str],
    /// Options that make a trial of a container: they take back what a job may have once only.
    pub(super) trial: &'static [&'static str],
}

/// Way in which variables get into a container.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Passing {
    /// As variables of the run-time, whose names begin with this.
    Prefixed(&'static str),
    /// As options in one word: `--env=NAME=VALUE`.
    Assigned(&'static str),
    /// As options in three words: `--setenv NAME VALUE`.
    Named(&'static str),
}

/// Way in which directories get into a container.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Binding {
    /// As options in one word, with `:ro` for those that are only read: `--volume=DIR:DIR:ro`.
    Joined(&'static str),
    /// As options in three words, for those that are written and those that are only read. They
    /// take effect one after the other, so that ours have to be the last.
    Ordered(&'static str, &'static str),
}

/// All run-times but pyxis, which is part of Slurm's `srun`.
pub(super) static RUNTIMES: &[Runtime] = &[
    Runtime {
        name: "Apptainer",
        files: &["apptainer"],
        passing: Passing::Prefixed("APPTAINERENV_"),
        ..APPTAINER
    },
    Runtime {
        name: "Singularity",
        files: &["singularity"],
        passing: Passing::Prefixed("SINGULARITYENV_"),
        ..APPTAINER
    },
    Runtime {
        name: "Podman",
        files: &["podman", "podman-hpc"],
        ..DOCKER
    },
    DOCKER,
    Runtime {
        name: "Shifter",
        files: &["shifter"],
        starts: &[],
        enters: &[],
        values: &[(
            0,
            &["help", "h", "verbose", "v", "clearenv", "E", "entrypoint"],
        )],
        has_image: false,
        passing: Passing::Assigned("--env"),
        inherits: true,
        binding: Binding::Joined("--volume"),
        replaced: &["SHIFTER_VOLUME", "SLURM_SPANK_SHIFTER_VOLUME"],
        trial: &[],
    },
    Runtime {
        name: "bubblewrap",
        files: &["bwrap"],
        starts: &[],
        enters: &[],
        values: BUBBLEWRAPS_VALUES,
        has_image: false,
        passing: Passing::Named("--setenv"),
        inherits: true,
        binding: Binding::Ordered("--bind", "--ro-bind"),
        replaced: &[],
        trial: &[],
    },
];

const APPTAINER: Runtime = Runtime {
    name: "",
    files: &[],
    starts: &["exec", "run", "shell", "test"],
    enters: &[],
    values: &[(0, APPTAINERS_FLAGS)],
    has_image: true,
    passing: Passing::Prefixed(""),
    inherits: true,
    binding: Binding::Joined("--bind"),
    replaced: &[],
    trial: &[],
};

const DOCKER: Runtime = Runtime {
    name: "Docker",
    files: &["docker"],
    starts: &["run"],
    enters: &["exec"],
    values: &[(0, DOCKERS_FLAGS)],
    has_image: true,
    passing: Passing::Assigned("--env"),
    inherits: false,
    binding: Binding::Joined("--volume"),
    replaced: &[],
    trial: &[
        "--rm",
        "--pull=never",
        "--detach=false",
        "--name=",
        "--cidfile=",
        "--entrypoint=/bin/true",
    ],
};

/// Of `exec` and `run` of Apptainer and SingularityCE, and of both before these words.
#[rustfmt::skip]
const APPTAINERS_FLAGS: &[&str] = &[
    "debug", "d", "quiet", "q", "silent", "s", "verbose", "v", "nocolor", "help", "h",
    "allow-setuid", "boot", "cleanenv", "e", "compat", "no-compat", "contain", "c", "containall",
    "C", "disable-cache", "docker-login", "fakeroot", "f", "ignore-fakeroot-command",
    "ignore-subuid", "ignore-userns", "ipc", "i", "keep-privs", "net", "n", "no-eval", "no-home",
    "no-https", "nohttps", "no-init", "no-nv", "no-oci", "no-pid", "no-privs", "no-rocm",
    "no-setgroups", "no-umask", "nv", "nvccli", "oci", "oom-kill-disable", "passphrase", "pid",
    "p", "rocm", "sharens", "syos", "underlay", "unsquash", "userns", "u", "uts", "vm", "vm-err",
    "writable", "w", "writable-tmpfs",
];

/// Of `run` and `exec` of Docker, Podman and podman-hpc, and of all before these words.
#[rustfmt::skip]
const DOCKERS_FLAGS: &[&str] = &[
    "debug", "D", "tls", "tlsverify", "remote", "r", "syslog", "help", "detach", "d",
    "disable-content-trust", "env-host", "http-proxy", "init", "interactive", "i", "no-healthcheck",
    "no-hostname", "no-hosts", "oom-kill-disable", "passwd", "privileged", "publish-all", "P",
    "quiet", "q", "read-only", "read-only-tmpfs", "replace", "rm", "rmi", "rootfs", "sig-proxy",
    "tls-verify", "tty", "t", "unsetenv-all", "use-api-socket", "latest", "l", "mpi", "cuda-mpi",
    "gpu", "nccl", "openmpi-pmi2", "openmpi-pmix", "cvmfs",
];

#[rustfmt::skip]
const BUBBLEWRAPS_VALUES: &[(usize, &[&str])] = &[
    (0, &[
        "help", "version", "level-prefix", "unshare-all", "share-net", "unshare-user",
        "unshare-user-try", "unshare-ipc", "unshare-pid", "unshare-net", "unshare-uts",
        "unshare-cgroup", "unshare-cgroup-try", "disable-userns", "assert-userns-disabled",
        "clearenv", "new-session", "die-with-parent", "as-pid-1",
    ]),
    (2, &[
        "setenv", "bind", "bind-try", "dev-bind", "dev-bind-try", "ro-bind", "ro-bind-try",
        "bind-fd", "ro-bind-fd", "file", "bind-data", "ro-bind-data", "symlink", "chmod",
    ]),
    (3, &["overlay"]),
];
