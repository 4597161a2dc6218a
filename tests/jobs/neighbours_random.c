/*
 * Random programs of neighbourhood collectives, blocking, started and persistent, on random
 * topologies of every kind: grids, graphs, distributed graphs, with repeated edges, edges to the
 * same rank, ranks without edges, and borders.
 *
 *     neighbours_random SEED PROGRAMS STEPS SECONDS [FLAGS]
 *
 * Flags: p, with persistent collectives (MPICH 4.0's own send at the second start what they sent at
 * the first); r, with repeated edges and rings of one and two ranks (whose blocks some MPIs take for
 * each other, or wait for ever); f, communicators are freed while something is under way (in which
 * Open MPI's own crash).
 *
 * All data are computed anew and compared, as MPI defines them: the k-th edge to a rank is the k-th
 * from it, but in a grid what goes down comes from above. Prints "0 wrong" if they are right; after
 * SECONDS without an end, the seed of the program that hangs.
 */
#include "random_programs.h"

enum kind { ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW, KINDS };
enum form { BLOCKING, STARTED, PERSISTENT, AGAIN };
enum { COMMS = 6, MOST_RANKS = 64, MOST_EDGES = 40, MOST_STEPS = 200, SPARE = 8 };
#define UNTOUCHED 0xeeeeeeeeu

struct around {
    int in, out, source[MOST_EDGES], target[MOST_EDGES];
};

struct comm {
    MPI_Comm handle;
    int size, rank, is_grid;
    struct around all[MOST_RANKS];
    /* The block of its source's that each block comes from. */
    int from_block[MOST_EDGES];
};

struct step {
    enum kind kind;
    enum form form;
    int comm, count, strided, again;
};

struct work {
    MPI_Request request;
    value *sent, *taken;
    size_t length;
    int active, cycle, keeps_type;
    MPI_Datatype type;
    int numbers[4][MOST_EDGES];
    MPI_Aint places[2][MOST_EDGES];
    MPI_Datatype types[MOST_EDGES];
};

static struct comm comms[COMMS];
static struct step steps[MOST_STEPS];
static struct work works[MOST_STEPS];
static int step_count, wrong, with_persistent, with_repeated, with_frees;

static int gathers(const struct step *s) { return s->kind == ALLGATHER || s->kind == ALLGATHERV; }

/* Elements of a block of a rank's. */
static int length(const struct step *s, int from, int block)
{
    switch (s->kind) {
    case ALLGATHERV: return (s->count + 3 * from) % (s->count + 2);
    case ALLTOALLV: case ALLTOALLW: return (s->count + 3 * from + 7 * block) % (s->count + 2);
    default: return s->count;
    }
}

static int length_taken(const struct step *s, const struct comm *c, int at)
{
    int source = c->all[c->rank].source[at];
    return source == MPI_PROC_NULL ? s->count : length(s, source, c->from_block[at]);
}

/* Values from one element to the next, in the block at this place. */
static int stride(const struct step *s, int at)
{
    return s->kind == ALLTOALLW ? 1 + at % 2 : s->strided ? 2 : 1;
}

/* A block begins a value behind the one before where MPI lets it. */
static int gap(const struct step *s) { return s->kind != ALLGATHER && s->kind != ALLTOALL; }

static size_t place(const struct step *s, const struct comm *c, int at, int takes)
{
    size_t where = 0;
    for (int block = 0; block < at; block++) {
        int count = takes ? length_taken(s, c, block) : length(s, c->rank, block);
        where += (size_t)(count + gap(s)) * (size_t)stride(s, s->kind == ALLTOALLW ? block : 0);
    }
    return where;
}

static void fill(int number)
{
    const struct step *s = &steps[number];
    struct work *w = &works[number];
    const struct comm *c = &comms[s->comm];
    int data = number + 1000 * w->cycle, blocks = gathers(s) ? 1 : c->all[c->rank].out;
    memset(w->taken, 0xee, w->length * sizeof(value));
    for (int block = 0; block < blocks; block++) {
        value *at = w->sent + (gathers(s) ? 0 : place(s, c, block, 0));
        int count = length(s, c->rank, block);
        for (int i = 0; i < count; i++)
            at[i * stride(s, block)] = element(data, c->rank, block, i);
    }
}

