/*
 * Random programs of collectives whose blocks differ in size, which MPI does not tell all ranks, on
 * the world and parts of it: blocks of nothing, short ones, those about as long as what goes
 * together between clusters, long ones, and all of it on one rank.
 *
 *     uneven_random SEED PROGRAMS STEPS SECONDS [started]
 *
 * With `started` each is started, and completed at once, in one way or another. All data are
 * computed anew and compared. Prints "0 wrong" if they are right; after SECONDS without an end, the
 * seed of the program that hangs.
 */
#include "random_programs.h"
#ifdef LARGE_COUNTS
#include "large_counts.h"
#else
typedef int Count;
typedef int Place;
#endif

enum kind { GATHERV, SCATTERV, ALLTOALLV, ALLTOALLW, BCAST, KINDS };
enum { COMMS = 4, MOST_RANKS = 32, SPARE = 4 };
#define UNTOUCHED 0xeeeeeeeeu

struct step {
    enum kind kind;
    int root, sizes, in_place, strided;
    unsigned drawn;
};

/* A side of a call: the blocks to or from each rank, one value apart. */
struct side {
    value *data;
    size_t length;
    Count counts[MOST_RANKS];
    Place places[MOST_RANKS], bytes[MOST_RANKS];
    MPI_Datatype types[MOST_RANKS];
};

static MPI_Comm comms[COMMS];
static MPI_Datatype twice;
static int wrong, number, me, size, are_started;

