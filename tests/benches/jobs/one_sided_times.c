/*
 * How long rank 0 takes to put pieces into the memory of each of the other ranks, with a gap behind
 * each or (dense) none, and to complete them: prints, for each number and size of pieces, the least and the median
 * of EPOCHS in microseconds, as puts of their own and by one put with a datatype of all pieces;
 * then the mean of all epochs of the former, with SETTLE more before those that are measured, in
 * which a guard may try and decide. Each has a window of its own.
 *
 *     one_sided_times EPOCHS [flush|fence|lock|start [SETTLE [quick|dense]]]
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
static int rank, ranks;
/* From the beginning of a piece to that of the next, in pieces. */
static int step = 2;
/* Rank 0, and all others. */
static MPI_Group origin, targets;

static void put_each(int target, int pieces, int bytes)
{
    for (int i = 0; i < pieces; i++) {
        size_t place = (size_t)i * step * bytes;
        MPI_Put(source + place, bytes, MPI_BYTE, target, (MPI_Aint)place, bytes, MPI_BYTE, window);
    }
}

/* At both ends: nothing is copied by the program. */
static void put_by_datatype(int target, int pieces, int bytes)
{
    MPI_Datatype type;
    MPI_Type_vector(pieces, bytes, step * bytes, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Put(source, 1, type, target, 0, 1, type, window);
    MPI_Type_free(&type);
}

typedef void (*put)(int, int, int);

static void to_all(put put, int pieces, int bytes)
{
    for (int target = 1; target < ranks; target++)
        put(target, pieces, bytes);
}

/* Epochs, as all ranks call them; only rank 0 puts. */
static void flush(put put, int pieces, int bytes)
{
    if (rank)
        return;
    to_all(put, pieces, bytes);
    for (int target = 1; target < ranks; target++)
        MPI_Win_flush(target, window);
}

static void fence(put put, int pieces, int bytes)
{
    if (!rank)
        to_all(put, pieces, bytes);
    MPI_Win_fence(0, window);
}

static void lock(put put, int pieces, int bytes)
{
    for (int target = 1; !rank && target < ranks; target++) {
        MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
        put(target, pieces, bytes);
        MPI_Win_unlock(target, window);
    }
}

static void start(put put, int pieces, int bytes)
{
    if (rank) {
        MPI_Win_post(origin, 0, window);
        MPI_Win_wait(window);
        return;
    }
    MPI_Win_start(targets, 0, window);
    to_all(put, pieces, bytes);
    MPI_Win_complete(window);
}

static const struct {
    const char *name;
    void (*epoch)(put, int, int);
} epochs_by_name[] = {{"flush", flush}, {"fence", fence}, {"lock", lock}, {"start", start}};

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The epochs behind `settle` others, in order, and the mean of all, but for two in which
 * connections are made. */
static double measure(void (*of)(put, int, int), put put, int pieces, int bytes, int settle, int epochs,
                      double *times)
{
    double sum = 0;
    for (int epoch = -2 - settle; epoch < epochs; epoch++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        of(put, pieces, bytes);
        double took = 1e6 * (MPI_Wtime() - start);
        if (epoch >= -settle)
            sum += took;
        if (epoch >= 0)
            times[epoch] = took;
    }
    qsort(times, epochs, sizeof *times, compare);
    return sum / (settle + epochs);
}

/* What the aims speak of, and where joining loses. */
static int is_quick(int pieces, int bytes)
{
    return (pieces == 256 && bytes <= 64) || (pieces == 1 && bytes == 8) || (pieces == 16 && bytes == 512) ||
           (pieces == 64 && bytes == 4096);
}

/* One number and size of pieces, in a window of its own. */
static void row(void (*of)(put, int, int), int pieces, int bytes, int settle, int epochs, char *memory)
{
    static double times[MOST_EPOCHS];
    MPI_Win_create(memory, 2 * MOST_BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    if (of == flush)
        MPI_Win_lock_all(0, window);
    if (of == fence)
        MPI_Win_fence(0, window);
    double mean = measure(of, put_each, pieces, bytes, settle, epochs, times);
    double least = times[0], median = times[epochs / 2];
    measure(of, put_by_datatype, pieces, bytes, 0, epochs, times);
    if (rank == 0) {
        printf("%d %d %.1f %.1f %.1f %.1f %.1f\n", pieces, bytes, least, median, times[0], times[epochs / 2], mean);
        fflush(stdout);
    }
    if (of == flush)
        MPI_Win_unlock_all(window);
    if (of == fence)
        MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    MPI_Win_free(&window);
}

int main(int argc, char **argv)
{
    static const int numbers[] = {1, 4, 16, 64, 256, MOST_PIECES}, sizes[] = {8, 64, 512, 4096};
    static const int first = 0;
    void (*epoch)(put, int, int) = NULL;
    char *memory;
    MPI_Group all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int epochs = argc >= 2 && argc <= 5 ? atoi(argv[1]) : 0, settle = argc >= 4 ? atoi(argv[3]) : 0;
    int dense = argc == 5 && strcmp(argv[4], "dense") == 0;
    int quick = dense || (argc == 5 && strcmp(argv[4], "quick") == 0);
    step = dense ? 1 : 2;
    for (size_t kind = 0; kind < sizeof epochs_by_name / sizeof *epochs_by_name; kind++)
        if (strcmp(argc >= 3 ? argv[2] : "flush", epochs_by_name[kind].name) == 0)
            epoch = epochs_by_name[kind].epoch;
    if (epochs < 1 || epochs > MOST_EPOCHS || !epoch || settle < 0 || (argc == 5 && !quick)) {
        fprintf(stderr, "usage: one_sided_times EPOCHS [flush|fence|lock|start [SETTLE [quick|dense]]], 1 to %d\n",
                MOST_EPOCHS);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &first, &origin);
    MPI_Group_excl(all, 1, &first, &targets);
    memory = calloc(2, MOST_BYTES);
    source = calloc(2, MOST_BYTES);
    if (!memory || !source)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (size_t size = 0; size < sizeof sizes / sizeof *sizes; size++)
        for (size_t number = 0; number < sizeof numbers / sizeof *numbers; number++) {
            int pieces = numbers[number], bytes = sizes[size];
            if ((long)pieces * bytes <= MOST_BYTES && (!quick || is_quick(pieces, bytes)))
                row(epoch, pieces, bytes, settle, epochs, memory);
        }
    MPI_Group_free(&all);
    MPI_Group_free(&origin);
    MPI_Group_free(&targets);
    free(memory);
    free(source);
    MPI_Finalize();
    return 0;
}
