"""The table of applications: one file of `applications/` for each."""

import pathlib
import re
import tomllib

FOLDER = pathlib.Path(__file__).parent / "applications"
MPIS = {"openmpi": "Open MPI", "mpich": "MPICH"}
FIELDS = {
    "about",
    "tier",
    "packages",
    "unpacked",
    "pypi",
    "version",
    "tested",
    "seconds",
    "ranks",
    "files",
    "prepare",
    "command",
    "each",
    "skip",
    "list",
    "modes",
    "expected",
    "shipped",
    "input",
    "status",
    "compare",
    "case",
    "not_for",
    "known",
    "order",
    "gain",
    *MPIS,
}
COMPARED = {"keep", "drop", "cut", "files", "bits", "relative", "absolute", "sorted", "unique"}


class BadCatalogue(Exception):
    """A file of the catalogue that says something that nobody reads."""


class Application:
    """What one file says, for one MPI."""

    def __init__(self, name, mpi, entry):
        own = entry[mpi]
        self.name, self.mpi = name, mpi
        self.about = entry["about"]
        self.tier = entry.get("tier", 2)
        self.packages = entry.get("packages", []) + own.get("packages", [])
        self.unpacked = entry.get("unpacked", [])
        self.pypi = entry.get("pypi", []) + own.get("pypi", [])
        self.version = own.get("version") or entry.get("version") or (self.packages + self.pypi)[0]
        self.tested = entry.get("tested")
        self.files = entry.get("files", {})
        self.prepare = entry.get("prepare", "")
        self.not_for = {**entry.get("not_for", {}), **own.get("not_for", {})}
        self.known = [one for one in entry.get("known", []) if one.get("mpi", mpi) == mpi]
        self.order = entry.get("order", True)
        self.modes = entry.get("modes")
        self.gain = entry.get("gain", {}) if mpi == "openmpi" else {}
        self.words = {key: value for key, value in own.items() if isinstance(value, str)}
        common = {key: entry[key] for key in CASE if key in entry}
        cases = entry.get("case", [{}])
        self.cases = [Case(self, {**common, **case}) for case in cases if case.get("mpi", mpi) == mpi]


CASE = ["command", "each", "list", "skip", "input", "status", "compare", "ranks", "seconds", "expected", "shipped"]


class Case:
    """A command of an application, or one for each program that `each` finds, or a `list` names."""

    def __init__(self, application, entry):
        self.name = entry.get("name", "")
        self.command = entry["command"]
        each = entry.get("each")
        self.each = [each] if isinstance(each, str) else each
        self.list = entry.get("list")
        self.skip = entry.get("skip", [])
        self.input = entry.get("input")
        self.status = entry.get("status", 0)
        self.ranks = entry.get("ranks", 4)
        self.seconds = entry.get("seconds", 60)
        self.expected = entry.get("expected")
        self.compare = entry.get("compare", {})
        self.shipped = entry.get("shipped", self.compare)
        where = f"{application.name}.toml"
        unknown = set(self.compare) - COMPARED
        if unknown:
            raise BadCatalogue(f"{where}: compare: unknown field {sorted(unknown)[0]}: one of {', '.join(sorted(COMPARED))}")
        for pattern in [*self.compare.get("keep", []), *self.compare.get("drop", [])]:
            try:
                re.compile(pattern)
            except re.error as error:
                raise BadCatalogue(f"{where}: the pattern {pattern!r}: {error}") from error


def read(name, mpi):
    """The application of this name under this MPI, or nothing where it does not exist for it."""
    path = FOLDER / f"{name}.toml"
    if not path.exists():
        raise BadCatalogue(f"no application is called {name}: one of {', '.join(names())}")
    try:
        entry = tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as error:
        raise BadCatalogue(f"{path.name}: {error}") from error
    unknown = set(entry) - FIELDS
    if unknown:
        raise BadCatalogue(f"{path.name}: unknown field {sorted(unknown)[0]}: one of {', '.join(sorted(FIELDS))}")
    if "about" not in entry or not set(entry) & set(MPIS):
        raise BadCatalogue(f"{path.name}: it has no `about`, or no table of an MPI ([openmpi], [mpich])")
    if mpi not in entry:
        return None
    try:
        return Application(name, mpi, entry)
    except (KeyError, IndexError) as error:
        raise BadCatalogue(f"{path.name}: {error} is missing") from error


def names():
    """All applications, by name."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))
