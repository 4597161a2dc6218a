/*
 * Every blocking collective, with its results verified.
 *
 * Each is called on the world, on a reversed half of it, and, where the
 * standard allows, across an intercommunicator; with MPI_IN_PLACE, zero
 * counts, derived datatypes, and an operation that is not commutative. The
 * results are functions of ranks, so that a rank that is not where it says
 * shows at once.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 5   /* integers in a block */
#define MOST 64   /* ranks at most: buffers are on the stack */

static int world_rank, failures;
static const char *where; /* the communicator that is used now */

static void check(int right, const char *what)
{
    if (!right) {
        fprintf(stderr, "collectives: rank %d: %s is wrong on %s\n", world_rank, what, where);
        failures++;
    }
}

/* What `sender` gives to `receiver` as element `i` of call `call`. */
static int value(int call, int sender, int receiver, int i)
{
    return call * 1000000 + sender * 10000 + receiver * 100 + i;
}

static void fill(int *buffer, int count, int call, int sender, int receiver)
{
    for (int i = 0; i < count; i++)
        buffer[i] = value(call, sender, receiver, i);
}

static int holds(const int *buffer, int count, int call, int sender, int receiver)
{
    for (int i = 0; i < count; i++)
        if (buffer[i] != value(call, sender, receiver, i))
            return 0;
    return 1;
}

/* Composition of x -> a x + b (mod 10007): associative, not commutative. The
 * left operand is applied first, as MPI orders operands by rank. */
static void compose(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)type;
    const int *left = in;
    int *right = inout;
    for (int i = 0; i < *length; i++) {
        int a = left[2 * i], b = left[2 * i + 1], c = right[2 * i], d = right[2 * i + 1];
        right[2 * i] = (int)((long long)a * c % 10007);
        right[2 * i + 1] = (int)(((long long)b * c + d) % 10007);
    }
}

static void map_of(int rank, int *map)
{
    map[0] = rank * 7 + 2;
    map[1] = rank * rank + 3;
}

/* What composing the maps of ranks first..last gives. */
static void composed(int first, int last, int *result)
{
    int one = 1;
    map_of(first, result);
    for (int rank = first + 1; rank <= last; rank++) {
        int next[2];
        map_of(rank, next);
        compose(result, next, &one, NULL);
        memcpy(result, next, sizeof next);
    }
}

static void bcast(MPI_Comm comm, int rank, int size)
{
    for (int root = 0; root < size; root++) {
        int buffer[BLOCK] = {0};
        if (rank == root)
            fill(buffer, BLOCK, 1, root, 0);
        MPI_Bcast(buffer, BLOCK, MPI_INT, root, comm);
        check(holds(buffer, BLOCK, 1, root, 0), "MPI_Bcast");
    }
    /* The same signature by different type maps: a vector at the root,
     * contiguous elsewhere. */
    int strided[20], plain[10];
    MPI_Datatype vector;
    MPI_Type_vector(10, 1, 2, MPI_INT, &vector);
    MPI_Type_commit(&vector);
    for (int i = 0; i < 20; i++)
        strided[i] = i;
    if (rank == 0)
        MPI_Bcast(strided, 1, vector, 0, comm);
    else
        MPI_Bcast(plain, 10, MPI_INT, 0, comm);
    check(rank == 0 || (plain[3] == 6 && plain[9] == 18), "MPI_Bcast of a vector");
    MPI_Type_free(&vector);
    MPI_Bcast(NULL, 0, MPI_INT, size - 1, comm);
}

