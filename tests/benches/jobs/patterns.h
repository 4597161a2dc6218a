/*
 * Patterns of neighbourhood exchange, as scripts/bench-patterns.py writes them, and their graphs.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_GRAPHS 64

/* A pattern, and its graph on a communicator. */
struct graph {
    char name[32];
    /* From each rank to each; to itself: the block of an allgather. */
    int values[MOST_RANKS][MOST_RANKS];
    MPI_Comm comm, around;
    int in, out, from[MOST_RANKS], to[MOST_RANKS];
};

static void read_pattern(const char *name, struct graph *graph, int ranks)
{
    char path[4096];
    const char *folder = getenv("PATTERNS");
    int from, to, values;
    snprintf(path, sizeof path, "%s/%s", folder ? folder : ".", name);
    FILE *file = fopen(path, "r");
    if (!file || strlen(name) >= sizeof graph->name) {
        fprintf(stderr, "collective_times: %s can't be read: set PATTERNS to a folder of patterns\n", path);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    strcpy(graph->name, name);
    while (fscanf(file, "%d %d %d", &from, &to, &values) == 3)
        if (from >= 0 && from < ranks && to >= 0 && to < ranks)
            graph->values[from][to] = values;
    fclose(file);
}

/* The graph of the pattern that a collective's name ends in, on a
 * communicator of so many ranks; it is made once. */
static struct graph *around(const char *collective, MPI_Comm comm, int rank, int ranks)
{
    static struct graph known[MOST_GRAPHS];
    static int count;
    const char *name = collective + strcspn(collective + 9, "-") + 10; /* behind neighbor-... */
    struct graph *graph = known;
    for (; graph < known + count; graph++)
        if (graph->comm == comm && !strcmp(graph->name, name))
            return graph;
    if (count++ == MOST_GRAPHS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    read_pattern(name, graph, ranks);
    for (int other = 0; other < ranks; other++) {
        if (other != rank && graph->values[rank][other])
            graph->to[graph->out++] = other;
        if (other != rank && graph->values[other][rank])
            graph->from[graph->in++] = other;
    }
    graph->comm = comm;
    MPI_Dist_graph_create_adjacent(comm, graph->in, graph->from, MPI_UNWEIGHTED, graph->out, graph->to,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph->around);
    return graph;
}

/* What a neighbourhood collective has of one rank for another. */
static size_t edge(const char *name, const struct graph *graph, int bytes, int from, int to)
{
    int gathers = !strncmp(name, "neighbor-allgather", 18), counts = name[gathers ? 18 : 17] == 'v';
    return !counts ? (size_t)bytes : (size_t)bytes * graph->values[from][gathers ? from : to];
}

/* Bytes that a rank has on the larger side of a neighbourhood collective. */
static size_t edges(const char *name, const struct graph *graph, int bytes, int rank)
{
    size_t in = 0, out = 0;
    for (int i = 0; i < graph->in; i++)
        in += edge(name, graph, bytes, graph->from[i], rank);
    for (int i = 0; i < graph->out; i++)
        out += edge(name, graph, bytes, rank, graph->to[i]);
    return in > out ? in : out;
}
