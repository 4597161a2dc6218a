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

/* Elements of the block from one rank to another. */
static int length(const struct step *s, int from, int to)
{
    int count = s->count;
    switch (s->kind) {
    case GATHERV: case ALLGATHERV: return (count + 3 * from) % (count + 2);
    case SCATTERV: case REDUCE_SCATTER: return (count + 5 * to) % (count + 2);
    case ALLTOALLV: case ALLTOALLW: return (count + 3 * from + 7 * to) % (count + 2);
    default: return count;
    }
}

static void expect(int number, const value *found, int stride, const value *expected, int count)
{
    for (int i = 0; i < count; i++)
        if (found[i * stride] != expected[i]) {
            if (wrong++ < 5)
                fprintf(stderr, "seed %llu, step %d (kind %d, form %d), rank %d: element %d is %u, not %u\n",
                        seed, number, steps[number].kind, steps[number].form, rank, i,
                        found[i * stride], expected[i]);
            return;
        }
}

/* Where block `of` starts, of those that a rank has: one element apart where MPI lets them be. */
static int place_of(const struct step *s, int me, int of, int receives)
{
    int place = 0, gap;
    gap = s->kind == GATHERV || s->kind == SCATTERV || s->kind == ALLGATHERV || s->kind == ALLTOALLV
          || s->kind == ALLTOALLW;
    for (int other = 0; other < of; other++)
        place += (receives ? length(s, other, me) : length(s, me, other)) + gap;
    return place;
}

/* The blocks that a rank sends and takes: to or from all, or one. */
static int sends_all(const struct step *s, int me)
{
    switch (s->kind) {
    case SCATTER: case SCATTERV: return me == s->root;
    case ALLTOALL: case ALLTOALLV: case ALLTOALLW: return 1;
    case REDUCE_SCATTER: case REDUCE_SCATTER_BLOCK: return 1;
    default: return 0;
    }
}

static int takes_all(const struct step *s, int me)
{
    switch (s->kind) {
    case GATHER: case GATHERV: return me == s->root;
    case ALLGATHER: case ALLGATHERV: case ALLTOALL: case ALLTOALLV: case ALLTOALLW: return 1;
    default: return 0;
    }
}

static int width(const struct step *s) { return s->affine ? 2 : 1; }
static int stride(const struct step *s) { return s->strided ? 2 : 1; }

static value *room(size_t elements)
{
    value *made = malloc((elements + 1) * sizeof *made);
    memset(made, 0xee, (elements + 1) * sizeof *made);
    return made;
}

/* Fills what is sent; a restart has other data. */
static void fill(int number, int cycle)
{
    const struct step *s = &steps[number];
    struct work *w = &works[number];
    int me = w->rank, data = number + 1000 * cycle, all = sends_all(s, me), x = stride(s);
    value *at = w->sent;
    if (s->kind == BCAST) {
        for (int i = 0; i < s->count; i++)
            w->taken[i * x] = me == s->root ? element(data, s->root, 0, i) : 0xeeeeeeee;
        return;
    }
    for (int to = 0; to < (all ? w->ranks : 1); to++) {
        int target = all ? to : 0;
        int count = all ? length(s, me, to) : length(s, me, s->root);
        if (reduces(s->kind)) {
            for (int i = 0; i < count * width(s); i++)
                *at++ = element(data, me, target, i);
            continue;
        }
        value *block = w->sent + (all ? place_of(s, me, to, 0) * x : 0);
        for (int i = 0; i < count; i++)
            block[i * x] = element(data, me, target, i);
    }
}

static value *combined(int number, int cycle, int first, int last, int to, int count)
{
    const struct step *s = &steps[number];
    int data = number + 1000 * cycle;
    value *sum = room((size_t)count * 2);
    for (int i = 0; i < count; i++)
        for (int from = first; from < last; from++) {
            if (!s->affine) {
                sum[i] = element(data, from, to, i) + (from == first ? 0 : sum[i]);
                continue;
            }
            value a = element(data, from, to, 2 * i), b = element(data, from, to, 2 * i + 1);
            if (from == first) {
                sum[2 * i] = a, sum[2 * i + 1] = b;
            } else {
                value l = sum[2 * i];
                sum[2 * i] = l * a;
                sum[2 * i + 1] = l * b + sum[2 * i + 1];
            }
        }
    return sum;
}

