/*
 * A job that spawns another: children have a world of their own, which a
 * placement for the parents does not fit.
 *
 * The parents tell the children their ranks; each child answers with its own.
 */
#include <mpi.h>
#include <stdio.h>

#define CHILDREN 2

int main(int argc, char **argv)
{
    int rank, size, answers[CHILDREN] = {-1, -1};
    MPI_Comm parent, children;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        int greeting = -1, answer;
        MPI_Recv(&greeting, 1, MPI_INT, 0, 1, parent, MPI_STATUS_IGNORE);
        answer = 1000 * greeting + 10 * rank + size;
        MPI_Send(&answer, 1, MPI_INT, 0, 2, parent);
        MPI_Comm_disconnect(&parent);
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
    if (rank == 0) {
        for (int child = 0; child < CHILDREN; child++) {
            int greeting = 5 + child;
            MPI_Send(&greeting, 1, MPI_INT, child, 1, children);
            MPI_Recv(&answers[child], 1, MPI_INT, child, 2, children, MPI_STATUS_IGNORE);
        }
        printf("spawn: %d parents, children answer %d %d\n", size, answers[0], answers[1]);
    }
    MPI_Comm_disconnect(&children);
    MPI_Finalize();
    return 0;
}

/*
 * RUN:    any number of ranks.
 * EXPECT: standard output is that of the plain run, in every mode.
 */
