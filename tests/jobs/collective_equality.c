/*
 * Every blocking collective against the MPI's own: the blocking form, which may
 * be replaced, and the non-blocking form, which is not, are given the same data
 * and must leave the same bytes, also where they must write nothing.
 *
 *     collective_equality SEED
 *
 * With LARGE_COUNTS defined, in the forms whose counts are MPI_Count.
 *
 * On the world, a reversed part of it, a communicator of two and a
 * duplicate; with predefined and derived datatypes (gaps, order, different maps of one
 * signature), counts from nothing to several segments, MPI_IN_PLACE, uneven
 * parts, every root, and operations that are not commutative.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef LARGE_COUNTS
#include "large_counts.h"
#else
typedef int Count; /* in arrays of counts */
typedef int Place; /* in arrays of displacements */
#endif

#define MOST_RANKS 16
#define SIZE (1 << 20) /* bytes of a buffer */

static int rank, ranks, failures, calls;
static int step; /* from one root to the next: 1 for all */
static MPI_Comm comm;
static const char *where;
static uint64_t state;

/* What all ranks draw alike: xorshift64. */
static unsigned draw(unsigned below)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (unsigned)(state >> 33) % below;
}

static unsigned char *given, *ours, *hosts; /* sent; received from either */
static size_t looked_at;                    /* bytes of each that are set and compared */

/* What calls of `count` elements may touch, and as much again as one that is wrong may. All of
 * the buffers would be most of the time of a job whose calls are short. */
static void look_at(MPI_Datatype type, int count)
{
    MPI_Aint bound, extent;
    MPI_Type_get_extent(type, &bound, &extent);
    size_t touched = (size_t)(ranks * (count + 4) + 1) * (size_t)extent;
    looked_at = 2 * touched + 4096;
    if (looked_at > SIZE)
        looked_at = SIZE;
}

/* Small numbers that every type can hold: sums are exact in any order. */
static void fill(MPI_Datatype kind, int count)
{
    look_at(kind, count);
    if (kind == MPI_DOUBLE)
        for (size_t i = 0; i < looked_at / sizeof(double); i++)
            ((double *)given)[i] = (double)((i * 7 + rank * 13) % 97);
    else
        for (size_t i = 0; i < looked_at / sizeof(int); i++)
            ((int *)given)[i] = (int)((i * 7 + rank * 13 + i / 251) % 97);
}

static void prepare(int in_place)
{
    if (in_place) {
        memcpy(ours, given, looked_at);
        memcpy(hosts, given, looked_at);
    } else {
        memset(ours, 0xab, looked_at);
        memset(hosts, 0xab, looked_at);
    }
}

static void compare(const char *what, const char *type, int count, int in_place)
{
    calls++;
    if (memcmp(ours, hosts, looked_at) == 0)
        return;
    size_t at = 0;
    while (ours[at] == hosts[at])
        at++;
    if (failures++ < 5)
        fprintf(stderr, "rank %d: %s of %d %s%s differs from the host's on %s, byte %zu\n", rank,
                what, count, type, in_place ? " in place" : "", where, at);
}

/* Makes both calls; `out` stands for the buffer that is received into. */
#define BOTH(blocking, nonblocking)              \
    do {                                         \
        MPI_Request request;                     \
        unsigned char *out = ours;               \
        (void)out;                               \
        blocking;                                \
        out = hosts;                             \
        nonblocking;                             \
        MPI_Wait(&request, MPI_STATUS_IGNORE);   \
    } while (0)

/* x -> a x + b, composed from left to right (mod 97): not commutative. */
static void compose(void *in, void *inout, int *length, MPI_Datatype *type)
{
    MPI_Aint bound, extent;
    MPI_Type_get_extent(*type, &bound, &extent);
    for (int i = 0; i < *length; i++) {
        const int *left = (const int *)((char *)in + i * extent);
        int *right = (int *)((char *)inout + i * extent);
        int a = left[0] * right[0] % 97, b = (left[1] * right[0] + right[1]) % 97;
        right[0] = a;
        right[1] = b;
    }
}

struct type {
    const char *name;
    MPI_Datatype type;
    MPI_Datatype twin; /* the same signature, laid out otherwise */
    int twins;         /* twins in an element */
};

static struct type types[6];

static MPI_Datatype committed(MPI_Datatype type)
{
    MPI_Type_commit(&type);
    return type;
}