static void check(int number, int cycle)
{
    const struct step *s = &steps[number];
    struct work *w = &works[number];
    int me = w->rank, data = number + 1000 * cycle, x = stride(s);
    value *expected;
    if (s->kind == BARRIER)
        return;
    if (reduces(s->kind)) {
        int first = 0, last = w->ranks, to = 0, count = s->count;
        if (s->kind == REDUCE && me != s->root)
            return;
        if (s->kind == REDUCE_SCATTER || s->kind == REDUCE_SCATTER_BLOCK)
            to = me, count = length(s, 0, me);
        if (s->kind == SCAN)
            last = me + 1;
        if (s->kind == EXSCAN)
            last = me;
        if (last == 0)
            return;
        expected = combined(number, cycle, first, last, to, count);
        expect(number, w->taken, 1, expected, count * width(s));
        free(expected);
        return;
    }
    int all = takes_all(s, me);
    if ((s->kind == GATHER || s->kind == GATHERV) && !all)
        return;
    for (int from = 0; from < (all ? w->ranks : 1); from++) {
        int to = s->kind == SCATTER || s->kind == SCATTERV || (s->kind >= ALLTOALL && s->kind <= ALLTOALLW) ? me : 0;
        int source = all ? from : s->root, count = length(s, source, me);
        const value *block = w->taken + (all ? place_of(s, me, from, 1) * x : 0);
        expected = room((size_t)count);
        for (int i = 0; i < count; i++)
            expected[i] = element(data, source, to, i);
        expect(number, block, x, expected, count);
        free(expected);
    }
}

#define CALL(Name, Iname, ...)                                                                     \
    (form == BLOCKING  ? MPI_##Name(__VA_ARGS__, comm)                                             \
     : form == STARTED ? MPI_I##Iname(__VA_ARGS__, comm, request)                                  \
                       : INIT(Name)(__VA_ARGS__, comm, MPI_INFO_NULL, request))

