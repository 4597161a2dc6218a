/*
 * Collectives called wrongly, on all ranks alike, with errors returned: prints what
 * became of each, as rank 0 sees it, and whether all see it alike; then, that
 * collectives still do what they should.
 *
 *     collective_errors
 */
#include <mpi.h>
#include <stdio.h>

static int rank, ranks;

static void told(const char *what, int code)
{
    int class = MPI_SUCCESS, other;
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    if (rank > 0) {
        MPI_Send(&class, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        return;
    }
    printf("%s: class %d", what, class);
    for (int from = 1; from < ranks; from++) {
        MPI_Recv(&other, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (other != class)
            printf(", %d on rank %d", other, from);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    double in[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[64];
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &ranks);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    for (int round = 0; round < 2; round++) {
        told("bcast of -1", MPI_Bcast(in, -1, MPI_DOUBLE, 0, world));
        told("bcast from behind the last", MPI_Bcast(in, 1, MPI_DOUBLE, ranks, world));
        told("bcast from -7", MPI_Bcast(in, 1, MPI_DOUBLE, -7, world));
        told("bcast of no type", MPI_Bcast(in, 1, MPI_DATATYPE_NULL, 0, world));
        told("reduce with no operation", MPI_Reduce(in, out, 1, MPI_DOUBLE, MPI_OP_NULL, 0, world));
        told("allreduce of bits of doubles", MPI_Allreduce(in, out, 4, MPI_DOUBLE, MPI_BAND, world));
        told("scan of pairs that are none", MPI_Scan(in, out, 2, MPI_DOUBLE, MPI_MINLOC, world));
        told("gather of -1", MPI_Gather(in, -1, MPI_DOUBLE, out, -1, MPI_DOUBLE, 0, world));
        told("allgather of no type", MPI_Allgather(in, 1, MPI_DATATYPE_NULL, out, 1, MPI_DATATYPE_NULL, world));
        told("alltoall of -1", MPI_Alltoall(in, -1, MPI_DOUBLE, out, -1, MPI_DOUBLE, world));
        told("scatter from behind the last", MPI_Scatter(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, ranks + 3, world));
        /* And what is right after that. */
        double sums[4] = {0}, from_last = rank;
        told("allreduce", MPI_Allreduce(in, sums, 4, MPI_DOUBLE, MPI_SUM, world));
        told("bcast", MPI_Bcast(&from_last, 1, MPI_DOUBLE, ranks - 1, world));
        if (rank == 0)
            printf("%g %g, %g\n", sums[0], sums[3], from_last);
    }
    MPI_Finalize();
    return 0;
}

/*
 * RUN:    any number of ranks.
 * EXPECT: the same output with collectives replaced as without.
 */
