/*
 * Collectives called often enough for a guard to try plans in their place; all results are checked.
 *
 *     guarded operations ROUNDS   every operation, one after the other
 *     guarded one NAME CALLS      one of allreduce, scan
 *     guarded started ROUNDS      every operation, started and completed in one way or another, and
 *                                 a blocking one after each fourth round
 *     guarded start NAME CALLS    one of allreduce, scan, long (an allreduce of 4 KiB), started; a
 *                                 barrier after each 50
 *     guarded restart NAME [TIMES] CALLS
 *                                 two persistent requests of an allreduce, or a long one, started
 *                                 again and again, in an order of its own on each rank; nothing
 *                                 else is called. That is done TIMES times, with new requests
 *     guarded neighbours CALLS    an allgather and a total exchange between neighbours of a ring
 *     guarded ahead CALLS         nothing but started ones on a communicator: ranks start them one
 *                                 after the other, and complete them behind the last
 *     guarded cells               three calls each of very many sizes and roots
 *     guarded freed               communicators that end while ranks tell each other of calls
 *     guarded kept                the same that never end, and MPI ends
 *     guarded signatures CALLS    ranks that describe the same data by different types and counts
 *     guarded sizes SEED ROUNDS   operations of four classes of sizes, each call of another size
 *     guarded wrong CALLS         a call that is wrong on all ranks, with errors returned, among
 *                                 right ones
 *     guarded wrong-start CALLS   the same, started; a barrier after each 50
 */
#include <mpi.h>
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define INIT(name) MPIX_##name##_init
#else
#define INIT(name) MPI_##name##_init
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RANKS 16
#define COUNT 5

static int rank, ranks, wrong, are_started;
static MPI_Request request;

/* Completes what was started, in one way or another: each rank in its own. */
static void complete(int n)
{
    int done = 0, index;
    switch ((n + rank) % 4) {
    case 0: MPI_Wait(&request, MPI_STATUS_IGNORE); break;
    case 1: MPI_Waitall(1, &request, MPI_STATUSES_IGNORE); break;
    case 2: MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE); break;
    default:
        while (!done)
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    wrong += request != MPI_REQUEST_NULL;
}

/* A collective, or the same started and completed. */
#define CALL(Name, Iname, ...)                                                                     \
    do {                                                                                           \
        if (are_started)                                                                           \
            MPI_I##Iname(__VA_ARGS__, &request), complete(n);                                      \
        else                                                                                       \
            MPI_##Name(__VA_ARGS__);                                                               \
    } while (0)

/* Element i of what rank r gives in round n. */
static int element(int r, int i, int n)
{
    return 1000 * r + 10 * i + n % 7;
}

static int sum_until(int last, int i, int n)
{
    int sum = 0;
    for (int r = 0; r <= last; r++)
        sum += element(r, i, n);
    return sum;
}

static void check(int is_right)
{
    wrong += !is_right;
}

static void reductions(MPI_Comm comm, int n)
{
    int in[MOST_RANKS * COUNT], out[MOST_RANKS * COUNT], counts[MOST_RANKS], root = ranks - 1;
    for (int i = 0; i < ranks * COUNT; i++)
        in[i] = element(rank, i, n);
    for (int r = 0; r < ranks; r++)
        counts[r] = COUNT;
    CALL(Reduce, reduce, in, out, COUNT, MPI_INT, MPI_SUM, root, comm);
    check(rank != root || out[1] == sum_until(ranks - 1, 1, n));
    CALL(Allreduce, allreduce, in, out, COUNT, MPI_INT, MPI_SUM, comm);
    check(out[COUNT - 1] == sum_until(ranks - 1, COUNT - 1, n));
    CALL(Reduce_scatter, reduce_scatter, in, out, counts, MPI_INT, MPI_SUM, comm);
    check(out[2] == sum_until(ranks - 1, rank * COUNT + 2, n));
    CALL(Reduce_scatter_block, reduce_scatter_block, in, out, COUNT, MPI_INT, MPI_SUM, comm);
    check(out[2] == sum_until(ranks - 1, rank * COUNT + 2, n));
    CALL(Scan, scan, in, out, COUNT, MPI_INT, MPI_SUM, comm);
    check(out[3] == sum_until(rank, 3, n));
    CALL(Exscan, exscan, in, out, COUNT, MPI_INT, MPI_SUM, comm);
    check(rank == 0 || out[3] == sum_until(rank - 1, 3, n));
}

