/*
 * Every neighbourhood collective, on every kind of process topology, with what a
 * profile of it must say.
 *
 * The topologies: a ring that is closed and one that is not, a graph in which
 * all ranks know rank 0, a distributed graph in which edges go one way and some
 * are named twice. Each call has its own sizes. The program keeps its own account
 * of what it sends and prints it as two dense matrices (row: sender, column:
 * receiver). What arrives is compared with what was sent.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, LONGEST = 32, MARK = -1 };

static int world_rank, world_size;
static long long *messages, *bytes; /* to each rank of the world */
static int failures, call_number;

static void check(int right, const char *what)
{
    if (!right) {
        fprintf(stderr, "neighbourhood: rank %d: %s is wrong in call %d\n", world_rank, what, call_number);
        failures++;
    }
}

/* Who is next to this rank, in ranks of the communicator, MPI_PROC_NULL included. */
struct around {
    MPI_Comm comm;
    int sources, source[MOST], targets, target[MOST];
    int *world_of;
};

/* Integers that a rank sends in this call: to all, or to its neighbour `at`. */
static int length_of(const struct around *around, int sender, int at)
{
    int in_world = around->world_of[sender];
    return (call_number * 7 + in_world * 3 + at) % (LONGEST - 1) + 1;
}

static void expect(const struct around *around, int at, long long integers)
{
    int to = around->target[at];
    if (to == MPI_PROC_NULL)
        return;
    messages[around->world_of[to]] += 1;
    bytes[around->world_of[to]] += 4 * integers;
}

/* Buffers with a part of LONGEST for each neighbour, and their descriptions. */
static int out[MOST * LONGEST], in[MOST * LONGEST];
static int out_counts[MOST], in_counts[MOST], places[MOST];
static MPI_Aint byte_places[MOST];
static MPI_Datatype types[MOST];

static void begin(const struct around *around)
{
    call_number++;
    for (int i = 0; i < MOST; i++) {
        places[i] = i * LONGEST;
        byte_places[i] = (MPI_Aint)(i * LONGEST * (int)sizeof(int));
        types[i] = MPI_INT;
    }
    for (int i = 0; i < MOST * LONGEST; i++)
        out[i] = world_rank, in[i] = MARK;
    (void)around;
}

/* Part `at` of what came in is `count` times the sender's number. */
static void came(const struct around *around, const int *part, int at, int count, const char *what)
{
    int from = around->source[at];
    for (int i = 0; from != MPI_PROC_NULL && i < count; i++)
        check(part[i] == around->world_of[from], what);
}

/* Calls with one size for all. */
static void uniform(const struct around *around)
{
    MPI_Request request;
    int n;
    for (int way = 0; way < 4; way++) {
        begin(around);
        n = call_number % LONGEST + 1;
        if (way == 0)
            MPI_Neighbor_allgather(out, n, MPI_INT, in, n, MPI_INT, around->comm);
        else if (way == 1)
            MPI_Neighbor_alltoall(out, n, MPI_INT, in, n, MPI_INT, around->comm);
        else if (way == 2)
            MPI_Ineighbor_allgather(out, n, MPI_INT, in, n, MPI_INT, around->comm, &request);
        else
            MPI_Ineighbor_alltoall(out, n, MPI_INT, in, n, MPI_INT, around->comm, &request);
        if (way >= 2)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < around->targets; i++)
            expect(around, i, n);
        for (int i = 0; i < around->sources; i++)
            came(around, in + i * n, i, n, "a call with one size");
    }
}