static void complete(MPI_Request request)
{
    int done = (number + rank) % 2;
    if (done)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    while (!done)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

/* A collective, or the same started and completed. */
#define CALL(Name, Iname, ...)                                                                     \
    do {                                                                                           \
        MPI_Request request;                                                                       \
        if (are_started)                                                                           \
            MPI_I##Iname(__VA_ARGS__, &request), complete(request);                                \
        else                                                                                       \
            MPI_##Name(__VA_ARGS__);                                                               \
    } while (0)

/* Values of the block from one rank to another; with a root, of `from` alone. */
static int length(const struct step *s, int from, int to)
{
    static const int near[] = {127, 128, 129, 0, 2048, 1};
    unsigned long long state = s->drawn + (unsigned)from * 1009u + (unsigned)to * 9176u;
    draw(&state, 2);
    switch (s->sizes) {
    case 0: return (int)draw(&state, 4);
    case 1: return near[draw(&state, 6)];
    case 2: return draw(&state, 3) ? (int)draw(&state, 40) : 3000 + (int)draw(&state, 30000);
    case 3: return (unsigned)from == s->drawn % (unsigned)size ? (int)draw(&state, 900) : 0;
    default: return 0;
    }
}

/* Sizes in place are the same both ways. */
static int pair(const struct step *s, int from, int to)
{
    int swap = s->in_place && from > to;
    return swap ? length(s, to, from) : length(s, from, to);
}

static void lay_out(const struct step *s, struct side *side, int (*count)(const struct step *, int))
{
    size_t at = 0;
    for (int of = 0; of < size; of++) {
        int apart = s->kind == ALLTOALLW ? of % 2 : s->strided;
        side->counts[of] = count(s, of);
        at += at % 2; /* so that it is a number of elements, too */
        side->places[of] = (Place)(apart && s->kind != ALLTOALLW ? at / 2 : at);
        side->bytes[of] = (Place)(at * sizeof(value));
        side->types[of] = apart ? twice : MPI_UNSIGNED;
        at += (size_t)side->counts[of] * (apart ? 2 : 1) + 1;
    }
    side->length = at + SPARE;
    side->data = malloc(side->length * sizeof(value));
    memset(side->data, 0xee, side->length * sizeof(value));
}

static int sent_to(const struct step *s, int to) { return pair(s, me, to); }
static int taken_from(const struct step *s, int from) { return pair(s, from, me); }
static int of_rank(const struct step *s, int of) { return length(s, of, of); }

static value *at(const struct step *s, const struct side *side, int of, int i)
{
    int apart = s->kind == ALLTOALLW ? of % 2 : s->strided;
    return side->data + side->bytes[of] / (Place)sizeof(value) + i * (apart ? 2 : 1);
}

static void fill(const struct step *s, struct side *side, int of, int from, int to)
{
    for (int i = 0; i < (int)side->counts[of]; i++)
        *at(s, side, of, i) = element(number, from, to, i);
}

static void check(const struct step *s, const struct side *side, int of, int from, int to)
{
    for (int i = 0; i <= (int)side->counts[of]; i++) {
        int is_behind = i == (int)side->counts[of];
        value expected = is_behind ? UNTOUCHED : element(number, from, to, i), found = *at(s, side, of, i);
        if (found == expected || (is_behind && s->in_place))
            continue;
        if (wrong++ < 5)
            fprintf(stderr, "seed %llu, step %d (kind %d, sizes %d, in place %d), rank %d of %d: element %d "
                    "from %d to %d is %u, not %u\n", seed, number, (int)s->kind, s->sizes, s->in_place, me,
                    size, i, from, to, found, expected);
        return;
    }
}

static void exchange(const struct step *s, MPI_Comm comm)
{
    struct side sent, taken;
    MPI_Datatype type = s->strided ? twice : MPI_UNSIGNED;
    lay_out(s, &sent, sent_to);
    lay_out(s, &taken, taken_from);
    for (int other = 0; other < size; other++)
        fill(s, s->in_place ? &taken : &sent, other, me, other);
    void *from = s->in_place ? MPI_IN_PLACE : sent.data;
    if (s->kind == ALLTOALLV)
        CALL(Alltoallv, alltoallv, from, sent.counts, sent.places, type, taken.data, taken.counts, taken.places, type, comm);
    else
        CALL(Alltoallw, alltoallw, from, sent.counts, sent.bytes, sent.types, taken.data, taken.counts,
             taken.bytes, taken.types, comm);
    for (int other = 0; other < size; other++)
        check(s, &taken, other, other, me);
    free(sent.data);
    free(taken.data);
}

static void rooted(const struct step *s, MPI_Comm comm)
{
    struct side all;
    MPI_Datatype type = s->strided ? twice : MPI_UNSIGNED;
    int is_root = me == s->root, in_place = s->in_place && is_root;
    Count count = of_rank(s, me);
    value *mine = malloc((size_t)(count + 1) * sizeof(value));
    lay_out(s, &all, of_rank);
    memset(mine, 0xee, (size_t)(count + 1) * sizeof(value));
    if (s->kind == GATHERV) {
        for (int i = 0; i < (int)count; i++)
            mine[i] = element(number, me, s->root, i);
        if (in_place)
            fill(s, &all, me, me, s->root);
        /* Others have neither counts nor displacements. */
        CALL(Gatherv, gatherv, in_place ? MPI_IN_PLACE : mine, count, MPI_UNSIGNED, all.data,
             is_root ? all.counts : NULL, is_root ? all.places : NULL, type, s->root, comm);
        for (int other = 0; is_root && other < size; other++)
            check(s, &all, other, other, s->root);
    } else {
        for (int other = 0; is_root && other < size; other++)
            fill(s, &all, other, s->root, other);
        CALL(Scatterv, scatterv, all.data, is_root ? all.counts : NULL, is_root ? all.places : NULL, type,
             in_place ? MPI_IN_PLACE : mine, count, MPI_UNSIGNED, s->root, comm);
        for (int i = 0; !in_place && i <= (int)count; i++) {
            value expected = i == (int)count ? UNTOUCHED : element(number, s->root, me, i);
            if (mine[i] == expected)
                continue;
            if (wrong++ < 5)
                fprintf(stderr, "seed %llu, step %d (scatterv, sizes %d), rank %d of %d: element %d is %u, "
                        "not %u\n", seed, number, s->sizes, me, size, i, mine[i], expected);
            break;
        }
    }
    free(mine);
    free(all.data);
}

static void take(const struct step *s, MPI_Comm comm)
{
    value one = me == s->root ? s->drawn : 0;
    switch (s->kind) {
    case GATHERV: case SCATTERV: rooted(s, comm); return;
    case ALLTOALLV: case ALLTOALLW: exchange(s, comm); return;
    default:
        MPI_Bcast(&one, 1, MPI_UNSIGNED, s->root, comm);
        wrong += one != s->drawn;
    }
}

static void run_program(int steps)
{
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Comm_split(MPI_COMM_WORLD, (int)draw(&shared, 2) && rank % 3 == 0, -rank, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &comms[2]);
    comms[3] = MPI_COMM_WORLD;
    for (number = 0; number < steps; number++) {
        MPI_Comm comm = comms[draw(&shared, COMMS)];
        struct step s = {.kind = (enum kind)draw(&shared, KINDS), .sizes = (int)draw(&shared, 5)};
        s.in_place = draw(&shared, 4) == 0;
        s.strided = draw(&shared, 4) == 0;
        s.drawn = draw(&shared, 1u << 30);
        MPI_Comm_rank(comm, &me);
        MPI_Comm_size(comm, &size);
        s.root = (int)(s.drawn % (unsigned)size);
        take(&s, comm);
    }
    for (int i = 0; i < 3; i++)
        MPI_Comm_free(&comms[i]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    are_started = argc == 6 && !strcmp(argv[5], "started");
    if (argc != 5 + are_started || ranks > MOST_RANKS) {
        fprintf(stderr, "usage: uneven_random SEED PROGRAMS STEPS SECONDS [started], on up to %d ranks\n", MOST_RANKS);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Type_create_resized(MPI_UNSIGNED, 0, 2 * sizeof(value), &twice);
    MPI_Type_commit(&twice);
    unsigned long long first = strtoull(argv[1], NULL, 10);
    for (int program = 0; program < atoi(argv[2]); program++) {
        begin_program(first + (unsigned)program, (unsigned)atoi(argv[4]));
        run_program(atoi(argv[3]));
    }
    alarm(0);
    MPI_Type_free(&twice);
    int all;
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d wrong\n", all);
    MPI_Finalize();
    return 0;
}
/*
 * RUN:    any number of ranks, at least 2
 * EXPECT: "0 wrong"
 */
