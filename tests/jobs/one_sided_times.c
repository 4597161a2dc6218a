/*
 * How long rank 0 takes to put pieces into the memory of rank 1, with a gap behind each, and to
 * flush them: prints, for each number and size of pieces, the least and the median of EPOCHS in
 * microseconds, as puts of their own and by one put with a datatype of all pieces.
 *
 *     one_sided_times EPOCHS
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_EPOCHS 1000
#define MOST_PIECES 1024
#define MOST_BYTES (1 << 20)

static char *source;
static MPI_Win window;

static void put_each(int pieces, int bytes)
{
    for (int i = 0; i < pieces; i++) {
        size_t place = (size_t)i * 2 * bytes;
        MPI_Put(source + place, bytes, MPI_BYTE, 1, (MPI_Aint)place, bytes, MPI_BYTE, window);
    }
}

/* At both ends: nothing is copied by the program. */
static void put_by_datatype(int pieces, int bytes)
{
    MPI_Datatype type;
    MPI_Type_vector(pieces, bytes, 2 * bytes, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Put(source, 1, type, 1, 0, 1, type, window);
    MPI_Type_free(&type);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The least and the median of the epochs, but for two in which connections are made. */
static void measure(void (*put)(int, int), int pieces, int bytes, int epochs, double *times)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int epoch = -2; epoch < epochs; epoch++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        if (rank == 0) {
            put(pieces, bytes);
            MPI_Win_flush(1, window);
        }
        if (epoch >= 0)
            times[epoch] = 1e6 * (MPI_Wtime() - start);
    }
    qsort(times, epochs, sizeof *times, compare);
}

int main(int argc, char **argv)
{
    static double times[MOST_EPOCHS];
    static const int numbers[] = {1, 4, 16, 64, 256, MOST_PIECES}, sizes[] = {8, 64, 512, 4096};
    char *memory;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int epochs = argc == 2 ? atoi(argv[1]) : 0;
    if (epochs < 1 || epochs > MOST_EPOCHS) {
        fprintf(stderr, "usage: one_sided_times EPOCHS, 1 to %d\n", MOST_EPOCHS);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    memory = calloc(2, MOST_BYTES);
    source = calloc(2, MOST_BYTES);
    if (!memory || !source)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Win_create(memory, 2 * MOST_BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_lock_all(0, window);
    for (size_t size = 0; size < sizeof sizes / sizeof *sizes; size++)
        for (size_t number = 0; number < sizeof numbers / sizeof *numbers; number++) {
            int pieces = numbers[number], bytes = sizes[size];
            if ((long)pieces * bytes > MOST_BYTES)
                continue;
            measure(put_each, pieces, bytes, epochs, times);
            double least = times[0], median = times[epochs / 2];
            measure(put_by_datatype, pieces, bytes, epochs, times);
            if (rank == 0) {
                printf("%d %d %.1f %.1f %.1f %.1f\n", pieces, bytes, least, median, times[0], times[epochs / 2]);
                fflush(stdout);
            }
        }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    free(memory);
    free(source);
    MPI_Finalize();
    return 0;
}