static void make_types(void)
{
    MPI_Datatype type;
    int one[2] = {1, 1}, swapped[2] = {1, 0};
    types[0] = (struct type){"integers", MPI_INT, MPI_INT, 1};
    MPI_Type_contiguous(3, MPI_INT, &type);
    types[1] = (struct type){"triples", committed(type), MPI_INT, 3};
    MPI_Type_vector(2, 1, 3, MPI_INT, &type);
    types[2] = (struct type){"vectors", committed(type), MPI_INT, 2};
    MPI_Type_indexed(2, one, swapped, MPI_INT, &type);
    types[3] = (struct type){"swapped pairs", committed(type), MPI_INT, 2};
    MPI_Type_create_resized(MPI_INT, 0, 12, &type);
    types[4] = (struct type){"spaced integers", committed(type), MPI_INT, 1};
    types[5] = (struct type){"doubles", MPI_DOUBLE, MPI_DOUBLE, 1};
}

static void moves(struct type *t, int count)
{
    MPI_Aint bound, extent;
    MPI_Datatype type = t->type;
    MPI_Type_get_extent(type, &bound, &extent);
    Count counts[MOST_RANKS], back[MOST_RANKS];
    Place starts[MOST_RANKS], back_starts[MOST_RANKS];
    int next = 0, twins = count * t->twins;
    for (int i = 0; i < ranks; i++) {
        counts[i] = (count * (i + 2)) % (count + 3);
        next += draw(2); /* sometimes a gap */
        starts[i] = next;
        next += counts[i];
    }
    fill(type, count);
    for (int root = 0; root < ranks; root += step) {
        /* The root's elements, and the others' of the same signature. */
        prepare(1);
        if (rank == root)
            BOTH(MPI_Bcast(out, count, type, root, comm),
                 MPI_Ibcast(out, count, type, root, comm, &request));
        else
            BOTH(MPI_Bcast(out, twins, t->twin, root, comm),
                 MPI_Ibcast(out, twins, t->twin, root, comm, &request));
        compare("Bcast", t->name, count, 0);
        for (int in_place = 0; in_place < 2; in_place++) {
            int here = in_place && rank == root;
            void *from = here ? MPI_IN_PLACE : given;
            prepare(in_place);
            BOTH(MPI_Gather(from, count, type, out, count, type, root, comm),
                 MPI_Igather(from, count, type, out, count, type, root, comm, &request));
            compare("Gather", t->name, count, in_place);
            prepare(in_place);
            BOTH(MPI_Gatherv(from, counts[rank], type, out, counts, starts, type, root, comm),
                 MPI_Igatherv(from, counts[rank], type, out, counts, starts, type, root, comm,
                              &request));
            compare("Gatherv", t->name, count, in_place);
            prepare(in_place);
            BOTH(MPI_Scatter(given, count, type, here ? MPI_IN_PLACE : out, count, type, root, comm),
                 MPI_Iscatter(given, count, type, here ? MPI_IN_PLACE : out, count, type, root, comm,
                              &request));
            compare("Scatter", t->name, count, in_place);
            prepare(in_place);
            BOTH(MPI_Scatterv(given, counts, starts, type, here ? MPI_IN_PLACE : out, counts[rank],
                              type, root, comm),
                 MPI_Iscatterv(given, counts, starts, type, here ? MPI_IN_PLACE : out, counts[rank],
                               type, root, comm, &request));
            compare("Scatterv", t->name, count, in_place);
        }
    }
    /* What each sends to each; all ranks can compute it. */
    for (int i = 0; i < ranks; i++) {
        counts[i] = (count + rank + 2 * i) % (count + 2);
        back[i] = (count + i + 2 * rank) % (count + 2);
    }
    for (int i = 0; i < ranks; i++) {
        starts[i] = i ? starts[i - 1] + counts[i - 1] + (i & 1) : 0;
        back_starts[i] = i ? back_starts[i - 1] + back[i - 1] : 0;
    }
    for (int in_place = 0; in_place < 2; in_place++) {
        void *from = in_place ? MPI_IN_PLACE : given;
        prepare(in_place);
        BOTH(MPI_Allgather(from, count, type, out, count, type, comm),
             MPI_Iallgather(from, count, type, out, count, type, comm, &request));
        compare("Allgather", t->name, count, in_place);
        Count even[MOST_RANKS];
        Place even_starts[MOST_RANKS];
        for (int i = 0; i < ranks; i++) {
            even[i] = (count * (i + 3)) % (count + 2);
            even_starts[i] = i ? even_starts[i - 1] + even[i - 1] + (i % 3 == 1) : 0;
        }
        prepare(in_place);
        BOTH(MPI_Allgatherv(from, even[rank], type, out, even, even_starts, type, comm),
             MPI_Iallgatherv(from, even[rank], type, out, even, even_starts, type, comm, &request));
        compare("Allgatherv", t->name, count, in_place);
        prepare(in_place);
        BOTH(MPI_Alltoall(from, count, type, out, count, type, comm),
             MPI_Ialltoall(from, count, type, out, count, type, comm, &request));
        compare("Alltoall", t->name, count, in_place);
    }
    prepare(0);
    BOTH(MPI_Alltoallv(given, counts, starts, type, out, back, back_starts, type, comm),
         MPI_Ialltoallv(given, counts, starts, type, out, back, back_starts, type, comm, &request));
    compare("Alltoallv", t->name, count, 0);
    MPI_Datatype each[MOST_RANKS];
    Place bytes[MOST_RANKS], back_bytes[MOST_RANKS];
    for (int i = 0; i < ranks; i++) {
        each[i] = type;
        bytes[i] = starts[i] * (int)extent;
        back_bytes[i] = back_starts[i] * (int)extent;
    }
    prepare(0);
    BOTH(MPI_Alltoallw(given, counts, bytes, each, out, back, back_bytes, each, comm),
         MPI_Ialltoallw(given, counts, bytes, each, out, back, back_bytes, each, comm, &request));
    compare("Alltoallw", t->name, count, 0);
    /* In place, two ranks send each other as much. */
    for (int i = 0; i < ranks; i++) {
        counts[i] = (count + rank + i) % (count + 2);
        starts[i] = i ? starts[i - 1] + counts[i - 1] + (i & 1) : 0;
        bytes[i] = starts[i] * (int)extent;
    }
    prepare(1);
    BOTH(MPI_Alltoallv(MPI_IN_PLACE, counts, starts, type, out, counts, starts, type, comm),
         MPI_Ialltoallv(MPI_IN_PLACE, counts, starts, type, out, counts, starts, type, comm, &request));
    compare("Alltoallv", t->name, count, 1);
    prepare(1);
    BOTH(MPI_Alltoallw(MPI_IN_PLACE, counts, bytes, each, out, counts, bytes, each, comm),
         MPI_Ialltoallw(MPI_IN_PLACE, counts, bytes, each, out, counts, bytes, each, comm, &request));
    compare("Alltoallw", t->name, count, 1);
}

