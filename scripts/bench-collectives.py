"""Tables and plots of scripts/bench-collectives: times, and how far they are
from the physical limit.

    bench-collectives.py [--table] [--plots FOLDER] GRID.json RANKS_OF_A_HOST KEPT
    bench-collectives.py --rounds TREEPIE PLATFORM COLLECTIVES
    bench-collectives.py --slower PERCENT PAIRS

KEPT is a folder with `times`, and perhaps `predictions` and `every`. With --rounds:
lists of strategies that take each strategy of each collective once. With --slower:
PAIRS has such a folder for each pair of runs, replaced and native; a table of their
times goes to standard error, and the rows whose median ratio is larger to standard
output.
"""

import argparse
import json
import math
import os
import sys

# A frame of 1500 bytes carries 1448 of a message and occupies 1538; in ms a byte
# at one Mbit/s.
COLLECTIVES = "bcast reduce allreduce allgather alltoall gather scatter barrier".split()
PER_BYTE = 8 * 1538 / 1448 / 1e3


def block(name, size, source, target):
    """Bytes of one rank for another, as tests/benches/jobs/collective_times.c has them."""
    if name.endswith("-mixed"):
        return (source * 7 + target * 3 + source * target) % 17 * (size // 8)
    if name.endswith("-skewed"):
        return 0 if (source + 3 * target) % 8 == 0 else 4 * size if source % 5 == 0 else size
    return size


class Limit:
    """What no schedule can beat: latencies, and bytes that must cross uplinks."""

    def __init__(self, grid, each, patterns=None):
        self.patterns = patterns
        clusters = grid["clusters"]
        # Inside one cluster hosts stand where clusters do.
        if len(clusters) == 1:
            one, hosts = clusters[0], clusters[0]["hosts"]
            clusters = [{"hosts": 1, "uplink_mbit": one["mbit"]}] * hosts
            grid = {"latencies": [[one["latency"]] * hosts] * hosts}
        self.sizes = [cluster["hosts"] * each for cluster in clusters]
        # Ranks of each cluster, in blocks: what uneven sizes are limited by.
        self.ranks = [range(sum(self.sizes[:c]), sum(self.sizes[: c + 1])) for c in range(len(self.sizes))]
        self.rates = [cluster["uplink_mbit"] / PER_BYTE for cluster in clusters]
        self.latency = [[1e3 * time for time in row] for row in grid["latencies"]]

    def of(self, name, size):
        """The least time of a collective in ms; rank 0 is in the first cluster."""
        kind = name.removesuffix("-mixed").removesuffix("-skewed").removeprefix("overlap-").removeprefix("tested-")
        kind = kind.removesuffix("-init").removeprefix("loop-").removeprefix("i")
        kind = kind[:-1] if kind[:-1] in COLLECTIVES else kind  # alltoallv, ...
        count = len(self.sizes)
        others = range(1, count)
        farthest = max(self.latency[a][b] for a in range(count) for b in range(count) if a != b)
        if kind == "barrier":
            return farthest
        if name.startswith("neighbor-"):
            return farthest + max(self.crossing_to_neighbours(name, size, c) / self.rates[c] for c in range(count))
        if kind in ("bcast", "reduce"):
            return max(self.latency[0][c] + size / min(self.rates[0], self.rates[c]) for c in others)
        if kind == "allreduce":
            # Each cluster takes the result; together they carry C - 1 of it twice.
            whole = 2 * (count - 1) * size / sum(self.rates)
            return farthest + max(whole, size / min(self.rates))
        if kind == "scan":
            return farthest + size / min(self.rates)
        if kind in ("gather", "scatter"):
            own = [sum(block(name, size, rank, 0) for rank in ranks) for ranks in self.ranks]
            longest = max(self.latency[0][c] for c in others)
            at_root = longest + sum(own[1:]) / self.rates[0]
            return max([at_root] + [self.latency[0][c] + own[c] / self.rates[c] for c in others])
        return farthest + max(self.crossing(kind, name, size, c) / self.rates[c] for c in range(count))

    def crossing_to_neighbours(self, name, size, cluster):
        """Bytes for neighbours that leave a cluster or enter it, the more of both; equal blocks once."""
        _, collective, shape = name.split("-", 2)
        of = [c for c, ranks in enumerate(self.ranks) for _ in ranks]
        values = {(int(a), int(b)): int(count) for a, b, count in map(str.split, lines(f"{self.patterns}/{shape}"))}
        gathers, blocks = collective.startswith("allgather"), {}
        for a, b in values:
            if of[a] != of[b]:
                count = values[a, a if gathers else b] if collective.endswith("v") else 1
                blocks[of[a], of[b], a if gathers else (a, b)] = count
        return size * max(sum(count for block, count in blocks.items() if block[end] == cluster) for end in (0, 1))

    def crossing(self, kind, name, size, cluster):
        """Bytes that must come into a cluster or leave it, the more of both: the blocks of all others, once
        in an allgather and, as sums, in a reduce-scatter; of each pair in an alltoall."""
        inside = self.ranks[cluster]
        outside = [rank for ranks in self.ranks if ranks is not inside for rank in ranks]
        if kind in ("allgather", "reduce-scatter"):
            return sum(block(name, size, rank, 0) for rank in outside)
        out = sum(block(name, size, a, b) for a in inside for b in outside)
        return max(out, sum(block(name, size, b, a) for a in inside for b in outside))


def mean(values):
    """The geometric mean."""
    return math.exp(sum(map(math.log, values)) / len(values))


def read(path):
    """Times by (collective, bytes), then by (MPI, who, order); the last of each counts."""
    rows = {}
    for line in lines(path):
        who, mpi, order, name, size, time = line.split()
        rows.setdefault((name, int(size)), {})[mpi, who, order] = float(time)
    order = {name: place for place, name in enumerate(COLLECTIVES)}
    return dict(sorted(rows.items(), key=lambda row: (order.get(row[0][0], 99), row[0][1])))


def lines(path):
    try:
        return open(path).read().splitlines()
    except FileNotFoundError:
        return []


GROUPS = {
    "all rows": lambda size: True,
    "up to 1 KiB": lambda size: size <= 1024,
    "64 KiB": lambda size: size == 65536,
    "1 MiB and more": lambda size: size >= 1 << 20,
}


def title(column):
    return "-".join(column)


def table(rows, limit, columns):
    """Times in ms, in brackets how many times the limit; means over groups of rows."""
    width = max(len(title(column)) for column in columns) + 2
    names = max([11] + [len(name) for name, _ in rows])
    print("\nms, and in brackets how many times the limit")
    print(f"{'collective':<{names}}{'bytes':>9}{'limit':>8}" + "".join(f"{title(c):>{width}}" for c in columns))
    for (name, size), row in rows.items():
        least = limit.of(name, size)
        line = f"{name:<{names}}{size:>9}{least:>8.1f}"
        for column in columns:
            cell = f"{row[column]:.1f} ({row[column] / least:.2f})" if column in row else "-"
            line += f"{cell:>{width}}"
        print(line)
    means(rows, limit, columns, width)


def overlaps(rows, columns):
    """How much of a collective goes on while ranks do something else for as long as it takes: the
    overlap by the formulas of IMB-NBC and OSU, which are one where both take as long alone, and
    behind it the time of both in ms. A slow collective has much to hide: the time counts."""
    names = [key for key in rows if key[0].startswith(("overlap-", "tested-")) and (key[0].split("-", 1)[1], key[1]) in rows]
    if not names:
        return
    width = max(len(title(column)) for column in columns) + 2
    print("\noverlap in %, and in brackets the ms of both together")
    print(f"{'collective':<23}{'bytes':>9}" + "".join(f"{title(c):>{width}}" for c in columns))
    for name, size in names:
        line = f"{name:<23}{size:>9}"
        for column in columns:
            alone, both = rows[name.split("-", 1)[1], size].get(column), rows[name, size].get(column)
            part = max(0, min(1, (2 * alone - both) / alone)) if alone and both else None
            line += f"{f'{100 * part:.0f} ({both:.1f})' if part is not None else '-':>{width}}"
        print(line)


def means(rows, limit, columns, width):
    print("geometric means over the limit")
    for group, holds in GROUPS.items():
        line = f"{group:<28}"
        for column in columns:
            of = [row[column] / limit.of(*key) for key, row in rows.items() if column in row and holds(key[1])]
            line += f"{f'{mean(of):.2f}' if of else '-':>{width}}"
        print(line)


def near_limit(rows, limit, columns):
    """Of how many rows plans are within 10 % of the limit, and which are not."""
    for column in [column for column in columns if column[1] == "treepie"]:
        over = {key: row[column] / limit.of(*key) for key, row in rows.items() if column in row}
        beyond = [f"{name} {size}: {times:.2f}" for (name, size), times in over.items() if times > 1.1]
        print(f"{title(column)}: within 10 % of the limit in {len(over) - len(beyond)} of {len(over)} rows {beyond or ''}")


def comparisons(rows, columns):
    """Replaced against everything else, what is adopted against the MPI, and the orders against each other."""
    against_all = [((mpi, "treepie", order), (mpi, who, order)) for mpi, who, order in columns if who != "treepie"]
    adopted = [(column, (column[0], "native", column[2])) for column in columns if column[1] in ("guarded", "memory", "tuned")]
    for own, (mpi, who, order) in against_all + adopted:
        if own not in columns or (mpi, who, order) not in columns:
            continue
        gains = {key: row[mpi, who, order] / row[own] for key, row in rows.items() if own in row and (mpi, who, order) in row}
        slower = [f"{name} {size}: {1 / gain:.2f}" for (name, size), gain in gains.items() if gain < 0.95]
        print(f"{own[1]} against {title((mpi, who, order))}: {mean(gains.values()):.2f} times as fast "
              f"(geometric mean of {len(gains)} rows), slower by more than 5 % in {len(slower)} {slower or ''}")
    for mpi in sorted({column[0] for column in columns}):
        for who in sorted({column[1] for column in columns}):
            apart = []
            for row in rows.values():
                times = [time for (m, w, _), time in row.items() if (m, w) == (mpi, who)]
                if len(times) > 1:
                    apart.append(max(times) / min(times))
            if apart:
                print(f"{mpi}-{who}: orders apart by {mean(apart):.2f} (geometric mean), {max(apart):.2f} at most")


def slower(percent, pairs):
    """The rows of pairs of runs that the library made slower than the MPI by more than `percent`."""
    times = {}
    for folder in sorted(os.listdir(pairs)):
        for (name, size), row in read(f"{pairs}/{folder}/times").items():
            for mpi in {mpi for mpi, *_ in row}:
                both = [time for who in ("native", "treepie") for (m, w, _), time in row.items() if (m, w) == (mpi, who)]
                if len(both) == 2:
                    times.setdefault((name, size), {}).setdefault(mpi, []).append(both)
    mpis = sorted({mpi for row in times.values() for mpi in row})
    report = lambda line: print(line, file=sys.stderr)
    report("median ms of the MPI's own and of replaced collectives, and their ratio (median of pairs)")
    report(f"{'collective':<21}{'bytes':>7}" + "".join(f"{mpi:>30}" for mpi in mpis))
    for (name, size), row in times.items():
        line = f"{name:<21}{size:>7}"
        for mpi in mpis:
            if mpi not in row:
                line += f"{'-':>30}"
                continue
            native, replaced = (median(column) for column in zip(*row[mpi]))
            ratio = median([after / before for before, after in row[mpi]])
            line += f"{f'{native:.2f} {replaced:.2f} {ratio:.2f} of {len(row[mpi])}':>30}"
            if ratio > 1 + float(percent) / 100:
                print(mpi, name, size)
        report(line)


COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c510a", "#5e4fa2"]
# An MPI has one colour; who runs its collectives is a kind of line.
DASHES = {"han": ' stroke-dasharray="6 3"', "magpie": ' stroke-dasharray="2 2"'}


def plot(path, name, rows, limit, columns):
    """One collective: time against bytes, both logarithmic, as SVG; of one order of ranks."""
    sizes = sorted(size for other, size in rows if other == name)
    if len(sizes) < 2:
        return
    orders = sorted({order for *_, order in columns})  # `block` is the first
    columns = [column for column in columns if column[2] == orders[0]]
    mpis = sorted({mpi for mpi, *_ in columns})
    times = [rows[name, size][column] for size in sizes for column in columns if column in rows[name, size]]
    low, high = min(limit.of(name, sizes[0]), *times), max(times)
    width, height, left, top = 640, 400, 60, 30
    x = lambda size: left + (math.log(size / sizes[0]) / math.log(sizes[-1] / sizes[0])) * (width - left - 170)
    y = lambda time: height - 40 - (math.log(time / low) / math.log(high / low)) * (height - 40 - top)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
             'font-family="sans-serif" font-size="11">',
             f'<rect width="{width}" height="{height}" fill="white"/>',
             f'<text x="{left}" y="18" font-size="13">{name}: ms against bytes, ranks in the order {orders[0]}</text>']
    for size in sizes:
        label = f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB" if size >= 1024 else f"{size} B"
        parts.append(f'<text x="{x(size):.0f}" y="{height - 22}" text-anchor="middle">{label}</text>')
    tick = 10 ** math.floor(math.log10(low))
    while tick <= high:
        for digit in (1, 2, 5):
            if low <= tick * digit <= high:
                at = y(tick * digit)
                parts.append(f'<line x1="{left}" x2="{width - 170}" y1="{at:.1f}" y2="{at:.1f}" stroke="#ddd"/>'
                             f'<text x="{left - 6}" y="{at + 4:.1f}" text-anchor="end">{tick * digit:g}</text>')
        tick *= 10
    lines = [("limit", "black", "", 2.5, {size: limit.of(name, size) for size in sizes})]
    for mpi, who, order in columns:
        label = f"{mpi}'s own" if who == "native" else f"{who} on {mpi}"
        thick = 2.5 if who == "treepie" else 1.2
        of = {size: rows[name, size].get((mpi, who, order)) for size in sizes}
        lines.append((label, COLOURS[mpis.index(mpi) % len(COLOURS)], DASHES.get(who, ""), thick, of))
    for number, (label, colour, dash, thick, line) in enumerate(lines):
        points = " ".join(f"{x(size):.1f},{y(time):.1f}" for size, time in line.items() if time)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{thick}"{dash}/>')
        at = top + 14 * number
        parts.append(f'<line x1="{width - 160}" x2="{width - 140}" y1="{at}" y2="{at}" stroke="{colour}" '
                     f'stroke-width="{thick}"{dash}/><text x="{width - 134}" y="{at + 4}">{label}</text>')
    open(path, "w").write("\n".join(parts + ["</svg>"]) + "\n")