static void begin(int number)
{
    const struct step *s = &steps[number];
    struct work *w = &works[number];
    enum form form = s->form;
    MPI_Comm comm = comms[s->comm];
    MPI_Request *request = &w->request;
    int me = w->rank = places[s->comm], n = w->ranks = sizes[s->comm], x = stride(s);
    int all = sends_all(s, me), count = s->count, own_length = length(s, me, s->root);
    MPI_Datatype type = MPI_UNSIGNED;
    MPI_Op op = s->affine ? compose : MPI_SUM;
    w->request = MPI_REQUEST_NULL;
    if (s->strided) {
        MPI_Type_create_resized(MPI_UNSIGNED, 0, 2 * sizeof(value), &type);
        MPI_Type_commit(&type);
    }
    if (s->affine) {
        MPI_Type_contiguous(2, MPI_UNSIGNED, &type);
        MPI_Type_commit(&type);
    }
    w->sent = room((size_t)(place_of(s, me, n, 0) + (all ? 0 : own_length)) * 2 + 2);
    w->taken = room((size_t)(place_of(s, me, n, 1) + count + own_length) * 2 + 2);
    int *numbers = w->numbers = malloc(4 * (size_t)n * sizeof *numbers);
    MPI_Datatype *types = w->types = malloc((size_t)n * sizeof *types);
    int *given = numbers, *starts = numbers + n, *taken = numbers + 2 * n, *places_taken = numbers + 3 * n;
    int bytes = s->kind == ALLTOALLW ? (int)sizeof(value) * x : 1;
    for (int other = 0; other < n; other++) {
        given[other] = length(s, me, other), starts[other] = place_of(s, me, other, 0) * bytes;
        taken[other] = length(s, other, me), places_taken[other] = place_of(s, me, other, 1) * bytes;
        types[other] = type;
    }
    if (s->kind == SCATTERV && me != s->root)
        own_length = length(s, s->root, me);
    fill(number, 0);
    switch (s->kind) {
    case BARRIER:
        if (form == BLOCKING)
            MPI_Barrier(comm);
        else if (form == STARTED)
            MPI_Ibarrier(comm, request);
        else
            INIT(Barrier)(comm, MPI_INFO_NULL, request);
        break;
    case BCAST: CALL(Bcast, bcast, w->taken, count, type, s->root); break;
    case GATHER: CALL(Gather, gather, w->sent, count, type, w->taken, count, type, s->root); break;
    case GATHERV: CALL(Gatherv, gatherv, w->sent, own_length, type, w->taken, taken, places_taken, type, s->root); break;
    case SCATTER: CALL(Scatter, scatter, w->sent, count, type, w->taken, count, type, s->root); break;
    case SCATTERV: CALL(Scatterv, scatterv, w->sent, given, starts, type, w->taken, length(s, s->root, me), type, s->root); break;
    case ALLGATHER: CALL(Allgather, allgather, w->sent, count, type, w->taken, count, type); break;
    case ALLGATHERV: CALL(Allgatherv, allgatherv, w->sent, own_length, type, w->taken, taken, places_taken, type); break;
    case ALLTOALL: CALL(Alltoall, alltoall, w->sent, count, type, w->taken, count, type); break;
    case ALLTOALLV: CALL(Alltoallv, alltoallv, w->sent, given, starts, type, w->taken, taken, places_taken, type); break;
    case ALLTOALLW: CALL(Alltoallw, alltoallw, w->sent, given, starts, types, w->taken, taken, places_taken, types); break;
    case REDUCE: CALL(Reduce, reduce, w->sent, w->taken, count, type, op, s->root); break;
    case ALLREDUCE: CALL(Allreduce, allreduce, w->sent, w->taken, count, type, op); break;
    case REDUCE_SCATTER: CALL(Reduce_scatter, reduce_scatter, w->sent, w->taken, given, type, op); break;
    case REDUCE_SCATTER_BLOCK: CALL(Reduce_scatter_block, reduce_scatter_block, w->sent, w->taken, count, type, op); break;
    case SCAN: CALL(Scan, scan, w->sent, w->taken, count, type, op); break;
    case EXSCAN: CALL(Exscan, exscan, w->sent, w->taken, count, type, op); break;
    default: break;
    }
    /* Nobody needs the handle of a type any more, but for persistent requests, which Open MPI's own
     * crash without. */
    w->type = MPI_UNSIGNED;
    if (form == PERSISTENT)
        w->type = type;
    else if (type != MPI_UNSIGNED)
        MPI_Type_free(&type);
    if (form == PERSISTENT)
        MPI_Start(request);
    w->active = form != BLOCKING;
    if (form == BLOCKING)
        check(number, 0);
}

static void release(int number)
{
    struct work *w = &works[number];
    free(w->sent), free(w->taken), free(w->numbers), free(w->types);
    w->sent = w->taken = NULL, w->numbers = NULL, w->types = NULL;
}

static int cycles[MOST_STEPS];

/* Something has completed here. */
static void completed(int number)
{
    struct work *w = &works[number];
    w->active = 0;
    if (steps[number].kind == MESSAGE) {
        const struct step *s = &steps[number];
        if (rank == s->to)
            for (int i = 0; i < s->count; i++)
                if (w->taken[i] != element(number, s->root, s->to, i)) {
                    wrong++;
                    break;
                }
        return;
    }
    check(number, cycles[number]);
}

