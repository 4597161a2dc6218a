/*
 * Communicators with a topology whose ranks may be reordered: whoever gets a rank
 * does the work of that node, and finds its neighbours. Prints what must not depend
 * on the order, and in lines that start with "order" the world's rank of each node.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int world_rank, world_size;

/* The world's rank of each node, told by the first. */
static void tell_order(const char *what, MPI_Comm comm)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int *all = malloc((size_t)size * sizeof *all);
    MPI_Gather(&world_rank, 1, MPI_INT, all, 1, MPI_INT, 0, comm);
    if (rank == 0) {
        printf("order %s:", what);
        for (int node = 0; node < size; node++)
            printf(" %d", all[node]);
        printf("\n");
    }
    free(all);
}

/* Tells, node by node, what each has got. */
static void tell(const char *what, MPI_Comm comm, const int *got, int count)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int *all = malloc((size_t)(size * count) * sizeof *all);
    MPI_Gather(got, count, MPI_INT, all, count, MPI_INT, 0, comm);
    if (rank == 0)
        for (int node = 0; node < size; node++) {
            printf("%s, node %d:", what, node);
            for (int i = 0; i < count; i++)
                printf(" %d", all[node * count + i]);
            printf("\n");
        }
    free(all);
}

static void grid(void)
{
    int sizes[2] = {0, 0}, periods[2] = {1, 0}, coords[2], rank, in[4] = {-1, -1, -1, -1};
    MPI_Comm made;
    MPI_Dims_create(world_size, 2, sizes);
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 1, &made);
    MPI_Comm_rank(made, &rank);
    MPI_Cart_coords(made, rank, 2, coords);
    int mine = 100 * coords[0] + coords[1];
    MPI_Neighbor_allgather(&mine, 1, MPI_INT, in, 1, MPI_INT, made);
    tell("grid", made, in, 4);
    tell_order("grid", made);
    MPI_Comm_free(&made);
    if (world_size > 1) {
        int shorter = world_size - 1, open = 0, last;
        MPI_Cart_create(MPI_COMM_WORLD, 1, &shorter, &open, 1, &made);
        last = made == MPI_COMM_NULL;
        int left_out = 0;
        MPI_Allreduce(&last, &left_out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (world_rank == 0)
            printf("left out of the shorter line: %d\n", left_out);
        if (!last)
            MPI_Comm_free(&made);
    }
}

static void ring(void)
{
    int *index = malloc(3 * (size_t)world_size * sizeof *index), *edges = index + world_size, rank, in[2];
    MPI_Comm made;
    for (int i = 0; i < world_size; i++) {
        index[i] = 2 * i + 2;
        edges[2 * i] = (i + world_size - 1) % world_size;
        edges[2 * i + 1] = (i + 1) % world_size;
    }
    MPI_Graph_create(MPI_COMM_WORLD, world_size, index, edges, 1, &made);
    MPI_Comm_rank(made, &rank);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, made);
    tell("ring", made, in, 2);
    tell_order("ring", made);
    MPI_Comm_free(&made);
    free(index);
}

/* Node i talks much to the node half the ring away and little to the next one. */
static void adjacent(int weighted)
{
    int far = world_size / 2, rank, in, out, has_weights;
    int from[2] = {(world_rank + world_size - far) % world_size, (world_rank + world_size - 1) % world_size};
    int to[2] = {(world_rank + far) % world_size, (world_rank + 1) % world_size};
    int weights[2] = {100, 1}, got[8] = {-1, -1};
    MPI_Comm made;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from, weighted ? weights : MPI_UNWEIGHTED, 2, to,
                                   weighted ? weights : MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &made);
    MPI_Comm_rank(made, &rank);
    MPI_Dist_graph_neighbors_count(made, &in, &out, &has_weights);
    int sent[2] = {1000 + rank, 2000 + rank};
    MPI_Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, made);
    int ins[2] = {-1, -1}, outs[2] = {-1, -1};
    MPI_Dist_graph_neighbors(made, 2, got + 2, weighted ? ins : MPI_UNWEIGHTED, 2, got + 4, weighted ? outs : MPI_UNWEIGHTED);
    got[6] = ins[0] + outs[1];
    got[7] = 100 * in + 10 * out + has_weights;
    tell(weighted ? "weighted" : "unweighted", made, got, 8);
    tell_order(weighted ? "weighted" : "unweighted", made);
    MPI_Comm_free(&made);
}

/* The same graph, each edge named by some other process, and a star of one node
 * whose leaves have no edges of their own. */
static void distributed(void)
{
    int named = (world_rank + 3) % world_size, degree = 2, rank, in, out, has_weights, got = -1;
    int to[2] = {(named + world_size / 2) % world_size, (named + 1) % world_size}, weights[2] = {100, 1};
    int sources[2], ins[2], targets[2], outs[2], sum = 0, in_all[2] = {-1, -1};
    MPI_Comm made;
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &named, &degree, to, weights, MPI_INFO_NULL, 1, &made);
    MPI_Comm_rank(made, &rank);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, in_all, 1, MPI_INT, made);
    MPI_Dist_graph_neighbors_count(made, &in, &out, &has_weights);
    MPI_Dist_graph_neighbors(made, 2, sources, ins, 2, targets, outs);
    /* The order of neighbours is the MPI's own. */
    for (int i = 0; i < in; i++)
        sum += (in_all[i] == sources[i]) * 1000 + sources[i] * ins[i];
    tell("named by others", made, &sum, 1);
    tell_order("named by others", made);
    MPI_Comm_free(&made);

    int *leaves = malloc((size_t)world_size * sizeof *leaves), *ones = malloc((size_t)world_size * sizeof *ones);
    for (int i = 0; i < world_size; i++)
        leaves[i] = i, ones[i] = 1;
    int centre = world_size - 1, is_centre = world_rank == centre;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &centre, ones, is_centre ? world_size : 0, leaves,
                                   is_centre ? ones : MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 1, &made);
    MPI_Comm_rank(made, &rank);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, &got, 1, MPI_INT, made);
    tell("star", made, &got, 1);
    MPI_Comm_free(&made);
    free(leaves);
    free(ones);
}

/* A communicator that is no world, in the reverse order. */
static void part(void)
{
    MPI_Comm half, made;
    int rank, size, in[2] = {-1, -1};
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 3 == 0, -world_rank, &half);
    MPI_Comm_size(half, &size);
    int open = 0, sum;
    MPI_Cart_create(half, 1, &size, &open, 1, &made);
    MPI_Comm_rank(made, &rank);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, made);
    int right = (rank == 0 || in[0] == rank - 1) && (rank == size - 1 || in[1] == rank + 1);
    MPI_Allreduce(&right, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (world_rank == 0)
        printf("in both parts, right: %d\n", sum);
    MPI_Comm_free(&made);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    grid();
    ring();
    adjacent(1);
    adjacent(0);
    distributed();
    part();
    MPI_Finalize();
    return 0;
}
