/*
 * Random programs of collectives that are started and completed later, beside blocking ones and
 * messages. Legal by construction: all ranks have one list of steps, in which nothing waits for
 * what stands behind it; each takes its own steps in that order, but for neighbours that start
 * something on different communicators, and completes what it has started whenever it likes.
 *
 *     started_random SEED PROGRAMS STEPS SECONDS [persistent] [alike] [multiple]
 *
 * Persistent collectives take part where that is asked for: MPICH 4.0's own send at the second
 * start what they sent at the first. `alike`: most steps are a few collectives of two sizes on one
 * communicator, which a guard sees often enough to try plans. `multiple`: MPI is told of threads.
 *
 * All data are computed anew and compared. Prints "0 wrong" if they are right; after SECONDS
 * without an end, the seed of the program that hangs.
 */
#include "random_programs.h"

enum kind {
    BARRIER, BCAST, GATHER, GATHERV, SCATTER, SCATTERV, ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV,
    ALLTOALLW, REDUCE, ALLREDUCE, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN, KINDS,
    MESSAGE = KINDS
};
enum form { BLOCKING, STARTED, PERSISTENT, AGAIN, FORMS };

#define COMMS 5
#define MOST_RANKS 64
#define MOST_STEPS 400

struct step {
    enum kind kind;
    enum form form;
    int comm, root, count, strided, affine, to, again;
};

/* What this rank has under way for a step. */
struct work {
    MPI_Request request;
    value *sent, *taken;
    int *numbers;
    MPI_Datatype *types;
    MPI_Datatype type;
    int ranks, rank, active;
};

static struct step steps[MOST_STEPS];
static struct work works[MOST_STEPS];
static MPI_Comm comms[COMMS];
static int members[COMMS][MOST_RANKS], sizes[COMMS], places[COMMS];
static int step_count, wrong, has_persistent, are_alike, has_threads;
static MPI_Op compose;

/* x -> a x + b, then the next one: associative, not commutative. */
static void compose_pairs(void *left, void *right, int *count, MPI_Datatype *type)
{
    value *l = left, *r = right;
    (void)type;
    for (int i = 0; i < *count; i++, l += 2, r += 2) {
        value a = l[0] * r[0], b = l[0] * r[1] + l[1];
        r[0] = a, r[1] = b;
    }
}

static int reduces(enum kind kind) { return kind >= REDUCE && kind < KINDS; }

#include "started_random/data.h"
#include "started_random/steps.h"
#include "started_random/program.h"

static void make_comms(void)
{
    int reversed = ranks - 1 - rank, world[MOST_RANKS];
    for (int i = 0; i < ranks; i++)
        world[i] = i;
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, reversed, &comms[2]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[3]);
    MPI_Comm_split(MPI_COMM_WORLD, rank < (ranks + 1) / 2 ? 0 : MPI_UNDEFINED, rank, &comms[4]);
    MPI_Group all, group;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    for (int i = 0; i < COMMS; i++) {
        if (comms[i] == MPI_COMM_NULL)
            continue;
        MPI_Comm_size(comms[i], &sizes[i]);
        MPI_Comm_rank(comms[i], &places[i]);
        MPI_Comm_group(comms[i], &group);
        MPI_Group_translate_ranks(group, sizes[i], world, all, members[i]);
        MPI_Group_free(&group);
    }
    MPI_Group_free(&all);
}

static const struct { const char *name; int *is_set; } options[] = {
    {"persistent", &has_persistent}, {"alike", &are_alike}, {"multiple", &has_threads},
};

int main(int argc, char **argv)
{
    unsigned long long first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int programs = argc > 2 ? atoi(argv[2]) : 20, sum = 0, provided;
    step_count = argc > 3 ? atoi(argv[3]) : 60;
    if (step_count > MOST_STEPS)
        step_count = MOST_STEPS;
    for (int at = 5; at < argc; at++)
        for (size_t i = 0; i < sizeof options / sizeof *options; i++)
            *options[i].is_set |= strcmp(argv[at], options[i].name) == 0;
    MPI_Init_thread(&argc, &argv, has_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Op_create(compose_pairs, 0, &compose);
    for (int program = 0; program < programs; program++) {
        begin_program(first + (unsigned)program, argc > 4 ? (unsigned)atoi(argv[4]) : 60);
        make_comms();
        plan_program();
        run_program();
        /* Nothing waits for what was started here: communicators may end. */
        for (int i = 1; i < COMMS; i++)
            if (comms[i] != MPI_COMM_NULL)
                MPI_Comm_free(&comms[i]);
    }
    alarm(0);
    MPI_Op_free(&compose);
    MPI_Reduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d wrong\n", sum);
    MPI_Finalize();
    return 0;
}
