/*
 * How long collectives take: prints the median of REPETITIONS, in milliseconds,
 * from a start that all ranks have together to the end of the last one.
 *
 *     collective_times REPETITIONS SLACK_MS [COLLECTIVE,...] [BYTES,...] [ORDER,...] [SECONDS]
 *
 * An ORDER is a communicator of all ranks, made by MPI_Comm_split: `block`, the
 * order of the world; `cyclicN`, where the world's N-th parts take turns;
 * `randomN`, an order from the seed N. Each line starts with the order's name.
 *
 * A collective with `i` in front is started, and completed at once: `iallreduce`. With `overlap-` in
 * front of that, its ranks sleep between start and completion as long as it takes without; with
 * `tested-`, they test the request each millisecond of it. Where all ranks compute between, those
 * that share a core begin up to 20 ms later, and sleep here as they would compute on cores of their
 * own. One that ends in `-init` is a persistent request, which is made before (MPI 4):
 * `allreduce-init`. Of one that begins with `loop-`, IN_A_LOOP calls follow each other, and one's
 * part of their time is printed: `loop-reduce`.
 *
 * The start is a time that rank 0 sets and all wait for: right where all ranks
 * have one monotonic clock, on one machine or an emulated grid. BYTES are a
 * rank's block for gather, scatter, allgather and alltoall, their variants with
 * counts for each rank, and reduce-scatter; the message otherwise. `neighbor-allgather(v)` and
 * `neighbor-alltoall(v)` end in a pattern, a file of scripts/bench-patterns.py in the folder
 * $PATTERNS: `neighbor-alltoall-torus`. Those with counts have so many BYTES for each value of it.
 * Collectives with a count for each rank may end in `-mixed` (blocks of 0 to twice the BYTES) or
 * `-skewed` (every fifth rank sends four times as much, and an eighth of all blocks is empty).
 * Connections are used before they are timed.
 * All write to what they send before each repetition: what nobody has written since the last call
 * may still be in the caches of those that read it then.
 * Results are looked at in a repetition that does not count. With SECONDS, each is called for so long
 * before it is timed, one call after the other, so that a guard can decide; behind each 50 that are
 * started comes a barrier, in which it does. With $THREADS MPI is told of several threads.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_BLOCK (1 << 18) /* larger blocks for each rank take too long */

#define IN_A_LOOP 50

#define MOST_ORDERS 8

#define MOST_RANKS 32

#include "patterns.h"

