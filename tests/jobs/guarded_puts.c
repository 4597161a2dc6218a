/*
 * Epochs with equal puts, often enough for a guard to try joining them, in one or two phases; what
 * arrives is checked after each phase and now and then.
 *
 *     guarded_puts KIND EPOCHS PIECES BYTES GAP [EPOCHS PIECES BYTES GAP]
 *
 * KIND is flush, fence, lock or start; bytes are 8 or more. Each rank puts so many pieces, with a
 * gap of so many bytes between them at the target, into the memory of the next one. Where puts are
 * fenced nothing is done between every second pair of fences, as in programs that compute there.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, target, origin;
static MPI_Group to, from;
static MPI_Win window;
static char *memory, *source;
static long wrong;

/* What a piece of this number begins with, as a rank puts it in this epoch. */
static int64_t value(int of, long epoch, int piece)
{
    return ((int64_t)of << 48) + ((int64_t)epoch << 20) + piece;
}

static void puts_of(long epoch, int pieces, int bytes, int gap)
{
    for (int i = 0; i < pieces; i++) {
        char *at = source + (size_t)i * bytes;
        int64_t first = value(rank, epoch, i);
        memcpy(at, &first, sizeof first);
        MPI_Put(at, bytes, MPI_BYTE, target, (MPI_Aint)i * (bytes + gap), bytes, MPI_BYTE, window);
    }
}

static void check(long epoch, int pieces, int bytes, int gap)
{
    for (int i = 0; i < pieces; i++) {
        int64_t found;
        memcpy(&found, memory + (size_t)i * (bytes + gap), sizeof found);
        wrong += found != value(origin, epoch, i);
    }
}

enum kind { FLUSH, FENCE, LOCK, START, KINDS };
static const char *const names[KINDS] = {"flush", "fence", "lock", "start"};

static void one_epoch(enum kind kind, long epoch, int pieces, int bytes, int gap)
{
    switch (kind) {
    case FLUSH:
        puts_of(epoch, pieces, bytes, gap);
        MPI_Win_flush(target, window);
        break;
    case FENCE:
        puts_of(epoch, pieces, bytes, gap);
        MPI_Win_fence(0, window);
        MPI_Win_fence(0, window);
        break;
    case LOCK:
        MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
        puts_of(epoch, pieces, bytes, gap);
        MPI_Win_unlock(target, window);
        break;
    default:
        MPI_Win_post(from, 0, window);
        MPI_Win_start(to, 0, window);
        puts_of(epoch, pieces, bytes, gap);
        MPI_Win_complete(window);
        MPI_Win_wait(window);
    }
}

static void phase(enum kind kind, char **arguments, long *epoch)
{
    long epochs = atol(arguments[0]);
    int pieces = atoi(arguments[1]), bytes = atoi(arguments[2]), gap = atoi(arguments[3]);
    for (long i = 1; i <= epochs; i++) {
        one_epoch(kind, ++*epoch, pieces, bytes, gap);
        if (i != epochs && i % 100)
            continue;
        MPI_Barrier(MPI_COMM_WORLD);
        if (kind == FLUSH)
            MPI_Win_sync(window);
        if (kind == LOCK)
            MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
        check(*epoch, pieces, bytes, gap);
        if (kind == LOCK)
            MPI_Win_unlock(rank, window);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    enum kind kind = FLUSH;
    long epoch = 0, sum;
    size_t most = 0;
    MPI_Group all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    while (kind < KINDS && argc > 1 && strcmp(argv[1], names[kind]) != 0)
        kind++;
    if (kind == KINDS || (argc != 6 && argc != 10))
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int at = 2; at < argc; at += 4) {
        size_t bytes = (size_t)atoi(argv[at + 1]) * (size_t)(atoi(argv[at + 2]) + atoi(argv[at + 3]));
        most = bytes > most ? bytes : most;
    }
    target = (rank + 1) % ranks;
    origin = (rank + ranks - 1) % ranks;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &target, &to);
    MPI_Group_incl(all, 1, &origin, &from);
    source = calloc(1, most);
    MPI_Win_allocate((MPI_Aint)most, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    if (kind == FLUSH)
        MPI_Win_lock_all(0, window);
    if (kind == FENCE)
        MPI_Win_fence(0, window);
    for (int at = 2; at < argc; at += 4)
        phase(kind, argv + at, &epoch);
    if (kind == FLUSH)
        MPI_Win_unlock_all(window);
    if (kind == FENCE)
        MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    MPI_Win_free(&window);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    MPI_Group_free(&all);
    free(source);
    MPI_Reduce(&wrong, &sum, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%ld wrong\n", sum);
    MPI_Finalize();
    return 0;
}

/*
 * RUN:    2 ranks or more.
 * EXPECT: "0 wrong".
 */
