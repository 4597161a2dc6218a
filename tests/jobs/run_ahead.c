/* A loop of collectives in which one rank comes late, so that others, which wait for nobody, may be
 * far ahead of it: how much memory ranks took meanwhile.
 *
 *     run_ahead CALLS BYTES
 *
 * Says of each operation whether a rank took more than 64 MiB. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define MOST_KIB (64 << 10)

static int rank, ranks, bytes;
static char *in, *out;

static void bcast(void)
{
    MPI_Bcast(in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void reduce(void)
{
    MPI_Reduce(in, out, bytes, MPI_BYTE, MPI_BOR, 0, MPI_COMM_WORLD);
}

static void gather(void)
{
    MPI_Gather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static long kib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static void loop(const char *name, void (*call)(void), int calls, int late)
{
    for (int i = 0; i < 100; i++)
        call();
    MPI_Barrier(MPI_COMM_WORLD);
    long before = kib();
    if (rank == late)
        sleep(1);
    for (int i = 0; i < calls; i++)
        call();
    long took = kib() - before, most;
    MPI_Allreduce(&took, &most, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0 && most > MOST_KIB)
        printf("%s: a rank took %ld MiB\n", name, most >> 10);
    else if (rank == 0)
        printf("%s: ranks took little\n", name);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int calls = argc > 1 ? atoi(argv[1]) : 1000;
    bytes = argc > 2 ? atoi(argv[2]) : 1024;
    in = calloc(1, bytes);
    out = calloc(ranks, bytes);
    loop("bcast", bcast, calls, ranks - 1);
    loop("reduce", reduce, calls, 0);
    loop("gather", gather, calls, 0);
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