static void gather_and_scatter(MPI_Comm comm, int rank, int size)
{
    int mine[BLOCK * MOST], all[BLOCK * MOST], counts[MOST], starts[MOST];
    int total = 0;
    for (int i = 0; i < size; i++) {
        counts[i] = i % 4; /* some send nothing */
        starts[i] = total;
        total += counts[i] + 1;
    }
    int root = size / 2;
    fill(mine, BLOCK, 2, rank, root);
    MPI_Gather(mine, BLOCK, MPI_INT, all, BLOCK, MPI_INT, root, comm);
    for (int i = 0; rank == root && i < size; i++)
        check(holds(all + i * BLOCK, BLOCK, 2, i, root), "MPI_Gather");

    fill(mine, counts[rank], 3, rank, root);
    MPI_Gatherv(mine, counts[rank], MPI_INT, all, counts, starts, MPI_INT, root, comm);
    for (int i = 0; rank == root && i < size; i++)
        check(holds(all + starts[i], counts[i], 3, i, root), "MPI_Gatherv");

    for (int i = 0; i < size; i++)
        fill(all + i * BLOCK, BLOCK, 4, root, i);
    if (rank == root)
        MPI_Scatter(all, BLOCK, MPI_INT, MPI_IN_PLACE, BLOCK, MPI_INT, root, comm);
    else
        MPI_Scatter(NULL, 0, MPI_INT, mine, BLOCK, MPI_INT, root, comm);
    check(holds(rank == root ? all + rank * BLOCK : mine, BLOCK, 4, root, rank), "MPI_Scatter");

    for (int i = 0; i < size; i++)
        fill(all + starts[i], counts[i], 5, root, i);
    MPI_Scatterv(all, counts, starts, MPI_INT, mine, counts[rank], MPI_INT, root, comm);
    check(holds(mine, counts[rank], 5, root, rank), "MPI_Scatterv");
}

static void allgather(MPI_Comm comm, int rank, int size)
{
    int mine[BLOCK], all[BLOCK * MOST], counts[MOST], starts[MOST], total = 0;
    fill(mine, BLOCK, 6, rank, 0);
    MPI_Allgather(mine, BLOCK, MPI_INT, all, BLOCK, MPI_INT, comm);
    for (int i = 0; i < size; i++)
        check(holds(all + i * BLOCK, BLOCK, 6, i, 0), "MPI_Allgather");

    memset(all, 0, sizeof all);
    fill(all + rank * BLOCK, BLOCK, 7, rank, 0);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, BLOCK, MPI_INT, comm);
    for (int i = 0; i < size; i++)
        check(holds(all + i * BLOCK, BLOCK, 7, i, 0), "MPI_Allgather in place");

    for (int i = 0; i < size; i++) {
        counts[i] = (i + 1) % 3;
        starts[i] = total;
        total += counts[i];
    }
    fill(mine, counts[rank], 8, rank, 0);
    MPI_Allgatherv(mine, counts[rank], MPI_INT, all, counts, starts, MPI_INT, comm);
    for (int i = 0; i < size; i++)
        check(holds(all + starts[i], counts[i], 8, i, 0), "MPI_Allgatherv");
}

static void alltoall(MPI_Comm comm, int rank, int size)
{
    int out[BLOCK * MOST] = {0}, in[BLOCK * MOST] = {0};
    int out_counts[MOST], out_starts[MOST], in_counts[MOST], in_starts[MOST];
    int out_bytes[MOST], in_bytes[MOST];
    MPI_Datatype types[MOST];

    for (int i = 0; i < size; i++)
        fill(out + i * BLOCK, BLOCK, 9, rank, i);
    MPI_Alltoall(out, BLOCK, MPI_INT, in, BLOCK, MPI_INT, comm);
    for (int i = 0; i < size; i++)
        check(holds(in + i * BLOCK, BLOCK, 9, i, rank), "MPI_Alltoall");

    /* From i to j go (i + 2 j) % 4 integers. */
    for (int i = 0; i < size; i++) {
        out_counts[i] = (rank + 2 * i) % 4;
        in_counts[i] = (i + 2 * rank) % 4;
        out_starts[i] = in_starts[i] = i * BLOCK;
        out_bytes[i] = in_bytes[i] = i * BLOCK * (int)sizeof(int);
        types[i] = MPI_INT;
        fill(out + i * BLOCK, BLOCK, 10, rank, i);
    }
    MPI_Alltoallv(out, out_counts, out_starts, MPI_INT, in, in_counts, in_starts, MPI_INT, comm);
    for (int i = 0; i < size; i++)
        check(holds(in + i * BLOCK, in_counts[i], 10, i, rank), "MPI_Alltoallv");

    memset(in, 0, sizeof in);
    MPI_Alltoallw(out, out_counts, out_bytes, types, in, in_counts, in_bytes, types, comm);
    for (int i = 0; i < size; i++)
        check(holds(in + i * BLOCK, in_counts[i], 10, i, rank), "MPI_Alltoallw");

    /* In place: from i to j as much as from j to i; the other counts are
     * not looked at, and may be null. */
    for (int i = 0; i < size; i++) {
        in_counts[i] = (rank + i) % 3;
        fill(in + i * BLOCK, in_counts[i], 11, rank, i);
    }
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, in, in_counts, in_starts, MPI_INT, comm);
    for (int i = 0; i < size; i++)
        check(holds(in + i * BLOCK, in_counts[i], 11, i, rank), "MPI_Alltoallv in place");
}

