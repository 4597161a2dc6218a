/*
 * Every blocking collective, thousands of times with every size, all elements of every result
 * checked. Reductions take another type and operation in each round, uneven ones other counts.
 *
 *     repeated ROUNDS BYTES...    with data of this size, each operation in so many rounds, and half
 *                                 as many more after native_is_slow(0), where a preloaded library
 *                                 has that function; before the next size, native_is_slow(1)
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RANKS 16
#define SPARE 4 /* elements of a rank beyond its part */

static int rank, ranks, wrong;
static int count, part; /* elements of a call, and of one rank where each has its own */
static int n;           /* number of the round */
static char *in, *out;

static void check(int is_right, const char *what)
{
    if (!is_right && wrong++ < 3)
        fprintf(stderr, "rank %d: %s of %d elements in round %d is wrong\n", rank, what, count, n);
}

/* Element i of rank r: small, so that sums and products are exact in every type. */
static long element(int r, int i)
{
    return 1 + (5 * r + i + n) % 7;
}

/* What reductions do in a round. */
struct reduction {
    MPI_Datatype type;
    size_t size; /* bytes of an element */
    MPI_Op op;
    long (*combine)(long, long);
    char kind; /* of the C type: int, short, unsigned long, float, double, pair */
};

static long sum(long a, long b) { return a + b; }
static long product(long a, long b) { return a * b; }
static long larger(long a, long b) { return a > b ? a : b; }
static long smaller(long a, long b) { return a < b ? a : b; }
static long parity(long a, long b) { return a ^ b; }
static long in_clock(long a, long b) { return (a + b) % 97; }

static void add_in_clock(void *from, void *into, int *length, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *length; i++)
        ((int *)into)[i] = (int)in_clock(((int *)from)[i], ((int *)into)[i]);
}

#define REDUCTIONS 7
static struct reduction reductions[REDUCTIONS];

static void make_reductions(void)
{
    MPI_Op own;
    MPI_Op_create(add_in_clock, 1, &own);
    struct reduction all[REDUCTIONS] = {
        {MPI_INT, sizeof(int), MPI_SUM, sum, 'i'},
        {MPI_DOUBLE, sizeof(double), MPI_MAX, larger, 'd'},
        {MPI_UNSIGNED_LONG, sizeof(long), MPI_BXOR, parity, 'l'},
        {MPI_SHORT, sizeof(short), MPI_MIN, smaller, 's'},
        {MPI_FLOAT, sizeof(float), MPI_PROD, product, 'f'},
        {MPI_INT, sizeof(int), own, in_clock, 'i'},
        {MPI_2INT, 2 * sizeof(int), MPI_MAXLOC, larger, 'p'},
    };
    memcpy(reductions, all, sizeof all);
}

static void set(const struct reduction *how, char *at, int i, int r)
{
    long value = element(r, i);
    switch (how->kind) {
    case 'i': ((int *)at)[i] = (int)value; break;
    case 'd': ((double *)at)[i] = (double)value; break;
    case 'l': ((long *)at)[i] = value; break;
    case 's': ((short *)at)[i] = (short)value; break;
    case 'f': ((float *)at)[i] = (float)value; break;
    default: ((int *)at)[2 * i] = (int)value, ((int *)at)[2 * i + 1] = r;
    }
}

static long get(const struct reduction *how, const char *at, int i)
{
    switch (how->kind) {
    case 'i': return ((const int *)at)[i];
    case 'd': return (long)((const double *)at)[i];
    case 'l': return ((const long *)at)[i];
    case 's': return ((const short *)at)[i];
    case 'f': return (long)((const float *)at)[i];
    default: return ((const int *)at)[2 * i];
    }
}

/* Whether `length` results are those of the elements from `first` on of ranks 0 to `last`. */
static int is_reduced(const struct reduction *how, int first, int length, int last)
{
    int right = 1;
    for (int i = 0; i < length; i++) {
        long value = element(0, first + i);
        int of = 0; /* the first rank that has the largest */
        for (int r = 1; r <= last; r++) {
            long next = element(r, first + i);
            of = next > value ? r : of;
            value = how->combine(value, next);
        }
        right &= get(how, out, i) == value;
        right &= how->kind != 'p' || ((int *)out)[2 * i + 1] == of;
    }
    return right;
}

/* The operand of a reduction, or in its place. */
static void *operand(const struct reduction *how, int length, int in_place)
{
    for (int i = 0; i < length; i++)
        set(how, in_place ? out : in, i, rank);
    return in_place ? MPI_IN_PLACE : in;
}

static void reduce(const struct reduction *how, int elements, int root)
{
    int block = elements / ranks + 1, counts[MOST_RANKS], first = 0, all = 0;
    for (int r = 0; r < ranks; r++) {
        counts[r] = block + (r + n) % 2;
        first += r < rank ? counts[r] : 0, all += counts[r];
    }
    void *from = operand(how, elements, n % 3 == 1);
    MPI_Allreduce(from, out, elements, how->type, how->op, MPI_COMM_WORLD);
    check(is_reduced(how, 0, elements, ranks - 1), "allreduce");
    from = operand(how, elements, 0);
    MPI_Reduce(from, out, elements, how->type, how->op, root, MPI_COMM_WORLD);
    check(rank != root || is_reduced(how, 0, elements, ranks - 1), "reduce");
    from = operand(how, elements, n % 3 == 2);
    MPI_Scan(from, out, elements, how->type, how->op, MPI_COMM_WORLD);
    check(is_reduced(how, 0, elements, rank), "scan");
    from = operand(how, elements, 0);
    MPI_Exscan(from, out, elements, how->type, how->op, MPI_COMM_WORLD);
    check(rank == 0 || is_reduced(how, 0, elements, rank - 1), "exscan");
    from = operand(how, ranks * block, 0);
    MPI_Reduce_scatter_block(from, out, block, how->type, how->op, MPI_COMM_WORLD);
    check(is_reduced(how, rank * block, block, ranks - 1), "reduce_scatter_block");
    from = operand(how, all, 0);
    MPI_Reduce_scatter(from, out, counts, how->type, how->op, MPI_COMM_WORLD);
    check(is_reduced(how, first, counts[rank], ranks - 1), "reduce_scatter");
}

