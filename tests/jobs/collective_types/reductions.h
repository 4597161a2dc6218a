/* A reduction: drawn, made, and what it should bring. */

/* Reductions: pairs of integers, which each rank has laid out in its own way, with an operation
 * that looks at that. */
static struct layout operand;

/* The maps x -> a x + b (mod 97), composed from left to right: not commutative. */
static void compose_flat(const int *left, int *right)
{
    int a = left[0] * right[0] % 97, b = (left[1] * right[0] + right[1]) % 97;
    right[0] = a;
    right[1] = b;
}

static void add_flat(const int *left, int *right)
{
    right[0] = (left[0] + right[0]) % 97;
    right[1] = (left[1] + right[1]) % 97;
}

static void on_each(void (*flat)(const int *, int *), Byte *in, Byte *inout, int length)
{
    for (int i = 0; i < length; i++) {
        int left[2], right[2];
        for (int j = 0; j < 2; j++) {
            memcpy(&left[j], in + i * operand.extent + operand.at[j], sizeof(int));
            memcpy(&right[j], inout + i * operand.extent + operand.at[j], sizeof(int));
        }
        flat(left, right);
        for (int j = 0; j < 2; j++)
            memcpy(inout + i * operand.extent + operand.at[j], &right[j], sizeof(int));
    }
}

static void compose(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)type;
    on_each(compose_flat, in, inout, *length);
}

static void add(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)type;
    on_each(add_flat, in, inout, *length);
}

enum reduction { REDUCE, ALLREDUCE, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN, REDUCTIONS };
static const char *reduction_names[] = {"Reduce", "Allreduce", "Reduce_scatter",
                                        "Reduce_scatter_block", "Scan", "Exscan"};

static void one_reduction(const MPI_Op *ops, int backwards)
{
    enum reduction what = (enum reduction)all(REDUCTIONS);
    int root = (int)all((unsigned)ranks), in_place = all(3) == 0, commutes = (int)all(2) || backwards;
    int length = all(10) ? (int)all(40) : (int)all(2000), total = 0, first = 0, result;
    int counts[MOST_RANKS];
    comm = worlds[all(2)];
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < ranks; i++) {
        counts[i] = what == REDUCE_SCATTER ? (int)all((unsigned)(length / ranks) + 2) : length / ranks;
        first += i < rank ? counts[i] : 0;
        total += counts[i];
    }
    int is_scattered = what == REDUCE_SCATTER || what == REDUCE_SCATTER_BLOCK;
    if (!is_scattered)
        total = length, first = 0;
    result = is_scattered ? counts[rank] : length;
    snprintf(what_now, sizeof what_now, "%s%s at %d of %d ranks, %d elements, %s", reduction_names[what],
             in_place ? " in place" : "", root, ranks, total, commutes ? "added" : "composed");

    pattern_length = 2;
    pattern[0] = pattern[1] = 2;
    pattern_bytes = 8;
    struct side *sides[2] = {&sent, &received};
    do {
        MPI_Aint extents[] = {24, 40, -24, -56};
        operand = one_pattern();
        MPI_Aint bound = mine(2) ? (MPI_Aint)mine(1000) - 500 : 0;
        MPI_Type_create_resized(operand.type, bound, extents[mine(backwards ? 4 : 2)], &operand.type);
        keep(&operand);
        for (int i = 0; i < 2; i++) {
            no_blocks(sides[i]);
            sides[i]->blocks = 1;
            sides[i]->counts[0] = total;
            sides[i]->places[0] = 0;
            sides[i]->layout[0] = operand;
        }
    } while (!settle(&sent, 0) || !settle(&received, 0));
    MPI_Type_commit(&operand.type);
    trace();
    fill(sent.arena);
    fill(received.arena);
    in_place = in_place && (what != REDUCE || rank == root);
    struct side *source = in_place ? &received : &sent;
    int *flat = (int *)flat_out, *others = (int *)flat_in;
    for (int i = 0; i < 2 * total; i++)
        flat[i] = (int)mine(97);
    flatten(source, 0, flat_out, 1);
    memcpy(before_sent, sent.arena, ARENA);
    memcpy(expected, received.arena, ARENA);
    MPI_Request request;
    MPI_Iallgather(flat, 2 * total, MPI_INT, others, 2 * total, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);

    void *from = in_place ? MPI_IN_PLACE : sent.buffer, *into = received.buffer;
    MPI_Datatype type = operand.type;
    MPI_Op op = ops[commutes];
    switch (what) {
    case REDUCE: MPI_Reduce(from, into, length, type, op, root, comm); break;
    case ALLREDUCE: MPI_Allreduce(from, into, length, type, op, comm); break;
    case REDUCE_SCATTER: MPI_Reduce_scatter(from, into, counts, type, op, comm); break;
    case REDUCE_SCATTER_BLOCK: MPI_Reduce_scatter_block(from, into, counts[0], type, op, comm); break;
    case SCAN: MPI_Scan(from, into, length, type, op, comm); break;
    default: MPI_Exscan(from, into, length, type, op, comm);
    }

    /* From the left, up to this rank for prefixes. */
    int last = what == SCAN ? rank : what == EXSCAN ? rank - 1 : ranks - 1;
    for (int i = 0; i < 2 * total; i += 2) {
        for (int other = 0; other < last; other++) {
            int *left = others + 2 * total * other + i, *right = others + 2 * total * (other + 1) + i;
            commutes ? add_flat(left, right) : compose_flat(left, right);
        }
    }
    if (what == EXSCAN && rank == 0) {
        memcpy(expected, received.arena, ARENA); /* not defined */
    } else if (what != REDUCE || rank == root) {
        received.counts[0] = result;
        int *values = others + 2 * total * last + 2 * first;
        if (is_scattered && in_place) { /* what is behind the result is not defined */
            flatten(&received, 0, flat_out, 0);
            if (memcmp(flat_out, values, (size_t)result * 8) != 0)
                wrong("reduced", 0);
            memcpy(expected, received.arena, ARENA);
        } else {
            expect(&received, 0, (Byte *)values);
        }
    }
    compare();
    forget_types();
}