static void reductions(MPI_Comm comm, int rank, int size, MPI_Op composition, MPI_Datatype map_type)
{
    int mine[BLOCK * MOST], result[BLOCK * MOST], counts[MOST];
    int ranks_before = rank * (rank - 1) / 2, sum_of_ranks = size * (size - 1) / 2;
    int map[2], expected[2], got[2];

    for (int i = 0; i < BLOCK; i++)
        mine[i] = rank + i;
    int root = size - 1;
    if (rank == root) {
        memcpy(result, mine, sizeof(int) * BLOCK);
        MPI_Reduce(MPI_IN_PLACE, result, BLOCK, MPI_INT, MPI_SUM, root, comm);
        check(result[4] == sum_of_ranks + 4 * size, "MPI_Reduce in place");
    } else {
        MPI_Reduce(mine, NULL, BLOCK, MPI_INT, MPI_SUM, root, comm);
    }
    MPI_Allreduce(mine, result, BLOCK, MPI_INT, MPI_MAX, comm);
    check(result[0] == size - 1 && result[4] == size + 3, "MPI_Allreduce");
    MPI_Allreduce(MPI_IN_PLACE, mine, BLOCK, MPI_INT, MPI_SUM, comm);
    check(mine[2] == sum_of_ranks + 2 * size, "MPI_Allreduce in place");

    map_of(rank, map);
    composed(0, size - 1, expected);
    MPI_Allreduce(map, got, 1, map_type, composition, comm);
    check(!memcmp(got, expected, sizeof got), "MPI_Allreduce in rank order");
    MPI_Reduce(map, got, 1, map_type, composition, 0, comm);
    check(rank != 0 || !memcmp(got, expected, sizeof got), "MPI_Reduce in rank order");
    composed(0, rank, expected);
    MPI_Scan(map, got, 1, map_type, composition, comm);
    check(!memcmp(got, expected, sizeof got), "MPI_Scan in rank order");
    MPI_Exscan(map, got, 1, map_type, composition, comm);
    if (rank > 0) {
        composed(0, rank - 1, expected);
        check(!memcmp(got, expected, sizeof got), "MPI_Exscan in rank order");
    }

    int one = rank, before = -1;
    MPI_Scan(&one, &before, 1, MPI_INT, MPI_SUM, comm);
    check(before == ranks_before + rank, "MPI_Scan");
    MPI_Exscan(&one, &before, 1, MPI_INT, MPI_SUM, comm);
    check(rank == 0 || before == ranks_before, "MPI_Exscan");

    int total = 0, start = 0;
    for (int i = 0; i < size; i++) {
        counts[i] = i % 3;
        if (i < rank)
            start += counts[i];
        total += counts[i];
    }
    for (int i = 0; i < total; i++)
        mine[i] = i + rank;
    MPI_Reduce_scatter(mine, result, counts, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < counts[rank]; i++)
        check(result[i] == (start + i) * size + sum_of_ranks, "MPI_Reduce_scatter");
    for (int i = 0; i < 2 * size; i++)
        mine[i] = i * (rank + 1);
    MPI_Reduce_scatter_block(mine, result, 2, MPI_INT, MPI_SUM, comm);
    check(result[1] == (2 * rank + 1) * (sum_of_ranks + size), "MPI_Reduce_scatter_block");
    MPI_Reduce_local(mine, result, 2, MPI_INT, MPI_SUM);
}