/* Integers of all ranks, of which those from `first` on of rank r are expected at `at`. */
static int is_from(int at, int r, int first, int length)
{
    int right = 1;
    for (int i = 0; i < length; i++)
        right &= ((int *)out)[at + i] == element(r, first + i);
    return right;
}

static void give(int length)
{
    for (int i = 0; i < length; i++)
        ((int *)in)[i] = (int)element(rank, i);
    memset(out, 0xab, (size_t)length * sizeof(int));
}

static void move(int root)
{
    int right = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    give(count);
    if (rank == root)
        memcpy(out, in, (size_t)count * sizeof(int));
    MPI_Bcast(out, count, MPI_INT, root, MPI_COMM_WORLD);
    check(is_from(0, root, 0, count), "bcast");
    give(ranks * part);
    MPI_Gather(in, part, MPI_INT, out, part, MPI_INT, root, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++)
        right &= rank != root || is_from(r * part, r, 0, part);
    check(right, "gather");
    give(ranks * part);
    MPI_Scatter(in, part, MPI_INT, out, part, MPI_INT, root, MPI_COMM_WORLD);
    check(is_from(0, root, rank * part, part), "scatter");
    give(ranks * part);
    if (n % 3 == 1)
        memcpy((int *)out + rank * part, in, (size_t)part * sizeof(int));
    MPI_Allgather(n % 3 == 1 ? MPI_IN_PLACE : in, part, MPI_INT, out, part, MPI_INT, MPI_COMM_WORLD);
    right = 1;
    for (int r = 0; r < ranks; r++)
        right &= is_from(r * part, r, 0, part);
    check(right, "allgather");
    give(ranks * part);
    MPI_Alltoall(in, part, MPI_INT, out, part, MPI_INT, MPI_COMM_WORLD);
    right = 1;
    for (int r = 0; r < ranks; r++)
        right &= is_from(r * part, r, rank * part, part);
    check(right, "alltoall");
}

/* Rank r has `part` elements and up to two more; elements of different ranks leave gaps. */
static void move_uneven(int root)
{
    int counts[MOST_RANKS], places[MOST_RANKS], sent[MOST_RANKS], bytes[MOST_RANKS], right = 1;
    int stride = part + SPARE;
    MPI_Datatype types[MOST_RANKS];
    for (int r = 0; r < ranks; r++) {
        counts[r] = part + (r + n) % 3, places[r] = r * stride;
        sent[r] = part + (rank + r + n) % 3; /* as many to each other */
        bytes[r] = places[r] * (int)sizeof(int), types[r] = MPI_INT;
    }
    give(ranks * stride);
    MPI_Gatherv(in, counts[rank], MPI_INT, out, counts, places, MPI_INT, root, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++)
        right &= rank != root || is_from(places[r], r, 0, counts[r]);
    check(right, "gatherv");
    give(ranks * stride);
    MPI_Scatterv(in, counts, places, MPI_INT, out, counts[rank], MPI_INT, root, MPI_COMM_WORLD);
    check(is_from(0, root, places[rank], counts[rank]), "scatterv");
    give(ranks * stride);
    MPI_Allgatherv(in, counts[rank], MPI_INT, out, counts, places, MPI_INT, MPI_COMM_WORLD);
    right = 1;
    for (int r = 0; r < ranks; r++)
        right &= is_from(places[r], r, 0, counts[r]);
    check(right, "allgatherv");
    for (int form = 0; form < 2; form++) {
        give(ranks * stride);
        if (form == 0)
            MPI_Alltoallv(in, sent, places, MPI_INT, out, sent, places, MPI_INT, MPI_COMM_WORLD);
        else
            MPI_Alltoallw(in, sent, bytes, types, out, sent, bytes, types, MPI_COMM_WORLD);
        right = 1;
        for (int r = 0; r < ranks; r++)
            right &= is_from(places[r], r, rank * stride, sent[r]);
        check(right, form == 0 ? "alltoallv" : "alltoallw");
    }
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 0, all = 0;
    void (*native_is_slow)(int);
    *(void **)&native_is_slow = dlsym(RTLD_DEFAULT, "native_is_slow");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    make_reductions();
    for (int at = 2; at < argc; at++) {
        int bytes = atoi(argv[at]), root = at % ranks;
        size_t room = 2 * ((size_t)bytes + (size_t)ranks * 8 * (SPARE + 1));
        count = bytes / (int)sizeof(int), part = count / ranks + 1;
        in = malloc(room), out = malloc(room);
        if (native_is_slow)
            native_is_slow(1);
        for (n = 0; n < rounds + rounds / 2; n++) {
            const struct reduction *how = &reductions[n % REDUCTIONS];
            if (native_is_slow && n == rounds)
                native_is_slow(0);
            move(root);
            move_uneven(root);
            reduce(how, bytes / (int)how->size, root);
        }
        free(in);
        free(out);
    }
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d wrong\n", all);
    MPI_Finalize();
    return 0;
}
