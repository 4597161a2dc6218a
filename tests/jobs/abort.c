/*
 * One rank gives up: MPI_Abort(MPI_COMM_WORLD) from the middle of a job.
 *
 *     abort [rank that aborts] [exit status]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == (argc > 1 ? atoi(argv[1]) : 0)) {
        printf("abort: rank %d gives up\n", rank);
        fflush(stdout);
        usleep(300000); /* the launcher forwards the line before it is told to end all */
        MPI_Abort(MPI_COMM_WORLD, argc > 2 ? atoi(argv[2]) : 7);
    }
    /* The others wait for what never comes; the abort ends them. */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

/*
 * RUN:    two ranks or more.
 * EXPECT: the launcher's exit status is that of the plain run, and no
 *         half-written profile is left.
 */
