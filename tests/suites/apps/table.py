"""The page of applications and modes, made of what was recorded."""

import json
import pathlib

import catalogue
import modes

REPOSITORY = pathlib.Path(__file__).parents[3]
FIGURES = REPOSITORY / "profiles/figures/applications.jsonl"
PAGE = REPOSITORY / "docs/figures/applications.md"

HEAD = """\
# Applications that nobody here wrote

Made by `scripts/apps --record` of `profiles/figures/applications.jsonl`; not edited by hand. Each
application ran plain, twice, and once in every mode. The reproducible part of its results was
compared: bits, lines of text, or numbers with a tolerance, as
`tests/suites/apps/applications/NAME.toml` says.

"""
CELLS = """
`same`: as the plain run. `varies`: plain runs differ from each other, or from the output that the
package ships; this run ended well. `differs`, `fails`, `hangs`: not as the plain run. `absent`: the
library was not at work. `n/a`: the mode does not apply. Of several programs, numbers say how many;
`1 in 10` after a name: of a suite's list, one program in ten.
"""


def cell(counts, waves=0):
    """An outcome in few words."""
    if waves:
        return f"{cell(counts)} ({waves} waves)"
    if not counts:
        return "-"
    if len(counts) == 1:
        result, number = next(iter(counts.items()))
        return result if number == 1 else f"{number} {result}"
    return ", ".join(f"{number} {result}" for result, number in sorted(counts.items(), key=lambda one: -one[1]))


def newest():
    """The last line of each application, MPI and mode."""
    found = {}
    if FIGURES.exists():
        for number, line in enumerate(FIGURES.read_text().splitlines(), 1):
            try:
                entry = json.loads(line)
                found[entry["application"], entry["mpi"], entry["mode"]] = entry
            except (json.JSONDecodeError, KeyError) as error:
                raise SystemExit(f"scripts/apps: {FIGURES}, line {number}: {error!r}") from error
    return found


def write(applications):
    """Writes the page."""
    found = newest()
    rows, notes = [], []
    for one in applications:
        plain = found.get((one.name, one.mpi, "plain"))
        if not plain:
            continue
        of_mode = {mode: found.get((one.name, one.mpi, mode)) for mode in ["plain", *modes.MODES]}
        cells = [cell(entry["counts"], entry.get("waves", 0)) if entry else "-" for entry in of_mode.values()]
        sample = f", 1 in {plain['sample']}" if "sample" in plain else ""
        head = [one.name + sample, (plain["version"] or "").partition("+")[0], catalogue.MPIS[one.mpi], plain["date"][:10]]
        rows.append("| " + " | ".join([*head, *cells]) + " |")
        notes += notes_of(one, of_mode)
    names = sorted({one.name for one in applications if (one.name, one.mpi, "plain") in found})
    text = HEAD + f"{len(names)} applications, {len(rows)} rows.\n\n"
    heads = ["application", "version", "MPI", "date", "plain", *modes.MODES]
    text += f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}\n" + "\n".join(rows) + "\n" + CELLS
    text += "\n| mode | what it does |\n|---|---|\n"
    text += "".join(f"| `{mode}` | {meaning} |\n" for mode, meaning in modes.MEANING.items())
    if notes:
        text += "\n## Differences\n\n| application, MPI, mode | what was seen, or why |\n|---|---|\n"
        text += "".join(f"| {of} | {note} |\n" for of, note in notes)
    PAGE.write_text(text)


def in_cell(text):
    """Text that stays within a cell of a table."""
    return text.replace("|", "\\|")


def notes_of(application, of_mode):
    """Rows on differences: what was seen, and the catalogue's explanation."""
    notes = []
    for one in application.known:
        of = f"{application.name}, {catalogue.MPIS[application.mpi]}, {', '.join(one['modes'])}"
        notes.append((of, in_cell(one["because"])))
    for mode, reason in application.not_for.items():
        notes.append((f"{application.name}, {mode}", in_cell(f"does not apply: {reason}")))
    for mode, entry in of_mode.items():
        for detail in entry["details"] if entry else []:
            if not any(mode in one["modes"] and one["text"] in detail for one in application.known):
                shown = detail if len(detail) < 160 else detail[:157] + "..."
                of = f"{application.name}, {catalogue.MPIS[application.mpi]}, {mode}"
                notes.append((of, f"`{in_cell(shown.replace('`', chr(39)))}`"))
    return list(dict.fromkeys(notes))
