/*
 * A rank waits in a collective while a long message of its own is under way, which the other rank
 * receives before it comes to the collective. Legal: a rank that waits in MPI goes on with all.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 4 << 20, KINDS = 3 };

static int collective(int kind, int rank)
{
    int one = 1, sum = 0, told = rank == 1;
    switch (kind) {
    case 0:
        return MPI_Barrier(MPI_COMM_WORLD) != MPI_SUCCESS;
    case 1:
        MPI_Bcast(&told, 1, MPI_INT, 1, MPI_COMM_WORLD);
        return told != 1;
    default:
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        return sum != 2;
    }
}

int main(int argc, char **argv)
{
    int rank, wrong = 0;
    char *data = malloc(BYTES);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int kind = 0; kind < KINDS; kind++) {
        MPI_Request request = MPI_REQUEST_NULL;
        memset(data, rank == 0 ? 'a' + kind : 0, BYTES);
        if (rank == 0)
            MPI_Isend(data, BYTES, MPI_CHAR, 1, kind, MPI_COMM_WORLD, &request);
        else
            MPI_Recv(data, BYTES, MPI_CHAR, 0, kind, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        wrong += collective(kind, rank);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int place = 0; place < BYTES; place++)
            wrong += data[place] != 'a' + kind;
    }
    MPI_Reduce(rank ? &wrong : MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d wrong\n", wrong);
    free(data);
    return MPI_Finalize();
}