static void check(int number)
{
    const struct step *s = &steps[number];
    struct work *w = &works[number];
    const struct comm *c = &comms[s->comm];
    const struct around *a = &c->all[c->rank];
    int data = number + 1000 * w->cycle;
    for (int at = 0; at < a->in; at++) {
        const value *block = w->taken + place(s, c, at, 1);
        int count = length_taken(s, c, at), x = stride(s, at), source = a->source[at];
        for (int i = 0; i < count; i++) {
            value expected = source == MPI_PROC_NULL ? UNTOUCHED
                             : element(data, source, gathers(s) ? 0 : c->from_block[at], i);
            int apart = x == 2 && block[i * x + 1] != UNTOUCHED;
            if (block[i * x] == expected && !apart)
                continue;
            if (wrong++ < 5)
                fprintf(stderr, "seed %llu, step %d (kind %d, form %d, communicator %d), rank %d of %d: "
                        "element %d of block %d from %d is %u, not %u\n", seed, number, s->kind, s->form,
                        s->comm, c->rank, c->size, i, at, source, block[i * x], expected);
            return;
        }
    }
}

#define CALL(name, iname, ...)                                                                       \
    (s->form == BLOCKING  ? MPI_Neighbor_##name(__VA_ARGS__, c->handle)                              \
     : s->form == STARTED ? MPI_Ineighbor_##name(__VA_ARGS__, c->handle, &w->request)                \
                          : INIT(Neighbor_##name)(__VA_ARGS__, c->handle, MPI_INFO_NULL, &w->request))

static void begin(int number)
{
    const struct step *s = &steps[number];
    struct work *w = &works[number];
    const struct comm *c = &comms[s->comm];
    const struct around *a = &c->all[c->rank];
    MPI_Datatype strided, type = MPI_UNSIGNED;
    MPI_Type_create_resized(MPI_UNSIGNED, 0, 2 * sizeof(value), &strided);
    MPI_Type_commit(&strided);
    if (s->strided && s->kind != ALLTOALLW)
        type = strided;
    w->type = strided;
    w->request = MPI_REQUEST_NULL;
    size_t out = place(s, c, a->out, 0) + (size_t)(s->count + 2) * 2 + SPARE;
    w->length = place(s, c, a->in, 1) + SPARE;
    w->sent = malloc(out * sizeof(value));
    w->taken = malloc(w->length * sizeof(value));
    memset(w->sent, 0x55, out * sizeof(value));
    for (int side = 0; side < 2; side++)
        for (int at = 0; at < (side ? a->in : a->out); at++) {
            size_t where = place(s, c, at, side);
            w->numbers[side][at] = side ? length_taken(s, c, at) : length(s, c->rank, at);
            w->numbers[2 + side][at] = (int)(where / (size_t)stride(s, 0));
            w->places[side][at] = (MPI_Aint)(where * sizeof(value));
        }
    for (int at = 0; at < MOST_EDGES; at++)
        w->types[at] = at % 2 ? strided : MPI_UNSIGNED;
    int *sent = w->numbers[0], *taken = w->numbers[1], *from = w->numbers[2], *into = w->numbers[3];
    fill(number);
    switch (s->kind) {
    case ALLGATHER: CALL(allgather, allgather, w->sent, s->count, type, w->taken, s->count, type); break;
    case ALLGATHERV: CALL(allgatherv, allgatherv, w->sent, length(s, c->rank, 0), type, w->taken, taken, into, type); break;
    case ALLTOALL: CALL(alltoall, alltoall, w->sent, s->count, type, w->taken, s->count, type); break;
    case ALLTOALLV: CALL(alltoallv, alltoallv, w->sent, sent, from, type, w->taken, taken, into, type); break;
    default: CALL(alltoallw, alltoallw, w->sent, sent, w->places[0], w->types, w->taken, taken, w->places[1], w->types); break;
    }
    /* Open MPI's own persistent collectives crash without the type, and MPICH 4.0's started ones with
     * a type for each neighbour leave blocks out. */
    w->keeps_type = s->form == PERSISTENT || (s->kind == ALLTOALLW && !with_frees);
    if (!w->keeps_type)
        MPI_Type_free(&w->type);
    if (s->form == PERSISTENT)
        MPI_Start(&w->request);
    w->active = s->form != BLOCKING;
    if (s->form == BLOCKING)
        check(number);
}

static void completed(int number)
{
    works[number].active = 0;
    check(number);
}

/* Completes some of what is under way; all of it where `all` says so. */
static void complete(int upto, int all)
{
    MPI_Request list[MOST_STEPS];
    int whose[MOST_STEPS], count = 0, index, flag;
    for (int number = 0; number < upto; number++)
        if (works[number].active && (all || draw(&own, 3) == 0)) {
            whose[count] = number;
            list[count++] = works[number].request;
        }
    if (count == 0)
        return;
    switch (all ? 3u : draw(&own, 4)) {
    case 0:
        MPI_Test(&list[0], &flag, MPI_STATUS_IGNORE);
        works[whose[0]].request = list[0];
        if (flag)
            completed(whose[0]);
        return;
    case 1:
        MPI_Waitany(count, list, &index, MPI_STATUS_IGNORE);
        works[whose[index]].request = list[index];
        completed(whose[index]);
        return;
    case 2:
        MPI_Testall(count, list, &flag, MPI_STATUSES_IGNORE);
        break;
    default:
        MPI_Waitall(count, list, MPI_STATUSES_IGNORE);
        flag = 1;
    }
    for (int i = 0; flag && i < count; i++) {
        works[whose[i]].request = list[i];
        completed(whose[i]);
    }
}

static void take(int number)
{
    const struct step *s = &steps[number];
    if (comms[s->comm].handle == MPI_COMM_NULL)
        return;
    if (s->form != AGAIN) {
        begin(number);
        return;
    }
    struct work *w = &works[s->again];
    if (w->active) {
        MPI_Wait(&w->request, MPI_STATUS_IGNORE);
        completed(s->again);
    }
    w->cycle++;
    fill(s->again);
    MPI_Start(&w->request);
    w->active = 1;
}

/* The steps of a program: the same on all ranks. */
static void plan_program(void)
{
    int persistent[MOST_STEPS], made = 0;
    for (int number = 0; number < step_count; number++) {
        struct step *s = &steps[number];
        memset(s, 0, sizeof *s);
        s->comm = (int)draw(&shared, COMMS);
        s->kind = (enum kind)draw(&shared, KINDS);
        unsigned form = draw(&shared, 8);
        s->form = form < 3 ? BLOCKING : form < 6 || !with_persistent ? STARTED : PERSISTENT;
        unsigned size = draw(&shared, 16);
        s->count = size == 0 ? 0 : size == 1 ? 20000 : size < 4 ? 2000 : 1 + (int)draw(&shared, 30);
        s->strided = draw(&shared, 3) == 0;
        if (s->form == PERSISTENT && made > 0 && draw(&shared, 2)) {
            s->form = AGAIN;
            s->again = persistent[draw(&shared, (unsigned)made)];
            s->comm = steps[s->again].comm;
        } else if (s->form == PERSISTENT) {
            persistent[made++] = number;
        }
    }
}

static void free_comms(void)
{
    for (int i = 0; i < COMMS; i++)
        if (comms[i].handle != MPI_COMM_NULL)
            MPI_Comm_free(&comms[i].handle);
}

static void run_program(void)
{
    memset(works, 0, sizeof works);
    for (int number = 0; number < step_count; number++) {
        take(number);
        if (draw(&own, 3) == 0)
            complete(number, 0);
    }
    /* Nothing is started any more; what is under way goes on. */
    if (with_frees)
        free_comms();
    complete(step_count, 1);
    for (int number = 0; number < step_count; number++) {
        struct work *w = &works[number];
        if (w->sent != NULL && steps[number].form == PERSISTENT)
            MPI_Request_free(&w->request);
        if (w->keeps_type)
            MPI_Type_free(&w->type);
        free(w->sent), free(w->taken);
    }
    if (!with_frees)
        free_comms();
}

/* Who is around this rank, as MPI says it; then, around all. */
static void look_around(struct comm *c)
{
    struct around mine;
    int kind, count, weighted, weights[2][MOST_EDGES];
    memset(&mine, 0, sizeof mine);
    if (c->handle == MPI_COMM_NULL)
        return;
    MPI_Comm_size(c->handle, &c->size);
    MPI_Comm_rank(c->handle, &c->rank);
    MPI_Topo_test(c->handle, &kind);
    c->is_grid = kind == MPI_CART;
    if (kind == MPI_CART) {
        MPI_Cartdim_get(c->handle, &count);
        mine.in = mine.out = 2 * count;
        for (int i = 0; i < count; i++)
            MPI_Cart_shift(c->handle, i, 1, &mine.source[2 * i], &mine.source[2 * i + 1]);
        memcpy(mine.target, mine.source, sizeof mine.target);
    } else if (kind == MPI_GRAPH) {
        MPI_Graph_neighbors_count(c->handle, c->rank, &count);
        mine.in = mine.out = count;
        MPI_Graph_neighbors(c->handle, c->rank, count, mine.source);
        memcpy(mine.target, mine.source, sizeof mine.target);
    } else {
        MPI_Dist_graph_neighbors_count(c->handle, &mine.in, &mine.out, &weighted);
        MPI_Dist_graph_neighbors(c->handle, mine.in, mine.source, weights[0], mine.out, mine.target, weights[1]);
    }
    MPI_Allgather(&mine, (int)sizeof mine, MPI_BYTE, c->all, (int)sizeof mine, MPI_BYTE, c->handle);
    for (int at = 0; at < mine.in; at++) {
        int source = mine.source[at], before = 0;
        if (c->is_grid || source == MPI_PROC_NULL) {
            c->from_block[at] = at ^ 1;
            continue;
        }
        for (int i = 0; i < at; i++)
            before += mine.source[i] == source;
        const struct around *from = &c->all[source];
        for (int block = 0; block < from->out; block++)
            if (from->target[block] == c->rank && before-- == 0)
                c->from_block[at] = block;
    }
}

/* A grid of some ranks of the world. */
static MPI_Comm make_grid(void)
{
    int dims[3], rings[3], count = 1 + (int)draw(&shared, 3), left = ranks, all = 1;
    MPI_Comm made;
    for (int i = 0; i < count; i++) {
        dims[i] = 1 + (int)draw(&shared, (unsigned)(i + 1 == count ? left : left < 4 ? left : 4));
        if (i + 1 == count && draw(&shared, 2))
            dims[i] = left;
        left /= dims[i];
        rings[i] = (int)draw(&shared, 2) && (with_repeated || dims[i] > 2);
        all *= dims[i];
    }
    /* One rank alone is left to the MPI. */
    if (all == 1)
        dims[0] = ranks;
    MPI_Cart_create(MPI_COMM_WORLD, count, dims, rings, 0, &made);
    return made;
}

/* Edges between any two ranks, the same list on all; both ways where that is asked for. */
static int draw_edges(int edges[][2], int symmetric)
{
    int out[MOST_RANKS] = {0}, in[MOST_RANKS] = {0}, count = 0, wanted = (int)draw(&shared, 4 * (unsigned)ranks + 1);
    while (wanted-- > 0) {
        int from = (int)draw(&shared, (unsigned)ranks), to = (int)draw(&shared, (unsigned)ranks);
        if (count > 0 && draw(&shared, 6) == 0)
            from = edges[count - 1][0], to = edges[count - 1][1];
        int is_known = 0;
        for (int i = 0; i < count; i++)
            is_known |= edges[i][0] == from && edges[i][1] == to;
        if (is_known && !with_repeated)
            continue;
        if (out[from] > MOST_EDGES - 4 || in[to] > MOST_EDGES - 4 || out[to] > MOST_EDGES - 4 || in[from] > MOST_EDGES - 4)
            continue;
        for (int back = 0; back <= (symmetric && from != to); back++) {
            edges[count][0] = back ? to : from, edges[count][1] = back ? from : to;
            out[edges[count][0]]++, in[edges[count++][1]]++;
        }
    }
    return count;
}

static MPI_Comm make_graph(int kind)
{
    static int edges[8 * MOST_RANKS + 8][2], flat[8 * MOST_RANKS + 8];
    int count = draw_edges(edges, kind == 0), index[MOST_RANKS], at = 0, in = 0, out = 0;
    int source[MOST_EDGES], target[MOST_EDGES], weights[MOST_EDGES];
    MPI_Comm made;
    for (int i = 0; i < MOST_EDGES; i++)
        weights[i] = i;
    for (int i = 0; i < count; i++) {
        if (edges[i][0] == rank)
            target[out++] = edges[i][1];
        if (edges[i][1] == rank)
            source[in++] = edges[i][0];
    }
    if (kind == 0) {
        for (int of = 0; of < ranks; of++) {
            for (int i = 0; i < count; i++)
                if (edges[i][0] == of)
                    flat[at++] = edges[i][1];
            index[of] = at;
        }
        MPI_Graph_create(MPI_COMM_WORLD, ranks, index, flat, 0, &made);
    } else if (kind == 1) {
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, source, weights, out, target, weights, MPI_INFO_NULL, 0, &made);
    } else {
        int degree = out, me = rank;
        MPI_Dist_graph_create(MPI_COMM_WORLD, out > 0, &me, &degree, target, weights, MPI_INFO_NULL, 0, &made);
    }
    return made;
}

static void make_comms(void)
{
    comms[0].handle = make_grid();
    comms[1].handle = make_grid();
    comms[2].handle = make_graph(0);
    comms[3].handle = make_graph(1);
    comms[4].handle = make_graph(2);
    MPI_Comm_dup(comms[3].handle, &comms[5].handle);
    for (int i = 0; i < COMMS; i++)
        look_around(&comms[i]);
}

int main(int argc, char **argv)
{
    unsigned long long first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int programs = argc > 2 ? atoi(argv[2]) : 20, sum = 0;
    const char *flags = argc > 5 ? argv[5] : "";
    step_count = argc > 3 ? atoi(argv[3]) : 40;
    if (step_count > MOST_STEPS)
        step_count = MOST_STEPS;
    with_persistent = strchr(flags, 'p') != NULL;
    with_repeated = strchr(flags, 'r') != NULL;
    with_frees = strchr(flags, 'f') != NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int program = 0; program < programs; program++) {
        begin_program(first + (unsigned)program, argc > 4 ? (unsigned)atoi(argv[4]) : 60);
        make_comms();
        plan_program();
        run_program();
    }
    alarm(0);
    MPI_Reduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d wrong\n", sum);
    MPI_Finalize();
    return 0;
}
