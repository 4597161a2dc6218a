/* What each rank sends in a step, and what it should have taken. */

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
