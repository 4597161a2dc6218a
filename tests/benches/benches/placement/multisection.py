"""Multisection with Mt-KaHyPar: every level of the tree is a partition into
parts of equal sizes.  usage: multisection.py EDGES MAP"""

import sys
import time

import mtkahypar


def main():
    with open(sys.argv[1]) as file:
        arities = [int(word) for word in file.readline().split()]
        ranks = int(file.readline())
        edges = [tuple(map(int, line.split())) for line in file]
    library = mtkahypar.initialize(1)
    start = time.process_time()
    leaf_of = [0] * ranks
    divide(library, arities, list(range(ranks)), edges, 0, leaf_of)
    seconds = time.process_time() - start
    with open(sys.argv[2], "w") as file:
        file.write(f"{seconds}\n")
        file.writelines(f"{leaf}\n" for leaf in leaf_of)


def divide(library, arities, members, edges, first_leaf, leaf_of):
    if len(arities) == 1:
        for place, member in enumerate(members):
            leaf_of[member] = first_leaf + place
        return
    parts = partition(library, arities[0], len(members), edges)
    number = [0] * len(members)
    below = [[] for _ in range(arities[0])]
    for vertex, part in enumerate(parts):
        number[vertex] = len(below[part])
        below[part].append(members[vertex])
    inside = [[] for _ in range(arities[0])]
    for a, b, weight in edges:
        if parts[a] == parts[b]:
            inside[parts[a]].append((number[a], number[b], weight))
    size = len(members) // arities[0]
    for part in range(arities[0]):
        place = first_leaf + part * size
        divide(library, arities[1:], below[part], inside[part], place, leaf_of)


def partition(library, count, vertices, edges):
    if not edges:
        return [vertex * count // vertices for vertex in range(vertices)]
    context = library.context_from_preset(mtkahypar.PresetType.DEFAULT)
    context.set_partitioning_parameters(count, 0.0, mtkahypar.Objective.CUT)
    context.logging = False
    mtkahypar.set_seed(1)
    graph = library.create_graph(
        context,
        vertices,
        len(edges),
        [(a, b) for a, b, _ in edges],
        [1] * vertices,
        [weight for _, _, weight in edges],
    )
    parts = graph.partition(context)
    return [parts.block_id(vertex) for vertex in range(vertices)]


main()
