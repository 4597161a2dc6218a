#!/usr/bin/env python3
"""How well predicted costs of placements order the times that SimGrid simulates.

    scripts/bench placement --simgrid

On a torus, a dragonfly and a fat tree, a halo exchange is placed in ten ways, from its natural
order through more and more disorder to Treepie's own placements. `treepie map` says what each
costs, and SimGrid's SMPI replays the exchange on the same platform file. What is printed is
Spearman's rank correlation of the two, for three seeds of the disorder and their mean.
"""

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

BYTES = 1_000_000  # to each neighbour
SEEDS = (1, 2, 3)
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="all" routing="Full">
 <cluster id="nodes" prefix="n" radical="0-{last}" suffix="" speed="1Gf" bw="1GBps" lat="1us"
  sharing_policy="SPLITDUPLEX" topology="{family}" topo_parameters="{parameters}"/>
</zone></platform>
"""
NETWORKS = [
    ("torus 4x4x4", "TORUS", "4,4,4", (8, 8)),
    ("dragonfly, 6 groups of 12 routers", "DRAGONFLY", "6,1;2,1;6,1;2", (12, 12)),
    ("fat tree 2;8,8;1,4", "FAT_TREE", "2;8,8;1,4;1,1", (8, 8)),
]
MEASURES = ("hop_bytes", "most_loaded", "any_routing", "mixture")


def neighbours(shape):
    """Pairs of ranks that exchange, in a grid that is open at its ends."""
    width, height = shape
    for y in range(height):
        for x in range(width):
            rank = y * width + x
            if x + 1 < width:
                yield rank, rank + 1
            if y + 1 < height:
                yield rank, rank + width


def disordered(ranks, share, seed):
    """The natural order with this share of its ranks exchanged at random."""
    chooser = random.Random(seed)
    moved = chooser.sample(range(ranks), round(ranks * share))
    nodes = list(range(ranks))
    for rank, node in zip(moved, chooser.sample(moved, len(moved))):
        nodes[rank] = node
    return nodes


class Network:
    def __init__(self, treepie, folder, family, parameters, shape):
        self.treepie, self.folder = treepie, folder
        self.pairs = list(neighbours(shape))
        self.ranks = shape[0] * shape[1]
        self.platform = folder / f"{family.lower()}.xml"
        text = PLATFORM.format(family=family, parameters=parameters, last=self.ranks - 1)
        self.platform.write_text(text)

    def map(self, nodes, *options):
        """What `treepie map` makes of the job whose ranks are on these nodes."""
        matrix = self.folder / "job.mtx"
        entries = [(nodes[a], nodes[b]) for a, b in self.pairs]
        entries += [(b, a) for a, b in entries]
        head = "%%MatrixMarket matrix coordinate integer general"
        size = f"{self.ranks} {self.ranks} {len(entries)}"
        lines = [f"{a + 1} {b + 1} {BYTES}" for a, b in entries]
        matrix.write_text("\n".join([head, size, *lines]) + "\n")
        output = self.folder / "job.placement.yaml"
        words = [self.treepie, "map", matrix, "--topology", self.platform, "--json", "-o", output]
        done = subprocess.run(words + list(options), capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    def predicted(self, nodes):
        found = self.map(nodes, "--strategy", "identity")["objectives"]["network"]
        costs = {name: found[name]["identity"] for name in MEASURES if name in found}
        return costs | {"mixture": (costs["hop_bytes"] * costs["most_loaded"]) ** 0.5}

    def placed(self, nodes, objective):
        """Treepie's placement of the job, from these nodes."""
        self.map(nodes, "--objective", objective)
        words = [self.treepie, "show", self.folder / "job.placement.yaml", "--json"]
        shown = subprocess.run(words, capture_output=True, text=True, check=True)
        leaf_of_rank = json.loads(shown.stdout)["assignment"]
        return [leaf_of_rank[node] for node in nodes]

    def simulated(self, nodes):
        """Seconds of one exchange."""
        partners = [[] for _ in range(self.ranks)]
        for a, b in self.pairs:
            partners[a].append(b)
            partners[b].append(a)
        traces = []
        for rank, others in enumerate(partners):
            lines = ["init"]
            lines += [f"irecv {other} 0 {BYTES}" for other in others]
            lines += [f"isend {other} 0 {BYTES}" for other in others]
            lines += [f"waitall {2 * len(others)}", "finalize"]
            trace = self.folder / f"trace-{rank}"
            trace.write_text("".join(f"{rank} {line}\n" for line in lines))
            traces.append(f"{trace}\n")
        (self.folder / "traces").write_text("".join(traces))
        (self.folder / "hosts").write_text("".join(f"n{node}\n" for node in nodes))
        words = ["smpirun", "-np", self.ranks, "-platform", self.platform, "-hostfile"]
        words += [self.folder / "hosts", "-replay", self.folder / "traces"]
        words += ["--cfg=smpi/display-timing:yes", "--cfg=smpi/host-speed:1Gf"]
        words = [str(word) for word in words]
        done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=300)
        said = (done.stdout + done.stderr).split("Simulated time: ")
        return float(said[1].split()[0])


def ranked(values):
    """Ranks of the values; equal ones, up to rounding, share their mean."""
    values = [float(f"{value:.9g}") for value in values]
    return [sum(v < value for v in values) + sum(v == value for v in values) / 2 for value in values]


def correlation(first, second):
    """Spearman's."""
    first, second = ranked(first), ranked(second)
    mean = sum(first) / len(first)
    first, second = [x - mean for x in first], [y - mean for y in second]
    product = sum(x * y for x, y in zip(first, second))
    norms = sum(x * x for x in first) * sum(y * y for y in second)
    return product / norms**0.5 if norms else 0.0


def placements(network, seed):
    """Ten of them, with names."""
    shares = (0, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1)
    found = [(f"{share:.0%} moved", disordered(network.ranks, share, seed)) for share in shares]
    assert network.ranks % 5, "five has to be prime to the number of nodes"
    found.append(("every fifth node", [rank * 5 % network.ranks for rank in range(network.ranks)]))
    for objective in ("sum", "congestion", "mixture"):
        found.append((f"treepie, {objective}", network.placed(found[5][1], objective)))
    return found


def correlations(network, seed):
    """Those of time and every measure; prints the ten rows."""
    print(f"\n{f'seed {seed}':20} {'ms':>8} {'MB x links':>11} {'link MB':>8} {'any':>8}")
    rows = []
    for name, nodes in placements(network, seed):
        costs, seconds = network.predicted(nodes), network.simulated(nodes)
        rows.append((costs, seconds))
        total, link, least = (costs[measure] / 1e6 for measure in MEASURES[:3])
        print(f"{name:20} {seconds * 1e3:8.3f} {total:11.1f} {link:8.2f} {least:8.2f}")
    times = [seconds for _, seconds in rows]
    return [correlation([costs[measure] for costs, _ in rows], times) for measure in MEASURES]


def main():
    treepie = sys.argv[1]
    summary = []
    with tempfile.TemporaryDirectory() as folder:
        for title, family, parameters, shape in NETWORKS:
            network = Network(treepie, Path(folder), family, parameters, shape)
            print(f"\n{title}, halo exchange of {shape[0]} x {shape[1]}")
            found = [correlations(network, seed) for seed in SEEDS]
            for measure, values in zip(MEASURES, zip(*found)):
                each = " ".join(f"{value:5.2f}" for value in values)
                mean = sum(values) / len(values)
                summary.append(f"{title:34} {measure:12} {each}  {mean:5.2f}")
    print("\nrank correlation of simulated time and measure, for each seed, and their mean")
    print("\n".join(summary))


main()