/* The collectives that intercommunicators have, in both directions. */
static void across(MPI_Comm comm, int side)
{
    int rank, size, remote;
    int mine[BLOCK], all[BLOCK * MOST], sum = -1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Comm_remote_size(comm, &remote);
    for (int from = 0; from < 2; from++) {
        int root = side != from ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
        fill(mine, BLOCK, 12, from, rank);
        if (side == from)
            fill(mine, BLOCK, 12, from, 0);
        MPI_Bcast(mine, BLOCK, MPI_INT, root, comm);
        check(side == from || holds(mine, BLOCK, 12, from, 0), "MPI_Bcast");
        MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, root, comm);
        check(root != MPI_ROOT || sum == remote * (remote - 1) / 2, "MPI_Reduce");
    }
    fill(mine, BLOCK, 13, rank, side);
    MPI_Allgather(mine, BLOCK, MPI_INT, all, BLOCK, MPI_INT, comm);
    for (int i = 0; i < remote; i++)
        check(holds(all + i * BLOCK, BLOCK, 13, i, !side), "MPI_Allgather");
    MPI_Allreduce(&size, &sum, 1, MPI_INT, MPI_SUM, comm);
    check(sum == remote * remote, "MPI_Allreduce");
    MPI_Barrier(comm);
}

static void every_collective(const char *name, MPI_Comm comm, MPI_Op composition, MPI_Datatype map_type)
{
    int rank, size;
    where = name;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Barrier(comm);
    bcast(comm, rank, size);
    gather_and_scatter(comm, rank, size);
    allgather(comm, rank, size);
    alltoall(comm, rank, size);
    reductions(comm, rank, size, composition, map_type);
    MPI_Barrier(comm);
}

int main(int argc, char **argv)
{
    int size, all_failures = 0;
    MPI_Comm half, between;
    MPI_Op composition;
    MPI_Datatype map_type;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > MOST) {
        fprintf(stderr, "collectives: at most %d ranks\n", MOST);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Type_contiguous(2, MPI_INT, &map_type);
    MPI_Type_commit(&map_type);
    MPI_Op_create(compose, 0, &composition);

    every_collective("the world", MPI_COMM_WORLD, composition, map_type);
    every_collective("the self", MPI_COMM_SELF, composition, map_type);
    int side = world_rank % 2;
    MPI_Comm_split(MPI_COMM_WORLD, side, -world_rank, &half);
    every_collective("a reversed half", half, composition, map_type);
    if (size > 1) {
        /* Leaders are each half's rank 0: the highest even and odd ranks. */
        int even = (size - 1) / 2 * 2, odd = size / 2 * 2 - 1;
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, side == 0 ? odd : even, 3, &between);
        where = "an intercommunicator";
        across(between, side);
        MPI_Comm_free(&between);
    }
    MPI_Comm_free(&half);
    MPI_Op_free(&composition);
    MPI_Type_free(&map_type);

    MPI_Allreduce(&failures, &all_failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (world_rank == 0)
        printf("collectives: %s\n", all_failures ? "FAILED" : "all results right");
    MPI_Finalize();
    return all_failures != 0;
}

/*
 * RUN:    1 to 64 ranks.
 * EXPECT: "all results right". The profile's point-to-point layer is empty,
 *         and its collective layer names every operation used here.
 */
