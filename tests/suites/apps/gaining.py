"""What applications gain on emulated networks: placement, replaced collectives, and `treepie run`."""

import dataclasses
import datetime
import json
import os
import pathlib
import random
import shlex
import shutil
import subprocess
import tempfile

import catalogue
import comparing
import installing
import modes
import running
import trying

GRID = running.BUILD / "grid/grid"
TREEPIE = running.BUILD / "bin/treepie"
PATIENCE = running.BUILD / "grid/libtreepie_patience.so"
# The state of a grid of our own: others may have one.
STATE = f"/run/treepie-apps-{os.getpid()}"


@dataclasses.dataclass
class Network:
    """An emulated network, and how a launcher deals ranks out on it; without a file, this host."""

    name: str
    file: str
    each: int
    hosts: int
    dealt_grid: list
    dealt_launcher: str

    @property
    def ranks(self):
        return self.each * self.hosts


NETWORKS = {
    "cluster": Network("cluster", "eight-hosts.grid.yaml", 2, 8, [], "--map-by node"),
    "grid": Network("grid", "four-by-four.grid.yaml", 1, 16, ["--cyclic"], ""),
    "host": Network("host", "", 2, 1, [], ""),
}
ORDERS = ("launcher", "dealt")
# What starts and ends, and does next to nothing between: what a job takes beside its own work.
EMPTY = catalogue.Application(
    "start and end",
    "openmpi",
    {
        "about": "a job that does nothing",
        "version": "-",
        "command": "",
        "openmpi": {},
        "files": {"empty.c": "#include <mpi.h>\nint main(void) { return MPI_Init(0, 0) || MPI_Finalize(); }\n"},
        "prepare": "{mpicc} -o empty empty.c",
        "gain": {"command": "{mpirun} ./empty"},
    },
)


class NotMeasured(Exception):
    """A run that did not end well, or gave other results."""


class Up:
    """A network that is there as long as it is entered, and its platform as `treepie probe` finds it."""

    def __init__(self, network, folder):
        self.network, self.platform = network, folder / f"{network.name}.platform.yaml"

    def __enter__(self):
        if not self.network.file:
            return self
        os.environ["TREEPIE_GRID_STATE"] = STATE
        subprocess.run([GRID, "down"], capture_output=True, check=False)
        command("grid up", [GRID, "up", trying.REPOSITORY / "profiles" / self.network.file])
        if not self.platform.exists():
            words = [TREEPIE, "probe", "--quiet", "-o", self.platform, "--", "mpirun.openmpi", "-n", self.network.ranks]
            command("treepie probe", [*self.words("launcher"), *words])
        return self

    def __exit__(self, *_):
        subprocess.run([GRID, "down"], capture_output=True, check=False)

    def words(self, order):
        """The start of a command that runs on it."""
        dealt = self.network.dealt_grid if order == "dealt" else []
        first = ["chrt", "-r", "1"] if os.geteuid() == 0 else []
        if not self.network.file:
            return ["env", *first]
        return [str(word) for word in ["env", f"TREEPIE_GRID_STATE={STATE}", *first, GRID, "run", "--ranks", self.network.each, *dealt, "--"]]


