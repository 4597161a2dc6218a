/*
 * The bits of sums whose order matters: numbers of very different size, which are
 * each rank's own wherever it runs. Prints a checksum of the bits of each result,
 * and whether all ranks have the same where they should.
 *
 *     collective_bits
 */
#include <mpi.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define MOST 40000

static int rank, ranks;
static double in[MOST], out[MOST];

static uint64_t bits(const double *values, int count)
{
    uint64_t sum = 14695981039346656037u;
    for (int i = 0; i < count; i++) {
        uint64_t word;
        memcpy(&word, &values[i], sizeof word);
        sum = (sum ^ word) * 1099511628211u;
    }
    return sum;
}

/* Every rank's checksum; rank 0 prints what they come to. */
static void tell(const char *what, int count, uint64_t mine, int alike)
{
    uint64_t all[64];
    int differ = 0;
    if (rank > 0) {
        MPI_Send(&mine, 1, MPI_UINT64_T, 0, 1, MPI_COMM_WORLD);
        return;
    }
    all[0] = mine;
    for (int from = 1; from < ranks; from++) {
        MPI_Recv(&all[from], 1, MPI_UINT64_T, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        differ += alike && all[from] != all[0];
        mine = (mine ^ all[from]) * 1099511628211u;
    }
    printf("%s of %d: %016llx%s\n", what, count, (unsigned long long)mine,
           differ ? ", not the same on all ranks" : "");
}

int main(int argc, char **argv)
{
    static const int sizes[] = {1, 10, 700, 9000, MOST};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < MOST; i++)
        in[i] = sin(1 + i + 0.37 * rank) * pow(10, (i * 7 + rank * 5) % 17);
    for (int s = 0; s < 5; s++) {
        int count = sizes[s], block = count / ranks;
        MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        tell("allreduce", count, bits(out, count), 1);
        MPI_Reduce(in, out, count, MPI_DOUBLE, MPI_SUM, ranks - 1, MPI_COMM_WORLD);
        tell("reduce", count, rank == ranks - 1 ? bits(out, count) : 0, 0);
        MPI_Scan(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        tell("scan", count, bits(out, count), 0);
        MPI_Reduce_scatter_block(in, out, block, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        tell("reduce-scatter-block", block, bits(out, block), 0);
    }
    MPI_Finalize();
    return 0;
}

/*
 * RUN:    any number of ranks up to 64.
 * EXPECT: no line says that ranks differ; the same output from run to run, and where
 *         reductions are to be reproducible, wherever ranks run.
 */
