/*
 * What a guard on collectives costs: calls one after the other, in two halves, and the seconds of
 * each half until its last call has ended everywhere.
 *
 *     regret allreduce|bcast|alltoall BYTES CALLS
 *
 * Between the halves rank 0 prints `middle`, and all wait a second: so that links can be changed.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static double half(const char *name, int bytes, int calls, int root)
{
    static char in[1 << 22], out[1 << 22];
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime(), mine, longest;
    for (int n = 0; n < calls; n++) {
        if (!strcmp(name, "bcast"))
            MPI_Bcast(in, bytes, MPI_BYTE, root, MPI_COMM_WORLD);
        else if (!strcmp(name, "alltoall"))
            MPI_Alltoall(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, MPI_COMM_WORLD);
        else
            MPI_Allreduce(in, out, bytes / 4, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    }
    mine = MPI_Wtime() - start;
    MPI_Reduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return longest;
}

int main(int argc, char **argv)
{
    int rank, bytes = argc > 3 ? atoi(argv[2]) : 0, calls = argc > 3 ? atoi(argv[3]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (bytes < 4 || bytes > 1 << 16 || calls < 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    double first = half(argv[1], bytes, calls / 2, 0);
    if (rank == 0) {
        printf("middle\n");
        fflush(stdout);
    }
    sleep(1);
    double second = half(argv[1], bytes, calls / 2, 0);
    if (rank == 0)
        printf("seconds %.6f %.6f\n", first, second);
    MPI_Finalize();
    return 0;
}
