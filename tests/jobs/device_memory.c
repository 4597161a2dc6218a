/*
 * Collectives whose buffers are in the memory of an accelerator, on all ranks or on one of them.
 *
 *     device_memory before|after all|one
 *
 * The runtime, the library that DEVICE_RUNTIME names, is loaded `before` MPI_Init or `after` the
 * first collective. What each collective leaves is held against what the non-blocking one of the
 * same name leaves in the host's memory, which nobody replaces.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 8, MOST = 16 };

static void *(*allocate)(size_t);
static void (*open_memory)(void), (*close_memory)(void);
static int rank, ranks, counts[MOST], starts[MOST];

static void load(void)
{
    const char *path = getenv("DEVICE_RUNTIME");
    void *runtime = dlopen(path ? path : "", RTLD_NOW | RTLD_LOCAL);
    if (!runtime) {
        fprintf(stderr, "device_memory: %s\n", dlerror());
        exit(1);
    }
    allocate = (void *(*)(size_t))dlsym(runtime, "device_allocate");
    open_memory = (void (*)(void))dlsym(runtime, "device_open");
    close_memory = (void (*)(void))dlsym(runtime, "device_close");
}

/* A collective and its non-blocking twin, from `in` to `out`. */
#define EACH(what)                                                                                                     \
    what(Bcast, Ibcast, (out, COUNT, MPI_INT, 1, MPI_COMM_WORLD REQUEST))                                              \
    what(Gather, Igather, (in, COUNT, MPI_INT, out, COUNT, MPI_INT, 1, MPI_COMM_WORLD REQUEST))                        \
    what(Gatherv, Igatherv, (in, counts[rank], MPI_INT, out, counts, starts, MPI_INT, 1, MPI_COMM_WORLD REQUEST))      \
    what(Scatter, Iscatter, (in, COUNT, MPI_INT, out, COUNT, MPI_INT, 1, MPI_COMM_WORLD REQUEST))                      \
    what(Allgather, Iallgather, (in, COUNT, MPI_INT, out, COUNT, MPI_INT, MPI_COMM_WORLD REQUEST))                     \
    what(Allgatherv, Iallgatherv, (in, counts[rank], MPI_INT, out, counts, starts, MPI_INT, MPI_COMM_WORLD REQUEST))   \
    what(Alltoall, Ialltoall, (in, COUNT, MPI_INT, out, COUNT, MPI_INT, MPI_COMM_WORLD REQUEST))                       \
    what(Reduce, Ireduce, (in, out, COUNT, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD REQUEST))                               \
    what(Allreduce, Iallreduce, (in, out, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD REQUEST))                            \
    what(Allreduce, Iallreduce, (MPI_IN_PLACE, out, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD REQUEST))                  \
    what(Reduce_scatter_block, Ireduce_scatter_block, (in, out, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD REQUEST))      \
    what(Reduce_scatter, Ireduce_scatter, (in, out, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD REQUEST))                 \
    what(Scan, Iscan, (in, out, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD REQUEST))

#define REQUEST
#define CALL(name, started, arguments)                                                                                 \
    case __COUNTER__:                                                                                                  \
        MPI_##name arguments;                                                                                          \
        return 1;

static int call(int number, int *in, int *out)
{
    enum { FIRST = __COUNTER__ + 1 };
    switch (number + FIRST) { EACH(CALL) }
    return 0;
}

#undef REQUEST
#define REQUEST , &request
#define EXPECT(name, started, arguments)                                                                               \
    case __COUNTER__:                                                                                                  \
        MPI_##started arguments;                                                                                       \
        break;

static void expect(int number, int *in, int *out)
{
    enum { FIRST = __COUNTER__ + 1 };
    MPI_Request request = MPI_REQUEST_NULL;
    switch (number + FIRST) { EACH(EXPECT) }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    static int in[COUNT * MOST], out[COUNT * MOST], expected[COUNT * MOST];
    int *theirs_in = in, *theirs_out = out, wrong = 0, all_wrong, warm = 1;
    int before = argc > 1 && strcmp(argv[1], "before") == 0;
    int one = argc > 2 && strcmp(argv[2], "one") == 0;
    if (before)
        load();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Bcast(&warm, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!before)
        load();
    for (int i = 0, start = 0; i < ranks; start += counts[i++])
        counts[i] = 1 + (i * 3) % COUNT, starts[i] = start;
    if (!one || rank == 1) {
        theirs_in = allocate(sizeof in + sizeof out);
        theirs_out = theirs_in + COUNT * MOST;
    }
    for (int number = 0;; number++) {
        for (int i = 0; i < COUNT * MOST; i++)
            in[i] = rank * 1000 + number * 100 + i, expected[i] = out[i] = -in[i];
        open_memory();
        memmove(theirs_in, in, sizeof in);
        memmove(theirs_out, out, sizeof out);
        close_memory();
        if (!call(number, theirs_in, theirs_out))
            break;
        expect(number, in, expected);
        open_memory();
        if (memcmp(theirs_out, expected, sizeof out) != 0)
            wrong++, fprintf(stderr, "device_memory: rank %d: call %d is wrong\n", rank, number);
        close_memory();
    }
    open_memory();
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d wrong\n", all_wrong);
    MPI_Finalize();
    return wrong != 0;
}

/*
 * RUN:    2 to 16 ranks, preloaded with collectives replaced.
 * EXPECT: "0 wrong".
 */