static void moves(MPI_Comm comm, int n)
{
    int in[MOST_RANKS * COUNT], out[MOST_RANKS * COUNT], root = n % 2;
    int counts[MOST_RANKS], places[MOST_RANKS], bytes[MOST_RANKS];
    MPI_Datatype types[MOST_RANKS];
    for (int i = 0; i < ranks * COUNT; i++)
        in[i] = element(rank, i, n);
    for (int r = 0; r < ranks; r++) {
        counts[r] = COUNT, places[r] = r * COUNT;
        bytes[r] = r * COUNT * (int)sizeof(int), types[r] = MPI_INT;
    }
    CALL(Barrier, barrier, comm);
    out[1] = rank == root ? element(root, 1, n) : -1;
    CALL(Bcast, bcast, out, COUNT, MPI_INT, root, comm);
    check(out[1] == element(root, 1, n));
    CALL(Gather, gather, in, COUNT, MPI_INT, out, COUNT, MPI_INT, root, comm);
    check(rank != root || out[COUNT + 1] == element(1, 1, n));
    CALL(Gatherv, gatherv, in, COUNT, MPI_INT, out, counts, places, MPI_INT, root, comm);
    check(rank != root || out[COUNT + 1] == element(1, 1, n));
    CALL(Scatter, scatter, in, COUNT, MPI_INT, out, COUNT, MPI_INT, root, comm);
    check(out[0] == element(root, rank * COUNT, n));
    CALL(Scatterv, scatterv, in, counts, places, MPI_INT, out, COUNT, MPI_INT, root, comm);
    check(out[0] == element(root, rank * COUNT, n));
    CALL(Allgather, allgather, in, COUNT, MPI_INT, out, COUNT, MPI_INT, comm);
    check(out[(ranks - 1) * COUNT] == element(ranks - 1, 0, n));
    CALL(Allgatherv, allgatherv, in, COUNT, MPI_INT, out, counts, places, MPI_INT, comm);
    check(out[(ranks - 1) * COUNT] == element(ranks - 1, 0, n));
    CALL(Alltoall, alltoall, in, COUNT, MPI_INT, out, COUNT, MPI_INT, comm);
    check(out[COUNT] == element(1, rank * COUNT, n));
    CALL(Alltoallv, alltoallv, in, counts, places, MPI_INT, out, counts, places, MPI_INT, comm);
    check(out[COUNT] == element(1, rank * COUNT, n));
    CALL(Alltoallw, alltoallw, in, counts, bytes, types, out, counts, bytes, types, comm);
    check(out[COUNT] == element(1, rank * COUNT, n));
}

static void allreduce(MPI_Comm comm, int n)
{
    int in = element(rank, 0, n), out = 0;
    CALL(Allreduce, allreduce, &in, &out, 1, MPI_INT, MPI_SUM, comm);
    check(out == sum_until(ranks - 1, 0, n));
}

static void scan(MPI_Comm comm, int n)
{
    int in = element(rank, 0, n), out = 0;
    CALL(Scan, scan, &in, &out, 1, MPI_INT, MPI_SUM, comm);
    check(out == sum_until(rank, 0, n));
}

static void long_allreduce(MPI_Comm comm, int n)
{
    int in[1024], out[1024];
    for (int i = 0; i < 1024; i++)
        in[i] = element(rank, i, n);
    CALL(Allreduce, allreduce, in, out, 1024, MPI_INT, MPI_SUM, comm);
    check(out[1000] == sum_until(ranks - 1, 1000, n));
}

static void all_started(int rounds)
{
    for (int n = 0; n < rounds; n++) {
        are_started = 1;
        moves(MPI_COMM_WORLD, n);
        reductions(MPI_COMM_WORLD, n);
        are_started = 0;
        if (n % 4 == 3)
            allreduce(MPI_COMM_WORLD, n);
    }
}

