/*
 * Topologies made from the world, with and without reordering, and what is sent
 * along them.
 */
#include "notes.h"

static void cartesian(int reorder)
{
    int dims[2] = {0, 0}, periods[2] = {1, 0}, back_dims[2], back_periods[2], coords[2], mine, at, topology, count;
    int up, down, left, right, place;
    MPI_Comm grid, row, column;
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, reorder, &grid);
    MPI_Comm_rank(grid, &mine);
    MPI_Topo_test(grid, &topology);
    MPI_Cartdim_get(grid, &count);
    MPI_Cart_get(grid, 2, back_dims, back_periods, coords);
    MPI_Cart_rank(grid, coords, &at);
    MPI_Cart_coords(grid, at, 2, coords);
    MPI_Cart_shift(grid, 0, 1, &up, &down);
    MPI_Cart_shift(grid, 1, 1, &left, &right);
    note("grid, reorder %d: cartesian %d, %d dimensions %d %d, periods %d %d, rank %d is at %d %d and back %d\n", reorder,
         topology == MPI_CART, count, back_dims[0], back_dims[1], back_periods[0], back_periods[1], mine, coords[0],
         coords[1], at);
    note("neighbours %d %d %d %d\n", up, down, left == MPI_PROC_NULL ? -1 : left, right == MPI_PROC_NULL ? -1 : right);
    int in[4] = {-1, -1, -1, -1}, out[4] = {10 * rank, 10 * rank + 1, 10 * rank + 2, 10 * rank + 3};
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, grid);
    note("neighbours' ranks %d %d %d %d\n", in[0], in[1], in[2], in[3]);
    MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, grid);
    note("neighbours' words %d %d %d %d\n", in[0], in[1], in[2], in[3]);
    MPI_Cart_sub(grid, (int[]){0, 1}, &row);
    MPI_Cart_sub(grid, (int[]){1, 0}, &column);
    int in_row = 0, in_column = 0;
    MPI_Allreduce(&rank, &in_row, 1, MPI_INT, MPI_SUM, row);
    MPI_Allreduce(&rank, &in_column, 1, MPI_INT, MPI_SUM, column);
    note("sums along row %d, column %d\n", in_row, in_column);
    MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &place);
    note("place by map %d\n", place);
    MPI_Comm_free(&row);
    MPI_Comm_free(&column);
    MPI_Comm_free(&grid);
    /* One dimension less than there are ranks: the last is left out. */
    if (size > 1) {
        int shorter = size - 1, none = 0;
        MPI_Cart_create(MPI_COMM_WORLD, 1, &shorter, &none, reorder, &grid);
        note("in the shorter line: %d\n", grid != MPI_COMM_NULL);
        if (grid != MPI_COMM_NULL)
            MPI_Comm_free(&grid);
    }
}

static void graph(int reorder)
{
    int *index = malloc(3 * (size_t)size * sizeof *index), *edges = index + size;
    int degree, near[2], nodes, arcs, topology, place;
    MPI_Comm ring;
    for (int i = 0; i < size; i++) {
        index[i] = 2 * i + 2;
        edges[2 * i] = (i + size - 1) % size;
        edges[2 * i + 1] = (i + 1) % size;
    }
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, reorder, &ring);
    MPI_Topo_test(ring, &topology);
    MPI_Graphdims_get(ring, &nodes, &arcs);
    MPI_Graph_neighbors_count(ring, rank, &degree);
    MPI_Graph_neighbors(ring, rank, 2, near);
    int in[2] = {-1, -1};
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, ring);
    MPI_Graph_map(MPI_COMM_WORLD, size, index, edges, &place);
    note("ring as a graph, reorder %d: graph %d, %d nodes %d arcs, %d near: %d %d; their ranks %d %d; place by map %d\n",
         reorder, topology == MPI_GRAPH, nodes, arcs, degree, near[0], near[1], in[0], in[1], place);
    MPI_Comm_free(&ring);
    free(index);
}

static void distributed(int reorder)
{
    int from[2] = {(rank + size - 1) % size, (rank + size - 2) % size}, to[2] = {(rank + 1) % size, (rank + 2) % size};
    int weights[2] = {3, 4}, degrees = 2, in, out, weighted, sources[2], targets[2], w_in[2], w_out[2];
    int got[2] = {-1, -1}, sent[2] = {100 + rank, 200 + rank};
    MPI_Comm near;
    MPI_Request request;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from, weights, 2, to, weights, MPI_INFO_NULL, reorder, &near);
    MPI_Dist_graph_neighbors_count(near, &in, &out, &weighted);
    MPI_Dist_graph_neighbors(near, 2, sources, w_in, 2, targets, w_out);
    note("distributed graph, reorder %d: %d in %d out, weighted %d; from %d %d, to %d %d, weights %d %d\n", reorder, in, out,
         weighted, sources[0], sources[1], targets[0], targets[1], w_in[0], w_out[1]);
    MPI_Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, near);
    note("got %d %d\n", got[0], got[1]);
    got[0] = got[1] = -1;
    MPI_Ineighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, near, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    note("later %d %d\n", got[0], got[1]);
    int counts[2] = {1, 1}, places[2] = {1, 0};
    got[0] = got[1] = -1;
    MPI_Neighbor_alltoallv(sent, counts, places, MPI_INT, got, counts, places, MPI_INT, near);
    note("crossed %d %d\n", got[0], got[1]);
    MPI_Aint bytes[2] = {0, sizeof(int)};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Neighbor_alltoallw(sent, counts, bytes, types, got, counts, bytes, types, near);
    MPI_Neighbor_allgatherv(&rank, 1, MPI_INT, sent, counts, places, MPI_INT, near);
    note("by types %d %d, gathered %d %d\n", got[0], got[1], sent[0], sent[1]);
    MPI_Comm_free(&near);

    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &degrees, to, MPI_UNWEIGHTED, MPI_INFO_NULL, reorder, &near);
    MPI_Dist_graph_neighbors_count(near, &in, &out, &weighted);
    note("by its edges: %d in %d out, weighted %d\n", in, out, weighted);
    got[0] = got[1] = -1;
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, near);
    note("both are there: %d\n", got[0] + got[1] == from[0] + from[1]);
    MPI_Comm_free(&near);

    /* No edges at all. */
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, from, MPI_WEIGHTS_EMPTY, 0, to, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL,
                                   reorder, &near);
    MPI_Dist_graph_neighbors_count(near, &in, &out, &weighted);
    note("alone: %d in %d out\n", in, out);
    MPI_Comm_free(&near);
}

int main(int argc, char **argv)
{
    int topology;
    begin(&argc, &argv);
    MPI_Topo_test(MPI_COMM_WORLD, &topology);
    note("the world has %s\n", topology == MPI_UNDEFINED ? "none" : "one");
    for (int reorder = 0; reorder < 2; reorder++) {
        cartesian(reorder);
        graph(reorder);
        distributed(reorder);
    }
    print_notes();
    MPI_Finalize();
    return 0;
}

/*
 * RANKS:    6 5
 * PROVES:   grids, graphs and distributed graphs over the world have the ranks
 *           that they have plainly, and messages along them arrive.
 * PITFALLS: 12 28
 */