/* What the host reduces, part by part: its own Ireduce_scatter_block writes behind
 * its memory where elements have gaps (MPICH 4.0.2). */
static void parts_reduced(const Count *counts, MPI_Datatype type, MPI_Op op)
{
    MPI_Aint bound, extent;
    MPI_Type_get_extent(type, &bound, &extent);
    unsigned char *part = given;
    for (int root = 0; root < ranks; part += counts[root++] * extent) {
        MPI_Request request;
        MPI_Ireduce(part, hosts, counts[root], type, op, root, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* MPICH writes behind its memory when it reduces parts whose elements have gaps (4.0 and 5.0,
 * which is behind the standard ABI too); where a strategy does not keep the order, the native
 * collective runs. */
static int host_spoils_parts(MPI_Datatype type)
{
#if defined(MPICH_NUMVERSION) || (defined(MPI_ABI_VERSION) && !defined(OPEN_MPI))
    MPI_Aint bound, extent;
    int size;
    MPI_Type_get_extent(type, &bound, &extent);
    MPI_Type_size(type, &size);
    return extent != size;
#else
    (void)type;
    return 0;
#endif
}

static void forget_behind(MPI_Aint bytes)
{
    memcpy(ours + bytes, hosts + bytes, looked_at - (size_t)bytes);
}

static void reduces(const char *name, MPI_Datatype type, MPI_Op op, int count)
{
    MPI_Aint bound, extent;
    Count counts[MOST_RANKS], block[MOST_RANKS];
    MPI_Type_get_extent(type, &bound, &extent);
    for (int i = 0; i < ranks; i++) {
        counts[i] = (count * (i + 2)) % (count + 3);
        block[i] = count;
    }
    fill(type, count);
    for (int in_place = 0; in_place < 2; in_place++) {
        void *from = in_place ? MPI_IN_PLACE : given;
        for (int root = 0; root < ranks; root += step) {
            /* In place on roots other than 0, the host itself may fail
             * (MPICH 4.0.2: mpich#6540 crashes); its non-blocking form does not. */
            void *operand = rank == root ? from : given;
            prepare(in_place);
            BOTH(MPI_Reduce(operand, out, count, type, op, root, comm),
                 MPI_Ireduce(operand, out, count, type, op, root, comm, &request));
            compare("Reduce", name, count, in_place);
        }
        prepare(in_place);
        BOTH(MPI_Allreduce(from, out, count, type, op, comm),
             MPI_Iallreduce(from, out, count, type, op, comm, &request));
        compare("Allreduce", name, count, in_place);
        prepare(in_place);
        BOTH(MPI_Scan(from, out, count, type, op, comm),
             MPI_Iscan(from, out, count, type, op, comm, &request));
        compare("Scan", name, count, in_place);
        prepare(in_place);
        BOTH(MPI_Exscan(from, out, count, type, op, comm),
             MPI_Iexscan(from, out, count, type, op, comm, &request));
        if (rank > 0) /* what rank 0 has then is not defined */
            compare("Exscan", name, count, in_place);
        if (host_spoils_parts(type))
            continue;
        prepare(in_place);
        MPI_Reduce_scatter(from, ours, counts, type, op, comm);
        parts_reduced(counts, type, op);
        if (in_place) /* what is left behind the result is not defined */
            forget_behind(counts[rank] * extent);
        compare("Reduce_scatter", name, count, in_place);
        prepare(in_place);
        MPI_Reduce_scatter_block(from, ours, count, type, op, comm);
        parts_reduced(block, type, op);
        if (in_place)
            forget_behind(count * extent);
        compare("Reduce_scatter_block", name, count, in_place);
    }
}

/* Nobody leaves a barrier before all have come: seen in memory that all share. */
static void barriers(void)
{
    MPI_Win window;
    int *arrived;
    MPI_Aint size = rank == 0 ? sizeof(int) : 0;
    int unit;
    MPI_Win_allocate_shared(size, sizeof(int), MPI_INFO_NULL, comm, &arrived, &window);
    MPI_Win_shared_query(window, 0, &size, &unit, &arrived);
    if (rank == 0)
        *arrived = 0;
    MPI_Win_fence(0, window);
    for (int round = 1; round <= 50; round++) {
        __atomic_add_fetch(arrived, 1, __ATOMIC_SEQ_CST);
        MPI_Barrier(comm);
        calls++;
        if (__atomic_load_n(arrived, __ATOMIC_SEQ_CST) < round * ranks && failures++ < 5)
            fprintf(stderr, "rank %d: left the barrier on %s before all had come\n", rank, where);
    }
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

static void on(MPI_Comm used, const char *name)
{
    static const int sizes[] = {0, 5, 700};
    comm = used;
    where = name;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    MPI_Op op;
    MPI_Op_create(compose, 0, &op);
    MPI_Datatype pair, spaced;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    pair = committed(pair);
    MPI_Type_create_resized(pair, 0, 12, &spaced);
    spaced = committed(spaced);
    for (int i = 0; i < 3; i++) {
        int count = sizes[i] + (int)(sizes[i] > 1 ? draw(3) : 0);
        /* All roots once; and all types, a few for each count. */
        step = sizes[i] == 5 ? 1 : ranks - 1;
        for (int t = i; t < 6; t += 2)
            moves(&types[t], count);
        reduces("doubles, sum", MPI_DOUBLE, MPI_SUM, count);
        reduces("spaced maps, composed", spaced, op, count);
        if (sizes[i] == 5)
            reduces("pairs, least", MPI_2INT, MPI_MINLOC, count);
    }
    /* Several segments. */
    moves(&types[0], 20000);
    moves(&types[2], 9000);
    reduces("integers, bit by bit", MPI_INT, MPI_BXOR, 28000);
    reduces("maps, composed", pair, op, 16000);
    barriers();
    MPI_Type_free(&pair);
    MPI_Type_free(&spaced);
    MPI_Op_free(&op);
}

int main(int argc, char **argv)
{
    int world_rank, world_size, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    state = 88172645463325252u ^ (argc > 1 ? strtoull(argv[1], NULL, 10) : 1);
    given = malloc(SIZE), ours = malloc(SIZE), hosts = malloc(SIZE);
    make_types();
    on(MPI_COMM_WORLD, "the world");
    uint64_t kept = state;
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank < 2, -world_rank, &part);
    on(part, world_rank < 2 ? "a pair" : "the others, reversed");
    MPI_Comm_free(&part);
    state = kept;
    MPI_Comm_dup(MPI_COMM_WORLD, &part);
    on(part, "a duplicate");
    MPI_Comm_free(&part);
    MPI_Reduce(&failures, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (world_rank == 0)
        printf("%d calls a rank, %d differences\n", calls, sum);
    MPI_Finalize();
    return failures != 0;
}
