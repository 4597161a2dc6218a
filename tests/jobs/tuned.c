/*
 * Collectives of few and of many bytes, and the control variables that are named: what an MPI was
 * told of its algorithms. Rank 0 prints each variable and its value, or that there is none.
 *
 *     tuned [VARIABLE]...
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { MANY = 4096 };

static void print(const char *name)
{
    MPI_T_cvar_handle handle;
    int index, count, value = -1;
    if (MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS &&
        MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS &&
        MPI_T_cvar_read(handle, &value) == MPI_SUCCESS)
        printf("%s=%d\n", name, value);
    else
        printf("%s is not there\n", name);
}

int main(int argc, char **argv)
{
    int rank, size, provided, wrong = 0;
    static char bytes[MANY], blocks[64 * MANY];
    double one = 1, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    memset(bytes, rank == 0, MANY);
    MPI_Bcast(bytes, 8, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Bcast(bytes, MANY, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int place = 0; place < MANY; place++)
        wrong += bytes[place] != 1;
    MPI_Scan(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    wrong += sum != rank + 1;
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    wrong += sum != size;
    MPI_Allgather(bytes, MANY, MPI_CHAR, blocks, MANY, MPI_CHAR, MPI_COMM_WORLD);
    /* Ranks other than the root need not know what is sent. */
    MPI_Scatter(rank ? NULL : blocks, rank ? 0 : MANY, rank ? MPI_BYTE : MPI_CHAR, bytes, MANY, MPI_CHAR, 0,
                MPI_COMM_WORLD);
    for (int place = 0; place < MANY; place++)
        wrong += bytes[place] != 1;
    MPI_Reduce(rank ? &wrong : MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int place = 1; rank == 0 && place < argc; place++)
        print(argv[place]);
    if (rank == 0)
        printf("%d wrong\n", wrong);
    MPI_T_finalize();
    return MPI_Finalize();
}
