/*
 * Every kind of epoch on several windows, with what a profile must say of each.
 *
 * The program keeps its own account: epochs that were opened, posts, flushes, who reached whom, and
 * for each sort of call its number, bytes, sizes by powers of two, and how many were of elements
 * with gaps. Rank 0 prints the account of all ranks, a line for each kind of epoch of each window,
 * and one for each sort of call in it; and how many calls each rank made that are timed:
 *
 *     epoch RANKS NUMBER KIND OPENED POSTS FLUSHES PAIRS MOST_TARGETS
 *     moved RANKS NUMBER KIND CALL CALLS BYTES NOT_CONTIGUOUS LEAST_BYTES=CALLS,...
 *     timed RANK WINDOW_EPOCH RECEIVE WAIT
 *
 * With the argument `abort` it aborts instead of that.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOWS = 3, CELLS = 4096, MOST_RANKS = 16 };
enum kind { FENCE, LOCK, LOCK_ALL, START, KINDS };
enum call { PUT, GET, ACCUMULATE, FETCH, CALLS };

static const char *const kinds[] = {"fence", "lock", "lock-all", "start"};
static const char *const calls[] = {"put", "get", "accumulate", "fetch"};

struct moved {
    long long calls, bytes, not_contiguous, of_class[65];
};

static struct account {
    struct epoch {
        long long opened, posts, flushes, batches, reached[MOST_RANKS];
        struct moved moved[CALLS];
    } epochs[KINDS];
} accounts[WINDOWS], all[WINDOWS];

static int rank, ranks;
static long long epoch_calls, receives, waits;

static int class_of(long long bytes)
{
    int class = 0;
    for (; bytes; bytes >>= 1)
        class++;
    return class;
}

static void did(struct epoch *epoch, enum call call, long long bytes, int is_contiguous, int target)
{
    struct moved *moved = &epoch->moved[call];
    moved->calls++;
    moved->bytes += bytes;
    moved->not_contiguous += !is_contiguous;
    moved->of_class[class_of(bytes)]++;
    epoch->reached[target] = 1;
}

/* A window as one rank sees it: whom it reaches, and who reaches it. */
struct place {
    MPI_Win window;
    MPI_Comm comm;
    int rank, to, from, to_in_world;
};

static int cells[2 * CELLS];

static void in_fences(const struct place *at, struct epoch *epoch, int times)
{
    for (int i = 0; i < times; i++) {
        MPI_Win_fence(0, at->window);
        MPI_Put(cells, 8 << i, MPI_INT, at->to, 0, 8 << i, MPI_INT, at->window);
        did(epoch, PUT, 4 * (8LL << i), 1, at->to_in_world);
        MPI_Get(cells + CELLS, 3, MPI_INT, at->to, 2048, 3, MPI_INT, at->window);
        did(epoch, GET, 12, 1, at->to_in_world);
        MPI_Put(cells, 0, MPI_INT, at->to, 0, 0, MPI_INT, at->window);       /* nothing is moved */
        MPI_Put(cells, 5, MPI_INT, MPI_PROC_NULL, 0, 5, MPI_INT, at->window); /* nobody is reached */
        epoch->batches++;
    }
    MPI_Win_fence(0, at->window);
    epoch->opened += times + 1;
    epoch_calls += times + 1;
}

static void in_locks(const struct place *at, struct epoch *epoch)
{
    MPI_Datatype apart, whole;
    MPI_Type_vector(4, 1, 2, MPI_INT, &apart);
    MPI_Type_contiguous(4, MPI_INT, &whole);
    MPI_Type_commit(&apart);
    MPI_Type_commit(&whole);
    MPI_Win_lock(MPI_LOCK_SHARED, at->to, 0, at->window);
    MPI_Put(cells, 4, MPI_INT, at->to, 0, 1, apart, at->window);
    did(epoch, PUT, 16, 0, at->to_in_world);
    MPI_Put(cells, 1, whole, at->to, 100, 4, MPI_INT, at->window);
    did(epoch, PUT, 16, 1, at->to_in_world);
    epoch->batches++;
    MPI_Win_flush(at->to, at->window);
    MPI_Win_flush_local(at->to, at->window);
    epoch->flushes += 2;
    MPI_Win_unlock(at->to, at->window);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, at->rank, 0, at->window);
    MPI_Win_sync(at->window);
    MPI_Win_unlock(at->rank, at->window);
    epoch->opened += 2;
    epoch_calls += 7;
    MPI_Type_free(&apart);
    MPI_Type_free(&whole);
}