def median(values):
    values = sorted(values)
    return (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2


def predictions(rows, kept):
    """Predictions for the chosen plans and for the native collectives."""
    errors, seen = {}, {}
    for line in lines(f"{kept}/predictions"):
        mpi, name, size, strategy, segment, seconds, native = line.split()
        # One line for each order, round-robin: native collectives depend on it.
        orders = sorted({order for (m, who, order) in rows.get((name, int(size)), {}) if (m, who) == (mpi, "treepie")})
        turn = seen[mpi, name, size] = seen.get((mpi, name, size), -1) + 1
        order = orders[turn % len(orders)] if orders else "block"
        for who, predicted in (("treepie", seconds), ("native", native)):
            if strategy in ("host", "native") and who == "treepie":
                continue
            measured = rows.get((name, int(size)), {}).get((mpi, who, order))
            if measured:
                errors.setdefault((mpi, who), {})[name, int(size), order] = float(predicted) / measured - 1
    for (mpi, who), of in sorted(errors.items()):
        worst = sorted(of.items(), key=lambda row: -abs(row[1]))[:4]
        print(f"{mpi}-{who}: predictions are off by {100 * median([abs(e) for e in of.values()]):.1f} % (median of {len(of)} rows); most:",
              ", ".join(f"{' '.join(map(str, row))} {100 * error:+.0f} %" for row, error in worst))


def regret(rows, kept):
    """The chosen plan against the best of all strategies and of the native one."""
    times, chosen = {}, {}
    for (name, size), row in read(f"{kept}/every").items():
        for (mpi, strategy, order), time in row.items():
            times.setdefault((mpi, name, size), {}).setdefault(strategy, []).append(time)
    for line in lines(f"{kept}/predictions"):
        mpi, name, size, strategy, *_ = line.split()
        chosen[mpi, name, int(size)] = strategy
    for mpi in sorted({key[0] for key in times}):
        worse, count = [], 0
        for key in [key for key in times if key[0] == mpi and key in chosen]:
            of = {strategy: min(took) for strategy, took in times[key].items()}
            native = [time for (m, who, _), time in rows.get(key[1:], {}).items() if (m, who) == (mpi, "native")]
            if native:
                of["native"] = min(native)
            if chosen[key] not in of:
                continue
            count += 1
            best = min(of, key=of.get)
            if of[chosen[key]] > 1.05 * of[best]:
                worse.append(f"{key[1]} {key[2]}: {chosen[key]} {of[chosen[key]]:.1f} ms, {best} {of[best]:.1f}")
        print(f"{mpi}: the chosen plan is within 5 % of the best implemented in {count - len(worse)} of {count} rows", *worse, sep="\n    ")


def rounds(treepie, platform, collectives):
    """Lists for TREEPIE_COLLECTIVES."""
    import re
    import subprocess
    names = {}
    for name in collectives.split(","):
        question = [treepie, "predict", platform, "--plans", "--collective", name, "--bytes", "8", "--algorithm", "?"]
        refused = subprocess.run(question, capture_output=True, text=True).stderr
        names[name] = [word for word in re.findall(r"[a-z-]+", refused.split("one of ")[-1]) if word not in ("native", "auto")]
    for place in range(max(map(len, names.values()))):
        print(",".join(f"{name}={known[place]}" for name, known in names.items() if place < len(known)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--plots")
    parser.add_argument("grid")
    parser.add_argument("each", type=int)
    parser.add_argument("kept")
    told = parser.parse_args()
    limit = Limit(json.load(open(told.grid)), told.each, f"{told.kept}/patterns")
    rows = read(f"{told.kept}/times")
    columns = sorted({column for row in rows.values() for column in row})
    if told.table:
        table(rows, limit, columns)
    else:
        width = max(len(title(column)) for column in columns) + 2
        print(" " * 28 + "".join(f"{title(c):>{width}}" for c in columns))
        means(rows, limit, columns, width)
    overlaps(rows, columns)
    near_limit(rows, limit, columns)
    comparisons(rows, columns)
    predictions(rows, told.kept)
    regret(rows, told.kept)
    if told.plots:
        os.makedirs(told.plots, exist_ok=True)
        for name in dict.fromkeys(name for name, _ in rows):
            plot(f"{told.plots}/{name}.svg", name, rows, limit, columns)


if sys.argv[1] == "--rounds":
    rounds(*sys.argv[2:])
elif sys.argv[1] == "--slower":
    slower(*sys.argv[2:])
else:
    main()
