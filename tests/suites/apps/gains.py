"""The page and the picture of what applications gain, made of what was recorded."""

import json
import math
import pathlib
import statistics

REPOSITORY = pathlib.Path(__file__).parents[3]
FIGURES = REPOSITORY / "profiles/figures/gains.jsonl"
PAGE = REPOSITORY / "docs/figures/gains.md"
PICTURE = REPOSITORY / "docs/figures/pictures/gains.svg"
# The intervals hold in this part of cases.
CONFIDENCE = 0.95
VARIANTS = {
    "placed": "placement",
    "collectives": "collectives",
    "both": "both",
    "run": "`treepie run`",
}
OVERHEAD = {"off": "`off`", "counted": "counting"}
HOST = "host"
NETWORKS = {
    "cluster": "cluster: eight hosts of two ranks, 0.1 ms and 1 Gbit/s",
    "grid": "grid: four clusters of four hosts of one rank, 10 ms and 100 Mbit/s between them",
}
ORDERS = {"launcher": "in the launcher's order", "dealt": "dealt out in turn"}
EMPTY = "start and end"
# A gain that is shown as one.
SHOWN = 0.10

HEAD = """\
# What applications gain

Made by `scripts/apps --gain --record` of `profiles/figures/gains.jsonl`; not edited by hand. The
applications are those of [the table of modes](applications.md), unmodified, on emulated networks:

```sh
gain() { scripts/apps --gain --record --learn 3 --networks "$@"; }
gain grid --orders dealt --variants placed,collectives,both slepc quantum-espresso
gain grid --orders launcher --variants collectives,run slepc
gain grid --orders dealt --variants placed,collectives,run petsc gpaw mpi4py-fft
gain cluster --variants placed,collectives,both mpi4py-fft slepc
```

Sixteen ranks under Open MPI 4.1.4, on
[eight-hosts](../../profiles/eight-hosts.grid.yaml) and
[four-by-four](../../profiles/four-by-four.grid.yaml), on a machine of two cores. Ranks are on the
hosts in the launcher's order, or dealt out in turn: over hosts on the cluster (`--map-by node`),
over clusters on the grid. Variants run in turn, in random order in each round. Seconds are those of
the launcher, from its start to its end. A gain is the median of the part that is saved in each
round, in parentheses with the interval that holds in 95 % of cases. Results were compared with
those of the first plain run.

| variant | what runs |
|---|---|
| placement | `treepie map` with the platform of `treepie probe`, then a replay of it |
| collectives | `TREEPIE_COLLECTIVES=auto` with that platform, without the guard |
| both | both of them |
| `treepie run` | after some runs in which it learnt, under the guard |

![Time saved by each variant, losses included, with intervals](pictures/gains.svg)

"""


def interval(values):
    """The median, and bounds that hold in CONFIDENCE of cases, by order statistics."""
    values, number = sorted(values), len(values)
    outside, beyond = 0, 0.0
    while outside < (number - 1) // 2:
        beyond += 2 * math.comb(number, outside) / 2**number
        if beyond > 1 - CONFIDENCE:
            break
        outside += 1
    # Fewer than six values bound nothing at these odds: their extremes are given.
    outside = max(outside, 1)
    return statistics.median(values), values[outside - 1], values[-outside]


def gain(line, variant, kind="seconds"):
    """The part of the plain seconds that a variant saves, with its interval, where it ran."""
    plain, other = line[kind]["plain"], line[kind].get(variant)
    return interval([1 - b / a for a, b in zip(plain, other)]) if other else None


def newest():
    """The last line of each application, network, order and job that was measured."""
    found = {}
    if FIGURES.exists():
        for number, text in enumerate(FIGURES.read_text().splitlines(), 1):
            try:
                line = json.loads(text)
                if "seconds" in line:
                    found[line["application"], line["network"], line["order"], line["command"]] = line
            except (json.JSONDecodeError, KeyError) as error:
                raise SystemExit(f"scripts/apps: {FIGURES}, line {number}: {error!r}") from error
    return found


def per_cent(found):
    """A gain and its interval, in a cell."""
    if found is None:
        return "-"
    middle, least, most = (100 * one for one in found)
    text = f"{middle:.1f} ({least:.1f} to {most:.1f})"
    return f"**{text}**" if middle >= 100 * SHOWN and least > 0 else text