static void in_lock_all(const struct place *at, struct epoch *epoch)
{
    int one = 1, back, expected = 0;
    MPI_Win_lock_all(0, at->window);
    MPI_Accumulate(cells, 7, MPI_INT, at->to, 0, 7, MPI_INT, MPI_SUM, at->window);
    did(epoch, ACCUMULATE, 28, 1, at->to_in_world);
    MPI_Win_flush_all(at->window);
    MPI_Get_accumulate(cells, 2, MPI_INT, cells + CELLS, 2, MPI_INT, at->to, 64, 2, MPI_INT, MPI_SUM, at->window);
    did(epoch, ACCUMULATE, 8, 1, at->to_in_world);
    did(epoch, FETCH, 8, 1, at->to_in_world);
    MPI_Win_flush_local_all(at->window);
    MPI_Fetch_and_op(&one, &back, MPI_INT, at->to, 128, MPI_NO_OP, at->window); /* brings back only */
    did(epoch, FETCH, 4, 1, at->to_in_world);
    MPI_Win_flush(at->to, at->window);
    MPI_Compare_and_swap(&one, &expected, &back, MPI_INT, at->rank, 192, at->window);
    did(epoch, ACCUMULATE, 4, 1, rank);
    did(epoch, FETCH, 4, 1, rank);
    epoch->flushes += 3;
    epoch->batches += 2; /* to each target, of the size that is most frequent */
    MPI_Win_unlock_all(at->window);
    epoch->opened++;
    epoch_calls += 5;
}

static void in_starts(const struct place *at, struct epoch *epoch)
{
    MPI_Group whole, origin, target;
    int done = 0;
    MPI_Comm_group(at->comm, &whole);
    MPI_Group_incl(whole, 1, &at->from, &origin);
    MPI_Group_incl(whole, 1, &at->to, &target);
    MPI_Win_post(origin, 0, at->window);
    MPI_Win_start(target, 0, at->window);
    MPI_Put(cells, 1024, MPI_INT, at->to, 0, 1024, MPI_INT, at->window);
    did(epoch, PUT, 4096, 1, at->to_in_world);
    epoch->batches++;
    MPI_Win_complete(at->window);
    MPI_Win_wait(at->window);
    MPI_Win_post(origin, 0, at->window);
    MPI_Win_start(target, 0, at->window);
    MPI_Win_complete(at->window);
    for (; !done; epoch_calls++)
        MPI_Win_test(at->window, &done);
    epoch->posts += 2;
    epoch->opened += 2;
    epoch_calls += 7;
    MPI_Group_free(&whole);
    MPI_Group_free(&origin);
    MPI_Group_free(&target);
}

static void on_window(MPI_Comm comm, struct account *account, int fences)
{
    struct place at = {.comm = comm};
    int size, *base, *in_world = calloc((size_t)ranks, sizeof *in_world);
    MPI_Comm_rank(comm, &at.rank);
    MPI_Comm_size(comm, &size);
    MPI_Allgather(&rank, 1, MPI_INT, in_world, 1, MPI_INT, comm);
    at.to = (at.rank + 1) % size;
    at.from = (at.rank + size - 1) % size;
    at.to_in_world = in_world[at.to];
    MPI_Win_allocate(CELLS * sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &base, &at.window);
    memset(base, 0, CELLS * sizeof(int));
    in_fences(&at, &account->epochs[FENCE], fences);
    in_locks(&at, &account->epochs[LOCK]);
    MPI_Barrier(comm);
    in_lock_all(&at, &account->epochs[LOCK_ALL]);
    MPI_Barrier(comm);
    in_starts(&at, &account->epochs[START]);
    MPI_Win_free(&at.window);
    free(in_world);
}