static int rank, ranks, wrong; /* rank in `comm`, whose order is looked at */
static MPI_Comm comm;
static char *in, *out;
static size_t most; /* bytes of each */

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static void wait_until(double when)
{
    struct timespec time = {(time_t)when, (long)((when - (time_t)when) * 1e9)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

static int has_blocks(const char *name)
{
    return !strncmp(name, "gather", 6) || !strncmp(name, "scatter", 7) ||
           !strncmp(name, "allgather", 9) || !strncmp(name, "alltoall", 8) ||
           !strncmp(name, "reduce-scatter", 14) || !strncmp(name, "neighbor-", 9);
}

static int ends_in(const char *name, const char *end)
{
    size_t all = strlen(name), last = strlen(end);
    return all > last && !strcmp(name + all - last, end);
}

static int is_uneven(const char *name)
{
    return ends_in(name, "-mixed") || ends_in(name, "-skewed");
}

/* What one rank has for another; the same on all ranks. */
static int block(const char *name, int bytes, int from, int to)
{
    if (ends_in(name, "-mixed"))
        return (from * 7 + to * 3 + from * to) % 17 * (bytes / 8);
    if (ends_in(name, "-skewed"))
        return (from + 3 * to) % 8 == 0 ? 0 : from % 5 == 0 ? 4 * bytes : bytes;
    return bytes;
}

static int is(const char *name, const char *collective)
{
    size_t length = strlen(collective);
    return !strncmp(name, collective, length) && (!name[length] || name[length] == '-');
}

/* Blocks one after the other: from each rank if `incoming`, for each otherwise. An alltoall has one
 * for each pair of ranks, the others one for each rank. */
static void lay_out(const char *name, int bytes, int incoming, int *counts, int *places)
{
    int all = is(name, "alltoallv") || is(name, "alltoallw");
    for (int i = 0, place = 0; i < ranks; place += counts[i++]) {
        counts[i] = !all ? block(name, bytes, i, 0) : block(name, bytes, incoming ? i : rank, incoming ? rank : i);
        places[i] = place;
    }
}

static void call_neighbours(const char *name, int bytes)
{
    struct graph *graph = around(name, comm, rank, ranks);
    MPI_Comm comm = graph->around;
    int sent[MOST_RANKS], at[MOST_RANKS], got[MOST_RANKS], to[MOST_RANKS];
    int own = (int)edge("neighbor-allgatherv", graph, bytes, rank, rank);
    for (int i = 0, place = 0; i < graph->out; place += sent[i++])
        sent[i] = (int)edge(name, graph, bytes, rank, graph->to[i]), at[i] = place;
    for (int i = 0, place = 0; i < graph->in; place += got[i++])
        got[i] = (int)edge(name, graph, bytes, graph->from[i], rank), to[i] = place;
    if (is(name, "neighbor-allgather"))
        MPI_Neighbor_allgather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, comm);
    else if (is(name, "neighbor-alltoall"))
        MPI_Neighbor_alltoall(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, comm);
    else if (is(name, "neighbor-allgatherv"))
        MPI_Neighbor_allgatherv(in, own, MPI_BYTE, out, got, to, MPI_BYTE, comm);
    else
        MPI_Neighbor_alltoallv(in, sent, at, MPI_BYTE, out, got, to, MPI_BYTE, comm);
}

/* A collective with a count for each rank; 0 if there is none of this name. */
static int call_with_counts(const char *name, int bytes)
{
    int sent[MOST_RANKS], from[MOST_RANKS], got[MOST_RANKS], to[MOST_RANKS], floats[MOST_RANKS];
    int own = block(name, bytes, rank, 0);
    MPI_Datatype types[MOST_RANKS];
    lay_out(name, bytes, 0, sent, from);
    lay_out(name, bytes, 1, got, to);
    for (int i = 0; i < ranks; i++)
        floats[i] = bytes / 4, types[i] = MPI_BYTE;
    if (is(name, "gatherv"))
        MPI_Gatherv(in, own, MPI_BYTE, out, got, to, MPI_BYTE, 0, comm);
    else if (is(name, "scatterv"))
        MPI_Scatterv(in, got, to, MPI_BYTE, out, own, MPI_BYTE, 0, comm);
    else if (is(name, "allgatherv"))
        MPI_Allgatherv(in, own, MPI_BYTE, out, got, to, MPI_BYTE, comm);
    else if (is(name, "alltoallv"))
        MPI_Alltoallv(in, sent, from, MPI_BYTE, out, got, to, MPI_BYTE, comm);
    else if (is(name, "alltoallw"))
        MPI_Alltoallw(in, sent, from, types, out, got, to, types, comm);
    else if (!strcmp(name, "reduce-scatter"))
        MPI_Reduce_scatter(in, out, floats, MPI_FLOAT, MPI_SUM, comm);
    else
        return 0;
    return 1;
}

static void call(const char *name, int bytes)
{
    if (call_with_counts(name, bytes))
        return;
    if (!strncmp(name, "neighbor-", 9)) {
        call_neighbours(name, bytes);
        return;
    }
    if (!strcmp(name, "bcast"))
        MPI_Bcast(in, bytes, MPI_BYTE, 0, comm);
    else if (!strcmp(name, "reduce"))
        MPI_Reduce(in, out, bytes / 4, MPI_FLOAT, MPI_SUM, 0, comm);
    else if (!strcmp(name, "allreduce"))
        MPI_Allreduce(in, out, bytes / 4, MPI_FLOAT, MPI_SUM, comm);
    else if (!strcmp(name, "gather"))
        MPI_Gather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, 0, comm);
    else if (!strcmp(name, "scatter"))
        MPI_Scatter(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, 0, comm);
    else if (!strcmp(name, "allgather"))
        MPI_Allgather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, comm);
    else if (!strcmp(name, "alltoall"))
        MPI_Alltoall(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, comm);
    else if (!strcmp(name, "reduce-scatter-block"))
        MPI_Reduce_scatter_block(in, out, bytes / 4, MPI_FLOAT, MPI_SUM, comm);
    else if (!strcmp(name, "scan"))
        MPI_Scan(in, out, bytes / 4, MPI_FLOAT, MPI_SUM, comm);
    else if (!strcmp(name, "exscan"))
        MPI_Exscan(in, out, bytes / 4, MPI_FLOAT, MPI_SUM, comm);
    else if (!strcmp(name, "barrier"))
        MPI_Barrier(comm);
    else {
        fprintf(stderr, "collective_times: there is no %s\n", name);
        MPI_Abort(comm, 2);
    }
}

