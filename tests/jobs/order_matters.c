/* A job that is faster, slower, fails or prints something else where its ranks are in another
   order than the launcher's: order_matters faster|slower|same|fails|differs|varies|alike. Ranks
   send to that half of all ranks further on, or, where all are alike, to every other. Or it computes
   PER_CENT longer there: order_matters busy PER_CENT MILLIONS_OF_STEPS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int launchers_rank(void)
{
    const char *names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]))
            return atoi(getenv(names[i]));
    return -1;
}

/* The same steps in each run, however long these take. */
static double compute(double steps)
{
    volatile double sum = 1;
    for (long step = 0; step < (long)steps; step++)
        sum = sum * 0.999999 + 1e-6;
    return sum;
}

/* 64 KiB to one rank, or to all. */
static void send_to_others(int rank, int alike)
{
    static char block[65536], blocks[64 * 1024];
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (alike) {
        MPI_Alltoall(MPI_IN_PLACE, 0, MPI_CHAR, blocks, 1024, MPI_CHAR, MPI_COMM_WORLD);
        return;
    }
    int partner = (rank + ranks / 2) % ranks;
    MPI_Sendrecv_replace(block, sizeof block, MPI_CHAR, partner, 0, (rank + ranks - ranks / 2) % ranks, 0,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "same";
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int mine = rank != launchers_rank(), permuted;
    MPI_Allreduce(&mine, &permuted, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);

    int is_slow = (permuted && !strcmp(what, "slower")) || (!permuted && !strcmp(what, "faster"));
    if (!strcmp(what, "busy") && argc > 3)
        compute(1e6 * atof(argv[3]) * (permuted ? 1 + atof(argv[2]) / 100 : 1));
    else if (rank == 0)
        usleep(is_slow ? 150000 : 50000);
    send_to_others(rank, !strcmp(what, "alike"));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && !strcmp(what, "differs"))
        printf("permuted %d\n", permuted);
    else if (rank == 0 && !strcmp(what, "varies"))
        printf("process %d\n", (int)getpid());
    else if (rank == 0)
        puts("done");
    MPI_Finalize();
    if (!strcmp(what, "broken"))
        return 4;
    return permuted && !strcmp(what, "fails") ? 3 : 0;
}