/* Messages that are received in two steps. */
static void by_matched_probe(void)
{
    int to = (rank + 1) % ranks, out[2] = {rank, rank}, in = -1, flag = 0;
    MPI_Request sends[2], receive;
    MPI_Message message;
    for (int i = 0; i < 2; i++)
        MPI_Isend(&out[i], 1, MPI_INT, to, i, MPI_COMM_WORLD, &sends[i]);
    MPI_Mprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    MPI_Mprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Imrecv(&in, 1, MPI_INT, &message, &receive);
    for (; !flag; waits++)
        MPI_Request_get_status(receive, &flag, MPI_STATUS_IGNORE);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
    receives += 4;
    waits += 2;
}

static void print(const char *ranks_of_window, int number, const struct account *account, long long most_targets,
                  const long long pairs[KINDS])
{
    for (int kind = 0; kind < KINDS; kind++) {
        const struct epoch *epoch = &account->epochs[kind];
        printf("epoch %s %d %s %lld %lld %lld %lld %lld %lld\n", ranks_of_window, number, kinds[kind], epoch->opened,
               epoch->posts, epoch->flushes, pairs[kind], kind == LOCK_ALL ? most_targets : 1, epoch->batches);
        for (int call = 0; call < CALLS; call++) {
            const struct moved *moved = &epoch->moved[call];
            const char *comma = "";
            if (!moved->calls)
                continue;
            printf("moved %s %d %s %s %lld %lld %lld ", ranks_of_window, number, kinds[kind], calls[call], moved->calls,
                   moved->bytes, moved->not_contiguous);
            for (int class = 0; class < 65; class++) {
                if (moved->of_class[class]) {
                    printf("%s%lld=%lld", comma, class ? 1LL << (class - 1) : 0LL, moved->of_class[class]);
                    comma = ",";
                }
            }
            printf("\n");
        }
    }
}

int main(int argc, char **argv)
{
    MPI_Comm others;
    long long pairs[WINDOWS][KINDS] = {{0}}, all_pairs[WINDOWS][KINDS], timed[3], all_timed[3 * MOST_RANKS];
    char world[32], reversed[64] = "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    on_window(MPI_COMM_WORLD, &accounts[0], 3);
    on_window(MPI_COMM_WORLD, &accounts[1], 1);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 0, -rank, &others);
    if (others != MPI_COMM_NULL) {
        on_window(others, &accounts[2], 2);
        MPI_Comm_free(&others);
    }
    by_matched_probe();
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 1 && strcmp(argv[1], "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 3);

    for (int window = 0; window < WINDOWS; window++)
        for (int kind = 0; kind < KINDS; kind++)
            for (int other = 0; other < ranks; other++)
                pairs[window][kind] += accounts[window].epochs[kind].reached[other];
    MPI_Reduce(pairs, all_pairs, WINDOWS * KINDS, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(accounts, all, sizeof accounts / (sizeof(long long)), MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    timed[0] = epoch_calls, timed[1] = receives, timed[2] = waits;
    MPI_Gather(timed, 3, MPI_LONG_LONG, all_timed, 3, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        snprintf(world, sizeof world, "0-%d", ranks - 1);
        for (int other = ranks - 1; other > 0; other--)
            snprintf(reversed + strlen(reversed), sizeof reversed - strlen(reversed), "%s%d", *reversed ? "," : "",
                     other);
        print(world, 0, &all[0], 2, all_pairs[0]);
        print(world, 1, &all[1], 2, all_pairs[1]);
        print(reversed, 0, &all[2], 2, all_pairs[2]);
        for (int i = 0; i < ranks; i++)
            printf("timed %d %lld %lld %lld\n", i, all_timed[3 * i], all_timed[3 * i + 1], all_timed[3 * i + 2]);
    }
    MPI_Finalize();
    return 0;
}

/*
 * RUN:    3 to 16 ranks.
 * EXPECT: the profile's windows are what is printed, and its numbers of timed calls.
 */