/* Allgatherv: each rank sends its own size to all. */
static void gather_sizes(const struct around *around)
{
    MPI_Request request;
    int rank;
    MPI_Comm_rank(around->comm, &rank);
    for (int way = 0; way < 2; way++) {
        begin(around);
        int n = length_of(around, rank, 0);
        for (int i = 0; i < around->sources; i++)
            in_counts[i] = around->source[i] == MPI_PROC_NULL ? 0 : length_of(around, around->source[i], 0);
        if (way == 0) {
            MPI_Neighbor_allgatherv(out, n, MPI_INT, in, in_counts, places, MPI_INT, around->comm);
        } else {
            MPI_Ineighbor_allgatherv(out, n, MPI_INT, in, in_counts, places, MPI_INT, around->comm, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        for (int i = 0; i < around->targets; i++)
            expect(around, i, n);
        for (int i = 0; i < around->sources; i++)
            came(around, in + places[i], i, in_counts[i], "MPI_Neighbor_allgatherv");
    }
}

/* Alltoallv and alltoallw: the size depends on both ends, whose numbers add up,
 * so that edges which are named twice need not be told apart. */
static void all_sizes(const struct around *around)
{
    MPI_Request request;
    int rank;
    MPI_Comm_rank(around->comm, &rank);
    for (int way = 0; way < 4; way++) {
        begin(around);
        for (int i = 0; i < around->targets; i++) {
            int to = around->target[i];
            out_counts[i] = to == MPI_PROC_NULL ? 3 : (rank * 5 + to * 3 + call_number) % LONGEST;
            /* An edge with nothing on it has a message all the same. */
            expect(around, i, out_counts[i]);
        }
        for (int i = 0; i < around->sources; i++) {
            int from = around->source[i];
            in_counts[i] = from == MPI_PROC_NULL ? 3 : (from * 5 + rank * 3 + call_number) % LONGEST;
        }
        if (way == 0)
            MPI_Neighbor_alltoallv(out, out_counts, places, MPI_INT, in, in_counts, places, MPI_INT, around->comm);
        else if (way == 1)
            MPI_Neighbor_alltoallw(out, out_counts, byte_places, types, in, in_counts, byte_places, types,
                                   around->comm);
        else if (way == 2)
            MPI_Ineighbor_alltoallv(out, out_counts, places, MPI_INT, in, in_counts, places, MPI_INT, around->comm,
                                    &request);
        else
            MPI_Ineighbor_alltoallw(out, out_counts, byte_places, types, in, in_counts, byte_places, types,
                                    around->comm, &request);
        if (way >= 2)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < around->sources; i++)
            came(around, in + places[i], i, in_counts[i], "a call with all sizes");
    }
}

static void every_call(struct around *around)
{
    int size;
    MPI_Comm_size(around->comm, &size);
    around->world_of = malloc(sizeof(int) * (size_t)size);
    MPI_Allgather(&world_rank, 1, MPI_INT, around->world_of, 1, MPI_INT, around->comm);
    uniform(around);
    gather_sizes(around);
    all_sizes(around);
    free(around->world_of);
    MPI_Comm_free(&around->comm);
}

/* The ranks of `comm` in one row. */
static void row(MPI_Comm comm, int closed)
{
    struct around around = {.sources = 2, .targets = 2};
    int size;
    MPI_Comm_size(comm, &size);
    MPI_Cart_create(comm, 1, &size, &closed, 0, &around.comm);
    MPI_Cart_shift(around.comm, 0, 1, &around.source[0], &around.source[1]);
    memcpy(around.target, around.source, sizeof around.target);
    every_call(&around);
}

/* A star around rank 0. */
static void star(MPI_Comm comm)
{
    struct around around = {0};
    int size, rank, index[MOST], edges[2 * MOST];
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < size; i++)
        index[i] = size - 1 + i;
    for (int i = 1; i < size; i++)
        edges[i - 1] = i, edges[size - 2 + i] = 0;
    MPI_Graph_create(comm, size, index, edges, 0, &around.comm);
    around.sources = around.targets = rank == 0 ? size - 1 : 1;
    for (int i = 0; i < around.targets; i++)
        around.source[i] = around.target[i] = rank == 0 ? i + 1 : 0;
    every_call(&around);
}

/* Each rank sends to the next one, and to the one after that twice. */
static void one_way(MPI_Comm comm)
{
    struct around around = {.sources = 3, .targets = 3};
    int size, rank;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < 3; i++) {
        int shift = i == 0 ? 1 : 2;
        around.target[i] = (rank + shift) % size;
        around.source[i] = (rank + 2 * size - shift) % size;
    }
    MPI_Dist_graph_create_adjacent(comm, 3, around.source, MPI_UNWEIGHTED, 3, around.target, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &around.comm);
    every_call(&around);
}

static void every_topology(MPI_Comm comm)
{
    row(comm, 1);
    row(comm, 0);
    star(comm);
    one_way(comm);
}

static void print_matrix(const char *name, const long long *mine)
{
    long long *all = malloc((size_t)world_size * (size_t)world_size * sizeof *all);
    MPI_Gather(mine, world_size, MPI_LONG_LONG, all, world_size, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
    if (world_rank == 0) {
        printf("expected %s\n", name);
        for (int i = 0; i < world_size * world_size; i++)
            printf("%lld%c", all[i], (i + 1) % world_size ? ' ' : '\n');
    }
    free(all);
}

int main(int argc, char **argv)
{
    int all_failures = 0;
    MPI_Comm reversed;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    messages = calloc((size_t)world_size, sizeof *messages);
    bytes = calloc((size_t)world_size, sizeof *bytes);

    every_topology(MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &reversed);
    every_topology(reversed);
    MPI_Comm_free(&reversed);

    print_matrix("messages", messages);
    print_matrix("bytes", bytes);
    MPI_Allreduce(&failures, &all_failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (world_rank == 0)
        printf("neighbourhood: %s\n", all_failures ? "FAILED" : "all data right");
    free(messages);
    free(bytes);
    MPI_Finalize();
    return all_failures != 0;
}

/*
 * RUN:    3 to 64 ranks.
 * EXPECT: "all data right"; the profile's neighbourhood layer is exactly the
 *         printed matrices.
 */