static void message(int number)
{
    const struct step *s = &steps[number];
    struct work *w = &works[number];
    if (rank != s->root && rank != s->to)
        return;
    w->sent = room((size_t)s->count), w->taken = room((size_t)s->count);
    w->request = MPI_REQUEST_NULL;
    for (int i = 0; i < s->count; i++)
        w->sent[i] = element(number, s->root, s->to, i);
    if (s->form == STARTED) {
        if (rank == s->root)
            MPI_Isend(w->sent, s->count, MPI_UNSIGNED, s->to, number, MPI_COMM_WORLD, &w->request);
        else
            MPI_Irecv(w->taken, s->count, MPI_UNSIGNED, s->root, number, MPI_COMM_WORLD, &w->request);
        w->active = 1;
        return;
    }
    if (rank == s->root)
        MPI_Send(w->sent, s->count, MPI_UNSIGNED, s->to, number, MPI_COMM_WORLD);
    else
        MPI_Recv(w->taken, s->count, MPI_UNSIGNED, s->root, number, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    completed(number);
}

/* Completes some of what is under way, in one way or another; all of it where `all` says so. */
static void complete_some(int upto, int all)
{
    MPI_Request list[MOST_STEPS];
    int whose[MOST_STEPS], count = 0;
    for (int number = 0; number < upto; number++)
        if (works[number].active && (all || draw(&own, 3) == 0)) {
            whose[count] = number;
            list[count++] = works[number].request;
        }
    if (count == 0)
        return;
    int done = 0, flag = 0, index, indices[MOST_STEPS];
    unsigned way = all ? draw(&own, 4) : draw(&own, 7);
    /* MPICH 4.0's own says that persistent ones have failed, and names none. */
    for (int i = 0; way == 4 && i < count; i++)
        if (steps[whose[i]].form == PERSISTENT)
            way = 5;
    switch (way) {
    case 0:
        MPI_Waitall(count, list, MPI_STATUSES_IGNORE);
        for (int i = 0; i < count; i++)
            works[whose[i]].request = list[i], completed(whose[i]);
        return;
    case 1:
        for (int i = 0; i < count; i++) {
            MPI_Waitany(count, list, &index, MPI_STATUS_IGNORE);
            works[whose[index]].request = list[index], completed(whose[index]);
            list[index] = MPI_REQUEST_NULL;
        }
        return;
    case 2:
        while (done < count) {
            int some;
            MPI_Waitsome(count, list, &some, indices, MPI_STATUSES_IGNORE);
            for (int i = 0; i < some; i++) {
                int at = indices[i];
                works[whose[at]].request = list[at], completed(whose[at]);
                list[at] = MPI_REQUEST_NULL;
            }
            done += some;
        }
        return;
    case 3:
        for (int i = 0; i < count; i++) {
            MPI_Status status;
            flag = 0;
            if (draw(&own, 2))
                while (!flag)
                    MPI_Request_get_status(list[i], &flag, &status);
            MPI_Wait(&list[i], &status);
            works[whose[i]].request = list[i], completed(whose[i]);
        }
        return;
    case 4:
        MPI_Testall(count, list, &flag, MPI_STATUSES_IGNORE);
        for (int i = 0; flag && i < count; i++)
            works[whose[i]].request = list[i], completed(whose[i]);
        return;
    case 5:
        MPI_Testany(count, list, &index, &flag, MPI_STATUS_IGNORE);
        if (flag && index != MPI_UNDEFINED)
            works[whose[index]].request = list[index], completed(whose[index]);
        return;
    default:
        MPI_Test(&list[0], &flag, MPI_STATUS_IGNORE);
        if (flag)
            works[whose[0]].request = list[0], completed(whose[0]);
        return;
    }
}

static void complete_one(int number)
{
    if (works[number].active) {
        MPI_Wait(&works[number].request, MPI_STATUS_IGNORE);
        completed(number);
    }
}

static void take(int number)
{
    const struct step *s = &steps[number];
    if (s->kind == MESSAGE) {
        message(number);
    } else if (comms[s->comm] == MPI_COMM_NULL) {
        return;
    } else if (s->form == AGAIN) {
        complete_one(s->again);
        cycles[s->again]++;
        fill(s->again, cycles[s->again]);
        if (draw(&own, 2))
            MPI_Startall(1, &works[s->again].request);
        else
            MPI_Start(&works[s->again].request);
        works[s->again].active = 1;
    } else {
        begin(number);
    }
}

static int only_starts(const struct step *s) { return s->form == STARTED; }

/* The steps of a program: the same on all ranks. */
static void plan_program(void)
{
    int persistent[MOST_STEPS], made = 0;
    for (int number = 0; number < step_count; number++) {
        struct step *s = &steps[number];
        memset(s, 0, sizeof *s);
        s->comm = (int)draw(&shared, COMMS);
        s->kind = draw(&shared, 5) == 0 ? MESSAGE : (enum kind)draw(&shared, KINDS);
        unsigned form = draw(&shared, 8);
        s->form = form < 2 ? BLOCKING : form < 6 || !has_persistent ? STARTED : PERSISTENT;
        unsigned size = draw(&shared, 20);
        s->count = size == 0 ? 0 : size == 1 ? 20000 : size < 5 ? 1000 : 1 + (int)draw(&shared, 30);
        s->strided = !reduces(s->kind) && draw(&shared, 3) == 0;
        s->affine = reduces(s->kind) && draw(&shared, 3) == 0;
        /* Roots are ranks of the smallest part of a communicator that is split. */
        s->root = (int)draw(&shared, s->comm < 3 ? (unsigned)ranks : 1u);
        if (s->kind == MESSAGE) {
            s->root = (int)draw(&shared, (unsigned)ranks);
            s->to = (int)draw(&shared, (unsigned)ranks);
            s->form = draw(&shared, 2) ? BLOCKING : STARTED;
            if (s->root == s->to)
                s->to = (s->root + 1) % ranks;
        } else if (s->form == PERSISTENT && ranks < 4 && s->comm > 2) {
            /* One rank alone is left to MPICH. */
            s->form = STARTED;
        } else if (s->form == PERSISTENT && made > 0 && draw(&shared, 2)) {
            s->form = AGAIN;
            s->again = persistent[draw(&shared, (unsigned)made)];
            s->comm = steps[s->again].comm;
        } else if (s->form == PERSISTENT) {
            persistent[made++] = number;
        }
        if (are_alike && s->form != AGAIN && s->kind != MESSAGE && draw(&shared, 8)) {
            static const enum kind often[] = {BCAST, ALLREDUCE, ALLGATHER, SCAN};
            s->kind = often[draw(&shared, 4)];
            s->comm = s->root = s->affine = s->strided = 0;
            s->count = draw(&shared, 2) ? 4 : 1000;
        }
    }
}

static void run_program(void)
{
    memset(works, 0, sizeof works);
    memset(cycles, 0, sizeof cycles);
    for (int number = 0; number < step_count;) {
        int end = number;
        while (end < step_count && only_starts(&steps[end]))
            end++;
        /* What only starts may be started in another order, but for what is on one communicator;
         * messages have tags of their own. */
        int order[MOST_STEPS], count = 0, taken[MOST_STEPS] = {0};
        while (count < end - number) {
            int at = number + (int)draw(&own, (unsigned)(end - number));
            while (taken[at])
                at = at + 1 < end ? at + 1 : number;
            for (int before = number; before < at; before++)
                if (!taken[before] && steps[before].kind != MESSAGE && steps[at].kind != MESSAGE
                    && steps[before].comm == steps[at].comm) {
                    at = before;
                    break;
                }
            taken[at] = 1;
            order[count++] = at;
        }
        for (int i = 0; i < count; i++) {
            take(order[i]);
            if (draw(&own, 3) == 0)
                complete_some(number, 0);
        }
        if (end == number)
            take(end++);
        number = end;
        if (draw(&own, 2))
            complete_some(number, 0);
        if (draw(&own, 40) == 0)
            usleep(2000);
    }
    complete_some(step_count, 1);
    for (int number = 0; number < step_count; number++) {
        struct work *w = &works[number];
        if (w->sent != NULL && steps[number].form == PERSISTENT && w->request != MPI_REQUEST_NULL) {
            MPI_Request_free(&w->request);
            if (w->type != MPI_UNSIGNED)
                MPI_Type_free(&w->type);
        }
        release(number);
    }
}

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
