"""Who sends how many values to whom: patterns of neighbourhood exchange for bench-collectives.

    bench-patterns.py FOLDER RANKS RANKS_OF_A_HOST [NAME ...]

Writes FOLDER/NAME for each: lines of `from to values`. That of a rank to itself has the values of
its that any other wants: its block in an allgather. Without names, all that are known here.

    torus   rows of four ranks, a value to the right, left, up and down
    six     a value to each of six others
    all     a value to each other rank
    nine    2-D stencil of nine points on a torus of rows of four
    cube    3-D stencil of 27 points on 4 x 2 x N ranks, cells of 16^3: faces, edges and corners
    band    a symmetric matrix like msc01050: entries anywhere in a broad band
    web     a matrix of links, as SmaGri is: few columns are wanted by most rows
    wide    a matrix like bibd_49_3: 16 columns for each row, three entries in each

A NAME that ends in .mtx is a MatrixMarket file, known by its name without that. Of a matrix, rows
and columns are in equal blocks, and each rank gets what a product with a vector needs. What a
pattern brings between hosts is printed with the seed that it was made of.
"""

import os
import random
import sys

SEED = 1


def torus(ranks):
    return {(a, b): 1 for a in range(ranks) for b in (a // 4 * 4 + (a + 1) % 4, a // 4 * 4 + (a + 3) % 4, (a + 4) % ranks, (a - 4) % ranks)}


def six(ranks):
    return {(a, (a + step) % ranks): 1 for a in range(ranks) for step in (1, 3, 4, 7, 9, 14)}


def all_others(ranks):
    return {(a, b): 1 for a in range(ranks) for b in range(ranks)}


def nine(ranks):
    around = [(up, right) for up in (-1, 0, 1) for right in (-1, 0, 1)]
    return {(a, (a // 4 + up) * 4 % ranks + (a + right) % 4): 1 for a in range(ranks) for up, right in around}


def cube(ranks, side=16):
    places = [(a // 8, a // 4 % 2, a % 4) for a in range(ranks)]
    values = {}
    for a, at in enumerate(places):
        for b, other in enumerate(places):
            apart = [abs(x - y) for x, y in zip(at, other)]
            if max(apart) == 1:
                values[a, b] = side ** apart.count(0)
    # Its cells but for those inside.
    return values | {(a, a): side**3 - (side - 2) ** 3 for a in range(ranks)}


def band(lot, rows=1050, entries=15103, breadth=450):
    cells = {(row, row) for row in range(rows)}
    while len(cells) < entries:
        row = lot.randrange(rows)
        column = row + lot.randrange(1, breadth)
        if column < rows:
            cells |= {(row, column), (column, row)}
    return rows, rows, cells


def web(lot, rows=1059, entries=4919):
    cells = set()
    while len(cells) < entries:
        cells.add((lot.randrange(rows), int(rows * lot.random() ** 3)))
    return rows, rows, cells


def wide(lot, rows=1176, columns=18424, each=3):
    return rows, columns, {(row, column) for column in range(columns) for row in lot.sample(range(rows), each)}


def market(path):
    """A matrix of a file."""
    with open(path) as file:
        words = file.readline().lower().split()
        if words[:3] != ["%%matrixmarket", "matrix", "coordinate"]:
            sys.exit(f"{path}: is no sparse MatrixMarket file; it begins with {' '.join(words) or 'nothing'}")
        lines = [line.split() for line in file if line.strip() and line[0] != "%"]
    cells = {(int(line[0]) - 1, int(line[1]) - 1) for line in lines[1:]}
    if words[-1] != "general":
        cells |= {(column, row) for row, column in cells}
    return int(lines[0][0]), int(lines[0][1]), cells


def of_product(matrix, ranks):
    rows, columns, cells = matrix
    wanted = {}
    for row, column in cells:
        wanted.setdefault((column * ranks // columns, row * ranks // rows), set()).add(column)
    own = {a: set() for a in range(ranks)}
    for (a, b), which in wanted.items():
        if a != b:
            own[a] |= which
    return {pair: len(which) for pair, which in wanted.items() if pair[0] != pair[1]} | {(a, a): len(which) for a, which in own.items()}


GRAPHS = {"torus": torus, "six": six, "all": all_others, "nine": nine, "cube": cube}
MATRICES = {"band": band, "web": web, "wide": wide}


def pattern(name, ranks):
    if name.endswith(".mtx"):
        return of_product(market(name), ranks)
    if name in MATRICES:
        return of_product(MATRICES[name](random.Random(f"{name} {SEED}")), ranks)
    if name not in GRAPHS:
        sys.exit(f"{name} is no pattern: one of {', '.join(GRAPHS)}, {', '.join(MATRICES)}, or a file whose name ends in .mtx")
    return {(a, a): 1 for a in range(ranks)} | GRAPHS[name](ranks)


def main():
    folder, ranks, each, names = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
    os.makedirs(folder, exist_ok=True)
    for name in names or [*GRAPHS, *MATRICES]:
        values = pattern(name, ranks)
        short = os.path.basename(name).removesuffix(".mtx")
        with open(f"{folder}/{short}", "w") as file:
            file.writelines(f"{a} {b} {count}\n" for (a, b), count in sorted(values.items()))
        pairs = {pair: count for pair, count in values.items() if pair[0] != pair[1]}
        far = {pair: count for pair, count in pairs.items() if pair[0] // each != pair[1] // each}
        print(f"{short}: {len(pairs)} messages, {len(far)} between hosts with {sum(far.values())} values" +
              (f", seed {SEED}" if name in MATRICES else ""))


main()