static void one_started(const char *name, int calls)
{
    for (int n = 0; n < calls; n++) {
        are_started = 1;
        (!strcmp(name, "scan")   ? scan
         : !strcmp(name, "long") ? long_allreduce
                                 : allreduce)(MPI_COMM_WORLD, n);
        are_started = 0;
        if (n % 50 == 49)
            MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Completes two requests, each rank in its own way. */
static void complete_both(MPI_Request *both, int n)
{
    int done = 0, index;
    switch ((n + rank) % 4) {
    case 0:
        MPI_Wait(&both[0], MPI_STATUS_IGNORE);
        MPI_Wait(&both[1], MPI_STATUS_IGNORE);
        break;
    case 1: MPI_Waitall(2, both, MPI_STATUSES_IGNORE); break;
    case 2:
        for (int i = 0; i < 2; i++)
            MPI_Waitany(2, both, &index, MPI_STATUS_IGNORE);
        break;
    default:
        while (!done)
            MPI_Testall(2, both, &done, MPI_STATUSES_IGNORE);
    }
    wrong += both[0] == MPI_REQUEST_NULL || both[1] == MPI_REQUEST_NULL;
}

/* One of the requests is freed, the other is there when MPI ends. */
static void restarted(const char *name, int calls)
{
    static int in[2][1024], out[2][1024];
    int count = strcmp(name, "long") ? 1 : 1024;
    MPI_Request both[2];
    for (int i = 0; i < 2; i++)
        INIT(Allreduce)(in[i], out[i], count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &both[i]);
    for (int n = 0; n < calls; n++) {
        for (int i = 0; i < count; i++)
            in[0][i] = element(rank, i, n), in[1][i] = element(rank, i, n + 1);
        if (rank % 3 == 2)
            MPI_Startall(2, both);
        else
            MPI_Start(&both[rank % 3]), MPI_Start(&both[1 - rank % 3]);
        complete_both(both, n);
        for (int i = 0; i < 2; i++)
            check(out[i][count - 1] == sum_until(ranks - 1, count - 1, n + i));
    }
    MPI_Request_free(&both[0]);
}

static void neighbours(int calls)
{
    int is_periodic = 1, left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    MPI_Comm ring;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &is_periodic, 0, &ring);
    for (int n = 0; n < calls; n++) {
        int in[2] = {element(rank, 0, n), element(rank, 1, n)}, out[2] = {-1, -1};
        MPI_Neighbor_allgather(in, 1, MPI_INT, out, 1, MPI_INT, ring);
        check(out[0] == element(left, 0, n) && out[1] == element(right, 0, n));
        /* What is sent upwards comes from below. */
        MPI_Neighbor_alltoall(in, 1, MPI_INT, out, 1, MPI_INT, ring);
        check(out[0] == element(left, 1, n) && out[1] == element(right, 0, n));
    }
    MPI_Comm_free(&ring);
}

/* Rank 0 starts all before any other rank starts one. */
static void ahead(int calls)
{
    MPI_Comm comm;
    MPI_Request *requests = malloc((size_t)calls * sizeof *requests);
    int *data = malloc((size_t)calls * sizeof *data), go = 1;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (rank > 0)
        MPI_Recv(&go, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int n = 0; n < calls; n++) {
        data[n] = rank == 0 ? n : -1;
        MPI_Ibcast(&data[n], 1, MPI_INT, 0, comm, &requests[n]);
    }
    for (int other = 1; rank == 0 && other < ranks; other++)
        MPI_Send(&go, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
    MPI_Waitall(calls, requests, MPI_STATUSES_IGNORE);
    for (int n = 0; n < calls; n++)
        check(data[n] == n);
    MPI_Comm_free(&comm);
    free(requests);
    free(data);
}

static void cells(void)
{
    static char data[MOST_RANKS << 13], more[MOST_RANKS << 13];
    for (int round = 0; round < 3; round++)
        for (int root = 0; root < ranks; root++)
            for (int step = 8; step <= 8192; step *= 2)
                for (int bytes = step; bytes < 2 * step && bytes <= 8192; bytes += step / 4) {
                    MPI_Bcast(data, bytes, MPI_BYTE, root, MPI_COMM_WORLD);
                    MPI_Gather(data, bytes, MPI_BYTE, more, bytes, MPI_BYTE, root, MPI_COMM_WORLD);
                    MPI_Scatter(more, bytes, MPI_BYTE, data, bytes, MPI_BYTE, root, MPI_COMM_WORLD);
                    MPI_Reduce(data, more, bytes, MPI_BYTE, MPI_BOR, root, MPI_COMM_WORLD);
                }
}

/* So many calls that ranks are at every point of telling each other of them. */
static void communicators(int are_freed)
{
    for (int calls = 126; calls <= 140; calls++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int n = 0; n < calls; n++)
            allreduce(comm, n);
        if (are_freed)
            MPI_Comm_free(&comm);
    }
}

static void signatures(int calls)
{
    MPI_Datatype all, spaced;
    MPI_Type_contiguous(2 * COUNT, MPI_INT, &all);
    MPI_Type_commit(&all);
    MPI_Type_vector(2 * COUNT, 1, 3, MPI_INT, &spaced);
    MPI_Type_commit(&spaced);
    for (int n = 0; n < calls; n++) {
        int data[6 * COUNT], step = rank % 3 == 2 ? 3 : 1, root = n % ranks;
        for (int i = 0; i < 2 * COUNT; i++)
            data[i * step] = rank == root ? element(root, i, n) : -1;
        if (rank % 3 == 0)
            MPI_Bcast(data, 2 * COUNT, MPI_INT, root, MPI_COMM_WORLD);
        else
            MPI_Bcast(data, 1, rank % 3 == 1 ? all : spaced, root, MPI_COMM_WORLD);
        for (int i = 0; i < 2 * COUNT; i++)
            check(data[i * step] == element(root, i, n));
        /* As many elements as the rank has. */
        int in[MOST_RANKS], out[MOST_RANKS * MOST_RANKS], counts[MOST_RANKS], places[MOST_RANKS];
        for (int i = 0; i <= rank; i++)
            in[i] = element(rank, i, n);
        for (int r = 0; r < ranks; r++)
            counts[r] = r + 1, places[r] = r * MOST_RANKS;
        MPI_Gatherv(in, rank + 1, MPI_INT, out, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
        check(rank != 0 || out[(ranks - 1) * MOST_RANKS + 1] == element(ranks - 1, 1, n));
    }
    MPI_Type_free(&all);
    MPI_Type_free(&spaced);
}

/* Sizes of four classes, a part of 4 KiB to 192 KiB in the largest. */
static void sizes(unsigned seed, int rounds)
{
    enum { MOST = 3 << 14 };
    static const int most[] = {8, 1 << 10, 3 << 12, MOST};
    int *in = malloc(MOST * sizeof *in * (size_t)ranks), *out = malloc(MOST * sizeof *out * (size_t)ranks);
    for (int n = 0; n < rounds; n++) {
        seed = seed * 1664525u + 1013904223u; /* the same on all ranks */
        int class = n % 4, count = most[class] - (int)(seed >> 16) % (most[class] / 8), root = n % ranks;
        int part = count / ranks + 1, right = 1;
        for (int i = 0; i < count; i++)
            in[i] = element(rank, i, n), out[i] = rank == root ? element(root, i, n) : -1;
        MPI_Bcast(out, count, MPI_INT, root, MPI_COMM_WORLD);
        for (int i = 0; i < count; i++)
            right &= out[i] == element(root, i, n);
        MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < count; i++)
            right &= out[i] == sum_until(ranks - 1, i, n);
        MPI_Reduce(in, out, count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
        for (int i = 0; i < count && rank == root; i++)
            right &= out[i] == sum_until(ranks - 1, i, n);
        MPI_Allgather(in, part, MPI_INT, out, part, MPI_INT, MPI_COMM_WORLD);
        for (int i = 0; i < part * ranks; i++)
            right &= out[i] == element(i / part, i % part, n);
        for (int i = 0; i < part * ranks; i++)
            in[i] = element(rank, i, n);
        MPI_Alltoall(in, part, MPI_INT, out, part, MPI_INT, MPI_COMM_WORLD);
        for (int i = 0; i < part * ranks; i++)
            right &= out[i] == element(i / part, rank * part + i % part, n);
        check(right);
    }
    free(in);
    free(out);
}

static void errors(int calls)
{
    MPI_Comm comm;
    int value = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int n = 0; n < calls; n++) {
        allreduce(comm, n);
        if (n == calls / 2 && are_started)
            check(MPI_Ibcast(&value, -1, MPI_INT, 0, comm, &request) != MPI_SUCCESS);
        else if (n == calls / 2)
            check(MPI_Bcast(&value, -1, MPI_INT, 0, comm) != MPI_SUCCESS);
        if (are_started && n % 50 == 49)
            MPI_Barrier(comm);
    }
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int count = argc > 2 ? atoi(argv[argc - 1]) : 0, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks < 2 || ranks > MOST_RANKS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int n = 0; !strcmp(what, "operations") && n < count; n++) {
        moves(MPI_COMM_WORLD, n);
        reductions(MPI_COMM_WORLD, n);
    }
    for (int n = 0; !strcmp(what, "one") && n < count; n++)
        (strcmp(argv[2], "scan") ? allreduce : scan)(MPI_COMM_WORLD, n);
    if (!strcmp(what, "started"))
        all_started(count);
    if (!strcmp(what, "start") && argc > 3)
        one_started(argv[2], count);
    if (!strcmp(what, "restart") && argc > 3)
        for (int times = argc > 4 ? atoi(argv[3]) : 1; times > 0; times--)
            restarted(argv[2], count);
    if (!strcmp(what, "neighbours"))
        neighbours(count);
    if (!strcmp(what, "ahead"))
        ahead(count);
    if (!strcmp(what, "cells"))
        cells();
    if (!strcmp(what, "freed") || !strcmp(what, "kept"))
        communicators(!strcmp(what, "freed"));
    if (!strcmp(what, "signatures"))
        signatures(count);
    if (!strcmp(what, "sizes") && argc > 3)
        sizes((unsigned)atoi(argv[2]), count);
    are_started = !strcmp(what, "wrong-start");
    if (are_started || !strcmp(what, "wrong"))
        errors(count);
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d wrong\n", all);
    MPI_Finalize();
    return 0;
}
