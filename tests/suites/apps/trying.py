"""An application, plain and in every mode."""

import os
import pathlib
import re
import shutil
import tempfile
import typing

import comparing
import installing
import modes
import running
import suites

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
# How often a plain run is repeated where a mode gave another result: results may vary by themselves.
REPEATED = 3
# What is said of waves has numbers of their own.
NUMBERED = re.compile(r"wave \d+")


class Tried:
    """The outcome of an application in one mode: a count of its programs by result."""

    def __init__(self, mode):
        self.mode, self.counts, self.details, self.seconds, self.waves = mode, {}, [], 0.0, 0

    def add(self, result, name="", detail="", seconds=0.0):
        self.counts[result] = self.counts.get(result, 0) + 1
        self.seconds += seconds
        detail = f"{name}: {detail}" if name and detail else detail
        if detail and detail not in self.details:
            self.details.append(detail)


class Trial:
    """One application under one MPI."""

    def __init__(self, application, wanted, seed, plain_once, sample=1):
        self.application, self.wanted, self.seed = application, wanted, seed
        self.plain_once, self.sample = plain_once, sample
        self.tried = {mode: Tried(mode) for mode in ["plain", *wanted]}
        self.work = pathlib.Path(tempfile.mkdtemp(prefix=f"apps-{application.name}-"))

    def run(self):
        """Runs all; returns what was found, by mode."""
        try:
            self.prepare()
            for case in self.application.cases:
                for program in self.programs(case):
                    Program(self, case, program).run()
        except PreparationFails as error:
            self.tried["plain"].add("fails", detail=str(error))
        finally:
            shutil.rmtree(self.work, ignore_errors=True)
        return self.tried

    def prepare(self):
        """Makes inputs and compiles, once."""
        self.prepared = self.work / "prepared"
        self.prepared.mkdir()
        for name, text in self.application.files.items():
            (self.prepared / name).parent.mkdir(parents=True, exist_ok=True)
            (self.prepared / name).write_text(text)
        if self.application.prepare:
            done = running.run("set -e\n" + self.fill(self.application.prepare), self.prepared, 600)
            if done.status != 0:
                raise PreparationFails(f"its preparation fails: {done.last_words()}")

    def programs(self, case):
        """The programs of a case."""
        if case.list:
            yield from self.listed(case)
            return
        if not case.each:
            yield Started(case.name, "", case.ranks, case.seconds)
            return
        for pattern in case.each:
            pattern = self.fill(pattern)
            folder = pathlib.Path("/") if pattern.startswith("/") else self.prepared
            found = [path for path in sorted(folder.glob(pattern.lstrip("/"))) if path.is_file()]
            if not found:
                raise PreparationFails(f"nothing is at {pattern}")
            for path in found:
                if path.name not in case.skip and os.access(path, os.X_OK):
                    yield Started(path.name, str(path), case.ranks, case.seconds)

    def listed(self, case):
        """The programs that MPICH's own list of a folder names, with their ranks and arguments."""
        folder = pathlib.Path(self.fill(case.each[0]))
        entries = suites.entries(pathlib.Path(self.fill(case.list)), case.skip, case.seconds)
        for name, ranks, words, seconds in entries[self.seed % self.sample :: self.sample]:
            if (folder / name).exists():
                yield Started(f"{name} on {ranks}", " ".join([str(folder / name), *words]), ranks, seconds)
            else:
                self.tried["plain"].add("n/a", name, "does not compile under this MPI")

    def fill(self, text, **more):
        """A line of the catalogue with its names filled in."""
        environment = installing.environment_of(self.application.mpi)
        words = {
            "root": str(installing.ROOT),
            "venv": str(environment),
            "mpicc": installing.COMPILERS[self.application.mpi],
            "mpi": self.application.mpi,
            "build": str(running.BUILD),
            "repository": str(REPOSITORY),
            **more,
        }
        words = {**self.application.words, **words}
        for name, value in words.items():
            text = text.replace("{" + name + "}", value)
        return text


class PreparationFails(Exception):
    """Inputs that could not be made."""


class Started(typing.NamedTuple):
    """How a program is started."""

    name: str
    command: str
    ranks: int
    seconds: float