def command(name, words, **more):
    """The output of a command that is to end well."""
    done = subprocess.run(
        [str(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False, **more
    )
    if done.returncode != 0:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        raise NotMeasured(f"{name}: {lines[-1] if lines else done.returncode}")
    return done.stdout


class Gain:
    """One application on one network with its ranks in one order."""

    def __init__(self, trial, up, order, options):
        self.trial, self.up, self.order, self.options = trial, up, order, options
        case = trial.application.cases[0]
        self.entry = trial.application.gain or {"command": case.command, "seconds": case.seconds}
        self.rules = self.entry.get("compare", case.compare)
        # A host runs what the cluster does, unless it says otherwise.
        self.size = self.entry.get(up.network.name, self.entry.get("cluster", {}))
        self.kept = trial.work / f"{up.network.name}-{order}"
        self.kept.mkdir()
        self.reference = None
        # Where a profile, a placement and a store are left.
        self.profile, self.placement = self.kept / "app.profile.yaml", self.kept / "app.placement.yaml"
        self.draw = random.Random(options.seed)

    def measure(self):
        """All variants in turn; returns a line of JSON."""
        line = {"network": self.up.network.name, "order": self.order, "ranks": self.up.network.ranks}
        words = {**self.size, "ranks": str(self.up.network.ranks), "mpirun": ""}
        line["command"] = self.trial.fill(self.entry["command"], **words).strip()
        self.once("plain")
        self.once("profiled")
        line |= self.what_the_profile_says()
        moved = bool(self.up.network.file) and self.map(line)
        variants = ["plain", *self.options.variants.split(",")]
        if not moved and self.trial.application is not EMPTY:
            variants = [one for one in variants if one not in ("placed", "both")]
        for _ in range(self.options.learn if "run" in variants else 0):
            self.once("run")
        if "run" in variants:
            line["history"] = self.history()
        seconds, processor, bad = {name: [] for name in variants}, {name: [] for name in variants}, {}
        for _ in range(self.options.pairs):
            for name in self.draw.sample(variants, len(variants)):
                if name in bad:
                    continue
                try:
                    run = self.once(name)
                    seconds[name].append(run.seconds)
                    processor[name].append(run.processor)
                except NotMeasured as error:
                    if name == "plain":
                        raise
                    bad[name] = str(error)
        for kind, of in (("seconds", seconds), ("processor", processor)):
            line[kind] = {name: [round(one, 3) for one in of[name]] for name in variants if name not in bad}
        return {**line, "bad": bad} if bad else line

    def what_the_profile_says(self):
        """The shares of MPI and of collectives in the time."""
        times = json.loads(command("treepie show", [TREEPIE, "show", self.profile, "--json"]))["times"]
        all_of_it = sum(times["elapsed_seconds"])
        of = {one["class"]: one for one in times["classes"]}
        collective = of.get("collective", {"seconds": 0.0, "calls": 0})
        calls = sum(one["calls"] for one in times["classes"])
        return {
            "calls_per_second": round(calls / all_of_it),
            "mpi_share": round(sum(times["mpi_seconds"]) / all_of_it, 3),
            "collective_share": round(collective["seconds"] / all_of_it, 3),
            "collective_calls": collective["calls"],
        }

    def map(self, line):
        """Places the ranks; returns whether any moves."""
        words = [TREEPIE, "map", self.profile, "--platform", self.up.platform, "-o", self.placement, "--json"]
        verdict = json.loads(command("treepie map", words))["verdict"]
        line["map"] = verdict
        return not verdict.startswith("none")

    def history(self):
        """What `treepie run` knows after its first runs."""
        return command("treepie history", [TREEPIE, "history", "--store", self.kept / "store"]).strip().splitlines()

    def once(self, name):
        """One run. Its seconds are those of the launcher, from its start to its end."""
        directory = self.trial.work / "run"
        shutil.copytree(self.trial.prepared, directory, symlinks=True)
        try:
            run = running.run(self.line_of_shell(name), directory, self.entry.get("seconds", 60))
            left = comparing.Left(run, directory, self.rules)
        finally:
            shutil.rmtree(directory, ignore_errors=True)
        if run.status != 0:
            raise NotMeasured(f"{name}: exit status {run.status}: {run.last_words()}")
        if self.reference is None:
            self.reference = left
        unlike = comparing.difference(self.reference, left, self.rules)
        if unlike:
            raise NotMeasured(f"{name}: {unlike}")
        return run

    def line_of_shell(self, name):
        """The words of a run as a shell reads them."""
        variables = self.variables(name)
        dealt = self.up.network.dealt_launcher if self.order == "dealt" else ""
        launch = " ".join([running.launcher("openmpi", self.up.network.ranks, variables), dealt])
        words = {**self.size, "ranks": str(self.up.network.ranks)}
        job = self.trial.fill(self.entry["command"], mpirun=launch, **words)
        before = self.trial.fill(self.entry.get("prepare", "true"), **words)
        start = list(self.up.words(self.order))
        if name == "run":
            store = str(self.kept / "store")
            start += ["env", f"TREEPIE_PLATFORM={self.up.platform}", str(TREEPIE), "run", "--quiet", "--store", store, "--"]
        return f"{before} && {shlex.join(start)} {job}"

    def variables(self, name):
        """What is set in the processes of a run."""
        replay = {"TREEPIE_MODE": "replay"}
        placed = {**replay, "TREEPIE_PLACEMENT": self.placement}
        plans = {**replay, "TREEPIE_COLLECTIVES": "auto", "TREEPIE_PLATFORM": self.up.platform}
        of = {
            "plain": {},
            "run": {},
            "off": {"TREEPIE_MODE": "off"},
            "counted": {"TREEPIE_MODE": "profile", "TREEPIE_OUTPUT": self.kept / "counted.profile.yaml"},
            "profiled": {"TREEPIE_MODE": "profile", "TREEPIE_OUTPUT": self.profile, "TREEPIE_TIMES": "true"},
            "placed": placed,
            "collectives": plans,
            "both": {**placed, **plans},
        }[name]
        if not of:
            return {}
        before = f"{PATIENCE}:" if self.up.network.file else ""
        return {"LD_PRELOAD": f"{before}{modes.LIBRARY}", **of}


def prepared(application, seed):
    """An application's inputs, with those that are for its gain."""
    trial = trying.Trial(application, [], seed, True)
    trial.prepare()
    for name, text in application.gain.get("files", {}).items():
        (trial.prepared / name).write_text(text)
    return trial


def measure(trial, version, up, order, options):
    """One line of JSON of what an application gains, or why it was not measured."""
    line = {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "application": trial.application.name,
        "version": version,
        "mpi": trial.application.mpi,
        "network": up.network.name,
        "order": order,
    }
    try:
        return {**line, **Gain(trial, up, order, options).measure()}
    except (NotMeasured, subprocess.TimeoutExpired) as error:
        return {**line, "failed": str(error)}


def measured(applications, options, say):
    """A line for each application on each network in each order; on one network after the other."""
    with tempfile.TemporaryDirectory(prefix="gain-") as folder:
        trials = []
        for one in [EMPTY, *applications]:
            version = installing.bring(one, say) if one is not EMPTY else "-"
            trials.append((prepared(one, options.seed), version))
        try:
            for name in options.networks.split(","):
                with Up(NETWORKS[name], pathlib.Path(folder)) as up:
                    for trial, version in trials:
                        for order in options.orders.split(","):
                            yield measure(trial, version, up, order, options)
        finally:
            for trial, _ in trials:
                shutil.rmtree(trial.work, ignore_errors=True)
