/* Collectives: once as MPI_IX, once as a persistent one, with the same arguments. */
static void each_equal(void)
{
    for (int from = 0; from < size; from++)
        for (int at = 0; at < ELEMENTS; at++)
            check(in[from * ELEMENTS + at] == 1000 * from + at, "an element from each");
}
static void each_own(void)
{
    for (int from = 0; from < size; from++)
        for (int at = 0; at < ELEMENTS; at++)
            check(in[from * ELEMENTS + at] == 1000 * from + rank * ELEMENTS + at, "each one's own element");
}
static void at_root(void)
{
    if (rank == 0)
        each_equal();
}
static void of_root(void)
{
    for (int at = 0; at < ELEMENTS; at++)
        check(in[at] == rank * ELEMENTS + at, "an element of the root");
}
static int sum_to(int last, int at)
{
    int sum = 0;
    for (int from = 0; from <= last; from++)
        sum += 1000 * from + at;
    return sum;
}
static void sums(void)
{
    for (int at = 0; at < ELEMENTS; at++)
        check(in[at] == sum_to(size - 1, at), "a sum of all");
}
static void sums_at_root(void)
{
    if (rank == 0)
        sums();
}
static void sums_own(void)
{
    for (int at = 0; at < ELEMENTS; at++)
        check(in[at] == sum_to(size - 1, rank * ELEMENTS + at), "a sum of one's own");
}
static void sums_until(void)
{
    for (int at = 0; at < ELEMENTS; at++)
        check(in[at] == sum_to(rank, at), "a sum of those before");
}
static void sums_before(void)
{
    for (int at = 0; at < ELEMENTS && rank > 0; at++)
        check(in[at] == sum_to(rank - 1, at), "a sum of those before");
}
static void nothing(void) {}

#define PAIR out, ELEMENTS, MPI_INT, in, ELEMENTS, MPI_INT
#define INTO_MANY out, ELEMENTS, MPI_INT, in, counts, starts, MPI_INT
#define FROM_MANY out, counts, starts, MPI_INT, in, ELEMENTS, MPI_INT
#define MANY out, counts, starts, MPI_INT, in, counts, starts, MPI_INT
#define TYPED out, counts, in_bytes, types, in, counts, in_bytes, types
#define SUM out, in, ELEMENTS, MPI_INT, MPI_SUM

static int in_bytes[MOST_RANKS];
static MPI_Aint far[MOST_RANKS];

/* MPI_I##immediate, and the persistent one; what is to be found. */
#define COLLECTIVES(collective)                                                                    \
    collective(ibarrier, Ibarrier, Barrier, nothing, comm)                                         \
    collective(ibcast, Ibcast, Bcast, nothing, out, ELEMENTS, MPI_INT, 0, comm)                    \
    collective(igather, Igather, Gather, at_root, PAIR, 0, comm)                                   \
    collective(igatherv, Igatherv, Gatherv, at_root, INTO_MANY, 0, comm)                           \
    collective(iscatter, Iscatter, Scatter, of_root, PAIR, 0, comm)                                \
    collective(iscatterv, Iscatterv, Scatterv, of_root, FROM_MANY, 0, comm)                        \
    collective(iallgather, Iallgather, Allgather, each_equal, PAIR, comm)                          \
    collective(iallgatherv, Iallgatherv, Allgatherv, each_equal, INTO_MANY, comm)                  \
    collective(ialltoall, Ialltoall, Alltoall, each_own, PAIR, comm)                               \
    collective(ialltoallv, Ialltoallv, Alltoallv, each_own, MANY, comm)                            \
    collective(ialltoallw, Ialltoallw, Alltoallw, each_own, TYPED, comm)                           \
    collective(ireduce, Ireduce, Reduce, sums_at_root, SUM, 0, comm)                               \
    collective(iallreduce, Iallreduce, Allreduce, sums, SUM, comm)                                 \
    collective(ireduce_scatter, Ireduce_scatter, Reduce_scatter, sums_own, out, in, counts, MPI_INT, MPI_SUM, comm) \
    collective(ireduce_scatter_block, Ireduce_scatter_block, Reduce_scatter_block, sums_own, SUM, comm) \
    collective(iscan, Iscan, Scan, sums_until, SUM, comm)                                          \
    collective(iexscan, Iexscan, Exscan, sums_before, SUM, comm)

/* On a ring: one element from the left, one from the right. */
static void neighbours_equal(void)
{
    check(in[0] == 1000 * left && in[ELEMENTS] == 1000 * right, "an element of each neighbour");
}
static void neighbours_own(void)
{
    check(in[0] == 1000 * left + ELEMENTS && in[ELEMENTS] == 1000 * right, "one's own element of each neighbour");
}
#define TYPED_FAR out, counts, far, types, in, counts, far, types
#define NEIGHBOURS(collective)                                                                     \
    collective(neighbor_allgather, Ineighbor_allgather, Neighbor_allgather, neighbours_equal, PAIR, comm) \
    collective(neighbor_allgatherv, Ineighbor_allgatherv, Neighbor_allgatherv, neighbours_equal, INTO_MANY, comm) \
    collective(neighbor_alltoall, Ineighbor_alltoall, Neighbor_alltoall, neighbours_own, PAIR, comm) \
    collective(neighbor_alltoallv, Ineighbor_alltoallv, Neighbor_alltoallv, neighbours_own, MANY, comm) \
    collective(neighbor_alltoallw, Ineighbor_alltoallw, Neighbor_alltoallw, neighbours_own, TYPED_FAR, comm)

#define DEFINE(name, immediate, persistent, verify, ...)                                           \
    static void begin_##name(void) { MPI_##immediate(__VA_ARGS__, next()); }                       \
    static void prepare_##name(void) { INIT(persistent)(__VA_ARGS__, MPI_INFO_NULL, next()); }
COLLECTIVES(DEFINE)
NEIGHBOURS(DEFINE)

static void make_ring(void)
{
    int periodic = 1;
    MPI_Comm_free(&comm);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &comm);
}

static void immediate(const char *name, void (*begin)(void), void (*verify)(void), int ring)
{
    for (int at = 0; at < COMPLETIONS; at++) {
        doing = name;
        take();
        if (ring)
            make_ring();
        begin();
        completions[at]();
        verify();
        let_go();
        end();
    }
}

static void (*prepare_on_ring)(void);
static void prepare_ring(void)
{
    make_ring();
    prepare_on_ring();
}

#define RUN(name, immediate_name, persistent_name, verify, ...)                                    \
    immediate(#immediate_name, begin_##name, verify, 0);                                           \
    persistent(#persistent_name "_init", prepare_##name, verify, 1);
#define RUN_ON_RING(name, immediate_name, persistent_name, verify, ...)                            \
    immediate(#immediate_name, begin_##name, verify, 1);                                           \
    prepare_on_ring = prepare_##name;                                                              \
    persistent(#persistent_name "_init", prepare_ring, verify, 1);