/* Persistent requests: of MPI 4, and of Open MPI 5, which says that it is 3.1. */
static int is_persistent;
static MPI_Request persistent;

#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
static const int has_persistent = 1;
#define BEGIN(name, Name, ...)                                           \
    (is_persistent ? MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, request) \
                   : MPI_I##name(__VA_ARGS__, request))
#else
static const int has_persistent = 0;
#define BEGIN(name, Name, ...) MPI_I##name(__VA_ARGS__, request)
#endif

/* The same in its non-blocking form, begun, or as a persistent request, made. */
static void begin(const char *name, int bytes, MPI_Request *request)
{
    static int sent[MOST_RANKS], from[MOST_RANKS], got[MOST_RANKS], to[MOST_RANKS], floats[MOST_RANKS];
    int own = block(name, bytes, rank, 0);
    lay_out(name, bytes, 0, sent, from);
    lay_out(name, bytes, 1, got, to);
    for (int i = 0; i < ranks; i++)
        floats[i] = bytes / 4;
    if (!strcmp(name, "bcast"))
        BEGIN(bcast, Bcast, in, bytes, MPI_BYTE, 0, comm);
    else if (!strcmp(name, "reduce"))
        BEGIN(reduce, Reduce, in, out, bytes / 4, MPI_FLOAT, MPI_SUM, 0, comm);
    else if (!strcmp(name, "allreduce"))
        BEGIN(allreduce, Allreduce, in, out, bytes / 4, MPI_FLOAT, MPI_SUM, comm);
    else if (!strcmp(name, "gather"))
        BEGIN(gather, Gather, in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, 0, comm);
    else if (!strcmp(name, "scatter"))
        BEGIN(scatter, Scatter, in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, 0, comm);
    else if (!strcmp(name, "allgather"))
        BEGIN(allgather, Allgather, in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, comm);
    else if (!strcmp(name, "alltoall"))
        BEGIN(alltoall, Alltoall, in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, comm);
    else if (is(name, "alltoallv"))
        BEGIN(alltoallv, Alltoallv, in, sent, from, MPI_BYTE, out, got, to, MPI_BYTE, comm);
    else if (is(name, "allgatherv"))
        BEGIN(allgatherv, Allgatherv, in, own, MPI_BYTE, out, got, to, MPI_BYTE, comm);
    else if (!strcmp(name, "reduce-scatter"))
        BEGIN(reduce_scatter, Reduce_scatter, in, out, floats, MPI_FLOAT, MPI_SUM, comm);
    else if (!strcmp(name, "scan"))
        BEGIN(scan, Scan, in, out, bytes / 4, MPI_FLOAT, MPI_SUM, comm);
    else if (!strcmp(name, "exscan"))
        BEGIN(exscan, Exscan, in, out, bytes / 4, MPI_FLOAT, MPI_SUM, comm);
    else if (!strcmp(name, "barrier"))
        BEGIN(barrier, Barrier, comm);
    else {
        fprintf(stderr, "collective_times: there is no i%s\n", name);
        MPI_Abort(comm, 2);
    }
}

