"""Runs of commands, each with a time limit, after which all of its processes end."""

import os
import pathlib
import re
import resource
import signal
import subprocess
import time

BUILD = pathlib.Path(os.environ.get("TREEPIE_BUILD", "build")).resolve()
YIELDING = BUILD / "jobs/libtreepie_yielding.so"
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_mtl": "^ofi,psm,psm2",
    "OMPI_MCA_btl": "^ofi",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "HWLOC_COMPONENTS": "-pci,-opencl,-gl,-linuxio",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "LC_ALL": "C",
    "UCX_LOG_LEVEL": "error",
}
LONGEST_TEXT = 64 << 20
USUAL = re.compile(": quiet after |no wave was made|has come to its end|at the end: nothing is under way")


class Run:
    """What a command left."""

    def __init__(self, status, seconds, processor, stdout, stderr):
        self.status, self.seconds, self.processor = status, seconds, processor
        self.stdout, self.stderr = stdout, stderr

    @property
    def hangs(self):
        return self.status is None

    def said(self):
        """The library's own lines, but for those on waves that were made, or that the job's end dropped."""
        lines = [line for line in self.stderr.splitlines() if line.startswith("treepie")]
        return [line for line in lines if not USUAL.search(line)]

    def waves(self):
        """How often all ranks were stopped at a cut."""
        return self.stderr.count(": quiet after ")

    def last_words(self):
        """The last line that says anything, for a report."""
        lines = [line for line in (self.stderr + self.stdout).splitlines() if line.strip()]
        return lines[-1].strip()[:200] if lines else ""


def launcher(mpi, ranks, variables):
    """A launcher's words, with variables of its processes, and these variables."""
    if mpi == "openmpi":
        pairs = [f"-x '{name}={value}'" for name, value in variables.items()]
        return " ".join(["mpirun.openmpi", "-n", str(ranks), *pairs])
    preloads = [value for value in (variables.get("LD_PRELOAD"), str(YIELDING)) if value]
    pairs = [f"-genv {name} '{value}'" for name, value in {**variables, "LD_PRELOAD": ":".join(preloads)}.items()]
    return " ".join(["mpiexec.mpich", *pairs, "-n", str(ranks)])


def processes_of_session(session):
    """All that a command started and that did not leave its session."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            fields = pathlib.Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session:
            found.append(int(entry))
    return found


def end_session(process):
    """Ends a command and what it started: first as a user would, then for good."""
    for number, patience in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
        for one in [process.pid] if number == signal.SIGTERM else processes_of_session(process.pid):
            try:
                os.kill(one, number)
            except OSError:
                pass
        until = time.monotonic() + patience
        while time.monotonic() < until and processes_of_session(process.pid):
            process.poll()
            time.sleep(0.05)


def processor_seconds():
    """The processor time of all commands that have ended, and of what they waited for."""
    of = resource.getrusage(resource.RUSAGE_CHILDREN)
    return of.ru_utime + of.ru_stime


def run(command, directory, seconds, standard_input=None):
    """Runs a line of shell. Its output goes to files, which no grandchild can keep open for us."""
    # Of the library nothing but what the launcher is told.
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("TREEPIE_")}
    environment = {**inherited, **ENVIRONMENT}
    began, before = time.monotonic(), processor_seconds()
    out, err = directory / ".stdout", directory / ".stderr"
    with open(standard_input or os.devnull, "rb") as stdin, open(out, "wb") as stdout, open(err, "wb") as stderr:
        process = subprocess.Popen(
            ["bash", "-c", command],
            cwd=directory,
            env=environment,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
        try:
            status = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            status = None
        taken = time.monotonic() - began
        if processes_of_session(process.pid):
            end_session(process)
    text = [path.read_bytes()[:LONGEST_TEXT].decode(errors="replace") for path in (out, err)]
    return Run(status, taken, processor_seconds() - before, *text)