def table(lines, variants):
    """Rows of one network."""
    heads = ["application", "version", "ranks are", "plain, s", "MPI, %", "collectives, %"]
    text = "| " + " | ".join([*heads, *variants.values()]) + " |\n"
    text += "|---|---|---|" + "---|" * (len(heads) - 3 + len(variants)) + "\n"
    for line in lines:
        plain = statistics.median(line["seconds"]["plain"])
        cells = [line["application"], line["version"].partition("+")[0], ORDERS[line["order"]], f"{plain:.1f}"]
        cells += [f"{100 * line['mpi_share']:.0f}", f"{100 * line['collective_share']:.0f}"]
        cells += [per_cent(gain(line, variant)) for variant in variants]
        text += "| " + " | ".join(cells) + " |\n"
    return text


def said(lines):
    """What `treepie map` and `treepie history` said of each."""
    text = "| application | plain, s | ranks are | `treepie map` | `treepie history`, after the first runs | job |\n|---|---|---|---|---|---|\n"
    for line in lines:
        history = "; ".join(one.strip() for one in line.get("history", [])[1:] if " median " not in one)
        job = f"`{line['command']}`" if "command" in line else ""
        plain = f"{statistics.median(line['seconds']['plain']):.1f}"
        cells = [line["application"], plain, ORDERS[line["order"]], line["map"], history or "-", job]
        text += "| " + " | ".join(one.replace("|", "\\|") for one in cells) + " |\n"
    return text


def fixed(found, network):
    """What a job takes that does nothing, in a sentence."""
    lines = [one for (name, of, *_), one in found.items() if (name, of) == (EMPTY, network)]
    if not lines:
        return ""
    line = max(lines, key=lambda one: one["date"])
    seconds = {name: statistics.median(values) for name, values in line["seconds"].items()}
    more = [f"{VARIANTS[name]} {seconds[name] - seconds['plain']:+.2f}" for name in VARIANTS if name in seconds]
    return (
        f"A job that does nothing takes {seconds['plain']:.2f} s there. Seconds more, once in a job:\n"
        f"{', '.join(more)}.\n\n"
    )


def write():
    """Writes the page and the picture."""
    found = newest()
    applications = [line for (name, *_), line in sorted(found.items()) if name != EMPTY]
    text = HEAD
    for network, title in NETWORKS.items():
        lines = [line for line in applications if line["network"] == network]
        if not lines:
            continue
        text += f"## On the {title}\n\n" + table(lines, VARIANTS) + "\n" + fixed(found, network)
        text += "Verdicts and jobs:\n\n" + said(lines) + "\n"
    days = sorted({line["date"][:10] for line in applications})
    text += f"Measured {' and '.join(days)}.\n" + NOTES
    on_host = [line for line in found.values() if line["network"] == HOST]
    if on_host:
        text += COSTS + costs(on_host)
    PAGE.write_text(text)
    PICTURE.write_text(picture([line for line in applications if line["network"] != HOST]))


COSTS = """
## What the library costs, on one host

```sh
scripts/apps --gain --record --networks host --orders launcher --variants off,counted
```

Two ranks on two cores, with real-time priority; runs and intervals as above. Per cent more than the
plain run: of the launcher's seconds, and of the processor time of all processes. Ranks poll, so
that both contain waiting. Calls are those of one rank in a second of it, of any function of MPI.
The machine shows no counters of instructions; what a call costs is in [overhead](overhead.md).

Most intervals contain zero: SLEPc's plain runs differ by half of their time, and jobs of a third
of a second by a tenth. Counting costs HPCC 2.3 %, with 1.5 million calls a second, and short jobs
some 14 ms, which are its start and its end.

"""


def costs(lines):
    """Rows of what the library costs."""
    heads = ["application", "version", "plain, s", "MPI, %", "calls a second"]
    heads += [f"{name}: {what}" for name in OVERHEAD.values() for what in ("time", "processor")]
    text = f"| {' | '.join(heads)} |\n|---|---|" + "---|" * (len(heads) - 2) + "\n"
    for line in sorted(lines, key=lambda one: (one["application"] == EMPTY, one["application"])):
        cells = [line["application"], line["version"].partition("+")[0]]
        cells += [f"{statistics.median(line['seconds']['plain']):.2f}", f"{100 * line['mpi_share']:.0f}"]
        cells.append(f"{line['calls_per_second']:,}")
        for variant in OVERHEAD:
            for kind in ("seconds", "processor"):
                middle, least, most = gain(line, variant, kind)
                # A cost is a gain below zero.
                cells.append(f"{-100 * middle:+.1f} ({-100 * most:+.1f} to {-100 * least:+.1f})")
        text += f"| {' | '.join(cells)} |\n"
    return text


