/*
 * Collectives on many communicators, one after the other and as many as the MPI
 * has at a time.
 *
 *     collective_communicators ROUNDS MOST [started]
 *
 * Each of ROUNDS duplicates is used and freed; then duplicates are made and used
 * until the MPI has no more or there are MOST. With `started` collectives are started and completed.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, ranks, wrong, are_started;

static void use(MPI_Comm comm, int root)
{
    int value = rank == root ? 42 : 0, sum = 0;
    MPI_Request request;
    if (are_started) {
        MPI_Ibcast(&value, 1, MPI_INT, root, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Bcast(&value, 1, MPI_INT, root, comm);
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
    }
    wrong += sum != 42 * ranks;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 100, most = argc > 2 ? atoi(argv[2]) : 100, made = 0;
    are_started = argc > 3;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm comm, *all = malloc(sizeof *all * (size_t)(most + 1));
    for (int round = 0; round < rounds; round++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        use(comm, round % ranks);
        MPI_Comm_free(&comm);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    while (made < most && MPI_Comm_dup(MPI_COMM_WORLD, &all[made]) == MPI_SUCCESS) {
        use(all[made], made % ranks);
        made++;
    }
    for (int i = 0; i < made; i++)
        use(all[i], i % ranks);
    while (made > 0)
        MPI_Comm_free(&all[--made]);
    /* There is room again. */
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    use(comm, 0);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    if (wrong)
        fprintf(stderr, "rank %d: %d results are wrong\n", rank, wrong);
    else if (rank == 0)
        printf("all right\n");
    return wrong != 0;
}

/*
 * RUN:    any number of ranks.
 * EXPECT: `all right`, also where communicators run out.
 */