class Program:
    """One program of an application: its plain runs, and those in modes."""

    def __init__(self, trial, case, program):
        self.trial, self.case, self.program, self.name = trial, case, program, program.name
        self.kept = trial.work / "kept"

    def run(self):
        shutil.rmtree(self.kept, ignore_errors=True)
        self.kept.mkdir()
        plain, left = self.once({})
        add = self.trial.tried["plain"].add
        if plain.hangs or plain.status != self.case.status:
            words = "does not end" if plain.hangs else f"exit status {plain.status}: {plain.last_words()}"
            add("hangs" if plain.hangs else "fails", self.name, words, plain.seconds)
            return
        if left.missing:
            add("fails", self.name, f"no file {left.missing[0]}", plain.seconds)
            return
        unlike = self.differs_from_shipped(plain) or ("" if self.trial.plain_once else self.another(left))
        add("varies" if unlike else "same", self.name, unlike, plain.seconds)
        recorded = None
        for mode in self.trial.wanted:
            recorded = self.in_mode(mode, left, bool(unlike), recorded)

    def once(self, variables, before=""):
        """A run in a copy of what was prepared, with words before the launcher."""
        directory = self.trial.work / "run"
        shutil.copytree(self.trial.prepared, directory, symlinks=True)
        try:
            ranks = self.program.ranks
            launch = before + running.launcher(self.trial.application.mpi, ranks, variables)
            command = self.trial.fill(self.case.command, mpirun=launch, each=self.program.command, ranks=str(ranks))
            standard_input = directory / self.trial.fill(self.case.input) if self.case.input else None
            run = running.run(command, directory, self.program.seconds, standard_input)
            return run, comparing.Left(run, directory, self.case.compare)
        finally:
            shutil.rmtree(directory, ignore_errors=True)

    def differs_from_shipped(self, plain):
        """How a plain run differs from the output that its package ships, if there is one."""
        if not self.case.expected:
            return ""
        path = pathlib.Path(self.trial.fill(self.case.expected))
        rules = self.case.shipped
        shipped, ours = (comparing.lines_of(text, rules) for text in (path.read_text(), plain.stdout))
        unlike = [pair for pair in zip(shipped, ours) if not comparing.alike(*pair, rules)]
        if len(shipped) != len(ours) or unlike:
            return f"plain runs differ from the shipped {path.name}"
        return ""

    def another(self, left):
        """How another plain run differs."""
        _, other = self.once({})
        return comparing.difference(left, other, self.case.compare) or ""

    def in_mode(self, mode, left, varies, recorded):
        """One mode; returns what `record` left, for `again`."""
        application, add = self.trial.application, self.trial.tried[mode].add
        reason = application.not_for.get(mode)
        if mode in ("record", "again") and not application.order:
            reason = reason or "no order"
        if application.modes and mode not in application.modes:
            reason = reason or "not for this suite"
        if reason:
            add("n/a")
            return recorded
        if modes.lacks(mode, self.kept) or (mode == "again" and recorded is None):
            add("n/a")
            return recorded
        (self.kept / modes.WRITTEN).unlink(missing_ok=True)
        variables = modes.variables(mode, self.program.ranks, self.trial.seed, self.kept)
        run, other = self.once(variables, modes.before(mode))
        result, detail = self.judge(mode, run, other, recorded if mode == "again" else left, varies)
        add(result, self.name, detail, run.seconds)
        self.trial.tried[mode].waves += run.waves()
        said = f"said: {NUMBERED.sub('a wave', run.said()[0])[:200]}" if run.said() else ""
        if said and said not in self.trial.tried[mode].details:
            self.trial.tried[mode].details.append(said)
        return other if mode == "record" and result in ("same", "varies") else recorded

    def judge(self, mode, run, other, left, varies):
        if run.hangs:
            return "hangs", f"does not end in {self.program.seconds} s: {run.last_words()}"
        unlike = comparing.difference(left, other, self.case.compare)
        if run.status != left.status:
            return "fails", f"{unlike}: {run.last_words()}"
        to_come = modes.file_to_come(mode, self.kept)
        if to_come and not to_come.exists():
            return "absent", "the library left nothing: it was not at work"
        if not unlike:
            return "same", ""
        if varies:
            return "varies", ""
        for _ in range(REPEATED):
            if self.another(left):
                return "varies", f"plain runs vary too, once in several: {unlike}"
        return "differs", unlike
