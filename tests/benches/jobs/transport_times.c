/*
 * How long barriers, broadcasts and sums of all take that follow each other: prints, for each of
 * CALLS, the least and the median of BATCHES on rank 0, in nanoseconds a call.
 *
 *     transport_times BATCHES MILLISECONDS [CALLS]
 *
 * CALLS are NAME:BYTES with commas between them, such as barrier:0,bcast:1024,allreduce:8. A batch
 * has as many calls as take MILLISECONDS at first. Each rank is the root in turn. Results are
 * looked at before they are timed.
 *
 * Every rank writes to what it sends before each call, as programs do: data that nobody has written
 * since the last call may still be in the caches of those that read it then. The seconds of that
 * are left out where it is more than WRITTEN_ALONG bytes.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BATCHES 1000
#define MOST_CALLS 1000000
#define WRITTEN_ALONG 1024

static int rank, ranks;
static double *in, *out;

static void call(const char *name, int bytes, int turn)
{
    int count = bytes / (int)sizeof *in;
    if (!strcmp(name, "barrier"))
        MPI_Barrier(MPI_COMM_WORLD);
    else if (!strcmp(name, "bcast"))
        MPI_Bcast(out, count, MPI_DOUBLE, turn % ranks, MPI_COMM_WORLD);
    else if (!strcmp(name, "allreduce"))
        MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    else {
        fprintf(stderr, "transport_times: there is no %s\n", name);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
}

/* Whether a call leaves what it should. */
static int is_right(const char *name, int bytes, int turn)
{
    int count = bytes / (int)sizeof *in, root = turn % ranks, right = 1;
    for (int i = 0; i < count; i++) {
        in[i] = rank + i;
        out[i] = rank == root ? i - turn : -1;
    }
    call(name, bytes, turn);
    for (int i = 0; i < count; i++)
        if (!strcmp(name, "bcast"))
            right &= out[i] == i - turn;
        else if (!strcmp(name, "allreduce"))
            right &= out[i] == ranks * (ranks - 1) / 2 + (double)i * ranks;
    return right;
}

/* Writes to all that a call sends; the seconds of it that are to be left out. */
static double rewrite(const char *name, int bytes, int turn)
{
    double *sent = strcmp(name, "allreduce") ? out : in;
    double start = bytes > WRITTEN_ALONG ? MPI_Wtime() : 0;
    for (int i = 0; i < bytes / (int)sizeof *sent; i++)
        sent[i] = turn;
    return bytes > WRITTEN_ALONG ? MPI_Wtime() - start : 0;
}

static double batch(const char *name, int bytes, int calls)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime(), writing = 0;
    for (int turn = 0; turn < calls; turn++) {
        writing += rewrite(name, bytes, turn);
        call(name, bytes, turn);
    }
    return (MPI_Wtime() - start - writing) / calls;
}

static int in_order(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

static int measure(const char *name, int bytes, int batches, double seconds)
{
    double times[MOST_BATCHES];
    int wrong = 0, calls = 1;
    for (int turn = 0; turn < 2 * ranks; turn++)
        wrong += !is_right(name, bytes, turn);
    for (double took = 0; took * calls < seconds / 2 && calls < MOST_CALLS; calls *= 2) {
        took = batch(name, bytes, calls);
        MPI_Bcast(&took, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
    for (int i = 0; i < batches; i++)
        times[i] = batch(name, bytes, calls);
    qsort(times, (size_t)batches, sizeof *times, in_order);
    if (rank == 0)
        printf("%s %d %.1f %.1f\n", name, bytes, times[0] * 1e9, times[batches / 2] * 1e9);
    return wrong;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int batches = argc > 1 ? atoi(argv[1]) : 0;
    double seconds = argc > 2 ? atof(argv[2]) * 1e-3 : 0;
    char usual[] = "barrier:0,bcast:8,bcast:1024,bcast:65536,bcast:1048576,"
                   "allreduce:8,allreduce:1024,allreduce:65536,allreduce:1048576";
    char *list = argc > 3 ? argv[3] : usual;
    int wrong = 0, all;
    if (batches < 1 || batches > MOST_BATCHES) {
        fprintf(stderr, "usage: transport_times BATCHES MILLISECONDS [CALLS]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (char *item = strtok(list, ","); item; item = strtok(NULL, ",")) {
        char *colon = strchr(item, ':');
        int bytes = colon ? atoi(colon + 1) : 0;
        if (colon)
            *colon = 0;
        in = calloc((size_t)bytes + sizeof *in, 1);
        out = calloc((size_t)bytes + sizeof *out, 1);
        wrong += measure(item, bytes, batches, seconds);
        free(in);
        free(out);
    }
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && all)
        fprintf(stderr, "transport_times: %d results are wrong\n", all);
    MPI_Finalize();
    return all != 0;
}