/* Whether what is measured is started, and seconds between start and completion. */
static int is_started, is_tested;
static double between;

static void call_or_start(const char *name, int bytes)
{
    MPI_Request request;
    struct timespec time = {(time_t)between, (long)((between - (time_t)between) * 1e9)};
    if (!is_started) {
        call(name, bytes);
        return;
    }
    if (is_persistent)
        MPI_Start(&persistent), request = persistent;
    else
        begin(name, bytes, &request);
    for (double end = now() + between; is_tested && now() < end;) {
        int flag;
        wait_until(now() + 1e-3 < end ? now() + 1e-3 : end);
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    }
    if (between > 0 && !is_tested)
        nanosleep(&time, NULL);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Calls that are timed together. */
static int in_a_row = 1;

static void call_in_a_row(const char *name, int bytes)
{
    for (int i = 0; i < in_a_row; i++)
        call_or_start(name, bytes);
}

/* The communicator of an order. */
static MPI_Comm ordered(const char *order)
{
    int world_rank, key, places[32], parts = 1;
    unsigned seed = 1;
    MPI_Comm made;
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    key = world_rank;
    if (sscanf(order, "cyclic%d", &parts) == 1 && parts > 0) {
        int each = (ranks + parts - 1) / parts;
        key = world_rank % each * parts + world_rank / each;
    } else if (sscanf(order, "random%u", &seed) == 1) {
        for (int i = 0; i < ranks; i++)
            places[i] = i;
        for (int i = ranks - 1; i > 0; i--) {
            seed = seed * 1103515245 + 12345;
            int j = seed / 65536 % (i + 1), place = places[i];
            places[i] = places[j], places[j] = place;
        }
        key = places[world_rank];
    } else if (strcmp(order, "block")) {
        fprintf(stderr, "collective_times: %s is no order\n", order);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Comm_split(MPI_COMM_WORLD, 0, key, &made);
    return made;
}

/* Each rank gives its number; whether the first and last that came are right. */
static void give(const char *name, int bytes)
{
    int reduced = strstr(name, "reduce") != NULL || strstr(name, "scan") != NULL;
    int floats = bytes / 4 * (has_blocks(name) ? ranks : 1);
    for (int i = 0; reduced && i < floats; i++)
        ((float *)in)[i] = rank + i % 3;
    if (!strncmp(name, "neighbor-", 9))
        memset(in, rank + 1, edges(name, around(name, comm, rank, ranks), bytes, rank));
    else if (!reduced)
        memset(in, rank + 1, (size_t)bytes * (is_uneven(name) ? 4 : 1) * (has_blocks(name) ? ranks : 1));
}

static void look(const char *name, int bytes)
{
    float *sums = (float *)out;
    int last = bytes / 4 - 1, sum = ranks * (ranks - 1) / 2;
    int first = rank * (bytes / 4), before = rank * (rank - 1) / 2;
    int right = 1;
    if (!strcmp(name, "bcast"))
        right = in[0] == 1 && in[bytes - 1] == 1;
    else if (!strcmp(name, "allreduce") || (!strcmp(name, "reduce") && rank == 0))
        right = sums[0] == sum && sums[last] == sum + ranks * (last % 3);
    else if (!strncmp(name, "reduce-scatter", 14))
        right = sums[0] == sum + ranks * (first % 3) && sums[last] == sum + ranks * ((first + last) % 3);
    else if (!strcmp(name, "scan"))
        right = sums[0] == before + rank && sums[last] == before + rank + (rank + 1) * (last % 3);
    else if (!strcmp(name, "exscan"))
        right = rank == 0 || (sums[0] == before && sums[last] == before + rank * (last % 3));
    else if (!strncmp(name, "scatter", 7)) {
        int own = block(name, bytes, rank, 0);
        right = !own || (out[0] == 1 && out[own - 1] == 1);
    } else if (!strncmp(name, "neighbor-", 9)) {
        const struct graph *graph = around(name, comm, rank, ranks);
        size_t place = 0, length;
        for (int i = 0; i < graph->in; i++, place += length) {
            length = edge(name, graph, bytes, graph->from[i], rank);
            right &= !length || (out[place] == graph->from[i] + 1 && out[place + length - 1] == graph->from[i] + 1);
        }
    } else if (!strncmp(name, "allgather", 9) || !strncmp(name, "alltoall", 8) ||
               (!strncmp(name, "gather", 6) && rank == 0)) {
        int counts[MOST_RANKS], places[MOST_RANKS];
        lay_out(name, bytes, 1, counts, places);
        for (int i = 0; i < ranks; i++)
            right &= !counts[i] || (out[places[i]] == i + 1 && out[places[i] + counts[i] - 1] == i + 1);
    }
    wrong += !right;
}

static int later(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* As many calls as take so many seconds, by the first rank's clock. */
static void call_for(const char *name, int bytes, double seconds)
{
    const int first = 20;
    int calls = 0;
    double start = now();
    for (int i = 0; i < first; i++)
        call_or_start(name, bytes);
    calls = (int)(seconds / (now() - start) * first);
    PMPI_Bcast(&calls, 1, MPI_INT, 0, comm);
    while (calls-- > 0) {
        call_or_start(name, bytes);
        if (is_started && calls % 50 == 0)
            MPI_Barrier(comm);
    }
}

/* The median of the seconds that a collective takes, on rank 0. */
static double median(const char *name, int bytes, int repetitions, double slack)
{
    double times[64];
    for (int repetition = -1; repetition < repetitions; repetition++) {
        give(name, bytes);
        double start = now() + slack, took;
        for (int to = 1; rank == 0 && to < ranks; to++)
            MPI_Send(&start, 1, MPI_DOUBLE, to, 1, comm);
        if (rank > 0)
            MPI_Recv(&start, 1, MPI_DOUBLE, 0, 1, comm, MPI_STATUS_IGNORE);
        if (now() > start)
            fprintf(stderr, "collective_times: rank %d was late for %s\n", rank, name);
        wait_until(start);
        call_in_a_row(name, bytes);
        took = now() - start;
        /* Ranks may share cores: what comes after would be in the way of those that are not done. */
        wait_until(start + took + slack);
        if (repetition < 0)
            look(name, bytes);
        for (int from = 1; rank == 0 && from < ranks; from++) {
            double other;
            MPI_Recv(&other, 1, MPI_DOUBLE, from, 2, comm, MPI_STATUS_IGNORE);
            took = other > took ? other : took;
        }
        if (rank > 0)
            MPI_Send(&took, 1, MPI_DOUBLE, 0, 2, comm);
        else if (repetition >= 0)
            times[repetition] = took;
    }
    if (rank == 0)
        qsort(times, repetitions, sizeof *times, later);
    return rank == 0 ? times[repetitions / 2] / in_a_row : 0;
}

/* The collective of a name that may say how it is called. */
static const char *without_form(const char *name)
{
    static char made[64];
    if (ends_in(name, "-init")) {
        snprintf(made, sizeof made, "%.*s", (int)(strlen(name) - strlen("-init")), name);
        return made;
    }
    if (!strncmp(name, "loop-", 5))
        return name + 5;
    if (!strncmp(name, "overlap-i", 9))
        return name + 9;
    if (!strncmp(name, "tested-i", 8))
        return name + 8;
    return name[0] == 'i' ? name + 1 : name;
}

/* Whether some rank has not the memory for a neighbourhood collective. */
static int exceeds(const char *name, int bytes)
{
    int here = edges(name, around(name, comm, rank, ranks), bytes, rank) > most, anywhere;
    PMPI_Allreduce(&here, &anywhere, 1, MPI_INT, MPI_MAX, comm);
    return anywhere;
}

static void measure(const char *order, const char *title, int bytes, int repetitions, double slack, double before)
{
    int tests = !strncmp(title, "tested-i", 8), overlaps = tests || !strncmp(title, "overlap-i", 9);
    const char *name = without_form(title);
    in_a_row = strncmp(title, "loop-", 5) ? 1 : IN_A_LOOP;
    is_started = name != title && in_a_row == 1;
    is_persistent = ends_in(title, "-init");
    is_tested = 0;
    between = 0;
    if (is_persistent && !has_persistent) {
        fprintf(stderr, "collective_times: %s needs MPI 4\n", title);
        MPI_Abort(comm, 2);
    }
    if (is_persistent)
        begin(name, bytes, &persistent);
    if (before > 0)
        call_for(name, bytes, before);
    double seconds = median(name, bytes, repetitions, slack);
    if (overlaps) {
        PMPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, comm);
        between = seconds;
        is_tested = tests;
        seconds = median(name, bytes, repetitions, slack + between);
    }
    if (is_persistent)
        MPI_Request_free(&persistent);
    if (rank == 0) {
        printf("%s %s %d %.3f\n", order, title, bytes, seconds * 1e3);
        fflush(stdout);
    }
}

/* Every connection carries half a megabyte, so that TCP's windows are open. */
static void warm_up(void)
{
    MPI_Request requests[1024];
    for (int round = 0; round < 2; round++) {
        int count = 0, piece = 32768;
        for (int distance = 1; distance < ranks; distance++) {
            int from = (rank + ranks - distance) % ranks, to = (rank + distance) % ranks;
            for (int i = 0; i < 8; i++) {
                MPI_Irecv(out, piece, MPI_BYTE, from, 3, MPI_COMM_WORLD, &requests[count++]);
                MPI_Isend(in, piece, MPI_BYTE, to, 3, MPI_COMM_WORLD, &requests[count++]);
            }
        }
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int all = 0, provided, repetitions = argc > 1 ? atoi(argv[1]) : 3;
    double slack = (argc > 2 ? atof(argv[2]) : 60) * 1e-3;
    double before = argc > 6 ? atof(argv[6]) : 0;
    const char *every = "bcast,reduce,allreduce,allgather,alltoall,gather,scatter,barrier";
    MPI_Init_thread(&argc, &argv, getenv("THREADS") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    most = (size_t)MOST_BLOCK * ranks > 4 << 20 ? (size_t)MOST_BLOCK * ranks : 4 << 20;
    if (repetitions < 1 || repetitions > 64 || ranks > MOST_RANKS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    in = malloc(most), out = malloc(most);
    memset(in, 0, most), memset(out, 0, most);
    warm_up();
    char *names = strdup(argc > 3 ? argv[3] : every), *next_name;
    char *orders[MOST_ORDERS], *next_order, *texts = strdup(argc > 5 ? argv[5] : "block");
    MPI_Comm comms[MOST_ORDERS];
    int count = 0;
    for (char *order = strtok_r(texts, ",", &next_order); order && count < MOST_ORDERS;
         order = strtok_r(NULL, ",", &next_order)) {
        orders[count] = order;
        comms[count++] = ordered(order);
    }
    for (char *name = strtok_r(names, ",", &next_name); name;
         name = strtok_r(NULL, ",", &next_name)) {
        char *sizes = strdup(argc > 4 ? argv[4] : "8,1024,65536,1048576,4194304"), *next_size;
        for (char *size = strtok_r(sizes, ",", &next_size); size;
             size = strtok_r(NULL, ",", &next_size)) {
            int bytes = atoi(size);
            const char *base = without_form(name);
            if ((size_t)bytes > most || (has_blocks(base) && bytes > MOST_BLOCK / (is_uneven(name) ? 4 : 1)))
                continue;
            for (int i = 0; i < count; i++) {
                comm = comms[i];
                MPI_Comm_rank(comm, &rank);
                if (!strncmp(base, "neighbor-", 9) && exceeds(base, bytes))
                    continue;
                measure(orders[i], name, bytes, repetitions, slack, before);
            }
            if (!strcmp(base, "barrier"))
                break;
        }
        free(sizes);
    }
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && all)
        fprintf(stderr, "collective_times: %d results are wrong\n", all);
    for (int i = 0; i < count; i++)
        MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    return wrong != 0;
}