NOTES = """\
Up to four ran at the same time, with real-time priority, beside other work without it. The first
round of Quantum ESPRESSO was disturbed. The explanations below are not measured, except where they
have numbers.

* **How these were chosen**: seven applications were tried on the grid in one or two rounds, and
  inputs were made smaller or longer, before these rows. Where an application has two rows for the
  same order, its jobs differ: the longer one is in the catalogue now.
* **What gains**: on the grid, programs that wait for short sums over all ranks. A plan crosses the
  links of 10 ms fewer times than the MPI's `MPI_Allreduce`. `treepie run` measured 13.6 ms instead
  of 20.9 ms in PETSc's conjugate gradients, and 15.2 ms instead of 23.5 ms in SLEPc.
* **With the guard**: where a job is long enough, `treepie run` gains nearly as much as plans
  without it. It pays for trials with 1 % of the time. Its start and end take about a second more on
  this grid.
* **Where `treepie run` gains nothing**: in the jobs of 16 s (PETSc) and 21 s (GPAW), which make 610
  and 660 collective calls on a rank. `treepie show` says that nothing was tried. If calls may
  overlap, the second exchange between ranks comes after 5 s of collectives, and trials only then.
  What a job measured before is not kept for the next one: 12 runs of PETSc in a row tried nothing.
  The job of 36 s makes 1,430 calls, and adopted its plan in the first run.
* **What loses**: mpi4py-fft, with plans, on the grid. Of its 0.65 s, 0.53 s are the start and the
  end, as of the job that does nothing. The 28 % that it once lost with `64,64,64` were 1 s of
  3.6 s.
* **On the cluster**, plans took SLEPc 11 % longer in both orders, though none of its sums was
  replaced: they are shorter than 1 KiB. Without the guard, each rank priced all plans for each size
  that it met, and took the MPI's own. Short calls are no longer priced there. It still loses 5 and
  7 %, of which the start and the end are 1 %.
* **Placement gains nothing in these rows**, though fewer bytes cross the grid. The messages are
  short, so that latency may decide. In one round of a longer Quantum ESPRESSO (`conv_thr=1.0d-8`,
  104 s), placement took 22 % less and both 30 % less; that was not repeated.
* **Not measured**: LAMMPS and HPCC on a network. **DOLFINx** fails on the grid without Treepie.
"""


def picture(lines):
    """Bars of every variant of each application on each network, losses included, with intervals."""
    rows = [(line, name, gain(line, name)) for line in lines for name in VARIANTS if name in line["seconds"]]
    rows = [row for row in rows if row[2]]
    rows.sort(key=lambda row: -row[2][0])
    least, most, scale, left, height = -0.15, 0.5, 700, 480, 24
    at = lambda part: left + (min(max(part, least), most) - least) * scale
    bottom = 46 + height * len(rows)
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {at(most) + 60:.0f} {bottom + 14}" '
        'font-family="sans-serif" font-size="13">',
        '<rect width="100%" height="100%" fill="#fff"/>',
        '<text x="10" y="20" font-weight="bold">Time saved on emulated networks: median, 95 % interval</text>',
    ]
    for per in range(-10, 51, 10):
        x, colour = at(per / 100), "#888" if per == 0 else "#ddd"
        drawn.append(f'<path d="M{x:.0f} 42V{bottom}" stroke="{colour}"/>')
        drawn.append(f'<text x="{x:.0f}" y="38" text-anchor="middle" fill="#666">{per} %</text>')
    for number, (line, name, (middle, low, high)) in enumerate(rows):
        y = 48 + height * number
        variant = {"collectives": "plans without guard"}.get(name, VARIANTS[name].strip("`"))
        label = f"{line['application']}, {line['network']}, {ORDERS[line['order']]}: {variant}"
        ends = sorted([at(0), at(middle)])
        colour = "#228833" if low > 0 else "#cc3311" if high < 0 else "#999999"
        drawn.append(f'<text x="{at(least) - 8:.0f}" y="{y + 14}" text-anchor="end">{label}</text>')
        drawn.append(f'<rect x="{ends[0]:.1f}" y="{y + 3}" width="{ends[1] - ends[0]:.1f}" height="14" fill="{colour}"/>')
        drawn.append(f'<path d="M{at(low):.1f} {y + 10}H{at(high):.1f}" stroke="#000" stroke-width="1.5"/>')
        drawn.append(f'<text x="{at(most) + 8:.0f}" y="{y + 14}">{100 * middle:.0f} %</text>')
    return "\n".join([*drawn, "</svg>", ""])
