/*
 * Allreduces that MPICH itself runs by another algorithm from the sixth one on, as it does by
 * itself where a host's ranks share memory: by reduce-scatter and allgather first, by recursive
 * doubling then, in half as many rounds. Prints which of both took longer.
 *
 *     sixth_call CALLS
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT 16
#define COLD 5
#define WARM 100

/* As MPICH numbers them. */
enum { RECURSIVE_DOUBLING = 3, REDUCE_SCATTER_ALLGATHER = 4 };

/* Whether MPICH takes this algorithm from now on. */
static int choose(int algorithm)
{
    int index, count, found = -1;
    MPI_T_cvar_handle handle;
    if (MPI_T_cvar_get_index("MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM", &index) == MPI_SUCCESS &&
        MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS) {
        MPI_T_cvar_write(handle, &algorithm);
        MPI_T_cvar_read(handle, &found);
        MPI_T_cvar_handle_free(&handle);
    }
    return found == algorithm;
}

int main(int argc, char **argv)
{
    int rank, ranks, provided, wrong = 0, all = 0, calls = argc > 1 ? atoi(argv[1]) : WARM;
    double cold = 0, warm = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    /* So that connections are there. */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    wrong += !choose(REDUCE_SCATTER_ALLGATHER);
    for (int n = 0; n < calls; n++) {
        int in[COUNT], out[COUNT];
        for (int i = 0; i < COUNT; i++)
            in[i] = rank + n + i;
        if (n == COLD)
            wrong += !choose(RECURSIVE_DOUBLING);
        double start = MPI_Wtime();
        MPI_Allreduce(in, out, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        *(n < COLD ? &cold : &warm) += n < WARM ? MPI_Wtime() - start : 0;
        wrong += out[COUNT - 1] != ranks * (ranks - 1) / 2 + ranks * (n + COUNT - 1);
    }
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("the first calls are %s\n%d wrong\n", cold / COLD > 1.5 * warm / (WARM - COLD) ? "slower" : "like the others", all);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
