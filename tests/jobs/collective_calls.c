/*
 * Calls the collectives that its arguments name, in that order, on the world
 * and nothing else; those between neighbours on a ring of all ranks.
 *
 *     collective_calls NAME:COUNT[:ROOT] ...
 *
 * NAME is that of MPI in lower case with hyphens, COUNT the number of MPI_INT in
 * the message or in one rank's block; in the variants with a count for each rank,
 * rank r has COUNT + r. The sum is the operation of all reductions.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const MPI_Comm world = MPI_COMM_WORLD;

static MPI_Comm ring(void)
{
    static MPI_Comm made = MPI_COMM_NULL;
    int size, is_periodic = 1;
    MPI_Comm_size(world, &size);
    if (made == MPI_COMM_NULL)
        MPI_Cart_create(world, 1, &size, &is_periodic, 0, &made);
    return made;
}

static int call(const char *name, int count, int root)
{
    int rank, size, mine;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    mine = count + rank;
    size_t room = (size_t)size * (size_t)(count + size);
    int *in = calloc(room, sizeof *in), *out = calloc(room, sizeof *out);
    int *counts = malloc(sizeof *counts * (size_t)size), *places = malloc(sizeof *places * (size_t)size);
    int *equal = malloc(sizeof *equal * (size_t)size), *own = malloc(sizeof *own * (size_t)size);
    int *bytes = malloc(sizeof *bytes * (size_t)size);
    MPI_Datatype *types = malloc(sizeof *types * (size_t)size);
    for (int i = 0, place = 0; i < size; i++) {
        counts[i] = count + i, places[i] = place, place += count + i;
        equal[i] = i * (count + size), own[i] = mine;
        bytes[i] = equal[i] * (int)sizeof(int), types[i] = MPI_INT;
    }
    MPI_Request request;
    int known = 1;
    if (!strcmp(name, "barrier"))
        MPI_Barrier(world);
    else if (!strcmp(name, "bcast"))
        MPI_Bcast(in, count, MPI_INT, root, world);
    else if (!strcmp(name, "gather"))
        MPI_Gather(in, count, MPI_INT, out, count, MPI_INT, root, world);
    else if (!strcmp(name, "gatherv"))
        MPI_Gatherv(in, mine, MPI_INT, out, counts, places, MPI_INT, root, world);
    else if (!strcmp(name, "scatter"))
        MPI_Scatter(in, count, MPI_INT, out, count, MPI_INT, root, world);
    else if (!strcmp(name, "scatterv"))
        MPI_Scatterv(in, counts, places, MPI_INT, out, mine, MPI_INT, root, world);
    else if (!strcmp(name, "allgather"))
        MPI_Allgather(in, count, MPI_INT, out, count, MPI_INT, world);
    else if (!strcmp(name, "allgatherv"))
        MPI_Allgatherv(in, mine, MPI_INT, out, counts, places, MPI_INT, world);
    else if (!strcmp(name, "alltoall"))
        MPI_Alltoall(in, count, MPI_INT, out, count, MPI_INT, world);
    else if (!strcmp(name, "alltoallv"))
        MPI_Alltoallv(in, own, equal, MPI_INT, out, counts, equal, MPI_INT, world);
    else if (!strcmp(name, "alltoallw"))
        MPI_Alltoallw(in, own, bytes, types, out, counts, bytes, types, world);
    else if (!strcmp(name, "reduce"))
        MPI_Reduce(in, out, count, MPI_INT, MPI_SUM, root, world);
    else if (!strcmp(name, "allreduce"))
        MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, world);
    else if (!strcmp(name, "iallreduce")) {
        MPI_Iallreduce(in, out, count, MPI_INT, MPI_SUM, world, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (!strcmp(name, "neighbor-allgather"))
        MPI_Neighbor_allgather(in, count, MPI_INT, out, count, MPI_INT, ring());
    else if (!strcmp(name, "reduce-scatter"))
        MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, world);
    else if (!strcmp(name, "reduce-scatter-block"))
        MPI_Reduce_scatter_block(in, out, count, MPI_INT, MPI_SUM, world);
    else if (!strcmp(name, "scan"))
        MPI_Scan(in, out, count, MPI_INT, MPI_SUM, world);
    else if (!strcmp(name, "exscan"))
        MPI_Exscan(in, out, count, MPI_INT, MPI_SUM, world);
    else
        known = 0;
    free(in), free(out), free(counts), free(places), free(equal), free(own), free(bytes), free(types);
    return known;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        char name[32];
        int count = 0, root = 0;
        if (sscanf(argv[i], "%31[^:]:%d:%d", name, &count, &root) < 2 || !call(name, count, root)) {
            fprintf(stderr, "collective_calls: %s: write NAME:COUNT or NAME:COUNT:ROOT\n", argv[i]);
            MPI_Abort(world, 2);
        }
    }
    MPI_Finalize();
    return 0;
}

/*
 * RUN:    any number of ranks, `collective_calls bcast:100 allreduce:2000`.
 * EXPECT: no output; the profile has one record for each call, and under Open
 *         MPI's monitoring what it counts is what those records are modelled as.
 */
